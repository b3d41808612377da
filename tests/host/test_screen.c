// test_screen.c - which framebuffers are used, and whose they are.
// SPDX-License-Identifier: MIT
#include "test.h"
#include <string.h>
#include "../../kernel/screen.c"

const char kernel_start[1], kernel_end[1];

static int starts, fails, writes, warned, stopping, has_sink;
static u64 mapped, mapped_bytes;

void paging_map_early(u64 virt, u64 phys, u64 bytes)
{
    (void)virt;
    mapped = phys;
    mapped_bytes = bytes;
}
u64 paging_screen(const struct boot_framebuffer *fb)
{
    return SCREEN_REGION + (fb->phys & 0x1FFFFF);
}
void log_line(enum log_level level, const char *tag, const char *text, ...)
{
    (void)tag, (void)text;
    warned += level == LOG_WARN;
}
void console_write(const char *text, u64 len)
{
    (void)text;
    CHECK_EQ(len, 0);
    writes++;
}
int console_has(const char *name)
{
    return has_sink && strcmp(name, "screen") == 0;
}
int app_stopping(void)
{
    return stopping;
}

static int fake_start(const struct screen_info *info)
{
    CHECK(info->pixels != 0);
    starts++;
    return fails ? E_UNSUPPORTED : 0;
}
static int fake_grow(void)
{
    return 0;
}
static void fake_size(u32 *columns, u32 *rows)
{
    *columns = 100;
    *rows = 37;
}
static const struct screen_driver fake = {"fake", fake_start, fake_grow,
                                          fake_size};
const struct screen_driver *const screen_driver = &fake;

static struct boot_info info;

static void fresh(void)
{
    memset(&screen, 0, sizeof(screen));
    memset(&info, 0, sizeof(info));
    info.kernel_phys = 0x200000;
    info.n_regions = 3;
    info.regions[0] = (struct mem_region){0x100000, 0x7FF00000, MEM_USABLE, 0};
    info.regions[1] =
        (struct mem_region){0x80000000, 0x1000000, MEM_RESERVED, 0};
    info.regions[2] = (struct mem_region){0x90000000, 0x10000, MEM_NVS, 0};
    info.framebuffer = (struct boot_framebuffer){.phys = 0xC0000000,
                                                 .pitch = 3200,
                                                 .width = 800,
                                                 .height = 600,
                                                 .bits = 32,
                                                 .red_position = 16,
                                                 .red_bits = 8,
                                                 .green_position = 8,
                                                 .green_bits = 8,
                                                 .blue_position = 0,
                                                 .blue_bits = 8};
    starts = fails = writes = warned = stopping = 0;
    has_sink = 1;
    mapped = 0;
}

static void test_a_good_one(void)
{
    struct screen_info got;
    u32 columns, rows;
    fresh();
    screen_init(&info);
    CHECK(starts == 1 && warned == 0 && info.framebuffer.bits == 32);
    CHECK(mapped == 0xC0000000 && mapped_bytes == 3200 * 600);
    CHECK(screen_info(&got) == 0 && got.width == 800 && got.pitch == 3200);
    screen_text_size(&columns, &rows);
    CHECK(columns == 100 && rows == 37);
    has_sink = 0; // console=serial
    screen_text_size(&columns, &rows);
    CHECK(columns == 0 && rows == 0);
}

static void test_none(void)
{
    struct screen_info got;
    u32 columns, rows;
    fresh();
    info.framebuffer.bits = 0;
    screen_init(&info);
    screen_grow();
    screen_take_back();
    screen_draw_again();
    screen_text_size(&columns, &rows);
    CHECK(starts == 0 && warned == 0 && writes == 0 && rows == 0);
    CHECK_EQ(screen_info(&got), E_NODEV);
    CHECK_EQ(screen_claim(1), E_NODEV);
    CHECK_EQ(screen_claim(0), E_NODEV);
}

static void refused(u64 phys, u32 pitch, u32 width, u32 height)
{
    fresh();
    info.framebuffer.phys = phys;
    info.framebuffer.pitch = pitch;
    info.framebuffer.width = width;
    info.framebuffer.height = height;
    screen_init(&info);
    CHECK(starts == 0 && mapped == 0 && warned == 1);
    CHECK(info.framebuffer.bits == 0 && screen_claim(1) == E_NODEV);
}

static void test_hostile_ones(void)
{
    refused(0xC0000000, 131072, 16384, 16384);   // 2 GiB
    refused(0xC0000000, 65536, 16384, 4097);     // just over 256 MiB
    refused(0xA0000, 3200, 800, 600);            // below 1 MiB
    refused(0x1000000, 3200, 800, 600);          // in RAM
    refused(0x7FFFF000, 3200, 800, 600);         // begins in RAM
    refused(0x8FF00000, 3200, 800, 600);         // ends in NVS
    refused(0xFEB00000, 3200, 800, 600);         // ends over the I/O APIC
    refused(0xFEE00000, 3200, 800, 600);         // over the local APICs
    refused(0xFFFFFF0000000, 3200, 800, 600);    // no processor has so many
    refused((1ul << 52) - 4096, 3200, 800, 600); // wires
}

static void test_over_the_kernel(void)
{
    fresh();
    info.n_regions = 0; // no map at all
    info.framebuffer.phys = 0x200000;
    CHECK(screen_meets(0x200000, 1, info.kernel_phys, 0x40000));
    CHECK(!screen_meets(0x200000, 0x1000, 0x201000, 0x1000));
    CHECK(screen_meets(0x200000, 0x1001, 0x201000, 0x1000));
}

static void test_reserved_memory_is_right(void)
{
    fresh();
    info.framebuffer.phys = 0x80000000;
    screen_init(&info);
    CHECK(starts == 1 && warned == 0);
    fresh();
    info.framebuffer.phys = 0x400000000; // above 4 GiB
    screen_init(&info);
    CHECK(starts == 1 && mapped == 0x400000000);
}

static void test_text_that_does_not_fit(void)
{
    fresh();
    fails = 1;
    screen_init(&info);
    CHECK(warned == 1 && info.framebuffer.bits == 0);
    CHECK_EQ(screen_claim(1), E_NODEV);
}

static void test_claims(void)
{
    fresh();
    screen_init(&info);
    CHECK(!screen_is_claimed());
    CHECK_EQ(screen_claim(1), 0);
    CHECK(screen_is_claimed() && writes == 1);
    CHECK_EQ(screen_claim(7), 0); // again: nothing new
    CHECK_EQ(writes, 1);
    screen_take_back();
    CHECK(!screen_is_claimed() && writes == 2);
    screen_take_back();
    CHECK_EQ(writes, 2);
    screen_draw_again();
    CHECK(!screen_is_claimed() && writes == 4);
    stopping = 1;
    CHECK(screen_is_cut_short());
}

int main(void)
{
    RUN(test_a_good_one);
    RUN(test_none);
    RUN(test_hostile_ones);
    RUN(test_over_the_kernel);
    RUN(test_reserved_memory_is_right);
    RUN(test_text_that_does_not_fit);
    RUN(test_claims);
    return TEST_RESULT();
}
