// test_pvh.c - PVH start info, good and bad.
// SPDX-License-Identifier: MIT
#include "../../boot/boot_note.c"
#include "../../boot/boot_regions.c"
#include "../../boot/pvh.c"
#include "../../lib/format.c"
#include "test.h"

// Memory is a few pieces, each a heap block of exactly its length.
struct piece {
    u64 phys, len;
    u8 *bytes;
};
static struct piece pieces[16];
static u32 n_pieces;

static u64 piece(u64 phys, const void *bytes, u64 len)
{
    u8 *copy = malloc(len ? len : 1);
    memcpy(copy, bytes, len);
    pieces[n_pieces++] = (struct piece){phys, len, copy};
    return phys;
}
static void forget(void)
{
    while (n_pieces > 0) {
        free(pieces[--n_pieces].bytes);
    }
}
static const void *fake_read(u64 phys, u64 len)
{
    for (u32 i = 0; i < n_pieces; i++) {
        u64 at = phys - pieces[i].phys;
        if (phys >= pieces[i].phys && at <= pieces[i].len &&
            len <= pieces[i].len - at) {
            return pieces[i].bytes + at;
        }
    }
    return 0;
}

struct start {
    u32 magic, version, flags, n_modules;
    u64 modules, command_line, rsdp, map;
    u32 n_map, reserved;
};
struct module {
    u64 phys, len, command, reserved;
};
struct entry {
    u64 start, bytes;
    u32 type, reserved;
};

enum { START = 0x5000, MODULES = 0x6000, MAP = 0x7000, TEXT = 0x8000 };
static const struct entry small_map[] = {
    {0, 0x9fc00, MEM_USABLE, 0},
    {0xf0000, 0x10000, MEM_RESERVED, 0},
    {0x100000, 0xff00000, MEM_USABLE, 0},
};
static struct start good(void)
{
    forget();
    piece(MAP, small_map, sizeof(small_map));
    return (struct start){.magic = 0x336ec578,
                          .version = 1,
                          .map = MAP,
                          .n_map = 3,
                          .rsdp = 0xf5a20};
}

static struct boot_info info;
static int run(const struct start *start, u64 len)
{
    piece(START, start, len);
    memset(&info, 0, sizeof(info));
    return pvh_read(START, fake_read, &info);
}
static int said(const char *text)
{
    u64 len = strlen(text);
    for (const char *at = info.errors; *at; at++) {
        if (strncmp(at, text, len) == 0) {
            return 1;
        }
    }
    return 0;
}

static void everything(void)
{
    struct start start = good();
    struct module modules[2] = {{0x1000000, 4097, TEXT + 0x100, 0},
                                {0x2000000, 5, 0, 0}};
    start.modules = piece(MODULES, modules, sizeof(modules));
    start.n_modules = 2;
    char page[4096] = "loglevel=3";
    memcpy(page + 0x100, "/tmp/a/hello.app x", 19);
    start.command_line = piece(TEXT, page, sizeof(page));
    CHECK_EQ(run(&start, sizeof(start)), 0);
    CHECK_EQ(info.errors[0], 0);
    CHECK(strcmp(info.loader, "PVH") == 0);
    CHECK(strcmp(info.command_line, "loglevel=3") == 0);
    CHECK_EQ(info.rsdp_phys, 0xf5a20);
    CHECK_EQ(info.n_modules, 2);
    CHECK(strcmp(info.modules[0].name, "hello.app") == 0);
    CHECK_EQ(info.modules[0].len, 4097);
    CHECK(strcmp(info.modules[1].name, "") == 0);
    CHECK_EQ(info.n_regions, 3);
    CHECK_EQ(info.regions[2].bytes, 0xff00000);
}

static void not_a_start_info(void)
{
    struct start start = good();
    start.magic++;
    CHECK_EQ(run(&start, sizeof(start)), E_FORMAT);
    CHECK(said("pvh: no start info"));
    forget();
    CHECK_EQ(pvh_read(START, fake_read, &info), E_FORMAT);
    CHECK_EQ(pvh_read(~0ul - 8, fake_read, &info), E_FORMAT);
}

static void version_0_has_no_map(void)
{
    struct start start = good();
    start.version = 0;
    CHECK_EQ(run(&start, 40), E_FORMAT);
    CHECK(said("pvh: start info version 0"));
    CHECK_EQ(info.rsdp_phys, 0xf5a20);
}

