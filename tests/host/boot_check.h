// boot_check.h - what a filled struct boot_info must keep to, for fuzz targets.
// SPDX-License-Identifier: MIT
#pragma once
#include "../../boot/boot_info.h"
#include "../../lib/string.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const u8 *data, u64 len);

static void boot_require(int condition)
{
    if (!condition) {
        abort();
    }
}

static void boot_check(const struct boot_info *info, int result)
{
    int usable = 0;
    boot_require(info->n_regions <= BOOT_REGIONS);
    boot_require(info->n_modules <= BOOT_MODULES);
    boot_require(strnlen(info->errors, sizeof(info->errors)) <
                 sizeof(info->errors));
    boot_require(strnlen(info->loader, 32) < 32);
    boot_require(strnlen(info->command_line, 256) < 256);
    for (u32 i = 0; i < info->n_modules; i++) {
        boot_require(strnlen(info->modules[i].name, 64) < 64);
        boot_require(info->modules[i].phys >> 52 == 0);
        boot_require(info->modules[i].len >> 52 == 0);
    }
    for (u32 i = 0; i < info->n_regions; i++) {
        const struct mem_region *r = &info->regions[i];
        boot_require(r->bytes > 0 && r->bytes <= (1ul << 52) - r->start);
        boot_require(i == 0 || r[-1].start + r[-1].bytes <= r->start);
        boot_require(r->type >= MEM_USABLE && r->type <= MEM_BAD);
        usable |= r->type == MEM_USABLE;
    }
    const struct boot_framebuffer *screen = &info->framebuffer;
    boot_require(screen->bits == 0 ||
                 (screen->width * screen->bits / 8 <= screen->pitch &&
                  screen->height > 0));
    boot_require(result == 0 ? usable : result == E_FORMAT && info->errors[0]);
}
