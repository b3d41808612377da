// test_framebuffer.c - text to pixels, on a framebuffer that counts.
// SPDX-License-Identifier: MIT
#include "test.h"
#include <string.h>
#include "../../lib/font.c"
#include "../../lib/font_find.c"
#include "../../lib/utf8.c"
#include "../../drivers/text.c"
#include "../../drivers/text_reader.c"
#include "../../drivers/framebuffer.c"

// ---- the framebuffer: exactly pitch * height bytes, so ASan sees its ends
// ----

static u8 *memory;
static u64 memory_len, writes, bytes_written, reads;
static const struct console_sink *sink;
static int claimed, stopping, no_memory;
static void *arena[8];
static u32 n_arena;

static void memory_write(u64 address, const void *value, u64 len)
{
    memcpy((u8 *)address, value, len);
    writes++;
    bytes_written += len;
}

void mmio_write8(u64 address, u8 value)
{
    memory_write(address, &value, 1);
}
void mmio_write64(u64 address, u64 value)
{
    memory_write(address, &value, 8);
}
u8 mmio_read8(u64 address)
{
    reads++;
    return *(u8 *)address;
}
u32 mmio_read32(u64 address)
{
    return reads++, (u32)address;
}
void mmio_write32(u64 address, u32 value)
{
    memory_write(address, &value, 4);
}

void console_add_sink(const struct console_sink *one)
{
    sink = one;
}
int screen_is_claimed(void)
{
    return claimed;
}
int screen_is_cut_short(void)
{
    return stopping;
}
void *memory_boot_alloc(u64 bytes, u64 align)
{
    (void)align;
    return no_memory ? 0 : (arena[n_arena++] = calloc(1, bytes));
}

static struct screen_info info;

static int start(u32 width, u32 height, u32 bits, u32 pitch)
{
    free(memory);
    while (n_arena > 0) {
        free(arena[--n_arena]);
    }
    // Rows end with the picture: what is behind the last one is not ours.
    memory_len = (u64)pitch * (height - 1) + (u64)width * bits / 8;
    memory = malloc(memory_len);
    memset(memory, 0x5A, memory_len);
    memset(&fb, 0, sizeof(fb));
    info = (struct screen_info){.pixels = memory,
                                .width = width,
                                .height = height,
                                .pitch = pitch,
                                .bits = bits,
                                .red_position = 16,
                                .red_bits = 8,
                                .green_position = 8,
                                .green_bits = 8,
                                .blue_position = 0,
                                .blue_bits = 8};
    claimed = stopping = no_memory = 0;
    reads = writes = bytes_written = 0;
    sink = 0;
    return framebuffer_start(&info);
}

static int start_all(u32 width, u32 height, u32 bits, u32 pitch)
{
    int result = start(width, height, bits, pitch);
    return result < 0 ? result : framebuffer_grow();
}

static u32 pixel(u32 x, u32 y)
{
    u32 value = 0;
    memcpy(&value, memory + (u64)y * info.pitch + x * (info.bits / 8),
           info.bits / 8);
    return value;
}

static void feed(const char *text)
{
    sink->write(text, strlen(text));
}

// Every pixel of one cell, against the font.
static int cell_is(u32 column, u32 row, u32 code, u32 front, u32 back)
{
    const u8 *rows = font_rows[font_find(code)];
    u32 scale = fb.scale;
    for (u32 y = 0; y < 16 * scale; y++) {
        for (u32 x = 0; x < 8 * scale; x++) {
            int on = rows[y / scale] >> (7 - x / scale) & 1;
            if (pixel(column * 8 * scale + x, row * 16 * scale + y) !=
                (on ? front : back)) {
                return 0;
            }
        }
    }
    return 1;
}

static int padding_is_untouched(void)
{
    for (u32 y = 0; y + 1 < info.height; y++) {
        for (u32 x = info.width * info.bits / 8; x < info.pitch; x++) {
            if (memory[(u64)y * info.pitch + x] != 0x5A) {
                return 0;
            }
        }
    }
    return 1;
}

static const u32 GREY = 0xC8C8C8;

