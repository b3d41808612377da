// test_bmfs.c - the program-side BMFS library on disks that lie.
// SPDX-License-Identifier: MIT
#include "bmfs_disk.h"

static void test_sizes_exact_to_the_byte(void)
{
    new_disk(DISK_BYTES);
    sizes_at(0);
}

static void mbr_partition(u32 i, u8 type, u32 first, u32 count)
{
    image[446 + 16 * i + 4] = type;
    put32(446 + 16 * i + 8, first);
    put32(446 + 16 * i + 12, count);
    image[510] = 0x55;
    image[511] = 0xAA;
}

static void test_mbr_partition(void)
{
    new_disk(DISK_BYTES);
    mbr_partition(0, 0x0C, 2048, 2048);
    mbr_partition(2, 0xDA, 4096, DISK_BYTES / 512 - 4096);
    sizes_at(4096 * 512);
}

static void test_partition_not_on_a_disk_block(void)
{
    new_disk(DISK_BYTES);
    mbr_partition(1, 0xDA, 63, DISK_BYTES / 512 - 63);
    sizes_at(63 * 512);
}

static void gpt(u64 sector, u64 entry_bytes, u64 slot, u64 first, u64 last)
{
    mbr_partition(0, 0xEE, 1, ~0u);
    memset(image + sector, 0, 4096);
    memcpy(image + sector, "EFI PART", 8);
    put64(sector + 72, 2);
    put32(sector + 80, 128);
    put32(sector + 84, (u32)entry_bytes);
    u64 at = 2 * sector + slot * entry_bytes;
    memset(image + 2 * sector, 0, 128 * 128);
    image[at] = 1;
    put64(at + 32, first);
    put64(at + 40, last);
}

static void test_gpt_partition(void)
{
    new_disk(DISK_BYTES);
    gpt(512, 128, 127, 2048, DISK_BYTES / 512 - 34);
    sizes_at(2048 * 512);
    CHECK(reads < 40);
}

static void test_gpt_4096_byte_sectors(void)
{
    new_disk(DISK_BYTES);
    gpt(4096, 128, 1, 256, DISK_BYTES / 4096 - 6);
    format_at(256 * 4096);
    CHECK_EQ(mount_sector(4096), 0);
    CHECK_EQ(fs.start, 256 * 4096);
}

static void test_mbr_of_512_on_4096_byte_sectors(void)
{
    new_disk(DISK_BYTES);
    mbr_partition(1, 0xDA, 8192, 20000);
    format_at(8192 * 512);
    CHECK_EQ(mount_sector(4096), 0);
    CHECK_EQ(fs.start, 8192 * 512);
}

static void test_baremetal_place(void)
{
    new_disk(136 << 20);
    format_at(128 << 20);
    entry(128 << 20, 0, "hello.app", 2, 1, 4097);
    CHECK_EQ(mount(), 0);
    CHECK_EQ(fs.start, 128 << 20);
    CHECK_EQ(fs.blocks, 4);
    exact(128 << 20, "hello.app", 2, 4097);
}

static void test_no_marker(void)
{
    new_disk(DISK_BYTES);
    CHECK_EQ(mount(), E_NODEV);
    CHECK(strlen(fs.why) > 10);
    mbr_partition(0, 0x83, 2048, 100);
    CHECK_EQ(mount(), E_NODEV);
}

static void test_tiny_disks(void)
{
    for (u64 blocks = 0; blocks < 4; blocks++) {
        new_disk(blocks * 4096);
        if (blocks) {
            memcpy(image + MARKER_AT, "BMFS", 4);
        }
        CHECK_EQ(mount(), blocks < 2 ? E_NODEV : 0);
        CHECK(bmfs_entry(&fs, 0, &file) == E_RANGE || blocks < 2);
    }
}

static void test_absurd_disk(void)
{
    new_disk(DISK_BYTES);
    CHECK_EQ(mount_sector(0), E_ARG);
    CHECK_EQ(mount_sector(1 << 30), E_ARG);
    struct bmfs_disk disk = {fake_read, 3, 512, ~0ul};
    CHECK_EQ(bmfs_mount(&fs, &disk), E_ARG);
}

