// multiboot2.c - reads the tags a Multiboot2 loader (GRUB) left in memory.
// SPDX-License-Identifier: MIT
//
// "Multiboot2 Specification 2.0", section 3.6. Nothing in it is believed:
// what is wrong is noted and the next tag is read.
#include "boot_read.h"
#include "../lib/string.h"

enum {
    TAG_END = 0,
    TAG_COMMAND_LINE = 1,
    TAG_LOADER = 2,
    TAG_MODULE = 3,
    TAG_BASIC_MEMORY = 4,
    TAG_MEMORY_MAP = 6,
    TAG_FRAMEBUFFER = 8,
    TAG_EFI64 = 12,
    TAG_ACPI_OLD = 14,
    TAG_ACPI_NEW = 15,
    TAG_EFI_MAP = 17,
    TAG_EFI_SERVICES = 18,
    TAG_LOAD_BASE = 21,
    N_TAGS = 22,
};

enum {
    INFO_HEADER = 8,     // total size, reserved
    INFO_MAX = 16 << 20, // more than any machine's tags: nonsense
    TAG_HEADER = 8,      // type, size
    MAP_MAX = 4096,      // entries that are looked at
    E820_ENTRY = 20,     // the least an entry must have
    EFI_ENTRY = 40,      // UEFI 2.9, 7.2: EFI_MEMORY_DESCRIPTOR
    SCREEN_MAX = 16384,  // pixels in a row or column
    FRAMEBUFFER_RGB = 1,
    FRAMEBUFFER_TEXT = 2,
};

struct multiboot2 {
    struct boot_info *info;
    const u8 *tags[N_TAGS]; // first good tag of each type, null: none
};

static u32 multiboot2_size(const u8 *tag)
{
    return boot_u32(tag + 4);
}

static void multiboot2_text(struct boot_info *info, const u8 *tag, char *to,
                            u64 cap)
{
    if (!boot_note_text(to, cap, (const char *)tag + TAG_HEADER,
                        multiboot2_size(tag) - TAG_HEADER)) {
        boot_note_error(info, "multiboot2: the string in tag %u is cut",
                        boot_u32(tag));
    }
}

static void multiboot2_command_line(struct multiboot2 *mb, const u8 *tag)
{
    multiboot2_text(mb->info, tag, mb->info->command_line,
                    sizeof(mb->info->command_line));
}

static void multiboot2_loader(struct multiboot2 *mb, const u8 *tag)
{
    multiboot2_text(mb->info, tag, mb->info->loader, sizeof(mb->info->loader));
}

static void multiboot2_module(struct multiboot2 *mb, const u8 *tag)
{
    u32 start = boot_u32(tag + 8), end = boot_u32(tag + 12);
    const char *command = (const char *)tag + 16;
    u64 room = multiboot2_size(tag) - 16;
    if (end < start) {
        boot_note_error(mb->info, "multiboot2: a module ends before it starts");
        return;
    }
    if (strnlen(command, room) == room) {
        boot_note_error(mb->info, "multiboot2: a module's string has no end");
    }
    boot_note_module(mb->info, start, end - start, command, room);
}

// One colour: inside the pixel, and of a width that a byte can fill.
static int multiboot2_colour_ok(const u8 *position_size, u8 bits)
{
    u32 size = position_size[1];
    return size >= 1 && size <= 16 && position_size[0] + size <= bits;
}

// 3.6.12: at 8 the address, pitch, width, height, bits, kind; at 32 position
// and size of red, green and blue.
static int multiboot2_screen_ok(const u8 *tag)
{
    u64 phys = boot_u64(tag + 8), pitch = boot_u32(tag + 16);
    u64 width = boot_u32(tag + 20), height = boot_u32(tag + 24);
    u8 bits = tag[28];
    if ((bits != 24 && bits != 32) || phys == 0 || phys >> 52 != 0) {
        return 0;
    }
    if (width == 0 || width > SCREEN_MAX || height == 0 ||
        height > SCREEN_MAX) {
        return 0;
    }
    if (pitch < width * bits / 8 || pitch > SCREEN_MAX * 8) {
        return 0;
    }
    return multiboot2_colour_ok(tag + 32, bits) &&
           multiboot2_colour_ok(tag + 34, bits) &&
           multiboot2_colour_ok(tag + 36, bits);
}

