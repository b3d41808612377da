// test_boot_regions.c - memory maps of every shape become sorted ones.
// SPDX-License-Identifier: MIT
#include "multiboot2_build.h"

static void regions_unsorted_and_overlapping(void)
{
    begin();
    u64 at = map_begin();
    region(0x100000000, 0x40000000, MEM_USABLE);
    region(0xe0000, 0x20000, MEM_RESERVED);
    region(0, 0xa0000, MEM_USABLE);
    region(0x100000, 0x7fe00000, MEM_USABLE);
    region(0x9fc00, 0x400, MEM_RESERVED); // inside RAM: wins
    region(0x50000000, 0x1000, 77);       // unknown: not ours
    region(0x50001000, 0x1000, 0);
    region(0x50000800, 0x1000, MEM_NVS); // reserved forbids more
    region(0x60000000, 0x1000, MEM_ACPI);
    region(0x60001000, 0, MEM_RESERVED); // empty
    region(0x70000000, 0x2000, MEM_BAD);
    region(0x70001000, 0x2000, MEM_RESERVED);
    tag_end(at);
    CHECK_EQ(finish(), 0);
    check_invariants();
    CHECK_EQ(info.n_regions, 12);
    check_region(0, 0, 0x9fc00, MEM_USABLE);
    check_region(1, 0x9fc00, 0x400, MEM_RESERVED);
    check_region(2, 0xe0000, 0x20000, MEM_RESERVED);
    check_region(3, 0x100000, 0x50000000 - 0x100000, MEM_USABLE);
    check_region(4, 0x50000000, 0x2000, MEM_RESERVED);
    check_region(5, 0x50002000, 0x60000000 - 0x50002000, MEM_USABLE);
    check_region(6, 0x60000000, 0x1000, MEM_ACPI);
    check_region(7, 0x60001000, 0x70000000 - 0x60001000, MEM_USABLE);
    check_region(8, 0x70000000, 0x2000, MEM_BAD);
    check_region(9, 0x70002000, 0x1000, MEM_RESERVED);
    check_region(10, 0x70003000, 0x7ff00000 - 0x70003000, MEM_USABLE);
    check_region(11, 0x100000000, 0x40000000, MEM_USABLE);
}

static void regions_that_wrap(void)
{
    begin();
    u64 at = map_begin();
    region(0, 0x1000000, MEM_USABLE);
    region(0xfffffffffffff000, 0x2000, MEM_USABLE);
    region(0x1000000, ~0ul, MEM_USABLE);
    region(0xfd00000000, ~0ul, MEM_RESERVED);
    region(1ul << 52, 0x1000, MEM_RESERVED);
    tag_end(at);
    CHECK_EQ(finish(), 0);
    check_invariants();
    CHECK_EQ(info.n_regions, 2);
    check_region(0, 0, 0x1000000, MEM_USABLE);
    check_region(1, 0xfd00000000, (1ul << 52) - 0xfd00000000, MEM_RESERVED);
}

static void neighbours_merge(void)
{
    begin();
    u64 at = map_begin();
    for (u64 i = 0; i < 400; i++) { // every second first
        u64 page = i < 200 ? i * 2 : (i - 200) * 2 + 1;
        region(page << 12, 0x1000, MEM_USABLE);
    }
    tag_end(at);
    CHECK_EQ(finish(), 0);
    check_invariants();
    // The even ones alone are more than fit; whatever was lost, it is said.
    CHECK(said("memory map: "));
    begin();
    at = map_begin();
    for (u64 i = 0; i < 400; i++) {
        region(i << 12, 0x1000, MEM_USABLE);
    }
    tag_end(at);
    CHECK_EQ(finish(), 0);
    CHECK_EQ(info.n_regions, 1);
    CHECK_EQ(info.errors[0], 0);
    check_region(0, 0, 400 << 12, MEM_USABLE);
}

// More than fit: never is anything usable that a reserved entry covers, and
// the largest pieces stay.
static void too_many_regions(void)
{
    begin();
    u64 at = map_begin();
    region(0x10000000, 0x10000000, MEM_USABLE);
    for (u64 i = 0; i < 200; i++) {
        region(0x10000000 + (i << 16), 0x1000, MEM_RESERVED);
    }
    region(0x40000000, 0x4000000, MEM_USABLE);
    tag_end(at);
    CHECK_EQ(finish(), 0);
    check_invariants();
    CHECK_EQ(info.n_regions, BOOT_REGIONS);
    CHECK(said("memory map: "));
    int largest = 0;
    for (u32 r = 0; r < info.n_regions; r++) {
        const struct mem_region *m = &info.regions[r];
        largest |= m->start == 0x40000000 && m->bytes == 0x4000000;
        for (u64 i = 0; m->type == MEM_USABLE && i < 200; i++) {
            u64 bad = 0x10000000 + (i << 16);
            CHECK(bad + 0x1000 <= m->start || bad >= m->start + m->bytes);
        }
    }
    CHECK(largest);
}

// A full list of RAM loses none of it to entries that only forbid.
static void reserved_entries_push_no_ram_out(void)
{
    begin();
    u64 at = map_begin();
    for (u64 i = 0; i < BOOT_REGIONS; i++) {
        region(0x10000000 + (i << 16), 0x1000 + (i << 4), MEM_USABLE);
    }
    for (u64 i = 0; i < 20; i++) {
        region(0x40000000 + (i << 16), 0x8000, MEM_RESERVED);
    }
    tag_end(at);
    CHECK_EQ(finish(), 0);
    check_invariants();
    CHECK_EQ(info.n_regions, BOOT_REGIONS);
    for (u32 i = 0; i < info.n_regions; i++) {
        CHECK_EQ(info.regions[i].type, MEM_USABLE);
    }
}

// Against the plainest way there is: an array with one cell a page.
static u32 random_state = 1;
static u32 random_below(u32 n)
{
    random_state = random_state * 1664525 + 1013904223;
    return (random_state >> 8) % n;
}
static void random_maps_match_a_plain_painter(void)
{
    enum { PAGES = 96 };
    static const u8 rank[] = {0, 1, 4, 2, 3, 5}; // by MEM_ type
    for (u32 round = 0; round < 3000; round++) {
        u8 want[PAGES] = {0};
        begin();
        u64 at = map_begin();
        for (u32 n = random_below(24); n > 0; n--) {
            u32 first = random_below(PAGES), type = 1 + random_below(5);
            u32 pages = random_below(PAGES - first + 1);
            region((u64)first << 12, (u64)pages << 12, type);
            for (u32 i = first; i < first + pages; i++) {
                want[i] = rank[type] > rank[want[i]] ? (u8)type : want[i];
            }
        }
        tag_end(at);
        (void)finish();
        check_invariants();
        for (u32 r = 0; r < info.n_regions; r++) {
            const struct mem_region *m = &info.regions[r];
            for (u64 i = m->start >> 12; i < (m->start + m->bytes) >> 12; i++) {
                CHECK_EQ(m->type, want[i]);
                want[i] = 0;
            }
        }
        for (u32 i = 0; i < PAGES; i++) {
            CHECK_EQ(want[i], 0);
        }
    }
}

int main(void)
{
    RUN(regions_unsorted_and_overlapping);
    RUN(regions_that_wrap);
    RUN(neighbours_merge);
    RUN(too_many_regions);
    RUN(reserved_entries_push_no_ram_out);
    RUN(random_maps_match_a_plain_painter);
    return TEST_RESULT();
}
