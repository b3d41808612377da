// result.c - the last line of a benchmark, for programs to read.
// SPDX-License-Identifier: MIT
#include "result.h"

void result(const char *bench, const char *fields, ...)
{
    char text[384];
    va_list args;
    va_start(args, fields);
    (void)format_args(text, sizeof(text), fields, args);
    va_end(args);
    print("RESULT bench=%s lang=c %s\n", bench, text);
}
