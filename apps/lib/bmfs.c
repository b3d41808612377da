// bmfs.c - BMFS, read-only: find it on a disk, list its files, read them.
// SPDX-License-Identifier: MIT
//
// The disk: 2 MiB blocks counted from the file system's start; the marker
// "BMFS" at byte 1024; the directory at byte 4096, 64 entries of 64 bytes.
#include "bmfs.h"
#include "../../lib/string.h"

enum {
    MARKER_AT = 1024,
    DIRECTORY_AT = 4096,
    ENTRY_BYTES = 64,
    ENTRY_FIRST = 32, // u64 each
    ENTRY_BLOCKS = 40,
    ENTRY_SIZE = 48,
    BAREMETAL_AT = 128 << 20, // where BareMetal OS images keep it
};

enum { // MBR: four entries of 16 bytes, UEFI 2.10 5.2.1
    MBR_ENTRIES = 446,
    MBR_TYPE = 4,
    MBR_FIRST = 8,
    MBR_COUNT = 12,
    MBR_SIGNATURE = 510,
    MBR_SECTOR = 512,
    MBR_GPT_TYPE = 0xEE,
};

enum { // GPT header and entry, UEFI 2.10 5.3.2, 5.3.3
    GPT_TABLE = 72,
    GPT_ENTRIES = 80,
    GPT_ENTRY_BYTES = 84,
    GPT_ENTRY_FIRST = 32,
    GPT_ENTRY_LAST = 40,
    GPT_MAX_ENTRIES = 128, // what everybody makes; more are not looked at
};

static u32 bmfs_u32(const u8 *at)
{
    u32 value;
    memcpy(&value, at, sizeof(value));
    return value;
}

static u64 bmfs_u64(const u8 *at)
{
    u64 value;
    memcpy(&value, at, sizeof(value));
    return value;
}

static u64 bmfs_min(u64 a, u64 b)
{
    return a < b ? a : b;
}

static i64 bmfs_blocks(struct bmfs *fs, u64 block, u64 n, void *buf)
{
    i64 got = fs->disk.read(fs->disk.index, block, n, buf);
    if (got < 0) {
        fs->why = "the disk could not be read";
        return got;
    }
    if ((u64)got != n) {
        fs->why = "the disk gave fewer blocks than asked for";
        return E_IO;
    }
    return 0;
}

// Up to the end of one disk block, by way of the scratch block.
static i64 bmfs_piece(struct bmfs *fs, u64 offset, void *buf, u64 len)
{
    u64 within = offset % INGOT_BLOCK;
    u64 n = bmfs_min(len, INGOT_BLOCK - within);
    u64 block = offset / INGOT_BLOCK;
    if (fs->scratch_block != block) {
        fs->scratch_block = ~0ul;
        i64 result = bmfs_blocks(fs, block, 1, fs->scratch);
        if (result < 0) {
            return result;
        }
        fs->scratch_block = block;
    }
    memcpy(buf, fs->scratch + within, n);
    return (i64)n;
}

// Whole disk blocks go straight to buf, what sticks out on either side by way
// of the scratch block: a partition may begin within a disk block.
static i64 bmfs_bytes(struct bmfs *fs, u64 offset, void *buf, u64 len)
{
    u64 end = fs->disk.blocks * INGOT_BLOCK;
    if (offset > end || len > end - offset) {
        fs->why = "beyond the end of the disk";
        return E_RANGE;
    }
    for (u64 done = 0; done < len;) {
        u8 *to = (u8 *)buf + done;
        u64 whole = (len - done) / INGOT_BLOCK;
        u64 at = offset + done;
        i64 n;
        if (at % INGOT_BLOCK == 0 && whole > 0 && (u64)to % 4 == 0) {
            n = bmfs_blocks(fs, at / INGOT_BLOCK, whole, to);
            n = n < 0 ? n : (i64)(whole * INGOT_BLOCK);
        } else {
            n = bmfs_piece(fs, at, to, len - done);
        }
        if (n < 0) {
            return n;
        }
        done += (u64)n;
    }
    return 0;
}

