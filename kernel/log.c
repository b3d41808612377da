// log.c - the kernel's log: a ring of text, shown on the consoles as it grows.
// SPDX-License-Identifier: MIT
#include "log.h"
#include "../lib/format.h"
#include "../lib/string.h"
#include "console.h"
#include "lock.h"

enum { LINE_CAP = 240, EARLY_CAP = 1024 };

static char early[EARLY_CAP];
static char *ring = early;
static u64 cap = EARLY_CAP;
static u64 written; // bytes ever
static u32 lost;    // lines overwritten
static struct lock lock;
static enum log_level shown = LOG_INFO;

static void log_put(char byte)
{
    char *slot = &ring[written % cap];
    if (written >= cap && *slot == '\n') {
        lost++;
    }
    *slot = byte;
    written++;
}

void log_line(enum log_level level, const char *tag, const char *text, ...)
{
    char line[LINE_CAP];
    u64 len = format(line, sizeof(line) - 1, "%s: ", tag);
    va_list args;
    va_start(args, text);
    len += format_args(line + len, sizeof(line) - 1 - len, text, args);
    va_end(args);
    len = len > LINE_CAP - 2 ? LINE_CAP - 2 : len;
    line[len++] = '\n';
    int taken = lock_take(&lock);
    if (level <= LOG_WARN) {
        log_put('!'); // kept only: diag and people look for it
    }
    for (u64 i = 0; i < len; i++) {
        log_put(line[i]);
    }
    lock_give(&lock, taken);
    if (level <= shown) {
        console_write(line, len);
    }
}

void log_set_level(enum log_level level)
{
    shown = level;
}
void log_grow(char *memory)
{
    u64 first = written > cap ? written - cap : 0;
    for (u64 at = first; at < written; at++) {
        memory[at - first] = ring[at % cap];
    }
    written -= first;
    ring = memory;
    cap = LOG_CAP;
}

void log_show_end(u32 lines)
{
    u64 first = written > cap ? written - cap : 0, at = written;
    u32 seen = 0;
    while (at > first && (ring[(at - 1) % cap] != '\n' || seen++ < lines)) {
        at--;
    }
    for (; at < written; at++) {
        console_write(&ring[at % cap], 1);
    }
}

u32 log_lost(void)
{
    return lost;
}

u64 log_read(u64 position, char *text, u64 room)
{
    u64 first = written > cap ? written - cap : 0;
    u64 n = 0;
    if (position >= written - first) {
        return 0;
    }
    for (u64 at = first + position; at < written && n < room; at++) {
        text[n++] = ring[at % cap];
    }
    return n;
}
