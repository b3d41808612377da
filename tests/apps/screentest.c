// screentest.c - screentest hold|crash|spin|give: draws, then leaves the screen
// in one of several ways.
// SPDX-License-Identifier: MIT
#include "../../apps/lib/draw.h"
#include "../../apps/lib/print.h"
#include "../../lib/string.h"

static struct draw draw;

static void draw_things(void)
{
    i32 width = (i32)draw.screen.width, height = (i32)draw.screen.height;
    draw_text(&draw, 0, 0, "Drawn: \xC3\xA4\xE2\x94\x80\xFF.", 0xFFFFFF);
    draw_text(&draw, width - 8, 16, "xyz", 0xFFFF00); // one of three fits
    draw_fill(&draw, &(struct draw_box){16, 64, 32, 16}, 0xFF0000);
    draw_fill(&draw, &(struct draw_box){-8, height - 8, 16, 99}, 0x00FF00);
    draw_line(&draw, &(struct draw_box){100, 100, 50, 50}, 0x0000FF);
    draw_line(&draw, &(struct draw_box){200, 100, -50, 1}, 0x0000FF);
    draw_pixel(&draw, width - 1, height - 1, 0x123456);
    draw_pixel(&draw, width, height, 0xFFFFFF);
    draw_pixel(&draw, -1, -1, 0xFFFFFF);
    static const u32 pixels[4] = {0x010203, 0x040506, 0x070809, 0x0A0B0C};
    draw_picture(&draw, 300, 100, &(struct draw_image){pixels, 2, 2});
    draw_picture(&draw, width - 1, -1, &(struct draw_image){pixels, 2, 2});
}

static void leave(const char *how)
{
    if (strcmp(how, "crash") == 0) {
        __asm__ volatile("ud2");
    }
    while (strcmp(how, "spin") == 0) {
        __asm__ volatile("pause");
    }
    if (strcmp(how, "give") == 0) {
        draw_end();
        print("given back\n");
    }
}

int main(int argc, char **argv)
{
    u8 key;
    int error = draw_begin(&draw);
    if (error < 0) {
        print("error: screentest: %s\n", os->sys_error(error));
        return 1;
    }
    draw_things();
    print("drawn\n");
    leave(argc > 1 ? argv[1] : "hold");
    (void)os->con_read(&key, 1, -1);
    return 0;
}
