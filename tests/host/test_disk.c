// test_disk.c - requests of programs, split for drivers of every kind.
// SPDX-License-Identifier: MIT
#include "disk_device.h"

static u8 *const BUF = (u8 *)0x40000000; // never touched: DMA is the device's

// Everything arrives, in order, piece after piece.
static void whole(u64 block, u64 n, u8 *buf, int write)
{
    next_memory = buf;
    next_byte = block * INGOT_BLOCK;
    if (write) {
        CHECK_EQ(disk_write(0, block, n, buf), n);
    } else {
        CHECK_EQ(disk_read(0, block, n, buf), n);
    }
    CHECK_EQ(next_byte, (block + n) * INGOT_BLOCK);
    CHECK(next_memory == buf + n * INGOT_BLOCK);
}

static void test_a_block(void)
{
    reset(512, 8000);
    whole(5, 1, BUF, 0);
    CHECK_EQ(commands, 1);
    CHECK_EQ(disk.reads, 1);
    CHECK_EQ(flushes, 0);
    whole(999, 1, BUF, 1);
    CHECK_EQ(flushes, 1);
    CHECK_EQ(disk.writes, 1);
}

static void test_a_mebibyte_of_pages_is_few_commands(void)
{
    reset(512, 80000);
    whole(0, 256, BUF, 0);
    CHECK_EQ(commands, 2);
    reset(512, 80000);
    whole(0, 256, BUF + 4, 0); // 257 pieces, whole blocks only
    CHECK_EQ(commands, 2);
}

static void test_64_mebibytes_in_one_call(void)
{
    reset(512, 1 << 21);
    run_bytes = 2 << 20;
    whole(3, 16384, BUF, 0);
    CHECK_EQ(commands, 2);
    reset(512, 1 << 21);
    run_bytes = 1 << 30; // one piece: the device's segment limit holds
    whole(3, 16384, BUF + 1024, 0);
    CHECK_EQ(commands, 2);
    CHECK_EQ(most_segments, 8);
}

static void test_every_sector_size(void)
{
    for (u32 sector = 512; sector <= 4096; sector *= 2) {
        reset(sector, 4096 / sector * 100 + (sector < 4096));
        struct disk_info info;
        CHECK_EQ(disk_info(0, &info), 0);
        CHECK_EQ(info.blocks, 100); // what sticks out is not a block
        CHECK_EQ(info.sector_bytes, sector);
        whole(97, 3, BUF, 0);
        CHECK_EQ(disk_read(0, 100, 1, BUF), E_RANGE);
    }
}

static void test_pages_for_prps(void)
{
    for (u32 offset = 0; offset < 4096; offset += 1364) {
        reset(512, 80000);
        disk.page_segments = 1;
        disk.max_segment_bytes = 10000;
        run_bytes = 1 << 20;
        whole(1, 1000, BUF + offset, 0);
    }
}

static void test_narrow_devices(void)
{
    reset(512, 80000);
    disk.max_segments = 2;
    whole(1, 50, BUF + 2048, 1);
    CHECK_EQ(commands, 50);
    reset(512, 80000);
    disk.max_bytes = 4096;
    disk.max_segment_bytes = 4096;
    whole(1, 50, BUF + 2048, 1);
    CHECK_EQ(commands, 50);
    reset(512, 80000);
    disk.max_segments = ~0u; // more than we keep
    whole(1, 5000, BUF, 1);
    CHECK_EQ(most_segments, DISK_SEGMENTS);
}

