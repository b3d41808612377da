// bmfs_disk.h - a disk for tests of the BMFS library, and ways to fill it.
// SPDX-License-Identifier: MIT
#pragma once
#include "../../apps/lib/bmfs.c"
#include "test.h"

u64 string_copy(char *to, const char *from, u64 cap)
{
    u64 len = strnlen(from, cap - 1);
    memcpy(to, from, len);
    to[len] = 0;
    return len;
}

enum { DISK_BYTES = 32 << 20 };
static u8 *image; // exactly as long as the disk: ASan sees a read outside
static u64 image_blocks, reads, fail_block;

static i64 fake_read(u32 disk, u64 block, u64 n, void *buf)
{
    reads++;
    CHECK_EQ(disk, 3);
    CHECK(n > 0 && block <= image_blocks && n <= image_blocks - block);
    CHECK_EQ((u64)buf % 4, 0);
    if (n == 0 || block > image_blocks || n > image_blocks - block) {
        return E_RANGE;
    }
    if (fail_block >= block && fail_block < block + n) {
        return E_IO;
    }
    memcpy(buf, image + block * INGOT_BLOCK, n * INGOT_BLOCK);
    return (i64)n;
}

static struct bmfs fs;
static struct bmfs_file file;

static void new_disk(u64 bytes)
{
    free(image);
    image_blocks = bytes / INGOT_BLOCK;
    image = malloc(image_blocks * INGOT_BLOCK);
    for (u64 i = 0; i < image_blocks * INGOT_BLOCK; i++) {
        image[i] = (u8)(i * 31 + (i >> 9) + (i >> 17));
    }
    memset(image, 0, bytes < 8192 ? bytes : 8192);
    fail_block = ~0ul;
    reads = 0;
}

static void put64(u64 at, u64 value)
{
    memcpy(image + at, &value, 8);
}

static void put32(u64 at, u32 value)
{
    memcpy(image + at, &value, 4);
}

static void entry(u64 at, u32 slot, const char *name, u64 first, u64 blocks,
                  u64 size)
{
    u8 *to = image + at + DIRECTORY_AT + slot * 64;
    memset(to, 0, 64);
    memcpy(to, name, strnlen(name, 32));
    put64((u64)(to - image) + 32, first);
    put64((u64)(to - image) + 40, blocks);
    put64((u64)(to - image) + 48, size);
}

static void format_at(u64 at)
{
    memset(image + at, 0, 8192);
    memcpy(image + at + MARKER_AT, "BMFS", 4);
}

static int mount_sector(u32 sector)
{
    struct bmfs_disk disk = {fake_read, 3, sector, image_blocks};
    return bmfs_mount(&fs, &disk);
}

static int mount(void)
{
    return mount_sector(512);
}

static void exact(u64 at, const char *name, u64 first, u64 size)
{
    CHECK(bmfs_find(&fs, name, &file) >= 0);
    CHECK_EQ(file.size, size);
    u8 *buf = malloc(size + 1); // not a byte more may be written
    buf[size] = 0xA5;
    CHECK_EQ(bmfs_read(&fs, &file, 0, buf, size + 1), size);
    CHECK(memcmp(buf, image + at + first * BMFS_BLOCK_BYTES, size) == 0);
    CHECK_EQ(buf[size], 0xA5);
    free(buf);
}

static void sizes_at(u64 at)
{
    static const u64 sizes[] = {0, 1, 511, 4095, 4096, 4097, 3000001};
    format_at(at);
    for (u32 i = 0; i < 7; i++) {
        char name[8] = {'f', (char)('0' + i), 0};
        entry(at, i, name, 1 + i, i == 6 ? 2 : 1, sizes[i]);
    }
    CHECK_EQ(mount(), 0);
    CHECK_EQ(fs.start, at);
    for (u32 i = 0; i < 7; i++) {
        char name[8] = {'f', (char)('0' + i), 0};
        exact(at, name, 1 + i, sizes[i]);
    }
}
