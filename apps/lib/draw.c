// draw.c - points, boxes, lines, text and pictures on the screen.
// SPDX-License-Identifier: MIT
#include "draw.h"
#include "../../lib/font.h"
#include "../../lib/utf8.h"

enum { UNSCALED_WIDTH = 1920 };

int draw_begin(struct draw *draw)
{
    struct screen_info *screen = &draw->screen;
    int error = os->screen_info(screen);
    if (error >= 0) {
        error = os->screen_claim(1);
    }
    if (error < 0) {
        return error;
    }
    draw->bytes = screen->bits / 8;
    draw->scale = (screen->width + UNSCALED_WIDTH - 1) / UNSCALED_WIDTH;
    draw->direct = screen->red_position == 16 && screen->red_bits == 8 &&
                   screen->green_position == 8 && screen->green_bits == 8 &&
                   screen->blue_position == 0 && screen->blue_bits == 8;
    struct draw_box all = {0, 0, (i32)screen->width, (i32)screen->height};
    draw_fill(draw, &all, 0);
    return 0;
}

void draw_end(void)
{
    (void)os->screen_claim(0);
}

static u32 draw_channel(u32 value, u32 position, u32 bits)
{
    return (bits <= 8 ? value >> (8 - bits) : value << (bits - 8)) << position;
}

// A colour as the screen wants it.
static u32 draw_mix(const struct draw *draw, u32 colour)
{
    const struct screen_info *to = &draw->screen;
    if (draw->direct) {
        return colour;
    }
    return draw_channel(colour >> 16 & 0xFF, to->red_position, to->red_bits) |
           draw_channel(colour >> 8 & 0xFF, to->green_position,
                        to->green_bits) |
           draw_channel(colour & 0xFF, to->blue_position, to->blue_bits);
}

static u8 *draw_place(const struct draw *draw, i32 x, i32 y)
{
    return (u8 *)draw->screen.pixels + (u64)y * draw->screen.pitch +
           (u64)x * draw->bytes;
}

static void draw_put(const struct draw *draw, u8 *to, u32 value)
{
    if (draw->bytes == sizeof(value)) {
        __builtin_memcpy(to, &value, sizeof(value));
        return;
    }
    to[0] = (u8)value;
    to[1] = (u8)(value >> 8);
    to[2] = (u8)(value >> 16);
}

// What has been combined goes out.
static void draw_flush(void)
{
    __asm__ volatile("sfence" : : : "memory");
}

// The part of a box that is on the screen. 0: none of it.
static int draw_clip(const struct draw *draw, struct draw_box *box)
{
    i64 right = (i64)box->x + box->width, bottom = (i64)box->y + box->height;
    i64 width = draw->screen.width, height = draw->screen.height;
    box->x = box->x < 0 ? 0 : box->x;
    box->y = box->y < 0 ? 0 : box->y;
    right = right < width ? right : width;
    bottom = bottom < height ? bottom : height;
    if (right <= box->x || bottom <= box->y) {
        return 0;
    }
    box->width = (i32)right - box->x;
    box->height = (i32)bottom - box->y;
    return 1;
}

void draw_pixel(const struct draw *draw, i32 x, i32 y, u32 colour)
{
    struct draw_box box = {x, y, 1, 1};
    if (draw_clip(draw, &box)) {
        draw_put(draw, draw_place(draw, x, y), draw_mix(draw, colour));
    }
}

void draw_fill(const struct draw *draw, const struct draw_box *box, u32 colour)
{
    struct draw_box part = *box;
    u32 value = draw_mix(draw, colour);
    if (!draw_clip(draw, &part)) {
        return;
    }
    for (i32 y = 0; y < part.height; y++) {
        u8 *to = draw_place(draw, part.x, part.y + y);
        for (i32 x = 0; x < part.width; x++, to += draw->bytes) {
            draw_put(draw, to, value);
        }
    }
    draw_flush();
}

static i64 draw_size(i64 value)
{
    return value < 0 ? -value : value;
}

// Bresenham's: one step along the longer side, now and then one across.
void draw_line(const struct draw *draw, const struct draw_box *box, u32 colour)
{
    i64 width = draw_size(box->width), height = draw_size(box->height);
    i64 steps = (width > height ? width : height) - 1;
    i64 dx = width > 0 ? width - 1 : 0, dy = height > 0 ? height - 1 : 0;
    i64 x = 0, y = 0, across = steps / 2, down = across;
    for (i64 i = 0; i <= steps; i++) {
        draw_pixel(draw, box->x + (i32)(box->width < 0 ? -x : x),
                   box->y + (i32)(box->height < 0 ? -y : y), colour);
        across += dx;
        down += dy;
        if (across >= steps) {
            across -= steps;
            x++;
        }
        if (down >= steps) {
            down -= steps;
            y++;
        }
    }
    draw_flush();
}

static void draw_letter(const struct draw *draw, i32 x, i32 y, u32 code,
                        u32 colour)
{
    const u8 *rows = font_rows[font_find(code)];
    i32 size = (i32)draw->scale;
    for (i32 row = 0; row < FONT_HEIGHT; row++) {
        for (i32 column = 0; column < FONT_WIDTH; column++) {
            struct draw_box dot = {x + column * size, y + row * size, size,
                                   size};
            if (rows[row] & 0x80 >> column) {
                draw_fill(draw, &dot, colour);
            }
        }
    }
}

void draw_text(const struct draw *draw, i32 x, i32 y, const char *text,
               u32 colour)
{
    struct utf8 utf8 = {.left = 0};
    i32 width = FONT_WIDTH * (i32)draw->scale;
    while (*text) {
        u32 code = utf8_feed(&utf8, (u8)*text);
        if (code != UTF8_MORE) {
            draw_letter(draw, x, y, code == UTF8_CUT ? UTF8_BAD : code, colour);
            x += width;
        }
        text += code != UTF8_CUT; // that byte comes again
    }
}

void draw_picture(const struct draw *draw, i32 x, i32 y,
                  const struct draw_image *image)
{
    struct draw_box part = {x, y, image->width, image->height};
    if (!draw_clip(draw, &part)) {
        return;
    }
    for (i32 row = 0; row < part.height; row++) {
        const u32 *from = image->pixels +
                          (i64)(part.y - y + row) * image->width + (part.x - x);
        u8 *to = draw_place(draw, part.x, part.y + row);
        for (i32 i = 0; i < part.width; i++, to += draw->bytes) {
            draw_put(draw, to, draw_mix(draw, from[i]));
        }
    }
    draw_flush();
}
