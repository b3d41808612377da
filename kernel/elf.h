// elf.h - ELF64 program images: every field is hostile until checked here.
// SPDX-License-Identifier: MIT
#pragma once
#include "../include/ingot.h"

enum { ELF_SEGMENTS = 16 };

struct elf_header {
    u8 ident[16];
    u16 type, machine;
    u32 version;
    u64 entry, program_headers, section_headers;
    u32 flags;
    u16 header_bytes, program_header_bytes, n_program_headers;
    u16 section_header_bytes, n_section_headers, string_section;
};
_Static_assert(sizeof(struct elf_header) == 64, "Elf64_Ehdr");

struct elf_segment { // no two share a page
    u64 virt;        // where it goes, bias added
    u64 offset;      // in the file
    u64 file_bytes;  // copied from there
    u64 mem_bytes;   // the rest is zero
    u32 flags;       // PAGE_WRITE, PAGE_EXEC
};

struct elf_image {
    u64 entry;
    u64 start, end;              // page-aligned span of all segments
    u64 bias;                    // added to every address of a PIE, 0 otherwise
    u64 rela_offset, rela_count; // relocations: where in the file, how many
    u32 n_segments;
    struct elf_segment segments[ELF_SEGMENTS]; // sorted by virt
};

struct elf_window { // where programs go
    u64 start, end;
};

// Check image and lay it out in the window; a PIE (ET_DYN) goes to its start.
// Returns 0, or E_FORMAT and *why, a short reason.
int elf_read(const void *image, u64 len, const struct elf_window *window,
             struct elf_image *elf, const char **why);

// Relocation number i of a PIE: store value at virt. E_FORMAT: of a kind that
// needs a dynamic linker, or outside the segments.
int elf_relocation(const void *image, const struct elf_image *elf, u64 i,
                   u64 *virt, u64 *value);
