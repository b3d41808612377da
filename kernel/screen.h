// screen.h - the framebuffer: found, mapped, and lent to a program.
// SPDX-License-Identifier: MIT
#pragma once
#include "../boot/boot_info.h"

// What puts text on it, a driver that drivers/consoles.c names.
struct screen_driver {
    const char *name;
    // Text from now on, in a small room of its own. E_UNSUPPORTED.
    int (*start)(const struct screen_info *screen);
    int (*grow)(void); // there is memory now. E_NOMEM: it stays small
    void (*size)(u32 *columns, u32 *rows); // of the text
};

extern const struct screen_driver *const screen_driver;

// Check what the loader said, map it and start the driver. When it cannot be
// used, info->framebuffer.bits becomes 0, with a line in the log.
void screen_init(struct boot_info *info);
void screen_grow(void);                         // after memory_init()
void screen_text_size(u32 *columns, u32 *rows); // 0, 0: no text there

// A program draws: the driver leaves the framebuffer alone until it is text's
// again, and shows then what was written meanwhile.
int screen_is_claimed(void);
// A program is to be stopped and this is its call: draw the rest later.
int screen_is_cut_short(void);
void screen_take_back(void);  // the program ended
void screen_draw_again(void); // all of it, whatever was going on: a panic

int screen_info(struct screen_info *info); // the calls
int screen_claim(int on);
