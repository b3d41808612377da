// frame.h - what every NIC does with a frame's bytes.
// SPDX-License-Identifier: MIT
#pragma once
#include "../kernel/driver.h"

enum {
    FRAME_MIN_WIRE = 60,      // Ethernet's 64 without the FCS
    FRAME_SMALL = 64,         // what small frames are in practice
    FRAME_ROOM = 2048,        // one buffer
    FRAME_ROOM_JUMBO = 16384, // with frames longer than usual
    FRAME_OFFSET = 64, // where its frame starts: a cache line of its own,
                       // behind room for a device's header
};

struct frame_words { // 32 bytes at any address
    u64 word[4];
} __attribute__((packed, may_alias));

static inline void frame_copy_32(u8 *to, const u8 *from)
{
    *(struct frame_words *)(void *)to =
        *(const struct frame_words *)(const void *)from;
}

// Small frames are copied in line, in words: a call, or a string instruction's
// start, costs more than the frame.
static inline int frame_is_small(u32 len)
{
    return len - FRAME_MIN_WIRE <= FRAME_SMALL - FRAME_MIN_WIRE;
}

static inline void frame_copy_small(u8 *to, const u8 *from, u32 len)
{
    frame_copy_32(to, from);
    frame_copy_32(to + len - 32, from + len - 32);
}

// Copy len >= NET_MIN_FRAME bytes and pad with zeros to the shortest frame of
// the wire. Returns the length to send.
static inline u32 frame_copy(u8 *to, const u8 *from, u32 len)
{
    if (frame_is_small(len)) {
        frame_copy_small(to, from, len);
        return len;
    }
    if (len < FRAME_MIN_WIRE) {
        memset(to, 0, FRAME_MIN_WIRE);
    }
    memcpy(to, from, len);
    return len < FRAME_MIN_WIRE ? FRAME_MIN_WIRE : len;
}
