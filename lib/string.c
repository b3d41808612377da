// string.c - bytes and C strings, for the kernel and for programs.
// SPDX-License-Identifier: MIT
//
// General registers only, so that the kernel can use it. Short copies are two
// overlapping moves; long ones are `rep movsq`, which is what processors make
// fast and which the emulator counts as one instruction for eight bytes.
#include "string.h"

enum { LONG = 64 }; // bytes from which the string instructions pay

struct unaligned8 {
    u64 value;
} __attribute__((packed, may_alias));
struct unaligned4 {
    u32 value;
} __attribute__((packed, may_alias));
struct unaligned2 {
    u16 value;
} __attribute__((packed, may_alias));

static inline u64 get8(const u8 *from)
{
    return ((const struct unaligned8 *)(const void *)from)->value;
}
static inline u32 get4(const u8 *from)
{
    return ((const struct unaligned4 *)(const void *)from)->value;
}
static inline u16 get2(const u8 *from)
{
    return ((const struct unaligned2 *)(const void *)from)->value;
}
static inline void put8(u8 *to, u64 value)
{
    ((struct unaligned8 *)(void *)to)->value = value;
}
static inline void put4(u8 *to, u32 value)
{
    ((struct unaligned4 *)(void *)to)->value = value;
}
static inline void put2(u8 *to, u16 value)
{
    ((struct unaligned2 *)(void *)to)->value = value;
}

// Compilers know these loops and would replace them by a call to the very
// function they are in; a statement they cannot see through prevents it.
static inline void keep_loop(void)
{
    __asm__ volatile("");
}

static void copy_under_8(u8 *to, const u8 *from, u64 len)
{
    if (len >= 4) {
        u32 first = get4(from), last = get4(from + len - 4);
        put4(to, first);
        put4(to + len - 4, last);
        return;
    }
    if (len >= 2) {
        u16 first = get2(from), last = get2(from + len - 2);
        put2(to, first);
        put2(to + len - 2, last);
        return;
    }
    if (len == 1) {
        *to = *from;
    }
}

// Right also when the areas overlap: the tail is read before it is written
// over, and everything else is copied from low to high.
static void copy_up(u8 *to, const u8 *from, u64 len)
{
    u64 tail = get8(from + len - 8);
    u8 *tail_to = to + len - 8;
    u64 words = (len - 1) / 8;
    if (len >= LONG) {
        __asm__ volatile("rep movsq"
                         : "+D"(to), "+S"(from), "+c"(words)
                         :
                         : "memory");
    }
    for (; words > 0; words--) {
        keep_loop();
        put8(to, get8(from));
        to += 8;
        from += 8;
    }
    put8(tail_to, tail);
}

static void copy_down(u8 *to, const u8 *from, u64 len)
{
    u64 head = get8(from);
    u64 left = len;
    for (; left > 8; left -= 8) {
        keep_loop();
        put8(to + left - 8, get8(from + left - 8));
    }
    put8(to, head);
}

void *memcpy(void *to, const void *from, u64 len)
{
    if (len < 8) {
        copy_under_8(to, from, len);
    } else {
        copy_up(to, from, len);
    }
    return to;
}

void *memmove(void *to, const void *from, u64 len)
{
    if (len >= 8 && (u64)to - (u64)from < len) {
        copy_down(to, from, len);
        return to;
    }
    return memcpy(to, from, len);
}

static void set_under_8(u8 *to, u64 pattern, u64 len)
{
    if (len >= 4) {
        put4(to, (u32)pattern);
        put4(to + len - 4, (u32)pattern);
        return;
    }
    if (len >= 2) {
        put2(to, (u16)pattern);
        put2(to + len - 2, (u16)pattern);
        return;
    }
    if (len == 1) {
        *to = (u8)pattern;
    }
}

void *memset(void *to, int byte, u64 len)
{
    u8 *place = to;
    u64 pattern = (u8)byte * 0x0101010101010101ul;
    if (len < 8) {
        set_under_8(place, pattern, len);
        return to;
    }
    u64 words = (len - 1) / 8;
    put8(place + len - 8, pattern);
    if (len >= LONG) {
        __asm__ volatile("rep stosq"
                         : "+D"(place), "+c"(words)
                         : "a"(pattern)
                         : "memory");
    }
    for (; words > 0; words--) {
        keep_loop();
        put8(place, pattern);
        place += 8;
    }
    return to;
}

int memcmp(const void *a, const void *b, u64 len)
{
    const u8 *left = a, *right = b;
    for (; len >= 8 && get8(left) == get8(right); len -= 8) {
        keep_loop();
        left += 8;
        right += 8;
    }
    for (; len > 0; len--) {
        keep_loop();
        if (*left != *right) {
            return *left - *right;
        }
        left++;
        right++;
    }
    return 0;
}

u64 strlen(const char *text)
{
    u64 len = 0;
    while (text[len]) {
        keep_loop();
        len++;
    }
    return len;
}

u64 strnlen(const char *text, u64 cap)
{
    u64 len = 0;
    while (len < cap && text[len]) {
        keep_loop();
        len++;
    }
    return len;
}

int strcmp(const char *a, const char *b)
{
    return strncmp(a, b, ~0ul);
}

int strncmp(const char *a, const char *b, u64 len)
{
    for (; len > 0; len--) {
        keep_loop();
        u8 left = (u8)*a++, right = (u8)*b++;
        if (left != right || !left) {
            return left - right;
        }
    }
    return 0;
}

char *strchr(const char *text, int byte)
{
    while (*text != (char)byte) {
        keep_loop();
        if (!*text) {
            return 0;
        }
        text++;
    }
    return (char *)(u64)text;
}
