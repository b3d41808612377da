// args.c - numbers on the command line.
// SPDX-License-Identifier: MIT
#include "args.h"
#include "print.h"

static int args_digit(char byte, u32 base)
{
    if (byte >= '0' && byte <= '9') {
        return byte - '0';
    }
    char lower = byte | 0x20;
    return base == 16 && lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

const char *args_parse(const char *text, u64 *value)
{
    if (text[0] == '-') {
        return args_digit(text[1], 10) >= 0
                   ? "is negative"
                   : "is not a number (hexadecimal begins with 0x)";
    }
    u32 base = 10;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        base = 16;
        text += 2;
    }
    const char *digits = text;
    u64 result = 0;
    int too_large = 0;
    for (; args_digit(*text, base) >= 0; text++) {
        u64 digit = (u64)args_digit(*text, base);
        too_large |= result > (~0ul - digit) / base;
        result = result * base + digit;
    }
    if (text == digits || *text) {
        return "is not a number (hexadecimal begins with 0x)";
    }
    if (too_large) {
        return "is too large: 64 bits are the limit";
    }
    *value = result;
    return 0;
}

int args_number(int argc, char **argv, int i, struct range range, u64 *value)
{
    if (i >= argc) {
        return 0;
    }
    u64 number;
    const char *why = args_parse(argv[i], &number);
    if (why) {
        print("error: %s: '%s' %s\n", argv[0], argv[i], why);
        return E_ARG;
    }
    if (number < range.least || number > range.most) {
        print("error: %s: '%s' is not between %lu and %lu\n", argv[0], argv[i],
              range.least, range.most);
        return E_ARG;
    }
    *value = number;
    return 0;
}