static void test_partition_tables_that_lie(void)
{
    new_disk(DISK_BYTES);
    mbr_partition(0, 0xDA, ~0u, ~0u);
    mbr_partition(1, 0xDA, 0, 0);
    mbr_partition(2, 0xDA, DISK_BYTES / 512 - 1, ~0u);
    mbr_partition(3, 0xDA, DISK_BYTES / 512 - 10, 5);
    CHECK_EQ(mount(), E_NODEV);
    static const u64 hostile[] = {
        0,         1,         2048,      ~0ul,
        ~0ul >> 9, ~0ul >> 8, 1ul << 63, DISK_BYTES / 512 - 1};
    for (u32 i = 0; i < 64; i++) {
        gpt(512, 128, 0, hostile[i / 8], hostile[i % 8]);
        CHECK_EQ(mount(), E_NODEV);
    }
    gpt(512, 128, 0, 4096, 4095); // ends before it starts
    format_at(4096 * 512);
    CHECK_EQ(mount(), E_NODEV);
    for (u32 i = 0; i < 8; i++) {
        gpt(512, 128, 0, 2048, 4096);
        put64(512 + 72, hostile[i]);
        CHECK_EQ(mount(), E_NODEV);
        gpt(512, 128, 0, 2048, 4096);
        put32(512 + 84, (u32)hostile[i]);
        CHECK_EQ(mount(), E_NODEV);
    }
}

// One entry with a fault: listed with its reason, and not read.
static void faulty(u64 first, u64 blocks, u64 size, const char *want)
{
    new_disk(DISK_BYTES); // 16 blocks
    format_at(0);
    entry(0, 0, "bad", first, blocks, size);
    entry(0, 1, "good", 15, 1, 4097);
    CHECK_EQ(mount(), 0);
    CHECK_EQ(bmfs_entry(&fs, 0, &file), 1);
    CHECK(file.problem && strcmp(file.problem, want) == 0);
    if (file.problem && strcmp(file.problem, want) != 0) {
        printf("  %s\n", file.problem);
    }
    u8 byte[8] __attribute__((aligned(8)));
    u64 before = reads;
    CHECK_EQ(bmfs_read(&fs, &file, 0, byte, 8), E_FORMAT);
    CHECK(fs.why == file.problem);
    CHECK_EQ(reads, before);
    exact(0, "good", 15, 4097);
}

static void test_entries_that_lie(void)
{
    const char *beyond = "its blocks are beyond the disk";
    const char *large = "its size is beyond its blocks";
    faulty(0, 1, 10, "it starts in the directory's block");
    faulty(16, 1, 10, beyond);
    faulty(15, 2, 10, beyond);
    faulty(~0ul, 1, 10, beyond);
    faulty(1, ~0ul, 10, beyond);
    faulty(2, ~0ul - 1, 10, beyond);
    faulty(1ul << 43, 1, 10, beyond);
    faulty(1, 1ul << 43, 10, beyond);
    faulty(1, 1, (2 << 20) + 1, large);
    faulty(1, 1, ~0ul, large);
    faulty(1, 0, 1, large);
}

static void test_names_that_lie(void)
{
    new_disk(DISK_BYTES);
    format_at(0);
    entry(0, 0, "0123456789012345678901234567890123456789", 1, 1, 5);
    entry(0, 1, "0123456789012345678901234567890", 1, 1, 5); // 31
    entry(0, 2, "a\033[2Jb", 1, 1, 5);
    CHECK_EQ(mount(), 0);
    CHECK_EQ(bmfs_entry(&fs, 0, &file), 1);
    CHECK(file.problem && strlen(file.name) == 31);
    CHECK_EQ(bmfs_entry(&fs, 1, &file), 1);
    CHECK(!file.problem && strlen(file.name) == 31);
    CHECK_EQ(bmfs_entry(&fs, 2, &file), 1);
    CHECK(file.problem && strcmp(file.name, "a?[2Jb") == 0);
}

