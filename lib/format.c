// format.c - printf's formatting without floating point.
// SPDX-License-Identifier: MIT
#include "format.h"
#include "string.h"

struct output {
    char *to;
    u64 cap;
    u64 len; // of the whole text, also what did not fit
};

struct spec { // one conversion: %[-0#][width][.precision][l|ll|z]letter
    u8 left, zero, alternate, is_long;
    int width;
    int precision; // -1: none given
};

struct number {
    u64 value;
    u32 base;
    u8 negative, upper;
};

enum { FIELD_MAX = 4096 }; // widths beyond that are a mistake, not a wish

static void output_bytes(struct output *out, const char *text, u64 len)
{
    if (out->len + 1 < out->cap) {
        u64 room = out->cap - 1 - out->len;
        memcpy(out->to + out->len, text, len < room ? len : room);
    }
    out->len += len;
}

static void output_fill(struct output *out, char byte, int n)
{
    for (; n > 0; n--) {
        output_bytes(out, &byte, 1);
    }
}

static void output_field(struct output *out, const struct spec *spec,
                         const char *text, u64 len)
{
    int pad = spec->width - (len < FIELD_MAX ? (int)len : FIELD_MAX);
    if (!spec->left) {
        output_fill(out, ' ', pad);
    }
    output_bytes(out, text, len);
    if (spec->left) {
        output_fill(out, ' ', pad);
    }
}

static void output_string(struct output *out, const struct spec *spec,
                          const char *text)
{
    if (!text) {
        text = "(null)";
    }
    u64 cap = spec->precision >= 0 ? (u64)spec->precision : ~0ul;
    output_field(out, spec, text, strnlen(text, cap));
}

static int digits_of(const struct number *number, char *end)
{
    const char *alphabet =
        number->upper ? "0123456789ABCDEF" : "0123456789abcdef";
    int n = 0;
    u64 value = number->value;
    if (number->base == 16) {
        for (; value; value >>= 4) {
            end[-++n] = alphabet[value & 15];
        }
        return n;
    }
    for (; value; value /= 10) {
        end[-++n] = alphabet[value % 10];
    }
    return n;
}

static void output_number(struct output *out, const struct spec *spec,
                          const struct number *number)
{
    char digits[24], *end = digits + sizeof(digits);
    int n = digits_of(number, end);
    const char *prefix = number->negative ? "-" : "";
    if (spec->alternate && number->base == 16 && number->value) {
        prefix = number->upper ? "0X" : "0x";
    }
    int prefix_len = (int)strlen(prefix);
    int zeros = (spec->precision >= 0 ? spec->precision : 1) - n;
    if (spec->zero && !spec->left && spec->precision < 0 &&
        spec->width - prefix_len > n) {
        zeros = spec->width - prefix_len - n;
    }
    int pad = spec->width - prefix_len - n - (zeros > 0 ? zeros : 0);
    output_fill(out, ' ', spec->left ? 0 : pad);
    output_bytes(out, prefix, (u64)prefix_len);
    output_fill(out, '0', zeros);
    output_bytes(out, end - n, (u64)n);
    output_fill(out, ' ', spec->left ? pad : 0);
}

static const char *parse_flags(const char *at, struct spec *spec)
{
    for (;; at++) {
        if (*at == '-') {
            spec->left = 1;
        } else if (*at == '0') {
            spec->zero = 1;
        } else if (*at == '#') {
            spec->alternate = 1;
        } else {
            return at;
        }
    }
}

// va_list is an array type: a struct carries it through a pointer.
struct arguments {
    va_list list;
};

static const char *parse_count(const char *at, int *count,
                               struct arguments *args)
{
    if (*at == '*') {
        *count = va_arg(args->list, int);
        at++;
    } else {
        for (*count = 0; *at >= '0' && *at <= '9'; at++) {
            *count = *count * 10 + (*at - '0');
            *count = *count > FIELD_MAX ? FIELD_MAX : *count;
        }
    }
    *count = *count > FIELD_MAX ? FIELD_MAX : *count;
    *count = *count < -FIELD_MAX ? -FIELD_MAX : *count;
    return at;
}

static const char *parse_spec(const char *at, struct spec *spec,
                              struct arguments *args)
{
    *spec = (struct spec){.precision = -1};
    at = parse_flags(at, spec);
    at = parse_count(at, &spec->width, args);
    if (spec->width < 0) {
        spec->left = 1;
        spec->width = -spec->width;
    }
    if (*at == '.') {
        at = parse_count(at + 1, &spec->precision, args);
    }
    while (*at == 'l' || *at == 'z') {
        spec->is_long = 1;
        at++;
    }
    return at;
}

static void convert_signed(struct output *out, const struct spec *spec,
                           i64 value)
{
    struct number number = {.base = 10, .negative = value < 0};
    number.value = value < 0 ? -(u64)value : (u64)value;
    output_number(out, spec, &number);
}

static void convert_integer(struct output *out, const struct spec *spec,
                            char letter, struct arguments *args)
{
    if (letter == 'd' || letter == 'i') {
        convert_signed(out, spec,
                       spec->is_long ? va_arg(args->list, i64)
                                     : va_arg(args->list, i32));
        return;
    }
    struct number number = {.base = letter == 'u' ? 10 : 16,
                            .upper = letter == 'X'};
    number.value =
        spec->is_long ? va_arg(args->list, u64) : va_arg(args->list, u32);
    output_number(out, spec, &number);
}

static void convert_pointer(struct output *out, const struct spec *spec,
                            const void *pointer)
{
    char text[24];
    u64 len = format(text, sizeof(text), "0x%lx", (u64)pointer);
    output_field(out, spec, text, len);
}

// One conversion, at its letter. Returns 0 when it is not one of ours.
static int convert(struct output *out, const struct spec *spec, char letter,
                   struct arguments *args)
{
    char byte;
    switch (letter) {
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
        convert_integer(out, spec, letter, args);
        return 1;
    case 'c':
        byte = (char)va_arg(args->list, int);
        output_field(out, spec, &byte, 1);
        return 1;
    case 's':
        output_string(out, spec, va_arg(args->list, const char *));
        return 1;
    case 'p':
        convert_pointer(out, spec, va_arg(args->list, const void *));
        return 1;
    case '%':
        output_bytes(out, "%", 1);
        return 1;
    default:
        return 0;
    }
}

u64 format_args(char *to, u64 cap, const char *format, va_list list)
{
    struct output out = {to, cap, 0};
    struct arguments args;
    va_copy(args.list, list);
    while (*format) {
        const char *plain = format;
        while (*format && *format != '%') {
            format++;
        }
        output_bytes(&out, plain, (u64)(format - plain));
        if (!*format) {
            break;
        }
        struct spec spec;
        const char *start = format;
        format = parse_spec(format + 1, &spec, &args);
        if (convert(&out, &spec, *format, &args)) {
            format++;
        } else {
            output_bytes(&out, start, (u64)(format - start));
        }
    }
    va_end(args.list);
    if (cap > 0) {
        to[out.len < cap ? out.len : cap - 1] = 0;
    }
    return out.len;
}

u64 format(char *to, u64 cap, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    u64 len = format_args(to, cap, format, args);
    va_end(args);
    return len;
}
