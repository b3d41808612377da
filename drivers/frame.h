// frame.h - what every NIC does with a frame's bytes.
// SPDX-License-Identifier: MIT
#pragma once
#include "../kernel/driver.h"

enum {
    FRAME_MIN_WIRE = 60,  // Ethernet's 64 without the FCS
    FRAME_ROOM = 2048,    // one buffer
    FRAME_OFFSET = 64,    // where its frame starts: a cache line of its own,
                          // behind room for a device's header
    FRAME_CALL_LEN = 256, // from here on a memcpy call pays
};

struct frame_word { // eight bytes at any address
    u64 value;
} __attribute__((packed, may_alias));

static inline void frame_copy_word(u8 *to, const u8 *from)
{
    ((struct frame_word *)(void *)to)->value =
        ((const struct frame_word *)(const void *)from)->value;
}

// Copy len >= NET_MIN_FRAME bytes and pad with zeros to the shortest frame of
// the wire. Returns the length to send. Small frames are copied in line, in
// words: a call, or a string instruction's start, costs more than the frame.
static inline u32 frame_copy(u8 *to, const u8 *from, u32 len)
{
    if (len >= FRAME_CALL_LEN) {
        memcpy(to, from, len);
        return len;
    }
    if (len < FRAME_MIN_WIRE) {
        memset(to, 0, FRAME_MIN_WIRE);
    }
    u32 i = 0;
    for (; i + 32 <= len; i += 32) {
        frame_copy_word(to + i, from + i);
        frame_copy_word(to + i + 8, from + i + 8);
        frame_copy_word(to + i + 16, from + i + 16);
        frame_copy_word(to + i + 24, from + i + 24);
    }
    for (; i + 8 <= len; i += 8) {
        frame_copy_word(to + i, from + i);
        __asm__(""); // or the compiler makes it a memcpy call
    }
    if (i < len) {
        frame_copy_word(to + len - 8, from + len - 8);
    }
    return len < FRAME_MIN_WIRE ? FRAME_MIN_WIRE : len;
}
