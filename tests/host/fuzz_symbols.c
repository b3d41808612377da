// fuzz_symbols.c - any bytes as a program's file: a printable name or none.
// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include "../../kernel/symbols.c"

int LLVMFuzzerTestOneInput(const u8 *data, u64 len);
int LLVMFuzzerTestOneInput(const u8 *data, u64 len)
{
    static const u64 addresses[] = {0, 0x1010, 0xFFFF800000000123ul, ~0ul};
    for (u32 i = 0; i < array_size(addresses); i++) {
        struct symbol symbol;
        if (symbols_find(data, len, addresses[i], &symbol) != 0) {
            continue;
        }
        u64 n = strlen(symbol.name);
        if (n == 0 || n >= sizeof(symbol.name) ||
            symbol.offset > addresses[i]) {
            abort();
        }
    }
    return 0;
}