static void check_size(u32 width, u32 height, u32 bits, u32 pitch)
{
    CHECK_EQ(start_all(width, height, bits, pitch), 0);
    feed("Hi\033[92m\xC3\xA4\033[0m");
    CHECK(cell_is(0, 0, 'H', GREY, 0) && cell_is(1, 0, 'i', GREY, 0));
    CHECK(cell_is(2, 0, 0xE4, 0x60E070, 0));
    feed("\033[999;999Hx");
    CHECK(cell_is(fb.columns - 2, fb.rows - 1, ' ', GREY, 0));
    CHECK(fb.text.column == fb.columns);
    CHECK_EQ(pixel(width - 1, 0), 0);
    CHECK(padding_is_untouched());
    CHECK_EQ(reads, 0);
}

static void test_sizes_and_depths(void)
{
    check_size(640, 480, 32, 2560);
    check_size(640, 480, 24, 1920);
    check_size(800, 600, 24, 2400);
    check_size(800, 600, 24, 2403); // no word is aligned
    check_size(801, 601, 24, 2403);
    check_size(1366, 768, 32, 5504);
    check_size(1280, 800, 32, 8192);
    check_size(1920, 1080, 32, 7680);
    check_size(1920, 1200, 24, 5760);
    check_size(1921, 1080, 32, 7684);
    check_size(2560, 1440, 24, 7680);
    check_size(3840, 2160, 32, 15360);
    check_size(3840, 2160, 24, 11520);
    check_size(1080, 1920, 32, 4352);
    check_size(7680, 4320, 32, 30720);
}

static void test_scale(void)
{
    CHECK_EQ(start_all(1920, 1080, 32, 7680), 0);
    CHECK(fb.scale == 1 && fb.columns == 240 && fb.rows == 67);
    CHECK_EQ(start_all(3840, 2160, 32, 15360), 0);
    CHECK(fb.scale == 2 && fb.columns == 240 && fb.rows == 67);
    CHECK_EQ(start_all(640, 480, 32, 2560), 0);
    CHECK(fb.scale == 1 && fb.columns == 80 && fb.rows == 30);
}

static void test_too_small_is_refused(void)
{
    CHECK_EQ(start(319, 480, 32, 1276), E_UNSUPPORTED);
    CHECK_EQ(start(640, 159, 32, 2560), E_UNSUPPORTED);
    CHECK_EQ(start(1, 1, 24, 3), E_UNSUPPORTED);
    CHECK(sink == 0 && writes == 0);
}

static void test_channels_in_any_order(void)
{
    CHECK_EQ(start(640, 480, 32, 2560), 0);
    info.red_position = 0;
    info.blue_position = 16;
    framebuffer_start(&info);
    feed("\033[91mR");
    CHECK(cell_is(0, 0, 'R', 0x5860FF, 0));
    info.red_position = 20; // ten bits a colour
    info.green_position = 10;
    info.blue_position = 0;
    info.red_bits = info.green_bits = info.blue_bits = 10;
    framebuffer_start(&info);
    feed("\033[97mW");
    CHECK(cell_is(0, 0, 'W', 0x3FCu << 20 | 0x3FC << 10 | 0x3FC, 0));
    info.red_bits = info.green_bits = info.blue_bits = 5;
    framebuffer_start(&info);
    feed("\033[97mW");
    CHECK(cell_is(0, 0, 'W', 31u << 20 | 31 << 10 | 31, 0));
}

static void test_cursor(void)
{
    CHECK_EQ(start_all(640, 480, 32, 2560), 0);
    feed("a");
    CHECK(cell_is(0, 0, 'a', GREY, 0));
    CHECK(pixel(8, 14) == GREY && pixel(15, 15) == GREY && pixel(8, 13) == 0);
    feed("\b");
    CHECK(!cell_is(0, 0, 'a', GREY, 0) && cell_is(1, 0, ' ', GREY, 0));
    feed("\033[?25l");
    CHECK(cell_is(0, 0, 'a', GREY, 0));
    feed("\033[?25h\033[5;5H");
    CHECK(cell_is(0, 0, 'a', GREY, 0) && pixel(4 * 8, 4 * 16 + 15) == GREY);
    feed("\033[3;80Hzz");
    CHECK(cell_is(79, 2, 'z', GREY, 0) && cell_is(4, 4, ' ', GREY, 0));
}

// Another letter in every cell: the most that one line more can cost.
static void fill(void)
{
    static char line[512];
    u32 next = 0;
    for (u32 row = 0; row < fb.rows; row++) {
        for (u32 i = 0; i < fb.columns; i++) {
            line[i] = (char)('!' + next++ % 89);
        }
        line[fb.columns] = 0;
        feed(line);
    }
}

