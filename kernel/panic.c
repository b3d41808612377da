// panic.c - an invariant of the kernel itself is broken.
// SPDX-License-Identifier: MIT
#include "panic.h"
#include "../lib/format.h"
#include "console.h"
#include "cpu.h"
#include "input.h"
#include "power.h"

_Noreturn void panic_wait(void)
{
    console_printf("*** press a key to reboot\n");
    input_wait_key();
    power_reboot();
    for (;;) {
        cli();
        hlt();
    }
}

_Noreturn void panic(const char *text, ...)
{
    char line[200];
    va_list args;
    va_start(args, text);
    format_args(line, sizeof(line), text, args);
    va_end(args);
    cli();
    console_printf("*** kernel panic: %s\n", line);
    panic_wait();
}