static void test_bad_arguments_move_nothing(void)
{
    reset(512, 8000); // 1000 blocks
    CHECK_EQ(disk_read(1, 0, 1, BUF), E_NODEV);
    CHECK_EQ(disk_read(~0u, 0, 1, BUF), E_NODEV);
    CHECK_EQ(disk_read(0, 0, 0, BUF), E_ARG);
    CHECK_EQ(disk_read(0, 0, 1, BUF + 2), E_ARG);
    CHECK_EQ(disk_read(0, 1000, 1, BUF), E_RANGE);
    CHECK_EQ(disk.error_block, 1000);
    CHECK(log_says("block 1000 "));
    CHECK_EQ(disk_read(0, 999, 2, BUF), E_RANGE);
    CHECK_EQ(disk.error_block, 1000);
    CHECK_EQ(disk_read(0, 123456, 2, BUF), E_RANGE);
    CHECK_EQ(disk.error_block, 123456);
    CHECK_EQ(disk_read(0, ~0ul, 1, BUF), E_RANGE);
    CHECK_EQ(disk_read(0, 1, ~0ul, BUF), E_RANGE);
    CHECK_EQ(disk_read(0, ~0ul, ~0ul, BUF), E_RANGE);
    CHECK_EQ(disk_read(0, 1ul << 52, 1ul << 52, BUF), E_RANGE);
    CHECK_EQ(disk_read(0, 0, 1, (void *)~3ul), E_FAULT);
    CHECK_EQ(disk_write(0, 0, 1, (void *)~3ul), E_FAULT);
    CHECK_EQ(disk_info(1, (void *)8), E_NODEV);
    CHECK_EQ(commands, 0);
    CHECK_EQ(flushes, 0);
}

static void test_buffers_are_checked_to_the_end_first(void)
{
    reset(512, 80000);
    hole = (u64)BUF + 999 * 4096;
    CHECK_EQ(disk_read(0, 0, 1000, BUF), E_FAULT);
    CHECK_EQ(disk_write(0, 0, 1000, BUF), E_FAULT);
    hole = ~0ul;
    read_only = (u64)BUF + 999 * 4096;
    CHECK_EQ(disk_read(0, 0, 1000, BUF), E_FAULT);
    CHECK_EQ(commands, 0);
    CHECK_EQ(disk_write(0, 0, 1000, BUF), 1000);
}

static void test_the_device_names_the_bad_sector(void)
{
    reset(512, 80000);
    names_sector = 1;
    bad_block = 777;
    fail_count = ~0ul;
    CHECK_EQ(disk_read(0, 5, 1000, BUF), E_IO);
    CHECK_EQ(disk.error_block, 777);
    CHECK(log_says("read of block 777 "));
    CHECK_EQ(log_lines, 2); // disk_add's and one
    CHECK_EQ(disk_read(0, 778, 1000, BUF), 1000);
    CHECK_EQ(disk_read(0, 5, 772, BUF), 772);
    CHECK_EQ(disk_lock, 0);
}

static void test_a_bad_sector_elsewhere_is_not_believed(void)
{
    static const u64 lies[] = {0, 39, 39 + 801, ~0ul - 1, 1ul << 60};
    for (u32 i = 0; i < 5; i++) {
        reset(512, 80000);
        bad_block = 50;
        fail_count = ~0ul;
        names_sector = 1;
        named_sector = lies[i];
        CHECK_EQ(disk_read(0, 5, 100, BUF), E_IO);
        CHECK_EQ(disk.error_block, 50);
    }
}

static void test_the_search_stops_at_a_timeout(void)
{
    reset(512, 80000);
    bad_block = 70;
    fail_count = ~0ul;
    then_fail_with = E_TIMEOUT;
    CHECK(disk_read(0, 0, 200, BUF) < 0);
    CHECK_EQ(commands, 2);
}

static void test_every_bad_block_is_found(void)
{
    for (u64 bad = 0; bad < 300; bad++) {
        reset(512, 80000);
        run_bytes = bad % 2 ? 4096 : 65536;
        bad_block = bad;
        fail_count = ~0ul;
        CHECK_EQ(disk_read(0, 0, 300, BUF), E_IO);
        CHECK_EQ(disk.error_block, bad);
        CHECK(commands < 14);
        CHECK_EQ(disk_write(0, 0, 300, BUF), E_IO);
        CHECK_EQ(disk.error_block, bad);
        CHECK_EQ(flushes, 0);
    }
}

static void test_an_error_that_passes(void)
{
    for (u64 times = 1; times < 8; times++) {
        reset(512, 80000);
        bad_block = 100;
        fail_count = times;
        CHECK_EQ(disk_read(0, 0, 200, BUF), 200);
        CHECK_EQ(disk.errors, times);
        CHECK_EQ(disk.error_block, ~0ul);
    }
}

