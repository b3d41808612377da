// text.c - a screen of text in RAM: cells and a cursor.
// SPDX-License-Identifier: MIT
//
// The next call may come in the middle of this one (an exception while text is
// written is reported here too), so row and column never leave the screen, not
// even for a moment.
#include "text.h"

void text_touch(struct text *text, u32 first, u32 last)
{
    text->first = first < text->first ? first : text->first;
    text->last = last > text->last ? last : text->last;
}

void text_clean(struct text *text)
{
    text->first = text->rows;
    text->last = 0;
}

u16 text_pen(const struct text *text)
{
    u32 front = text->pen >> 8 & 0xF, back = text->pen >> 12 & 7;
    if (text->bold) {
        front |= 8;
    }
    return (u16)(text->inverse ? (front & 7) << 12 | back << 8
                               : back << 12 | front << 8);
}

static void text_fill(struct text *text, u32 from, u32 to)
{
    u16 blank = text_pen(text);
    for (u32 i = from; i < to; i++) {
        text->cells[i] = blank;
    }
}

void text_begin(struct text *text, u16 *cells, u32 columns, u32 rows)
{
    *text = (struct text){
        .cells = cells, .columns = columns, .rows = rows, .pen = CELL_BLANK};
    text_fill(text, 0, columns * rows);
    text_touch(text, 0, rows - 1);
}

void text_resize(struct text *text, u16 *cells, u32 columns, u32 rows)
{
    struct text old = *text;
    text->cells = cells;
    text->columns = columns;
    text->rows = rows;
    text_fill(text, 0, columns * rows);
    for (u32 row = 0; row < old.rows; row++) {
        memcpy(cells + row * columns, old.cells + row * old.columns,
               old.columns * sizeof(u16));
    }
    text_touch(text, 0, rows - 1);
}

static void text_scroll(struct text *text)
{
    u32 rest = text->columns * (text->rows - 1);
    memmove(text->cells, text->cells + text->columns, rest * sizeof(u16));
    text_fill(text, rest, rest + text->columns);
    text_touch(text, 0, text->rows - 1);
}

void text_line_feed(struct text *text)
{
    if (text->row + 1 < text->rows) {
        text->row++;
    } else {
        text_scroll(text);
    }
}

void text_put(struct text *text, u32 code)
{
    if (text->column == text->columns) {
        text->column = 0;
        text_line_feed(text);
    }
    u32 row = text->row;
    text->cells[row * text->columns + text->column] =
        text_pen(text) | font_find(code);
    text->column++;
    text_touch(text, row, row);
}

static u32 text_clip(i64 value, u32 limit)
{
    return value < 0 ? 0 : value < limit ? (u32)value : limit - 1;
}

void text_go(struct text *text, i64 row, i64 column)
{
    text->row = text_clip(row, text->rows);
    text->column = text_clip(column, text->columns);
}

void text_erase(struct text *text, u32 from, u32 to)
{
    if (from < to) {
        text_fill(text, from, to);
        text_touch(text, from / text->columns, (to - 1) / text->columns);
    }
}

// The cursor's row from the cursor on, and at most n.
static u16 *text_rest(struct text *text, u32 *n, u32 *rest)
{
    u32 column = text_clip(text->column, text->columns);
    *rest = text->columns - column;
    *n = *n < *rest ? *n : *rest;
    text_touch(text, text->row, text->row);
    return text->cells + text->row * text->columns + column;
}

void text_delete(struct text *text, u32 n)
{
    u32 rest;
    u16 *here = text_rest(text, &n, &rest);
    memmove(here, here + n, (rest - n) * sizeof(u16));
    u32 end = (text->row + 1) * text->columns;
    text_fill(text, end - n, end);
}

void text_insert(struct text *text, u32 n)
{
    u32 rest;
    u16 *here = text_rest(text, &n, &rest);
    memmove(here + n, here, (rest - n) * sizeof(u16));
    u32 at = (u32)(here - text->cells);
    text_fill(text, at, at + n);
}
