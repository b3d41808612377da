// fuzz_pvh.c - any bytes as a PVH start info and what it points at.
// SPDX-License-Identifier: MIT
#include "../../boot/boot_note.c"
#include "../../boot/boot_regions.c"
#include "../../boot/pvh.c"
#include "../../lib/format.c"
#include "boot_check.h"

enum { BASE = 0x1000 };
static const u8 *input;
static u64 input_len;

// Pages at their place, the last one padded: strings are read by the page.
static const void *fuzz_read(u64 phys, u64 len)
{
    u64 at = phys - BASE;
    return phys < BASE || at > input_len || len > input_len - at ? 0
                                                                 : input + at;
}

int LLVMFuzzerTestOneInput(const u8 *data, u64 len)
{
    static struct boot_info info;
    if (len < PVH_SIZE_V0 || len > 1 << 20) {
        return 0;
    }
    u64 padded = (len + 4095) & ~4095ul;
    u8 *copy = calloc(padded, 1);
    u32 magic = PVH_MAGIC;
    memcpy(copy, data, len);
    memcpy(copy, &magic, 4);
    input = copy;
    input_len = padded;
    memset(&info, 0, sizeof(info));
    boot_check(&info, pvh_read(BASE, fuzz_read, &info));
    free(copy);
    return 0;
}
