// console.h - text out to every sink, typed bytes in from every source.
// SPDX-License-Identifier: MIT
#pragma once
#include "../include/ingot.h"

// Where text goes: the serial port, the screen.
struct console_sink {
    const char *name; // what console= calls it
    void (*write)(const char *text, u64 len);
};

enum { CONSOLE_SINKS = 4 };

// A sink that comes late is told first what was written before it.
void console_add_sink(const struct console_sink *sink);
int console_has(const char *name); // 1: that sink is in use
// Keep only the sinks that a comma-separated list names; an empty list, or one
// that names none that exists, keeps all.
void console_choose(const char *list);
void console_write(const char *text, u64 len);
// Begin a new line unless the consoles are at the start of one.
void console_end_line(void);
void console_break_lock(void); // a program died while writing
void console_give_lock(void);  // the same, on the calling core
void console_printf(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

i64 con_write(const void *text, u64 len); // a call of api.c
