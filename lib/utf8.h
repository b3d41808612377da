// utf8.h - UTF-8, a byte at a time; whatever comes, there is an answer.
// SPDX-License-Identifier: MIT
#pragma once
#include "../include/ingot.h"

enum { UTF8_BAD = 0xFFFD }; // stands for what is no character
#define UTF8_MORE 0xFFFFFFFFu
#define UTF8_CUT 0xFFFFFFFEu

struct utf8 { // all zero to begin with
    u32 code;
    u8 left, length; // bytes of this character: to come, in all
};

// The code point that this byte ends; UTF8_MORE: it takes more bytes;
// UTF8_CUT: the bytes before were cut short (count them as one UTF8_BAD), feed
// this one again.
u32 utf8_feed(struct utf8 *utf8, u8 byte);