static void multiboot2_framebuffer(struct multiboot2 *mb, const u8 *tag)
{
    if (tag[29] == FRAMEBUFFER_TEXT) {
        return; // no graphics: normal
    }
    if (tag[29] != FRAMEBUFFER_RGB || multiboot2_size(tag) < 38 ||
        !multiboot2_screen_ok(tag)) {
        boot_note_error(mb->info, "multiboot2: framebuffer of no known kind");
        return;
    }
    mb->info->framebuffer = (struct boot_framebuffer){
        .phys = boot_u64(tag + 8),
        .pitch = boot_u32(tag + 16),
        .width = boot_u32(tag + 20),
        .height = boot_u32(tag + 24),
        .bits = tag[28],
        .red_position = tag[32],
        .red_bits = tag[33],
        .green_position = tag[34],
        .green_bits = tag[35],
        .blue_position = tag[36],
        .blue_bits = tag[37],
    };
}

static void multiboot2_efi64(struct multiboot2 *mb, const u8 *tag)
{
    mb->info->efi_system_table = boot_u64(tag + 8);
}

// The new copy wins over the old one, whichever comes first.
static void multiboot2_acpi(struct multiboot2 *mb, const u8 *tag)
{
    u32 len = boot_u32(tag) == TAG_ACPI_NEW ? 36 : 20;
    if (len > mb->info->rsdp_len) {
        memcpy(mb->info->rsdp_copy, tag + TAG_HEADER, len);
        mb->info->rsdp_len = len;
    }
}

static void multiboot2_load_base(struct multiboot2 *mb, const u8 *tag)
{
    if (mb->info->kernel_phys == 0) {
        mb->info->kernel_phys = boot_u32(tag + 8);
    }
}

struct multiboot2_kind {
    u32 min_size; // smallest that holds the fields we read; 0: not ours
    u8 many;      // may appear more than once
    void (*read)(struct multiboot2 *mb, const u8 *tag); // null: read later
};

// clang-format off
static const struct multiboot2_kind multiboot2_kinds[N_TAGS] = {
    [TAG_COMMAND_LINE] = { 8, 0, multiboot2_command_line},
    [TAG_LOADER]       = { 8, 0, multiboot2_loader},
    [TAG_MODULE]       = {16, 1, multiboot2_module},
    [TAG_BASIC_MEMORY] = {16, 0, 0},
    [TAG_MEMORY_MAP]   = {16, 0, 0},
    [TAG_FRAMEBUFFER]  = {31, 0, multiboot2_framebuffer},
    [TAG_EFI64]        = {16, 0, multiboot2_efi64},
    [TAG_ACPI_OLD]     = {28, 0, multiboot2_acpi},
    [TAG_ACPI_NEW]     = {44, 0, multiboot2_acpi},
    [TAG_EFI_MAP]      = {16, 0, 0},
    [TAG_EFI_SERVICES] = { 8, 0, 0},
    [TAG_LOAD_BASE]    = {12, 0, multiboot2_load_base},
};
// clang-format on

static void multiboot2_tag(struct multiboot2 *mb, const u8 *tag)
{
    u32 type = boot_u32(tag);
    if (type >= N_TAGS || multiboot2_kinds[type].min_size == 0) {
        return;
    }
    const struct multiboot2_kind *kind = &multiboot2_kinds[type];
    if (multiboot2_size(tag) < kind->min_size) {
        boot_note_error(mb->info, "multiboot2: tag %u is too small", type);
        return;
    }
    if (mb->tags[type] && !kind->many) {
        boot_note_error(mb->info, "multiboot2: tag %u is repeated", type);
        return;
    }
    mb->tags[type] = tag;
    if (kind->read) {
        kind->read(mb, tag);
    }
}

// 3.6.2: tags follow each other on 8-byte boundaries until the end tag.
static void multiboot2_walk(struct multiboot2 *mb, const u8 *base, u64 total)
{
    for (u64 at = INFO_HEADER; at <= total && total - at >= TAG_HEADER;) {
        u32 type = boot_u32(base + at);
        u64 size = multiboot2_size(base + at);
        if (type == TAG_END) {
            return;
        }
        if (size < TAG_HEADER || size > total - at) {
            boot_note_error(mb->info, "multiboot2: tag %u is truncated", type);
            return;
        }
        multiboot2_tag(mb, base + at);
        at += (size + 7) & ~7ul;
    }
    boot_note_error(mb->info, "multiboot2: no end tag");
}