// For the search: 1 when the bytes were read. An error is remembered, and the
// search goes on: one bad sector must not hide a file system elsewhere.
static int bmfs_look(struct bmfs *fs, u64 offset, void *buf, u64 len)
{
    i64 result = bmfs_bytes(fs, offset, buf, len);
    if (result < 0 && result != E_RANGE && fs->error == 0) {
        fs->error = (int)result;
    }
    return result == 0;
}

// 1: the file system is in these bytes of the disk; fs knows it now.
static int bmfs_try(struct bmfs *fs, u64 start, u64 bytes)
{
    char marker[4];
    u64 end = fs->disk.blocks * INGOT_BLOCK;
    if (start >= end) {
        return 0;
    }
    fs->start = start;
    fs->blocks = bmfs_min(bytes, end - start) / BMFS_BLOCK_BYTES;
    return bmfs_look(fs, start + MARKER_AT, marker, sizeof(marker)) &&
           memcmp(marker, "BMFS", sizeof(marker)) == 0 &&
           bmfs_look(fs, start + DIRECTORY_AT, fs->directory,
                     sizeof(fs->directory));
}

// A range of sectors, from a table that may say anything.
static int bmfs_try_sectors(struct bmfs *fs, u64 first, u64 count, u64 sector)
{
    u64 sectors = fs->disk.blocks * INGOT_BLOCK / sector;
    if (first == 0 || first >= sectors || count == 0) {
        return 0;
    }
    count = bmfs_min(count, sectors - first);
    return bmfs_try(fs, first * sector, count * sector);
}

static int bmfs_try_gpt(struct bmfs *fs, u64 sector)
{
    u8 header[96], entry[48];
    if (!bmfs_look(fs, sector, header, sizeof(header)) ||
        memcmp(header, "EFI PART", 8) != 0) {
        return 0;
    }
    u64 table = bmfs_u64(header + GPT_TABLE);
    u64 bytes = bmfs_u32(header + GPT_ENTRY_BYTES);
    u64 n = bmfs_min(bmfs_u32(header + GPT_ENTRIES), GPT_MAX_ENTRIES);
    if (table > fs->disk.blocks * INGOT_BLOCK / sector || bytes > INGOT_BLOCK) {
        return 0;
    }
    int found = 0;
    for (u64 i = 0; i < n && !found; i++) {
        u64 at = table * sector + i * bytes;
        if (!bmfs_look(fs, at, entry, sizeof(entry))) {
            return 0;
        }
        u64 first = bmfs_u64(entry + GPT_ENTRY_FIRST);
        u64 last = bmfs_u64(entry + GPT_ENTRY_LAST);
        if (last >= first && last != ~0ul) {
            found = bmfs_try_sectors(fs, first, last - first + 1, sector);
        }
    }
    return found;
}

static int bmfs_try_partitions(struct bmfs *fs, u64 sector)
{
    u8 mbr[MBR_SECTOR];
    if (!bmfs_look(fs, 0, mbr, sizeof(mbr)) || mbr[MBR_SIGNATURE] != 0x55 ||
        mbr[MBR_SIGNATURE + 1] != 0xAA) {
        return 0;
    }
    int found = 0;
    for (u32 i = 0; i < 4 && !found; i++) {
        const u8 *entry = mbr + MBR_ENTRIES + 16 * i;
        if (entry[MBR_TYPE] == MBR_GPT_TYPE) {
            found = bmfs_try_gpt(fs, sector);
        } else if (entry[MBR_TYPE] != 0) {
            found = bmfs_try_sectors(fs, bmfs_u32(entry + MBR_FIRST),
                                     bmfs_u32(entry + MBR_COUNT), sector);
        }
    }
    return found;
}

