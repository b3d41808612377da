// symbols.h - the name nearest to an address, from an ELF image's symbol table.
// SPDX-License-Identifier: MIT
#pragma once
#include "../include/ingot.h"

struct symbol {
    char name[48]; // printable; cut when longer
    u64 offset;    // of the address in it
};

// The function or label at or nearest below address (as linked, without a PIE's
// bias). Returns 0, or E_FORMAT: not ELF, stripped, or damaged. Nothing outside
// the image is read.
int must_check symbols_find(const void *image, u64 len, u64 address,
                            struct symbol *symbol);
