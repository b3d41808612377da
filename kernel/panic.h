// panic.h - an invariant of the kernel itself is broken: report, wait for a
// key, reboot. Never for a bad device or a bad program.
// SPDX-License-Identifier: MIT
#pragma once
#include "core.h"
#include "interrupt.h"

_Noreturn void panic(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
// The same for an exception in the kernel.
_Noreturn void panic_exception(const struct registers *regs);

// 1 when another core panics: core has nothing more to do.
int panic_is_elsewhere(const struct core *core);
_Noreturn void panic_stop_here(void);
