// console.c - text out to every sink.
// SPDX-License-Identifier: MIT
#include "console.h"
#include "../lib/format.h"
#include "../lib/string.h"
#include "lock.h"

enum { EARLY_CAP = 1024 };

static const struct console_sink *sinks[CONSOLE_SINKS];
static char early[EARLY_CAP]; // the first bytes written
static u32 n_early;

void console_add_sink(const struct console_sink *sink)
{
    for (u32 i = 0; i < CONSOLE_SINKS; i++) {
        if (sinks[i] == 0) {
            sinks[i] = sink;
            sink->write(early, n_early);
            return;
        }
    }
}

int console_has(const char *name)
{
    for (u32 i = 0; i < CONSOLE_SINKS; i++) {
        if (sinks[i] != 0 && strcmp(sinks[i]->name, name) == 0) {
            return 1;
        }
    }
    return 0;
}

static int console_is_listed(const char *list, const char *name)
{
    u64 len = strlen(name);
    while (*list != 0) {
        u64 word = 0;
        while (list[word] != 0 && list[word] != ',') {
            word++;
        }
        if (word == len && memcmp(list, name, len) == 0) {
            return 1;
        }
        list += word + (list[word] == ',');
    }
    return 0;
}

void console_choose(const char *list)
{
    u32 kept = 0;
    for (u32 i = 0; i < CONSOLE_SINKS && sinks[i] != 0; i++) {
        kept += (u32)console_is_listed(list, sinks[i]->name);
    }
    for (u32 i = 0; kept > 0 && i < CONSOLE_SINKS; i++) {
        if (sinks[i] != 0 && !console_is_listed(list, sinks[i]->name)) {
            sinks[i] = 0;
        }
    }
}

static struct lock lock;

void console_break_lock(void)
{
    lock.owner = 0;
}

void console_give_lock(void)
{
    lock_give(&lock, lock.owner == core_self()->index + 1);
}

static char last = '\n'; // byte on the consoles

static void console_keep(const char *text, u64 len)
{
    u64 room = EARLY_CAP - n_early;
    u64 kept = len < room ? len : room;
    memcpy(early + n_early, text, kept);
    n_early += (u32)kept;
}

// The latest sink first: who reads the serial line knows that the screen shows
// it too.
static void console_write_all(const char *text, u64 len)
{
    if (n_early < EARLY_CAP) {
        console_keep(text, len);
    }
    last = len > 0 ? text[len - 1] : last;
    for (u32 i = CONSOLE_SINKS; i-- > 0;) {
        if (sinks[i] != 0) {
            sinks[i]->write(text, len);
        }
    }
}

// What different cores write does not mix.
void console_write(const char *text, u64 len)
{
    int taken = lock_take(&lock);
    console_write_all(text, len);
    lock_give(&lock, taken);
}

void console_end_line(void)
{
    if (last != '\n') {
        console_write("\n", 1);
    }
}

void console_printf(const char *text, ...)
{
    char line[256];
    va_list args;
    va_start(args, text);
    u64 len = format_args(line, sizeof(line), text, args);
    va_end(args);
    console_write(line, len < sizeof(line) ? len : sizeof(line) - 1);
}
