// framebuffer.c - text on the picture that the loader left: a console.
// SPDX-License-Identifier: MIT
//
// Multiboot2 3.6.12 says what a pixel is. The framebuffer is written, never
// read: what it shows is kept in RAM beside what it should show, and only cells
// that differ are drawn, row of pixels by row of pixels, so that
// write-combining fills whole lines.
#include "../kernel/console.h"
#include "../kernel/screen.h"
#include "../kernel/driver.h"
#include "text.h"

#define LOG_TAG "screen"

enum { EARLY_COLUMNS = 80, EARLY_ROWS = 16 }; // until there is memory
enum { LEAST_COLUMNS = 40, LEAST_ROWS = 10, UNSCALED_WIDTH = 1920 };
enum { SCALE_MOST = 9, CURSOR_ROW = 14 };
enum { WORD = 8 }; // bytes written at once
// Drawing inside drawing: an exception is reported. Further down it is drawing
// itself that fails, and only the other consoles tell.
enum { DEPTH_MOST = 2 };

static u16 early_cells[EARLY_COLUMNS * EARLY_ROWS];
static u16 early_shown[EARLY_COLUMNS * EARLY_ROWS];

static struct {
    u64 pixels;
    u32 width, height, pitch;
    u32 bytes; // a pixel
    u32 scale; // pixels to one of the font, across and down
    u32 columns, rows;
    u32 palette[16];
    struct text text;
    u16 *shown;     // what the framebuffer shows, cell by cell
    u32 cursor_row; // where the cursor is shown
    u8 lost;        // a program has drawn over it
    u8 depth;       // of framebuffer_show()
} fb;

// ---- colours ----

static u32 framebuffer_channel(u32 value, u32 position, u32 bits)
{
    value = bits <= 8 ? value >> (8 - bits) : value << (bits - 8);
    return value << position;
}

// The sixteen of ANSI: our own values, 0xRRGGBB.
static void framebuffer_mix(const struct screen_info *screen)
{
    static const u32 colours[16] = {0x000000, 0xC03028, 0x30A040, 0xB08020,
                                    0x3060D0, 0xA040A0, 0x20A0A0, 0xC8C8C8,
                                    0x707070, 0xFF6058, 0x60E070, 0xFFD850,
                                    0x6898FF, 0xE878E8, 0x58E0E0, 0xFFFFFF};
    for (u32 i = 0; i < 16; i++) {
        u32 red = colours[i] >> 16, green = colours[i] >> 8 & 0xFF;
        fb.palette[i] =
            framebuffer_channel(red, screen->red_position, screen->red_bits) |
            framebuffer_channel(green, screen->green_position,
                                screen->green_bits) |
            framebuffer_channel(colours[i] & 0xFF, screen->blue_position,
                                screen->blue_bits);
    }
}

// ---- pixels ----

// One row of pixels of a cell; 24-bit pixels overlap in the making, the last
// one's fourth byte is spare.
static void framebuffer_build(u16 cell, u32 y, u8 *to)
{
    u32 bits = font_rows[cell & CELL_GLYPH][y];
    u32 front = fb.palette[cell >> 8 & 15], back = fb.palette[cell >> 12 & 7];
    if (cell & CELL_CURSOR && y >= CURSOR_ROW) {
        bits = 0xFF;
    }
    for (u32 x = 0; x < FONT_WIDTH; x++, bits <<= 1) {
        u32 colour = bits & 0x80 ? front : back;
        for (u32 i = 0; i < fb.scale; i++, to += fb.bytes) {
            __builtin_memcpy(to, &colour, sizeof(colour));
        }
    }
}

static void framebuffer_copy(u64 to, const u8 *from, u32 len)
{
    for (u32 i = 0; i < len; i += WORD) {
        u64 word;
        __builtin_memcpy(&word, from + i, WORD);
        mmio_write64(to + i, word);
    }
}

// n cells of a row, from column on.
static void framebuffer_draw(u32 row, u32 column, u32 n)
{
    u8 line[FONT_WIDTH * SCALE_MOST * sizeof(u32) + sizeof(u32)];
    u32 cell_bytes = FONT_WIDTH * fb.scale * fb.bytes;
    const u16 *cells = fb.shown + row * fb.columns + column;
    for (u32 y = 0; y < FONT_HEIGHT; y++) {
        u64 at = fb.pixels + (u64)column * cell_bytes +
                 (u64)(row * FONT_HEIGHT + y) * fb.scale * fb.pitch;
        for (u32 i = 0; i < n; i++, at += cell_bytes) {
            framebuffer_build(cells[i], y, line);
            for (u32 copy = 0; copy < fb.scale; copy++) {
                framebuffer_copy(at + (u64)copy * fb.pitch, line, cell_bytes);
            }
        }
    }
}

