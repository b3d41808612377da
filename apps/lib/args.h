// args.h - numbers on the command line.
// SPDX-License-Identifier: MIT
#pragma once
#include "../../include/ingot.h"

// Read a decimal number, or a hexadecimal one after 0x. Returns null when text
// is one, else what is wrong with it ("is not a number", "is negative", ...);
// *value is left alone then.
const char *args_parse(const char *text, u64 *value);

struct range {
    u64 least, most;
};

// Argument number i, when it lies in range. When it was not given, *value stays
// as it is. Returns 0, or E_ARG after one error line.
int must_check args_number(int argc, char **argv, int i, struct range range,
                           u64 *value);
