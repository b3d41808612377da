// panic.h - an invariant of the kernel itself is broken: report, wait for a
// key, reboot. Never for a bad device or a bad program.
// SPDX-License-Identifier: MIT
#pragma once

_Noreturn void panic(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

// The end of every panic: wait for a key, reboot.
_Noreturn void panic_wait(void);
