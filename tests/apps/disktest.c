// disktest.c - the disk calls, from a program: checksums, writes, bad calls.
// SPDX-License-Identifier: MIT
#include "../../apps/lib/args.h"
#include "../../apps/lib/bmfs.h"
#include "../../apps/lib/print.h"
#include "../../lib/string.h"

struct area { // what to move, and memory for it
    u32 disk;
    u64 block, n;
    u64 offset; // of the buffer from a page
    u8 *buf;
    u64 bytes;
};

// CRC-32 as zlib has it.
static u32 disktest_crc(const u8 *data, u64 len)
{
    static u32 table[256];
    for (u32 i = 0; i < 256 && !table[255]; i++) {
        u32 value = i;
        for (u32 bit = 0; bit < 8; bit++) {
            value = value >> 1 ^ (value & 1 ? 0xEDB88320u : 0);
        }
        table[i] = value;
    }
    u32 crc = ~0u;
    for (u64 i = 0; i < len; i++) {
        crc = crc >> 8 ^ table[(crc ^ data[i]) & 255];
    }
    return ~crc;
}

static int disktest_error(u32 disk, const char *what, i64 error)
{
    struct disk_info info;
    u64 block = os->disk_info(disk, &info) == 0 ? info.error_block : ~0ul;
    print("%s: %s, block %ld\n", what, os->sys_error((int)error), (i64)block);
    return 1;
}

static int disktest_area(int argc, char **argv, struct area *area)
{
    u64 disk = 0;
    void *memory;
    area->n = 1;
    if (args_number(argc, argv, 2, (struct range){0, ~0u}, &disk) < 0 ||
        args_number(argc, argv, 3, (struct range){0, ~0ul}, &area->block) < 0 ||
        args_number(argc, argv, 4, (struct range){0, 1 << 20}, &area->n) < 0 ||
        args_number(argc, argv, 5, (struct range){0, 4095}, &area->offset) <
            0) {
        return E_ARG;
    }
    area->disk = (u32)disk;
    area->bytes = area->n * INGOT_BLOCK;
    int result = os->mem_alloc(area->bytes + 2 * INGOT_BLOCK, 0, &memory);
    if (result < 0) {
        print("mem_alloc: %s\n", os->sys_error(result));
        return result;
    }
    memset(memory, 0xA5, area->bytes + 2 * INGOT_BLOCK);
    area->buf = (u8 *)memory + area->offset;
    return 0;
}

// sum DISK BLOCK N OFFSET: one disk_read, its checksum, its device commands.
static int disktest_sum(const struct area *area)
{
    struct disk_info before, after;
    if (os->disk_info(area->disk, &before) < 0) {
        print("disk_info: %s\n", os->sys_error(E_NODEV));
        return 1;
    }
    i64 got = os->disk_read(area->disk, area->block, area->n, area->buf);
    if (got < 0) {
        return disktest_error(area->disk, "read", got);
    }
    os->disk_info(area->disk, &after);
    for (u64 i = 0; i < INGOT_BLOCK; i++) {
        if (area->buf[area->bytes + i] != 0xA5) {
            print("byte %lu past the end was written\n", i);
            return 1;
        }
    }
    print("crc %08x of %ld blocks, %lu commands\n",
          disktest_crc(area->buf, area->bytes), got,
          after.reads - before.reads);
    return 0;
}

// fill DISK BLOCK N OFFSET: write a pattern, read it back.
static int disktest_fill(const struct area *area)
{
    for (u64 i = 0; i < area->bytes; i++) {
        area->buf[i] = (u8)(i * 11 + (i >> 9) + area->block);
    }
    u32 crc = disktest_crc(area->buf, area->bytes);
    i64 got = os->disk_write(area->disk, area->block, area->n, area->buf);
    if (got < 0) {
        return disktest_error(area->disk, "write", got);
    }
    memset(area->buf, 0, area->bytes);
    got = os->disk_read(area->disk, area->block, area->n, area->buf);
    if (got < 0) {
        return disktest_error(area->disk, "read back", got);
    }
    int same = disktest_crc(area->buf, area->bytes) == crc;
    print("crc %08x of %ld blocks, %s\n", crc, got,
          same ? "read back the same" : "READ BACK DIFFERENT");
    return !same;
}

static int disktest_wants(const char *what, i64 got, i64 want)
{
    print("%-24s %s%s\n", what, os->sys_error((int)got),
          got == want ? "" : "  WRONG");
    return got != want;
}