static void test_directory_shapes(void)
{
    new_disk(DISK_BYTES);
    format_at(0);
    CHECK_EQ(mount(), 0);
    CHECK_EQ(bmfs_entry(&fs, 0, &file), E_RANGE);
    CHECK_EQ(bmfs_find(&fs, "x", &file), E_NODEV);
    for (u32 i = 0; i < 64; i++) {
        char name[8] = {'n', (char)('0' + i / 10), (char)('0' + i % 10), 0};
        entry(0, i, name, 1, 1, i);
    }
    image[DIRECTORY_AT] = 1; // the first is deleted
    CHECK_EQ(mount(), 0);
    CHECK_EQ(bmfs_entry(&fs, 0, &file), 0);
    CHECK_EQ(bmfs_find(&fs, "n63", &file), 63);
    CHECK_EQ(bmfs_entry(&fs, 64, &file), E_RANGE);
    CHECK_EQ(bmfs_entry(&fs, ~0u, &file), E_RANGE);
    image[DIRECTORY_AT + 64 * 5] = 0; // ends here, whatever comes behind
    CHECK_EQ(mount(), 0);
    CHECK_EQ(bmfs_find(&fs, "n04", &file), 4);
    CHECK_EQ(bmfs_find(&fs, "n63", &file), E_NODEV);
    CHECK_EQ(bmfs_entry(&fs, 63, &file), E_RANGE);
}

static void test_parts_of_a_file(void)
{
    new_disk(DISK_BYTES);
    format_at(0);
    entry(0, 0, "f", 3, 2, 3000001);
    CHECK_EQ(mount(), 0);
    CHECK_EQ(bmfs_find(&fs, "f", &file), 0);
    u8 *buf = malloc(3000004);
    static const u64 cuts[][3] = {{0, 1, 1},
                                  {1, 4096, 4096},
                                  {4095, 2, 2},
                                  {4096, 8192, 8192},
                                  {2999999, 100, 2},
                                  {3000000, 100, 1},
                                  {3000001, 100, 0},
                                  {~0ul, 100, 0},
                                  {5, 0, 0},
                                  {5, ~0ul >> 1, 2999996},
                                  {2097151, 10000, 10000}};
    for (u32 i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
        CHECK_EQ(bmfs_read(&fs, &file, cuts[i][0], buf, cuts[i][1]),
                 cuts[i][2]);
        CHECK(cuts[i][2] == 0 ||
              memcmp(buf, image + 3 * BMFS_BLOCK_BYTES + cuts[i][0],
                     cuts[i][2]) == 0);
    }
    CHECK_EQ(bmfs_read(&fs, &file, 0, buf + 1, 10), E_ARG);
    free(buf);
}

static void test_whole_file_is_two_requests(void)
{
    new_disk(DISK_BYTES);
    format_at(0);
    entry(0, 0, "f", 3, 2, 3000001);
    CHECK_EQ(mount(), 0);
    CHECK_EQ(bmfs_find(&fs, "f", &file), 0);
    u64 before = reads;
    exact(0, "f", 3, 3000001);
    CHECK_EQ(reads - before, 2);
}

static void test_disk_errors_pass_up(void)
{
    new_disk(DISK_BYTES);
    format_at(0);
    entry(0, 0, "f", 1, 1, 8192);
    fail_block = 0;
    CHECK_EQ(mount(), E_IO);
    fail_block = 1;
    CHECK_EQ(mount(), E_IO);
    fail_block = 513;
    CHECK_EQ(mount(), 0);
    CHECK_EQ(bmfs_find(&fs, "f", &file), 0);
    u8 *buf = malloc(8192);
    CHECK_EQ(bmfs_read(&fs, &file, 0, buf, 8192), E_IO);
    CHECK_EQ(bmfs_read(&fs, &file, 0, buf, 4096), 4096);
    free(buf);
}

static void test_scratch_is_not_stale(void)
{
    new_disk(DISK_BYTES);
    format_at(0);
    entry(0, 0, "f", 1, 1, 10);
    CHECK_EQ(mount(), 0);
    exact(0, "f", 1, 10);
    image[BMFS_BLOCK_BYTES] ^= 0xFF;
    exact(0, "f", 1, 10);
}

int main(void)
{
    RUN(test_sizes_exact_to_the_byte);
    RUN(test_mbr_partition);
    RUN(test_partition_not_on_a_disk_block);
    RUN(test_gpt_partition);
    RUN(test_gpt_4096_byte_sectors);
    RUN(test_mbr_of_512_on_4096_byte_sectors);
    RUN(test_baremetal_place);
    RUN(test_no_marker);
    RUN(test_tiny_disks);
    RUN(test_absurd_disk);
    RUN(test_partition_tables_that_lie);
    RUN(test_entries_that_lie);
    RUN(test_names_that_lie);
    RUN(test_directory_shapes);
    RUN(test_parts_of_a_file);
    RUN(test_whole_file_is_two_requests);
    RUN(test_disk_errors_pass_up);
    RUN(test_scratch_is_not_stale);
    return TEST_RESULT();
}
