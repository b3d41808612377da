// print.c - text to the console.
// SPDX-License-Identifier: MIT
#include "print.h"
#include "../../lib/string.h"

void (*print_to)(const char *text, u64 len);

void print_bytes(const char *text, u64 len)
{
    if (print_to) {
        print_to(text, len);
    } else if (len > 0) {
        (void)os->con_write(text, len);
    }
}

void print_text(const char *text)
{
    print_bytes(text, strlen(text));
}

// Too long for the stack: borrow memory, or show what fits when there is none.
__attribute__((format(printf, 3, 0))) static void
print_long(const char *start, u64 len, const char *format, va_list args)
{
    void *memory;
    if (os->mem_alloc(len + 1, 0, &memory) < 0) {
        print_text(start);
        return;
    }
    (void)format_args(memory, len + 1, format, args);
    print_bytes(memory, len);
    (void)os->mem_free(memory, len + 1);
}

void print_args(const char *format, va_list args)
{
    char text[512];
    va_list again;
    va_copy(again, args);
    u64 len = format_args(text, sizeof(text), format, args);
    if (len < sizeof(text)) {
        print_bytes(text, len);
    } else {
        print_long(text, len, format, again);
    }
    va_end(again);
}

void print(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_args(format, args);
    va_end(args);
}

u64 hundredths(u64 a, u64 b)
{
    if (b == 0) {
        return 0;
    }
    u64 whole = a / b * 100, rest = a % b;
    while (rest > ~0ul / 200) { // keep the product below in 64 bits
        rest >>= 1;
        b >>= 1;
    }
    return whole + (rest * 100 + b / 2) / b;
}
