// font.h - the letters of the screen: ASCII, Latin-1, box drawing.
// SPDX-License-Identifier: MIT
#pragma once
#include "../include/ingot.h"

enum { FONT_WIDTH = 8, FONT_HEIGHT = 16, FONT_GLYPHS = 253 };
enum {
    FONT_LATIN = 0x7F - ' ',        // glyph of U+00A0
    FONT_EXTRA = FONT_LATIN + 0x60, // of font_extra[0]
    FONT_UNKNOWN = FONT_GLYPHS - 1, // a box, for what has no glyph
};

// font.c, made by tools/make_font.py
extern const u8 font_rows[FONT_GLYPHS][FONT_HEIGHT]; // bit 7 is the left one
extern const u16 font_extra[FONT_UNKNOWN - FONT_EXTRA];
extern const u8 font_box[128];

// The glyph of a code point; FONT_UNKNOWN when there is none.
u8 font_find(u32 code);
