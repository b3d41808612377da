// console.c - text out to every sink.
// SPDX-License-Identifier: MIT
#include "console.h"
#include "../lib/format.h"
#include "../lib/string.h"
#include "lock.h"

static const struct console_sink *sinks[CONSOLE_SINKS];

void console_add_sink(const struct console_sink *sink)
{
    for (u32 i = 0; i < CONSOLE_SINKS; i++) {
        if (sinks[i] == 0) {
            sinks[i] = sink;
            return;
        }
    }
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

static void console_write_all(const char *text, u64 len)
{
    last = len > 0 ? text[len - 1] : last;
    for (u32 i = 0; i < CONSOLE_SINKS; i++) {
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
