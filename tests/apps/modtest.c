// modtest.c - every boot module: name, length, and Adler-32 (RFC 1950) of its
// bytes. SPDX-License-Identifier: MIT
#include "../../apps/lib/print.h"

static u32 adler32(const u8 *bytes, u64 len)
{
    u32 low = 1, high = 0;
    for (u64 i = 0; i < len; i++) {
        low = (low + bytes[i]) % 65521;
        high = (high + low) % 65521;
    }
    return high << 16 | low;
}

int main(void)
{
    struct module_info module;
    for (u32 i = 0; os->app_module(i, &module) == 0; i++) {
        print("module %s %lu bytes %08x\n", module.name, module.len,
              adler32(module.data, module.len));
    }
    return 0;
}
