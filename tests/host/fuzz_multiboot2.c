// fuzz_multiboot2.c - any bytes as Multiboot2 information.
// SPDX-License-Identifier: MIT
#include "../../boot/boot_note.c"
#include "../../boot/boot_regions.c"
#include "../../boot/multiboot2.c"
#include "../../lib/format.c"
#include "boot_check.h"

enum { BASE = 0x10000 };
static const u8 *input;
static u64 input_len;

static const void *fuzz_read(u64 phys, u64 len)
{
    u64 at = phys - BASE;
    return phys < BASE || at > input_len || len > input_len - at ? 0
                                                                 : input + at;
}

// The first word is taken to be the length, else few inputs get further.
int LLVMFuzzerTestOneInput(const u8 *data, u64 len)
{
    static struct boot_info info;
    if (len < 16 || len > 1 << 20) {
        return 0;
    }
    u8 *copy = malloc(len);
    u32 total = (u32)len;
    memcpy(copy, data, len);
    memcpy(copy, &total, 4);
    input = copy;
    input_len = len;
    memset(&info, 0, sizeof(info));
    boot_check(&info, multiboot2_read(BASE, fuzz_read, &info));
    free(copy);
    return 0;
}