int bmfs_mount(struct bmfs *fs, const struct bmfs_disk *disk)
{
    u32 sector = disk->sector_bytes;
    fs->disk = *disk;
    fs->why = "";
    fs->error = 0;
    fs->scratch_block = ~0ul;
    if (sector < MBR_SECTOR || sector > INGOT_BLOCK ||
        disk->blocks > ~0ul / INGOT_BLOCK) {
        fs->why = "the disk's size makes no sense";
        return E_ARG;
    }
    // Partition tables also in units of 512 bytes: the image of another disk.
    if (bmfs_try(fs, 0, ~0ul) || bmfs_try_partitions(fs, sector) ||
        (sector != MBR_SECTOR && bmfs_try_partitions(fs, MBR_SECTOR)) ||
        bmfs_try(fs, BAREMETAL_AT, ~0ul)) {
        return 0;
    }
    fs->directory[0] = 0;
    if (fs->error) {
        fs->why = "the disk could not be read";
        return fs->error;
    }
    fs->why = "no BMFS marker at the start, in a partition or at 128 MiB";
    return E_NODEV;
}

static const char *bmfs_problem(const struct bmfs *fs, const u8 *entry)
{
    u64 first = bmfs_u64(entry + ENTRY_FIRST);
    u64 blocks = bmfs_u64(entry + ENTRY_BLOCKS);
    u64 size = bmfs_u64(entry + ENTRY_SIZE);
    if (strnlen((const char *)entry, BMFS_NAME) == BMFS_NAME) {
        return "its name has no end";
    }
    for (const u8 *c = entry; *c; c++) {
        if (*c < ' ' || *c == 0x7F) {
            return "its name has control characters";
        }
    }
    if (first == 0) {
        return "it starts in the directory's block";
    }
    if (first > fs->blocks || blocks > fs->blocks - first) {
        return "its blocks are beyond the disk";
    }
    if (size > blocks * BMFS_BLOCK_BYTES) {
        return "its size is beyond its blocks";
    }
    return 0;
}

int bmfs_entry(const struct bmfs *fs, u32 i, struct bmfs_file *file)
{
    // A directory in use is read from its start: the end may come early.
    for (u32 k = 0; k < i && k < BMFS_ENTRIES; k++) {
        if (fs->directory[k * ENTRY_BYTES] == 0) {
            return E_RANGE;
        }
    }
    if (i >= BMFS_ENTRIES || fs->directory[i * ENTRY_BYTES] == 0) {
        return E_RANGE;
    }
    const u8 *entry = fs->directory + i * ENTRY_BYTES;
    if (entry[0] == 1) {
        return 0;
    }
    string_copy(file->name, (const char *)entry, BMFS_NAME);
    for (char *c = file->name; *c; c++) {
        *c = (u8)*c < ' ' || *c == 0x7F ? '?' : *c;
    }
    file->size = bmfs_u64(entry + ENTRY_SIZE);
    file->first = bmfs_u64(entry + ENTRY_FIRST);
    file->problem = bmfs_problem(fs, entry);
    return 1;
}

int bmfs_find(const struct bmfs *fs, const char *name, struct bmfs_file *file)
{
    for (u32 i = 0; i < BMFS_ENTRIES; i++) {
        int result = bmfs_entry(fs, i, file);
        if (result < 0) {
            break;
        }
        if (result == 1 && strcmp(file->name, name) == 0) {
            return (int)i;
        }
    }
    return E_NODEV;
}

i64 bmfs_read(struct bmfs *fs, const struct bmfs_file *file, u64 offset,
              void *buf, u64 len)
{
    if (file->problem) {
        fs->why = file->problem;
        return E_FORMAT;
    }
    if ((u64)buf % 4 != 0) {
        fs->why = "the buffer is not aligned";
        return E_ARG;
    }
    fs->scratch_block = ~0ul; // the disk may have been written meanwhile
    if (offset >= file->size) {
        return 0;
    }
    len = bmfs_min(len, file->size - offset);
    i64 result = bmfs_bytes(
        fs, fs->start + file->first * BMFS_BLOCK_BYTES + offset, buf, len);
    return result < 0 ? result : (i64)len;
}
