// multiboot2_build.h - builds Multiboot2 information for tests, and checks what
// every reading of it must keep to.
// SPDX-License-Identifier: MIT
#pragma once
#include "../../boot/boot_note.c"
#include "../../boot/boot_regions.c"
#include "../../boot/multiboot2.c"
#include "../../lib/format.c"
#include "../../kernel/cpu.h"
#include "test.h"

enum { BASE = 0x101498, CAP = 65536 };
static u8 tags[CAP];
static u64 used;

// The block is handed over in a heap piece of exactly its length, so that ASan
// sees a read past its end.
static u8 *block;
static u64 block_len;
static const void *fake_read(u64 phys, u64 len)
{
    if (phys < BASE || phys - BASE > block_len ||
        len > block_len - (phys - BASE)) {
        return 0;
    }
    return block + (phys - BASE);
}

static void put(const void *bytes, u64 len)
{
    memcpy(tags + used, bytes, len);
    used += len;
}
static void put32(u32 value)
{
    put(&value, 4);
}
static void put64(u64 value)
{
    put(&value, 8);
}
static void begin(void)
{
    memset(tags, 0, sizeof(tags));
    used = 8;
}
static u64 tag_begin(u32 type)
{
    used = (used + 7) & ~7ul;
    put32(type);
    put32(0);
    return used - 8;
}
static void tag_end(u64 at)
{
    u32 size = (u32)(used - at);
    memcpy(tags + at + 4, &size, 4);
}
static inline void text_tag(u32 type, const char *text)
{
    u64 at = tag_begin(type);
    put(text, strlen(text) + 1);
    tag_end(at);
}
static inline void module_tag(u32 start, u32 end, const char *text)
{
    u64 at = tag_begin(3);
    put32(start);
    put32(end);
    put(text, strlen(text) + 1);
    tag_end(at);
}
static inline void region(u64 start, u64 bytes, u32 type)
{
    put64(start);
    put64(bytes);
    put32(type);
    put32(0);
}
static inline u64 map_begin(void)
{
    u64 at = tag_begin(6);
    put32(24);
    put32(0);
    return at;
}
static inline void small_map(void)
{
    u64 at = map_begin();
    region(0, 0x9fc00, MEM_USABLE);
    region(0x100000, 0x1f00000, MEM_USABLE);
    tag_end(at);
}
static void end_tag(void)
{
    tag_end(tag_begin(0));
    used = (used + 7) & ~7ul;
}

static struct boot_info info;
static int read_block(const u8 *bytes, u64 len)
{
    block = malloc(len ? len : 1);
    block_len = len;
    memcpy(block, bytes, len);
    memset(&info, 0, sizeof(info));
    int result = multiboot2_read(BASE, fake_read, &info);
    free(block);
    return result;
}
static int finish(void)
{
    end_tag();
    u32 total = (u32)used;
    memcpy(tags, &total, 4);
    return read_block(tags, used);
}
static inline int said(const char *text)
{
    u64 len = strlen(text);
    for (const char *at = info.errors; *at; at++) {
        if (strncmp(at, text, len) == 0) {
            return 1;
        }
    }
    return 0;
}
static inline void check_region(u32 i, u64 start, u64 bytes, u32 type)
{
    CHECK(i < info.n_regions);
    CHECK_EQ(info.regions[i].start, start);
    CHECK_EQ(info.regions[i].bytes, bytes);
    CHECK_EQ(info.regions[i].type, type);
}
static void check_invariants(void)
{
    CHECK(info.n_regions <= BOOT_REGIONS && info.n_modules <= BOOT_MODULES);
    CHECK(strnlen(info.errors, BOOT_ERRORS_CAP) < BOOT_ERRORS_CAP);
    CHECK(strnlen(info.command_line, 256) < 256);
    CHECK(strnlen(info.loader, 32) < 32);
    for (u32 i = 0; i < info.n_modules; i++) {
        CHECK(strnlen(info.modules[i].name, 64) < 64);
    }
    for (u32 i = 0; i < info.n_regions; i++) {
        const struct mem_region *r = &info.regions[i];
        CHECK(r->bytes > 0 && r->start + r->bytes <= 1ul << 52);
        CHECK(r->type >= MEM_USABLE && r->type <= MEM_BAD);
        if (i > 0) {
            CHECK(r[-1].start + r[-1].bytes <= r->start);
            CHECK(r[-1].start + r[-1].bytes < r->start ||
                  r[-1].type != r->type);
        }
    }
}
