// log.h - the kernel's log: a ring of text, and every line at or below the
// chosen level on the consoles as well.
// SPDX-License-Identifier: MIT
//
// A .c file says `#define LOG_TAG "ahci"` before it includes this.
#pragma once
#include "../include/ingot.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

// Lines above this level are not even compiled.
enum { LOG_LEVEL = LOG_DEBUG };
enum { LOG_CAP = 16384 }; // bytes kept once log_grow() was called

void log_line(enum log_level level, const char *tag, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void log_set_level(enum log_level level);
// Move from the small ring of the first moments into LOG_CAP bytes at memory.
void log_grow(char *memory);

// Copy text from position on; returns bytes copied, 0 at the end.
u64 log_read(u64 position, char *text, u64 cap);
void log_show_end(u32 lines); // the latest lines, on the consoles; no lock
u32 log_lost(void);           // lines overwritten so far

#define log_at(level, ...)                                                     \
    do {                                                                       \
        if ((int)(level) <= (int)LOG_LEVEL) {                                  \
            log_line((level), LOG_TAG, __VA_ARGS__);                           \
        }                                                                      \
    } while (0)
#define log_error(...) log_at(LOG_ERROR, __VA_ARGS__)
#define log_warn(...) log_at(LOG_WARN, __VA_ARGS__)
#define log_info(...) log_at(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_at(LOG_DEBUG, __VA_ARGS__)
