// boot_info.h - what boot/ hands to kmain(): one struct, whoever loaded us.
// SPDX-License-Identifier: MIT
#pragma once
#include "../include/ingot.h"

enum { BOOT_REGIONS = 160, BOOT_MODULES = 64 };
enum { BOOT_ERRORS_CAP = 512 };

struct boot_module {
    u64 phys, len;
    char name[64]; // last part of the path, "" when the loader gave none
};

struct boot_framebuffer {
    u64 phys;
    u32 pitch, width, height; // bytes, pixels, pixels
    u8 bits;                  // per pixel, 0: there is no framebuffer
    u8 red_position, red_bits;
    u8 green_position, green_bits;
    u8 blue_position, blue_bits;
};

struct boot_info {
    char loader[32];
    char command_line[256];
    u64 kernel_phys;      // where byte 0 of the image lies
    u64 rsdp_phys;        // 0: unknown; else it points at a copy of the RSDP
    u8 rsdp_copy[36];     // the RSDP itself when the loader handed one over
    u32 rsdp_len;         // 0, 20 or 36
    u64 efi_system_table; // 0: none
    u32 n_regions, n_modules;
    struct mem_region regions[BOOT_REGIONS]; // sorted, no overlap
    struct boot_module modules[BOOT_MODULES];
    struct boot_framebuffer framebuffer;
    char errors[BOOT_ERRORS_CAP]; // lines about bad tags, for the log
};

// Reads len bytes of physical memory: a readable pointer, or null when that
// range cannot be read. On the host, tests put their own memory behind it.
typedef const void *boot_read_fn(u64 phys, u64 len);

// Fill info from what the loader left. Return 0 or E_FORMAT (no usable memory
// map, or nonsense where the tags should be). Nothing is written but *info.
// must be zeroed by the caller.
int multiboot2_read(u64 tags_phys, boot_read_fn *read, struct boot_info *info);
int pvh_read(u64 start_info_phys, boot_read_fn *read, struct boot_info *info);