static void check_scroll(u32 width, u32 height, u32 bits, u32 pitch)
{
    CHECK_EQ(start_all(width, height, bits, pitch), 0);
    fill();
    reads = writes = bytes_written = 0;
    feed("\nx");
    u64 pixels = (u64)width * height;
    CHECK(writes * 2 <= pixels * 3);
    CHECK(bytes_written * 2 <= pixels * (bits / 8) * 3);
    CHECK(bytes_written > pixels * (bits / 8) / 2); // it did scroll
    CHECK_EQ(reads, 0);
}

static void test_scrolling_is_cheap(void)
{
    check_scroll(1920, 1080, 32, 7680);
    check_scroll(1920, 1080, 24, 5760);
    check_scroll(3840, 2160, 32, 15360);
    check_scroll(640, 480, 24, 1920);
}

static void test_many_lines_at_once_are_drawn_once(void)
{
    CHECK_EQ(start_all(1920, 1080, 32, 7680), 0);
    fill();
    writes = 0;
    feed("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n");
    CHECK(writes <= 1920 * 1080 * 3 / 2);
}

static void test_a_letter_costs_a_letter(void)
{
    CHECK_EQ(start_all(1920, 1080, 32, 7680), 0);
    fill();
    feed("\n");
    writes = 0;
    feed("a");
    CHECK_EQ(writes, 2 * 16 * 4); // it, and the cursor
    writes = 0;
    feed("");
    CHECK_EQ(writes, 0);
}

static void test_a_program_has_it(void)
{
    CHECK_EQ(start_all(640, 480, 32, 2560), 0);
    feed("one\n");
    claimed = 1;
    feed("");
    memset(memory, 0x77, memory_len);
    writes = 0;
    feed("two\n");
    CHECK_EQ(writes, 0);
    claimed = 0;
    feed("");
    CHECK(cell_is(0, 0, 'o', GREY, 0) && cell_is(0, 1, 't', GREY, 0));
    CHECK_EQ(pixel(639, 479), 0);
    CHECK(cell_is(50, 20, ' ', GREY, 0));
}

static void test_early_text_moves_along(void)
{
    CHECK_EQ(start(1920, 1080, 32, 7680), 0);
    CHECK(fb.columns == 80 && fb.rows == 16);
    feed("early\n");
    CHECK(cell_is(0, 0, 'e', GREY, 0));
    CHECK_EQ(framebuffer_grow(), 0);
    CHECK(fb.columns == 240 && cell_is(0, 0, 'e', GREY, 0));
    feed("late");
    CHECK(cell_is(0, 1, 'l', GREY, 0));
    CHECK_EQ(start(1920, 1080, 32, 7680), 0);
    no_memory = 1;
    CHECK_EQ(framebuffer_grow(), E_NOMEM);
    feed("small");
    CHECK(fb.columns == 80 && cell_is(4, 0, 'l', GREY, 0));
}

static void test_cut_short_and_drawn_later(void)
{
    CHECK_EQ(start_all(640, 480, 32, 2560), 0);
    stopping = 1;
    feed("a\nb\nc");
    CHECK(!cell_is(0, 2, 'c', GREY, 0));
    stopping = 0;
    feed("");
    CHECK(cell_is(0, 0, 'a', GREY, 0) && cell_is(0, 2, 'c', GREY, 0));
}

static void test_drawing_inside_drawing(void)
{
    CHECK_EQ(start_all(640, 480, 32, 2560), 0);
    fb.depth = 1; // an exception while it drew
    feed("report");
    CHECK(cell_is(0, 0, 'r', GREY, 0));
    fb.depth = DEPTH_MOST; // drawing is what fails
    writes = 0;
    feed("again");
    CHECK_EQ(writes, 0);
}

int main(void)
{
    RUN(test_sizes_and_depths);
    RUN(test_scale);
    RUN(test_too_small_is_refused);
    RUN(test_channels_in_any_order);
    RUN(test_cursor);
    RUN(test_scrolling_is_cheap);
    RUN(test_many_lines_at_once_are_drawn_once);
    RUN(test_a_letter_costs_a_letter);
    RUN(test_a_program_has_it);
    RUN(test_early_text_moves_along);
    RUN(test_cut_short_and_drawn_later);
    RUN(test_drawing_inside_drawing);
    free(memory);
    while (n_arena > 0) {
        free(arena[--n_arena]);
    }
    return TEST_RESULT();
}