static void test_timeouts_are_not_repeated(void)
{
    static const int codes[] = {E_TIMEOUT, E_GONE};
    for (u32 i = 0; i < 2; i++) {
        reset(512, 80000);
        fail_with = codes[i];
        bad_block = 600;
        fail_count = ~0ul;
        CHECK_EQ(disk_read(0, 0, 1000, BUF), codes[i]);
        CHECK_EQ(commands, 3); // 248 + 248 + this one
        CHECK_EQ(disk.error_block, 496);
    }
}

static void test_flush_errors_count(void)
{
    reset(512, 80000);
    flush_result = E_IO;
    CHECK_EQ(disk_write(0, 42, 3, BUF), E_IO);
    CHECK_EQ(disk.error_block, 42);
    CHECK_EQ(disk.errors, 1);
}

static void test_absurd_devices_are_refused(void)
{
    reset(512, 8);
    struct disk good = disk, bad;
    static const u32 sectors[] = {0, 1, 256, 520, 8192, ~0u};
    for (u32 i = 0; i < 6; i++) {
        bad = good;
        bad.sector_bytes = sectors[i];
        CHECK_EQ(disk_add(&bad), E_UNSUPPORTED);
    }
    bad = good;
    bad.sectors = 0;
    CHECK_EQ(disk_add(&bad), E_UNSUPPORTED);
    bad.sectors = ~0ul;
    CHECK_EQ(disk_add(&bad), E_UNSUPPORTED);
    bad = good;
    bad.max_segments = 1;
    CHECK_EQ(disk_add(&bad), E_UNSUPPORTED);
    bad = good;
    bad.max_bytes = 4095;
    CHECK_EQ(disk_add(&bad), E_UNSUPPORTED);
    CHECK_EQ(disk_count(), 1);
}

static void test_a_disk_smaller_than_a_block(void)
{
    reset(512, 7);
    CHECK_EQ(disk_read(0, 0, 1, BUF), E_RANGE);
}

static void test_numbers_and_recovery(void)
{
    reset(512, 8);
    static struct disk more[DISK_MAX];
    for (u32 i = 1; i < DISK_MAX; i++) {
        more[i] = disk;
        CHECK_EQ(disk_add(&more[i]), 0);
        CHECK_EQ(more[i].index, i);
        CHECK(disk_get(i) == &more[i]);
    }
    more[0] = disk;
    CHECK_EQ(disk_add(&more[0]), E_NOMEM);
    CHECK(disk_get(DISK_MAX) == 0);
    disk_lock = 1; // a program ended in mid-call
    disk_recover_all();
    CHECK_EQ(recoveries, DISK_MAX);
    CHECK_EQ(disk_lock, 0);
    struct disk_info info;
    CHECK_EQ(disk_info(3, &info), 0);
    CHECK(strcmp(info.driver, "fake") == 0 && strcmp(info.model, "MODEL") == 0);
    CHECK(strcmp(info.pci, "00:1f.2") == 0);
    CHECK_EQ(info.max_blocks, 8192);
}

int main(void)
{
    RUN(test_a_block);
    RUN(test_a_mebibyte_of_pages_is_few_commands);
    RUN(test_64_mebibytes_in_one_call);
    RUN(test_every_sector_size);
    RUN(test_pages_for_prps);
    RUN(test_narrow_devices);
    RUN(test_bad_arguments_move_nothing);
    RUN(test_buffers_are_checked_to_the_end_first);
    RUN(test_the_device_names_the_bad_sector);
    RUN(test_a_bad_sector_elsewhere_is_not_believed);
    RUN(test_the_search_stops_at_a_timeout);
    RUN(test_every_bad_block_is_found);
    RUN(test_an_error_that_passes);
    RUN(test_timeouts_are_not_repeated);
    RUN(test_flush_errors_count);
    RUN(test_absurd_devices_are_refused);
    RUN(test_a_disk_smaller_than_a_block);
    RUN(test_numbers_and_recovery);
    return TEST_RESULT();
}
