// boot_read.h - what the two loader readers share: careful copying into
// struct boot_info.
// SPDX-License-Identifier: MIT
#pragma once
#include "boot_info.h"

// Loaders align their words as they please.
static inline u16 boot_u16(const void *at)
{
    u16 value;
    __builtin_memcpy(&value, at, sizeof(value));
    return value;
}
static inline u32 boot_u32(const void *at)
{
    u32 value;
    __builtin_memcpy(&value, at, sizeof(value));
    return value;
}
static inline u64 boot_u64(const void *at)
{
    u64 value;
    __builtin_memcpy(&value, at, sizeof(value));
    return value;
}

// ---- boot_note.c ----
// Append one line to info->errors; what does not fit is left out whole.
void boot_note_error(struct boot_info *info, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// Copy a string that should end within len bytes. 1 when it does and fits.
int boot_note_text(char *to, u64 cap, const char *text, u64 len);
// Keep a module under the last path part of its command line's first word.
void boot_note_module(struct boot_info *info, u64 phys, u64 len,
                      const char *command, u64 command_len);

// ---- boot_regions.c ----
// A loader's memory map: n entries, stride bytes apart, each understood by
// decode(). Entries may overlap and come in any order.
struct boot_map {
    const u8 *entries;
    u64 n, stride;
    struct mem_region (*decode)(const u8 *entry);
};

// The entry both Multiboot2 and PVH use: u64 start, u64 bytes, u32 type.
struct mem_region boot_regions_decode_e820(const u8 *entry);
// Make info->regions from the map: sorted, no overlap, neighbours of one type
// merged; where entries overlap the one that forbids more wins. More than
// BOOT_REGIONS: the smallest usable ones are lost, with a line. E_FORMAT when
// nothing usable is left.
int must_check boot_regions_read(struct boot_info *info,
                                 const struct boot_map *map);
