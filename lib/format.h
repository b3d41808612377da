// format.h - printf's formatting without floating point.
// SPDX-License-Identifier: MIT
#pragma once
#include "../include/ingot.h"
#include <stdarg.h>

// Understands %d %i %u %x %X %c %s %p %%, with l/ll/z, width, precision (for
// strings and integers), '-', '0', '#' and '*'. An unknown conversion is copied
// as it stands. Always terminates when cap > 0. Returns the length the whole
// text would have.
u64 format_args(char *to, u64 cap, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
u64 format(char *to, u64 cap, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
