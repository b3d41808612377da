// draw.h - points, boxes, lines, text and pictures on the screen.
// SPDX-License-Identifier: MIT
//
// Colours are 0xRRGGBB, whatever the screen's format. Places are pixels from
// the top left corner; what lies outside is left out. The screen is written and
// never read: reading it is slow.
#pragma once
#include "../../include/ingot.h"

struct draw {
    struct screen_info screen;
    u32 bytes;  // a pixel
    u32 scale;  // of text: 1 up to 1920 pixels across
    u32 direct; // the screen's pixels are 0xRRGGBB themselves
};

struct draw_box {
    i32 x, y;
    i32 width, height;
};

struct draw_image {
    const u32 *pixels; // 0xRRGGBB, row by row
    i32 width, height;
};

// Take the screen from the text and clear it. E_NODEV: there is none. It goes
// back with draw_end() or with the program.
int must_check draw_begin(struct draw *draw);
void draw_end(void);
void draw_pixel(const struct draw *draw, i32 x, i32 y, u32 colour);
void draw_fill(const struct draw *draw, const struct draw_box *box, u32 colour);
// From the box's corner to the opposite one, both included; width and height
// may be negative.
void draw_line(const struct draw *draw, const struct draw_box *box, u32 colour);
// UTF-8; letters are 8 by 16 pixels times draw->scale, nothing is drawn behind
// them.
void draw_text(const struct draw *draw, i32 x, i32 y, const char *text,
               u32 colour);
void draw_picture(const struct draw *draw, i32 x, i32 y,
                  const struct draw_image *image);