// args DISK: calls that must fail, and how.
static int disktest_args(const struct area *area)
{
    u32 d = area->disk;
    u8 *buf = area->buf;
    struct disk_info info;
    if (os->disk_info(d, &info) < 0) {
        print("disk_info: %s\n", os->sys_error(E_NODEV));
        return 1;
    }
    u64 end = info.blocks;
    int wrong = 0;
    wrong += disktest_wants("no disk", os->disk_read(99, 0, 1, buf), E_NODEV);
    wrong += disktest_wants("count 0", os->disk_read(d, 0, 0, buf), E_ARG);
    wrong +=
        disktest_wants("odd buffer", os->disk_read(d, 0, 1, buf + 1), E_ARG);
    wrong +=
        disktest_wants("past the end", os->disk_read(d, end, 1, buf), E_RANGE);
    wrong += disktest_wants("over the end", os->disk_read(d, end - 1, 2, buf),
                            E_RANGE);
    wrong += disktest_wants("wrapping block", os->disk_read(d, ~0ul, 2, buf),
                            E_RANGE);
    wrong += disktest_wants("wrapping count", os->disk_read(d, 1, ~0ul, buf),
                            E_RANGE);
    wrong += disktest_wants("null", os->disk_read(d, 0, 1, 0), E_FAULT);
    wrong += disktest_wants(
        "unmapped", os->disk_read(d, 0, 1, (void *)0x7FFFFFFFF000ul), E_FAULT);
    wrong += disktest_wants("last page", os->disk_read(d, 0, 1, (void *)~7ul),
                            E_FAULT);
    wrong += disktest_wants(
        "call table", os->disk_read(d, 0, 1, (void *)0x100000ul), E_FAULT);
    wrong += disktest_wants(
        "own code", os->disk_read(d, 0, 1, (void *)INGOT_WINDOW), E_FAULT);
    wrong += disktest_wants("write past the end",
                            os->disk_write(d, end, 1, buf), E_RANGE);
    wrong +=
        disktest_wants("info of no disk", os->disk_info(99, &info), E_NODEV);
    print("%d wrong\n", wrong);
    return wrong != 0;
}

// One file, all of it: its checksum, or the line that says why not.
static int disktest_file(struct bmfs *fs, const struct bmfs_file *file)
{
    void *memory;
    print("%s: %lu bytes, ", file->name, file->size);
    if (file->problem) {
        print("BAD, %s\n", file->problem);
        return 1;
    }
    int result = os->mem_alloc(file->size + 1, 0, &memory);
    if (result < 0) {
        print("%s\n", os->sys_error(result));
        return 1;
    }
    i64 got = bmfs_read(fs, file, 0, memory, file->size + 1);
    if (got != (i64)file->size) {
        print("%s (%ld)\n", fs->why, got);
    } else {
        print("crc %08x\n", disktest_crc(memory, file->size));
    }
    (void)os->mem_free(memory, file->size + 1);
    return got != (i64)file->size;
}

// files DISK: every file of the BMFS there.
static int disktest_files(const struct area *area)
{
    static struct bmfs fs;
    static struct bmfs_file file;
    struct disk_info info;
    if (os->disk_info(area->disk, &info) < 0) {
        print("disk_info: %s\n", os->sys_error(E_NODEV));
        return 1;
    }
    struct bmfs_disk disk = {os->disk_read, area->disk, info.sector_bytes,
                             info.blocks};
    if (bmfs_mount(&fs, &disk) < 0) {
        print("%s\n", fs.why);
        return 1;
    }
    int bad = 0, result;
    u32 n = 0;
    for (u32 i = 0; (result = bmfs_entry(&fs, i, &file)) >= 0; i++) {
        if (result == 1) {
            bad += disktest_file(&fs, &file);
            n++;
        }
    }
    print("%u files, %d bad, at byte %lu\n", n, bad, fs.start);
    return bad != 0;
}

int main(int argc, char **argv)
{
    struct area area = {0};
    if (argc < 3 || disktest_area(argc, argv, &area) < 0) {
        print(
            "usage: disktest sum|fill|args|files DISK [BLOCK [N [OFFSET]]]\n");
        return 2;
    }
    if (strcmp(argv[1], "sum") == 0) {
        return disktest_sum(&area);
    }
    if (strcmp(argv[1], "fill") == 0) {
        return disktest_fill(&area);
    }
    if (strcmp(argv[1], "files") == 0) {
        return disktest_files(&area);
    }
    return disktest_args(&area);
}
