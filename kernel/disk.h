// disk.h - disks: what a driver gives the kernel, and requests split for it.
// SPDX-License-Identifier: MIT
#pragma once
#include "pci.h"

struct disk;

struct disk_segment { // physically contiguous piece of a caller's buffer
    u64 phys;
    u64 len; // bytes
};

struct disk_request {
    u64 sector; // in the device's own logical sectors
    u64 sectors;
    const struct disk_segment *segments;
    u32 n_segments;
    u8 write;
};

struct disk_ops {
    // One device command; returns when it is done: 0, E_IO, E_TIMEOUT, E_GONE.
    // On an error the device is usable again, and *bad_sector is the first
    // sector known to be bad when the device tells, else left alone.
    int (*transfer)(struct disk *disk, const struct disk_request *request,
                    u64 *bad_sector);
    int (*flush)(struct disk *disk);    // may be null
    void (*recover)(struct disk *disk); // a program ended, perhaps in mid-call
};

struct disk {
    const struct disk_ops *ops;
    const struct pci_device *pci;
    const char *driver;
    char model[41];
    u32 index;
    u32 sector_bytes; // 512 .. 4096, a power of two
    u64 sectors;
    u64 max_bytes;         // per command
    u32 max_segments;      // per command, at least 2
    u32 max_segment_bytes; // per segment, 0: no limit, else at least a page
    u32 page_segments;     // 1: inner segments must be whole pages (NVMe PRPs)
    u64 error_block, reads, writes, errors;
};

enum { DISK_MAX = 16 };

// Number it and log one line. E_NOMEM: DISK_MAX exist; E_UNSUPPORTED: its sizes
// or limits make no sense.
int must_check disk_add(struct disk *disk);
struct disk *disk_get(u32 index); // null: none
u32 disk_count(void);
void disk_recover_all(void);

// The calls of the table, with every argument hostile.
i64 disk_read(u32 disk, u64 block, u64 n, void *buf);
i64 disk_write(u32 disk, u64 block, u64 n, const void *buf);
int disk_info(u32 disk, struct disk_info *info);
