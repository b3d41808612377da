// font_find.c - from code points to glyphs.
// SPDX-License-Identifier: MIT
#include "font.h"

enum { LATIN_1 = 0xA0, BOX_DRAWING = 0x2500 };

u8 font_find(u32 code)
{
    if (code >= ' ' && code < 0x7F) {
        return (u8)(code - ' ');
    }
    if (code >= LATIN_1 && code <= 0xFF) {
        return (u8)(FONT_LATIN + code - LATIN_1);
    }
    if (code - BOX_DRAWING < sizeof(font_box)) {
        return font_box[code - BOX_DRAWING];
    }
    for (u32 i = 0; i < FONT_UNKNOWN - FONT_EXTRA; i++) {
        if (font_extra[i] == code) {
            return (u8)(FONT_EXTRA + i);
        }
    }
    return FONT_UNKNOWN;
}
