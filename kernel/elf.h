// elf.h - ELF64 program images: every field is hostile until checked here.
// SPDX-License-Identifier: MIT
#pragma once
#include "../include/ingot.h"

enum { ELF_SEGMENTS = 16 };

struct elf_segment { // page-aligned start is guaranteed not to overlap others
    u64 virt;        // where it goes
    u64 offset;      // in the file
    u64 file_bytes;  // copied
    u64 mem_bytes;   // the rest is zero
    u32 flags;       // PAGE_WRITE, PAGE_EXEC
};

struct elf_image {
    u64 entry;
    u64 start, end; // page-aligned span of all segments
    u32 n_segments;
    struct elf_segment segments[ELF_SEGMENTS]; // sorted by virt
    u64 rela_virt,
        rela_bytes; // R_X86_64_RELATIVE table, already relocated place
    u64 bias;       // added to every address of a PIE, 0 otherwise
};

// Check image and lay it out between window_start and window_end; a PIE
// (ET_DYN) goes to window_start. Returns 0 or E_FORMAT with *why a short
// reason.
int elf_read(const void *image, u64 len, u64 window_start, u64 window_end,
             struct elf_image *elf, const char **why);