static void framebuffer_clear(void)
{
    u64 len = (u64)fb.width * fb.bytes;
    for (u32 y = 0; y < fb.height; y++) {
        u64 at = fb.pixels + (u64)y * fb.pitch, end = at + len;
        for (; at + WORD <= end; at += WORD) {
            mmio_write64(at, 0);
        }
        for (; at < end; at++) {
            mmio_write8(at, 0);
        }
    }
    for (u32 i = 0; i < fb.columns * fb.rows; i++) {
        fb.shown[i] = CELL_BLANK;
    }
}

// ---- text ----

static u16 framebuffer_wanted(u32 row, u32 column)
{
    const struct text *text = &fb.text;
    u32 cursor =
        text->column < text->columns ? text->column : text->columns - 1;
    u16 cell = text->cells[row * fb.columns + column];
    int here = row == text->row && column == cursor && !text->hidden;
    return here ? cell | CELL_CURSOR : cell;
}

static void framebuffer_show_row(u32 row)
{
    u16 *shown = fb.shown + row * fb.columns;
    u32 start = 0, column;
    for (column = 0; column < fb.columns; column++) {
        u16 wanted = framebuffer_wanted(row, column);
        if (shown[column] != wanted) {
            shown[column] = wanted;
            continue;
        }
        if (column > start) {
            framebuffer_draw(row, start, column - start);
        }
        start = column + 1;
    }
    if (column > start) {
        framebuffer_draw(row, start, column - start);
    }
}

// Bring the framebuffer up to date.
static void framebuffer_show(void)
{
    struct text *text = &fb.text;
    if (screen_is_claimed()) {
        fb.lost = 1;
        return;
    }
    if (fb.lost) {
        fb.lost = 0;
        framebuffer_clear();
        text_touch(text, 0, fb.rows - 1);
    }
    text_touch(text, fb.cursor_row, fb.cursor_row);
    text_touch(text, text->row, text->row);
    fb.cursor_row = text->row;
    // A row counts as changed until it is drawn: who comes in between draws
    // it too.
    while (text->first <= text->last && !screen_is_cut_short()) {
        u32 row = text->first;
        framebuffer_show_row(row);
        text->first = row + 1;
    }
    if (text->first > text->last) {
        text_clean(text);
    }
    sfence(); // what was combined is on the screen now
}

static void framebuffer_write(const char *bytes, u64 len)
{
    text_write(&fb.text, bytes, len);
    if (fb.depth < DEPTH_MOST) {
        fb.depth++;
        framebuffer_show();
        fb.depth--;
    }
}

static const struct console_sink framebuffer_sink = {"screen",
                                                     framebuffer_write};

// ---- start ----

static u32 framebuffer_least(u64 a, u64 b)
{
    return (u32)(a < b ? a : b);
}

static void framebuffer_measure(u32 *columns, u32 *rows)
{
    *columns =
        framebuffer_least(fb.width / (FONT_WIDTH * fb.scale), TEXT_COLUMNS);
    *rows = framebuffer_least(fb.height / (FONT_HEIGHT * fb.scale), TEXT_ROWS);
}

static int framebuffer_start(const struct screen_info *screen)
{
    u32 columns, rows;
    fb.pixels = (u64)screen->pixels;
    fb.width = screen->width;
    fb.height = screen->height;
    fb.pitch = screen->pitch;
    fb.bytes = screen->bits / 8;
    fb.scale = framebuffer_least(
        (fb.width + UNSCALED_WIDTH - 1) / UNSCALED_WIDTH, SCALE_MOST);
    framebuffer_measure(&columns, &rows);
    if (columns < LEAST_COLUMNS || rows < LEAST_ROWS) {
        return E_UNSUPPORTED;
    }
    framebuffer_mix(screen);
    fb.columns = framebuffer_least(columns, EARLY_COLUMNS);
    fb.rows = framebuffer_least(rows, EARLY_ROWS);
    fb.shown = early_shown;
    text_begin(&fb.text, early_cells, fb.columns, fb.rows);
    framebuffer_clear();
    console_add_sink(&framebuffer_sink);
    return 0;
}

// The text moves from its few early rows to cells for the whole screen.
static int framebuffer_grow(void)
{
    u32 columns, rows;
    framebuffer_measure(&columns, &rows);
    u64 n = (u64)columns * rows;
    u16 *cells = memory_boot_alloc(2 * n * sizeof(u16), WORD);
    if (cells == 0) {
        return E_NOMEM;
    }
    u16 *shown = cells + n;
    for (u64 i = 0; i < n; i++) {
        shown[i] = CELL_BLANK;
    }
    for (u32 row = 0; row < fb.rows; row++) {
        memcpy(shown + row * columns, fb.shown + row * fb.columns,
               fb.columns * sizeof(u16));
    }
    text_resize(&fb.text, cells, columns, rows);
    fb.shown = shown;
    fb.columns = columns;
    fb.rows = rows;
    framebuffer_show();
    return 0;
}

static void framebuffer_size(u32 *columns, u32 *rows)
{
    *columns = fb.columns;
    *rows = fb.rows;
}

extern const struct screen_driver framebuffer_driver;
const struct screen_driver framebuffer_driver = {
    "framebuffer", framebuffer_start, framebuffer_grow, framebuffer_size};
