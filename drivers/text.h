// text.h - a screen of text in RAM: cells, a cursor, and what ANSI sequences do
// to them. It knows nothing of pixels.
// SPDX-License-Identifier: MIT
#pragma once
#include "../include/ingot.h"
#include "../lib/font.h"
#include "../lib/string.h"
#include "../lib/utf8.h"

// A cell: the glyph in bits 0 to 7, the colour of its letter in 8 to 11 and of
// what is behind it in 12 to 14. Bit 15 is the caller's: the cursor is here.
enum {
    CELL_GLYPH = 0xFF,
    CELL_COLOURS = 0x7F00,
    CELL_CURSOR = 0x8000,
    CELL_BLANK = 0x0700, // grey on black
};
enum { TEXT_COLUMNS = 240, TEXT_ROWS = 135, TEXT_PARAMETERS = 8 };

struct text {
    u16 *cells; // rows * columns
    u32 columns, rows;
    // Where the next letter goes; column == columns: first on the next row.
    u32 column, row;
    u32 first, last; // rows changed since text_clean(); first > last: none
    u32 saved_column, saved_row;
    u16 pen;          // a cell without its glyph
    u8 bold, inverse; // bold: the bright colours
    u8 hidden;        // the cursor
    // text_reader.c: an escape sequence on its way
    u8 state;
    u32 taken; // bytes of it so far
    u8 private;
    u32 n;
    u32 parameters[TEXT_PARAMETERS];
    struct utf8 utf8;
};

// An empty screen.
void text_begin(struct text *text, u16 *cells, u32 columns, u32 rows);
// Into other cells, no fewer columns and rows: what is there moves along.
void text_resize(struct text *text, u16 *cells, u32 columns, u32 rows);
void text_write(struct text *text, const char *bytes, u64 len);
void text_touch(struct text *text, u32 first, u32 last);
void text_clean(struct text *text);
u16 text_pen(const struct text *text); // a blank cell as the next letter's

// ---- text.c, for text_reader.c ----
void text_put(struct text *text, u32 code);
void text_line_feed(struct text *text);
void text_go(struct text *text, i64 row, i64 column); // clipped
// Blank the cells from one place (counted row by row) up to another.
void text_erase(struct text *text, u32 from, u32 to);
// Take n cells out at the cursor, or put n blanks in.
void text_delete(struct text *text, u32 n);
void text_insert(struct text *text, u32 n);
