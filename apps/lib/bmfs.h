// bmfs.h - BMFS, read-only: find it on a disk, list its files, read them.
// SPDX-License-Identifier: MIT
//
// It reads through a function with disk_read's own signature, so programs pass
// os->disk_read and host tests pass a file. Every on-disk field is checked
// before use; nothing outside the file system, let alone the disk, is read.
#pragma once
#include "../../include/ingot.h"

enum { BMFS_ENTRIES = 64, BMFS_NAME = 32 };
enum { BMFS_BLOCK_BYTES = 2 << 20 };

struct bmfs_disk {
    i64 (*read)(u32 disk, u64 block, u64 n, void *buf); // os->disk_read
    u32 index;                                          // its first argument
    u32 sector_bytes; // for GPT: struct disk_info's
    u64 blocks;       // of INGOT_BLOCK bytes: struct disk_info's
};

struct bmfs {
    struct bmfs_disk disk;
    u64 start;         // byte of the disk where the file system begins
    u64 blocks;        // of BMFS_BLOCK_BYTES, the whole ones
    int error;         // the first disk error of the search
    u64 scratch_block; // what scratch holds, ~0 nothing
    const char *why;   // one line about the latest error, never null
    u8 directory[BMFS_ENTRIES * 64] __attribute__((aligned(8)));
    u8 scratch[INGOT_BLOCK] __attribute__((aligned(8)));
};

struct bmfs_file {
    char name[BMFS_NAME]; // always terminated, printable
    u64 size;             // bytes
    u64 first;            // block of the file system
    const char *problem;  // null, or why bmfs_read will refuse: one line
};

// Look for the file system at the disk's start, in its partitions (MBR, GPT)
// and at byte 128 MiB, and read its directory. 0; E_NODEV: there is none;
// E_IO and the like: the disk's error. On an error the directory is empty.
int must_check bmfs_mount(struct bmfs *fs, const struct bmfs_disk *disk);

// Directory slot i. 1: *file is filled (look at problem); 0: a deleted entry;
// E_RANGE: the directory ends here.
int must_check bmfs_entry(const struct bmfs *fs, u32 i, struct bmfs_file *file);

// The first file with this name: its slot, or E_NODEV.
int must_check bmfs_find(const struct bmfs *fs, const char *name,
                         struct bmfs_file *file);

// Read len bytes from byte offset of file into buf (4-byte aligned): exactly
// these, and fewer only at the file's end. Returns the bytes read. E_FORMAT:
// file->problem; E_ARG: buf is not aligned; or the disk's error. fs->why says
// it in words.
i64 must_check bmfs_read(struct bmfs *fs, const struct bmfs_file *file,
                         u64 offset, void *buf, u64 len);