static void truncated_at_every_length(void)
{
    for (u64 len = 0; len < sizeof(struct start); len++) {
        struct start start = good();
        CHECK_EQ(run(&start, len), E_FORMAT);
        CHECK(info.errors[0] != 0);
    }
    for (u64 len = 0; len < sizeof(small_map); len++) {
        struct start start = good();
        forget();
        piece(MAP, small_map, len);
        CHECK_EQ(run(&start, sizeof(start)), E_FORMAT);
        CHECK(said("pvh: no usable memory map"));
    }
}

static void absurd_counts(void)
{
    u32 counts[] = {0, 4, 5000, 0x7fffffff, 0xffffffff};
    for (u32 i = 0; i < 5; i++) {
        struct start start = good();
        start.n_map = counts[i];
        CHECK_EQ(run(&start, sizeof(start)), E_FORMAT);
        start = good();
        start.n_modules = counts[i];
        start.modules = 0xffffffffffffff00;
        CHECK_EQ(run(&start, sizeof(start)), 0);
        CHECK_EQ(info.n_modules, 0);
        CHECK((counts[i] == 0) == (info.errors[0] == 0));
    }
    struct start start = good();
    struct module modules[70] = {0};
    start.modules = piece(MODULES, modules, sizeof(modules));
    start.n_modules = 70;
    CHECK_EQ(run(&start, sizeof(start)), 0);
    CHECK_EQ(info.n_modules, 64);
    CHECK(said("pvh: 70 modules, 64 are kept"));
}

static void maps_of_too_many_entries(void)
{
    static struct entry map[5000];
    for (u32 i = 0; i < 5000; i++) {
        map[i] = (struct entry){0x100000ul * i, 0x100000, MEM_USABLE, 0};
    }
    struct start start = good();
    start.map = piece(0x100000, map, sizeof(map));
    start.n_map = 5000;
    CHECK_EQ(run(&start, sizeof(start)), 0);
    CHECK(said("pvh: memory map of 5000 entries"));
    CHECK_EQ(info.n_regions, 1);
    CHECK_EQ(info.regions[0].bytes, 4096ul << 20);
}

static void absurd_modules(void)
{
    struct start start = good();
    struct module modules[3] = {{~0ul, 4096, 0, 0},
                                {0x1000000, ~0ul, 0, 0},
                                {0x1000000, 16, 0xdead0000, 0}};
    start.modules = piece(MODULES, modules, sizeof(modules));
    start.n_modules = 3;
    CHECK_EQ(run(&start, sizeof(start)), 0);
    CHECK_EQ(info.n_modules, 1);
    CHECK(strcmp(info.modules[0].name, "") == 0);
    CHECK(said("pvh: a module of 0x1000 bytes at 0xffffffffffffffff"));
    CHECK(said("pvh: no string at 0xdead0000"));
}

static void strings_end_before_unreadable_memory(void)
{
    struct start start = good();
    start.command_line = piece(TEXT + 0xffb, "abcd", 5); // to the page's end
    CHECK_EQ(run(&start, sizeof(start)), 0);
    CHECK(strcmp(info.command_line, "abcd") == 0);
    CHECK_EQ(info.errors[0], 0);
    start = good();
    start.command_line = piece(TEXT + 0xffc, "abcd", 4); // no end there
    CHECK_EQ(run(&start, sizeof(start)), 0);
    CHECK(strcmp(info.command_line, "abcd") == 0);
    CHECK(info.errors[0] != 0);
    start = good();
    u8 page[8192];
    memset(page, 'x', sizeof(page));
    piece(TEXT, page, sizeof(page)); // over the page's end, and much too long
    start.command_line = TEXT + 0xff0;
    CHECK_EQ(run(&start, sizeof(start)), 0);
    CHECK_EQ(strlen(info.command_line), 255);
    CHECK(said("pvh: the string at 0x8ff0 is cut"));
}

// Exactly as long as there is room for.
static void string_of_255(void)
{
    struct start start = good();
    char page[4096] = "";
    memset(page, 'y', 255);
    start.command_line = piece(TEXT, page, sizeof(page));
    CHECK_EQ(run(&start, sizeof(start)), 0);
    CHECK_EQ(strlen(info.command_line), 255);
    CHECK_EQ(info.errors[0], 0);
}

int main(void)
{
    RUN(everything);
    RUN(not_a_start_info);
    RUN(version_0_has_no_map);
    RUN(truncated_at_every_length);
    RUN(absurd_counts);
    RUN(maps_of_too_many_entries);
    RUN(absurd_modules);
    RUN(strings_end_before_unreadable_memory);
    RUN(string_of_255);
    forget();
    return TEST_RESULT();
}
