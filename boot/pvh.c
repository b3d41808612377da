// pvh.c - reads what a PVH loader (qemu -kernel, microVMs) left in memory.
// SPDX-License-Identifier: MIT
//
// Xen's "x86/HVM direct boot ABI", hvm_start_info version 1.
#include "boot_read.h"

enum {
    PVH_MAGIC = 0x336ec578,
    PVH_SIZE_V0 = 40,
    PVH_SIZE_V1 = 56,
    PVH_MODULE_SIZE = 32,
    PVH_ENTRY_SIZE = 24,
    PVH_MAP_MAX = 4096, // entries that are looked at
};

// Offsets in hvm_start_info.
enum {
    PVH_VERSION = 4,
    PVH_N_MODULES = 12,
    PVH_MODULES = 16,
    PVH_COMMAND_LINE = 24,
    PVH_RSDP = 32,
    PVH_MAP = 40,
    PVH_N_MAP = 48,
};

// Copy a string of unknown length, page by page: it may end right before
// memory that cannot be read.
static void pvh_text(struct boot_info *info, u64 phys, boot_read_fn *read,
                     char *to, u64 cap)
{
    u64 n = 0;
    while (n < cap - 1) {
        u64 len = 4096 - ((phys + n) & 4095);
        len = len < cap - n ? len : cap - n;
        const char *text = read(phys + n, len);
        if (!text) {
            boot_note_error(info, "pvh: no string at %#lx", phys);
            break;
        }
        if (boot_note_text(to + n, cap - n, text, len)) {
            return;
        }
        n += len;
    }
    to[n < cap ? n : cap - 1] = 0;
    if (n >= cap - 1) {
        boot_note_error(info, "pvh: the string at %#lx is cut", phys);
    }
}

static void pvh_module(struct boot_info *info, const u8 *entry,
                       boot_read_fn *read)
{
    char command[256] = "";
    u64 phys = boot_u64(entry), len = boot_u64(entry + 8);
    u64 command_phys = boot_u64(entry + 16);
    if (phys >> 52 != 0 || len >> 52 != 0) {
        boot_note_error(info, "pvh: a module of %#lx bytes at %#lx", len, phys);
        return;
    }
    if (command_phys != 0) {
        pvh_text(info, command_phys, read, command, sizeof(command));
    }
    boot_note_module(info, phys, len, command, sizeof(command));
}

static void pvh_modules(struct boot_info *info, const u8 *start,
                        boot_read_fn *read)
{
    u64 n = boot_u32(start + PVH_N_MODULES);
    if (n > BOOT_MODULES) {
        boot_note_error(info, "pvh: %lu modules, %d are kept", n, BOOT_MODULES);
        n = BOOT_MODULES;
    }
    if (n == 0) {
        return;
    }
    const u8 *list = read(boot_u64(start + PVH_MODULES), n * PVH_MODULE_SIZE);
    if (!list) {
        boot_note_error(info, "pvh: the module list cannot be read");
        return;
    }
    for (u64 i = 0; i < n; i++) {
        pvh_module(info, list + i * PVH_MODULE_SIZE, read);
    }
}

static int pvh_memory(struct boot_info *info, const u8 *start,
                      boot_read_fn *read)
{
    struct boot_map map = {.n = boot_u32(start + PVH_N_MAP),
                           .stride = PVH_ENTRY_SIZE,
                           .decode = boot_regions_decode_e820};
    if (map.n > PVH_MAP_MAX) {
        boot_note_error(info, "pvh: memory map of %lu entries", map.n);
        map.n = PVH_MAP_MAX;
    }
    if (map.n > 0) {
        map.entries = read(boot_u64(start + PVH_MAP), map.n * PVH_ENTRY_SIZE);
    }
    if (!map.entries || boot_regions_read(info, &map) < 0) {
        boot_note_error(info, "pvh: no usable memory map");
        return E_FORMAT;
    }
    return 0;
}

int pvh_read(u64 start_info_phys, boot_read_fn *read, struct boot_info *info)
{
    const u8 *start = read(start_info_phys, PVH_SIZE_V0);
    if (!start || boot_u32(start) != PVH_MAGIC) {
        boot_note_error(info, "pvh: no start info at %#lx", start_info_phys);
        return E_FORMAT;
    }
    boot_note_text(info->loader, sizeof(info->loader), "PVH", 4);
    u64 command_line = boot_u64(start + PVH_COMMAND_LINE);
    if (command_line != 0) {
        pvh_text(info, command_line, read, info->command_line,
                 sizeof(info->command_line));
    }
    info->rsdp_phys = boot_u64(start + PVH_RSDP);
    pvh_modules(info, start, read);
    // Version 0 has no memory map; it came from Xen's hypercall.
    if (boot_u32(start + PVH_VERSION) < 1) {
        boot_note_error(info, "pvh: start info version 0, no memory map");
        return E_FORMAT;
    }
    start = read(start_info_phys, PVH_SIZE_V1);
    if (!start) {
        boot_note_error(info, "pvh: start info is truncated");
        return E_FORMAT;
    }
    return pvh_memory(info, start, read);
}