// The memory map's entries: from skip on, at least least bytes each.
static u64 multiboot2_entries(struct multiboot2 *mb, const u8 *tag,
                              struct boot_map *map, u32 least)
{
    map->stride = boot_u32(tag + 8); // both maps have it here
    map->entries = tag + 16;
    if (map->stride < least || map->stride % 4 != 0) {
        boot_note_error(mb->info, "multiboot2: tag %u has entries of %lu bytes",
                        boot_u32(tag), map->stride);
        return 0;
    }
    map->n = (multiboot2_size(tag) - 16) / map->stride;
    if (map->n > MAP_MAX) {
        boot_note_error(mb->info, "multiboot2: tag %u has %lu entries",
                        boot_u32(tag), map->n);
        map->n = MAP_MAX;
    }
    return map->n;
}

// UEFI 2.9, 7.2, after ExitBootServices: what was the firmware's and the
// loader's own is free.
static struct mem_region multiboot2_decode_efi(const u8 *entry)
{
    static const u8 types[] = {
        MEM_RESERVED, MEM_USABLE,   MEM_USABLE,   MEM_USABLE,
        MEM_USABLE,   MEM_RESERVED, MEM_RESERVED, MEM_USABLE,
        MEM_BAD,      MEM_ACPI,     MEM_NVS,
    };
    u32 type = boot_u32(entry);
    u64 pages = boot_u64(entry + 24);
    struct mem_region region = {boot_u64(entry + 8),
                                pages > ~0ul >> 12 ? ~0ul : pages << 12,
                                MEM_RESERVED, 0};
    if (type < sizeof(types)) {
        region.type = types[type];
    }
    return region;
}

// While the firmware's boot services still run (tag 18) their memory is theirs.
static struct mem_region multiboot2_decode_efi_running(const u8 *entry)
{
    u32 type = boot_u32(entry);
    struct mem_region region = multiboot2_decode_efi(entry);
    if (type == 3 || type == 4) {
        region.type = MEM_RESERVED;
    }
    return region;
}

static int multiboot2_map_e820(struct multiboot2 *mb, const u8 *tag)
{
    struct boot_map map = {.decode = boot_regions_decode_e820};
    if (multiboot2_entries(mb, tag, &map, E820_ENTRY) == 0) {
        return E_FORMAT;
    }
    return boot_regions_read(mb->info, &map);
}

static int multiboot2_map_efi(struct multiboot2 *mb, const u8 *tag)
{
    struct boot_map map = {.decode = mb->tags[TAG_EFI_SERVICES]
                                         ? multiboot2_decode_efi_running
                                         : multiboot2_decode_efi};
    if (multiboot2_entries(mb, tag, &map, EFI_ENTRY) == 0) {
        return E_FORMAT;
    }
    return boot_regions_read(mb->info, &map);
}

// KiB from address 0 and KiB from 1 MiB, both without a hole.
static int multiboot2_map_basic(struct multiboot2 *mb, const u8 *tag)
{
    u64 lower = boot_u32(tag + 8), upper = boot_u32(tag + 12);
    u64 entries[6] = {0,           (lower < 640 ? lower : 640) << 10,
                      MEM_USABLE,  0x100000,
                      upper << 10, MEM_USABLE};
    struct boot_map map = {(const u8 *)entries, 2, 24,
                           boot_regions_decode_e820};
    return boot_regions_read(mb->info, &map);
}

// The best map there is: tag 6, else the EFI map, else the two sizes.
static int multiboot2_memory(struct multiboot2 *mb)
{
    const u8 *e820 = mb->tags[TAG_MEMORY_MAP], *efi = mb->tags[TAG_EFI_MAP];
    const u8 *basic = mb->tags[TAG_BASIC_MEMORY];
    if (e820 && multiboot2_map_e820(mb, e820) == 0) {
        return 0;
    }
    boot_note_error(mb->info, "multiboot2: no usable memory map");
    if (efi && multiboot2_map_efi(mb, efi) == 0) {
        return 0;
    }
    if (basic && multiboot2_map_basic(mb, basic) == 0) {
        return 0;
    }
    return E_FORMAT;
}

int multiboot2_read(u64 tags_phys, boot_read_fn *read, struct boot_info *info)
{
    struct multiboot2 mb = {.info = info};
    const u8 *header = read(tags_phys, INFO_HEADER);
    if (!header) {
        boot_note_error(info, "multiboot2: nothing to read at %#lx", tags_phys);
        return E_FORMAT;
    }
    u64 total = boot_u32(header);
    if (total < INFO_HEADER + TAG_HEADER || total > INFO_MAX) {
        boot_note_error(info, "multiboot2: %lu bytes of tags", total);
        return E_FORMAT;
    }
    const u8 *base = read(tags_phys, total);
    if (!base) {
        boot_note_error(info, "multiboot2: tags cannot be read");
        return E_FORMAT;
    }
    multiboot2_walk(&mb, base, total);
    return multiboot2_memory(&mb);
}
