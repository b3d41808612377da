// boot_regions.c - turns any loader's memory map into a sorted one.
// SPDX-License-Identifier: MIT
#include "boot_read.h"
#include "../lib/string.h"

// The architecture's most physical address bits (AMD64 volume 2, 5.1).
static const u64 TOP = 1ul << 52;

// Later ones paint over earlier ones: what forbids more wins.
static const u32 paint_order[] = {MEM_USABLE, MEM_ACPI, MEM_NVS, MEM_RESERVED,
                                  MEM_BAD};
enum { N_PAINTS = sizeof(paint_order) / sizeof(paint_order[0]) };

static u64 boot_regions_end(const struct mem_region *region)
{
    return region->start + region->bytes;
}

static int boot_regions_touch(const struct mem_region *a,
                              const struct mem_region *b)
{
    return a->type == b->type && boot_regions_end(a) == b->start;
}

static void boot_regions_remove(struct boot_info *info, u32 at)
{
    info->n_regions--;
    memmove(&info->regions[at], &info->regions[at + 1],
            (info->n_regions - at) * sizeof(info->regions[0]));
}

// The entry that is missed least: one that only says "not yours" (so does its
// absence), else the smallest.
static u32 boot_regions_victim(const struct boot_info *info)
{
    u32 victim = 0;
    for (u32 i = 0; i < info->n_regions; i++) {
        if (info->regions[i].type != MEM_USABLE) {
            return i;
        }
        if (info->regions[i].bytes < info->regions[victim].bytes) {
            victim = i;
        }
    }
    return victim;
}

// Make room for one more. 0 when it is new itself that must be left out.
static int boot_regions_room(struct boot_info *info,
                             const struct mem_region *new)
{
    if (info->n_regions < BOOT_REGIONS) {
        return 1;
    }
    const struct mem_region *victim = &info->regions[boot_regions_victim(info)];
    if (new->type != MEM_USABLE ||
        (victim->type == MEM_USABLE && victim->bytes >= new->bytes)) {
        return 0;
    }
    boot_regions_remove(info, (u32)(victim - info->regions));
    return 1;
}

// Put new, which overlaps nothing, in its place. Returns how many regions were
// lost by it: 0 or 1.
static u32 boot_regions_insert(struct boot_info *info, struct mem_region new)
{
    u32 at = info->n_regions;
    while (at > 0 && info->regions[at - 1].start > new.start) {
        at--;
    }
    if (at < info->n_regions && boot_regions_touch(&new, &info->regions[at])) {
        new.bytes += info->regions[at].bytes;
        boot_regions_remove(info, at);
    }
    if (at > 0 && boot_regions_touch(&info->regions[at - 1], &new)) {
        info->regions[at - 1].bytes += new.bytes;
        return 0;
    }
    u32 lost = info->n_regions == BOOT_REGIONS;
    if (!boot_regions_room(info, &new)) {
        return 1;
    }
    for (at = info->n_regions++;
         at > 0 && info->regions[at - 1].start > new.start; at--) {
        info->regions[at] = info->regions[at - 1];
    }
    info->regions[at] = new;
    return lost;
}

// Take [start, end) out of every region. Returns how many were lost by a
// split that found no room.
static u32 boot_regions_carve(struct boot_info *info, u64 start, u64 end)
{
    for (u32 i = 0; i < info->n_regions;) {
        struct mem_region *region = &info->regions[i];
        u64 region_end = boot_regions_end(region);
        if (region_end <= start) {
            i++;
            continue;
        }
        if (region->start >= end) {
            return 0;
        }
        struct mem_region right = *region;
        right.start = end;
        right.bytes = region_end - end;
        if (region->start < start) {
            region->bytes = start - region->start;
            if (region_end > end) {
                return boot_regions_insert(info, right);
            }
            i++;
        } else if (region_end > end) {
            *region = right;
            return 0;
        } else {
            boot_regions_remove(info, i);
        }
    }
    return 0;
}

struct mem_region boot_regions_decode_e820(const u8 *entry)
{
    struct mem_region region = {boot_u64(entry), boot_u64(entry + 8),
                                boot_u32(entry + 16), 0};
    return region;
}

// One entry as it may be believed: clipped, of a known type; bytes 0 when
// there is nothing in it.
static struct mem_region boot_regions_clean(struct mem_region region)
{
    if (region.type < MEM_USABLE || region.type > MEM_BAD) {
        region.type = MEM_RESERVED;
    }
    if (region.start >= TOP) {
        region.bytes = 0;
    } else if (region.bytes > TOP - region.start) {
        // RAM to the end of the world is nonsense; "hands off" is not.
        region.bytes = region.type == MEM_USABLE ? 0 : TOP - region.start;
    }
    return region;
}

static u32 boot_regions_paint(struct boot_info *info,
                              const struct boot_map *map, u32 type)
{
    u32 lost = 0;
    for (u64 i = 0; i < map->n; i++) {
        struct mem_region new =
            boot_regions_clean(map->decode(map->entries + i * map->stride));
        if (new.bytes == 0 || new.type != type) {
            continue;
        }
        new.reserved = 0;
        lost += boot_regions_carve(info, new.start, boot_regions_end(&new));
        lost += boot_regions_insert(info, new);
    }
    return lost;
}

int boot_regions_read(struct boot_info *info, const struct boot_map *map)
{
    u32 lost = 0;
    info->n_regions = 0;
    for (u32 i = 0; i < N_PAINTS; i++) {
        lost += boot_regions_paint(info, map, paint_order[i]);
    }
    if (lost > 0) {
        boot_note_error(info, "memory map: %u regions too many, left out",
                        lost);
    }
    for (u32 i = 0; i < info->n_regions; i++) {
        if (info->regions[i].type == MEM_USABLE) {
            return 0;
        }
    }
    return E_FORMAT;
}
