// ps2.h - what a PS/2 keyboard sends, as keys.
// SPDX-License-Identifier: MIT
#pragma once
#include "../kernel/driver.h"

struct ps2_decoder {
    u8 set;      // 1 or 2: what arrives
    u8 extended; // after E0
    u8 released; // after F0, set 2
    u8 skip;     // bytes of Pause still to come
};

enum { PS2_RELEASED = 0x100 };
// One byte in; a key (its HID usage, with PS2_RELEASED when it was let go) or 0
// out.
u32 ps2_decode(struct ps2_decoder *decoder, u8 byte);
