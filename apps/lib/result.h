// result.h - the last line of a benchmark, for programs to read.
// SPDX-License-Identifier: MIT
#pragma once
#include "print.h"

// RESULT bench=NAME lang=c FIELDS, where FIELDS are key=value pairs:
//     result("netpoll", "nic=%u iterations=%lu ns=" FIXED, nic, n,
//            FIXED_ARGS(average));
void result(const char *bench, const char *fields, ...)
    __attribute__((format(printf, 2, 3)));
