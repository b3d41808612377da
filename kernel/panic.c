// panic.c - the kernel itself is broken: say all that is known, wait, reboot.
// SPDX-License-Identifier: MIT
//
// Whatever is needed for that may be what is broken, so each step down is
// taken once: a panic inside the panic is one line, the next one reboots.
#include "panic.h"
#include "../lib/format.h"
#include "console.h"
#include "core.h"
#include "cpu.h"
#include "fault.h"
#include "input.h"
#include "log.h"
#include "machine.h"
#include "power.h"
#include "screen.h"
#include "smp.h"

enum { LOG_LINES = 10 };

static u32 owner; // core index + 1 of the one that panics; 0: none does
static u32 depth; // panics so far, on that core

static _Noreturn void panic_halt(void)
{
    for (;;) {
        cli();
        hlt();
    }
}

static _Noreturn void panic_reboot(void)
{
    power_reboot();
    panic_halt();
}

int panic_is_elsewhere(const struct core *core)
{
    u32 by = load_acquire(&owner);
    return by != 0 && by != core->index + 1;
}

// The first core that comes goes on, with all others stopped.
static void panic_begin(void)
{
    u32 me = core_self()->index + 1, none = 0;
    cli();
    if (!__atomic_compare_exchange_n(&owner, &none, me, 0, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE) &&
        none != me) {
        panic_halt();
    }
    if (depth++ == 0) {
        smp_halt_others();
    }
    console_break_lock();
    screen_draw_again();
    if (depth > 2) {
        panic_reboot();
    }
}

static _Noreturn void panic_end(void)
{
    if (depth == 1) {
        u32 number;
        const char *name = machine_stage(&number);
        console_printf("*** stage %u, %s; the log ends:\n", number, name);
        log_show_end(LOG_LINES);
    }
    console_printf("*** press a key to reboot\n");
    input_wait_key();
    panic_reboot();
}

_Noreturn void panic(const char *text, ...)
{
    char line[200];
    va_list args;
    panic_begin();
    va_start(args, text);
    format_args(line, sizeof(line), text, args);
    va_end(args);
    console_end_line();
    console_printf("*** kernel panic: %s\n", line);
    panic_end();
}

_Noreturn void panic_exception(const struct registers *regs)
{
    panic_begin();
    if (depth == 1) {
        fault_report(regs, "kernel panic");
    } else {
        console_printf("\n*** and again: vector %lu at %016lx\n", regs->vector,
                       regs->rip);
    }
    panic_end();
}

_Noreturn void panic_stop_here(void)
{
    panic_halt();
}
