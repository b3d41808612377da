// elf.c - ELF64 program images: every field is hostile until checked here.
// SPDX-License-Identifier: MIT
//
// System V ABI, chapters 4 and 5; AMD64 supplement 4.4. Nothing but the image
// is read and nothing but *elf is written, so the host can fuzz it.
#include "elf.h"
#include "../lib/string.h"
#include "cpu.h"

enum { MACHINE_X86_64 = 62, TYPE_EXEC = 2, TYPE_DYN = 3 };
enum { SEGMENT_LOAD = 1, SEGMENT_DYNAMIC = 2, SEGMENT_INTERPRETER = 3 };
enum { SEGMENT_EXEC = 1, SEGMENT_WRITE = 2 };
enum { // dynamic section tags
    DYNAMIC_NEEDED = 1,
    DYNAMIC_PLT_BYTES = 2,
    DYNAMIC_RELA = 7,
    DYNAMIC_RELA_BYTES = 8,
};
enum { RELOCATION_RELATIVE = 8, MAX_HEADERS = 64 };

struct program_header {
    u32 type, flags;
    u64 offset, virt, phys, file_bytes, mem_bytes, align;
};
_Static_assert(sizeof(struct program_header) == 56, "Elf64_Phdr");

struct dynamic {
    u64 tag, value;
};

struct relocation {
    u64 offset, info;
    i64 addend;
};

struct elf_source { // what the steps below share
    const u8 *image;
    u64 len;
    struct elf_header header;
    const struct elf_window *window;
    const char *why;
};

static int elf_fail(struct elf_source *source, const char *why)
{
    source->why = why;
    return E_FORMAT;
}

static int elf_read_header(struct elf_source *source)
{
    static const u8 magic[7] = {0x7F, 'E', 'L', 'F', 2, 1, 1};
    struct elf_header *header = &source->header;
    if (source->len < sizeof(*header)) {
        return elf_fail(source, "shorter than an ELF header");
    }
    memcpy(header, source->image, sizeof(*header));
    if (memcmp(header->ident, magic, sizeof(magic)) != 0) {
        return elf_fail(source, "not a 64-bit little-endian ELF file");
    }
    if (header->machine != MACHINE_X86_64) {
        return elf_fail(source, "not for x86-64");
    }
    if (header->type != TYPE_EXEC && header->type != TYPE_DYN) {
        return elf_fail(source, "neither an executable nor a PIE");
    }
    if (header->program_header_bytes != sizeof(struct program_header) ||
        header->n_program_headers == 0 ||
        header->n_program_headers > MAX_HEADERS) {
        return elf_fail(source, "no sensible program headers");
    }
    u64 bytes = header->n_program_headers * sizeof(struct program_header);
    if (header->program_headers > source->len ||
        bytes > source->len - header->program_headers) {
        return elf_fail(source, "program headers past the end of the file");
    }
    return 0;
}

static struct program_header elf_program_header(const struct elf_source *source,
                                                u32 i)
{
    struct program_header header;
    memcpy(&header,
           source->image + source->header.program_headers + i * sizeof(header),
           sizeof(header));
    return header;
}

// PIEs are moved so that their lowest page is the window's first.
static u64 elf_find_bias(const struct elf_source *source)
{
    u64 lowest = ~0ul;
    for (u32 i = 0; i < source->header.n_program_headers; i++) {
        struct program_header header = elf_program_header(source, i);
        if (header.type == SEGMENT_LOAD && header.virt < lowest) {
            lowest = header.virt;
        }
    }
    return source->header.type == TYPE_DYN
               ? source->window->start - align_down(lowest, PAGE)
               : 0;
}

static int elf_add_segment(struct elf_source *source, struct elf_image *elf,
                           const struct program_header *header)
{
    u64 virt = header->virt + elf->bias;
    const struct elf_window *window = source->window;
    if (elf->n_segments == ELF_SEGMENTS) {
        return elf_fail(source, "too many segments");
    }
    if (header->file_bytes > header->mem_bytes) {
        return elf_fail(source, "a segment larger in the file than in memory");
    }
    if (header->offset > source->len ||
        header->file_bytes > source->len - header->offset) {
        return elf_fail(source, "a segment past the end of the file");
    }
    if (virt < window->start || virt >= window->end ||
        header->mem_bytes > window->end - virt) {
        return elf_fail(source, "a segment outside the program window");
    }
    if ((header->flags & SEGMENT_WRITE) && (header->flags & SEGMENT_EXEC)) {
        return elf_fail(source, "a segment both writable and executable");
    }
    u32 at = elf->n_segments++;
    for (; at > 0 && elf->segments[at - 1].virt > virt; at--) {
        elf->segments[at] = elf->segments[at - 1];
    }
    elf->segments[at] = (struct elf_segment){
        .virt = virt,
        .offset = header->offset,
        .file_bytes = header->file_bytes,
        .mem_bytes = header->mem_bytes,
        .flags = (header->flags & SEGMENT_WRITE ? PAGE_WRITE : 0u) |
                 (header->flags & SEGMENT_EXEC ? PAGE_EXEC : 0u),
    };
    return 0;
}

static int elf_read_segments(struct elf_source *source, struct elf_image *elf)
{
    for (u32 i = 0; i < source->header.n_program_headers; i++) {
        struct program_header header = elf_program_header(source, i);
        if (header.type == SEGMENT_INTERPRETER) {
            return elf_fail(source, "it needs a dynamic linker");
        }
        if (header.type == SEGMENT_LOAD && header.mem_bytes > 0) {
            TRY(elf_add_segment(source, elf, &header));
        }
    }
    if (elf->n_segments == 0) {
        return elf_fail(source, "nothing to load");
    }
    for (u32 i = 1; i < elf->n_segments; i++) {
        const struct elf_segment *last = &elf->segments[i - 1];
        if (align_up(last->virt + last->mem_bytes, PAGE) >
            align_down(elf->segments[i].virt, PAGE)) {
            return elf_fail(source, "two segments share a page");
        }
    }
    const struct elf_segment *end = &elf->segments[elf->n_segments - 1];
    elf->start = align_down(elf->segments[0].virt, PAGE);
    elf->end = align_up(end->virt + end->mem_bytes, PAGE);
    return 0;
}

static const struct elf_segment *elf_segment_of(const struct elf_image *elf,
                                                u64 virt, u64 bytes)
{
    for (u32 i = 0; i < elf->n_segments; i++) {
        const struct elf_segment *segment = &elf->segments[i];
        if (virt >= segment->virt &&
            virt - segment->virt < segment->mem_bytes &&
            bytes <= segment->mem_bytes - (virt - segment->virt)) {
            return segment;
        }
    }
    return 0;
}

static int elf_check_entry(struct elf_source *source, struct elf_image *elf)
{
    elf->entry = source->header.entry + elf->bias;
    const struct elf_segment *segment = elf_segment_of(elf, elf->entry, 1);
    if (segment == 0 || (segment->flags & PAGE_EXEC) == 0) {
        return elf_fail(source, "its entry is not in executable memory");
    }
    return 0;
}

// The relocation table's address becomes a place in the file.
static int elf_place_relocations(struct elf_source *source,
                                 struct elf_image *elf, u64 virt, u64 bytes)
{
    const struct elf_segment *segment =
        elf_segment_of(elf, virt + elf->bias, bytes);
    if (bytes == 0) {
        return 0;
    }
    if (segment == 0) {
        return elf_fail(source, "relocations outside the segments");
    }
    u64 inside = virt + elf->bias - segment->virt;
    if (inside > segment->file_bytes || bytes > segment->file_bytes - inside) {
        return elf_fail(source, "relocations outside the file");
    }
    elf->rela_offset = segment->offset + inside;
    elf->rela_count = bytes / sizeof(struct relocation);
    return 0;
}

static int elf_read_dynamic(struct elf_source *source, struct elf_image *elf,
                            const struct program_header *header)
{
    if (header->offset > source->len ||
        header->file_bytes > source->len - header->offset) {
        return elf_fail(source, "a dynamic section past the end of the file");
    }
    u64 rela = 0, rela_bytes = 0;
    for (u64 at = 0; header->file_bytes - at >= sizeof(struct dynamic);
         at += sizeof(struct dynamic)) {
        struct dynamic entry;
        memcpy(&entry, source->image + header->offset + at, sizeof(entry));
        if (entry.tag == 0) {
            break;
        }
        if (entry.tag == DYNAMIC_NEEDED ||
            (entry.tag == DYNAMIC_PLT_BYTES && entry.value > 0)) {
            return elf_fail(source, "it needs a shared library");
        }
        rela = entry.tag == DYNAMIC_RELA ? entry.value : rela;
        rela_bytes = entry.tag == DYNAMIC_RELA_BYTES ? entry.value : rela_bytes;
    }
    return elf_place_relocations(source, elf, rela, rela_bytes);
}

static int elf_read_all(struct elf_source *source, struct elf_image *elf)
{
    TRY(elf_read_header(source));
    elf->bias = elf_find_bias(source);
    TRY(elf_read_segments(source, elf));
    TRY(elf_check_entry(source, elf));
    for (u32 i = 0; i < source->header.n_program_headers; i++) {
        struct program_header header = elf_program_header(source, i);
        if (header.type == SEGMENT_DYNAMIC) {
            TRY(elf_read_dynamic(source, elf, &header));
        }
    }
    return 0;
}

int elf_read(const void *image, u64 len, const struct elf_window *window,
             struct elf_image *elf, const char **why)
{
    struct elf_source source = {.image = image, .len = len, .window = window};
    *elf = (struct elf_image){0};
    int result = elf_read_all(&source, elf);
    *why = source.why;
    return result;
}

int elf_relocation(const void *image, const struct elf_image *elf, u64 i,
                   u64 *virt, u64 *value)
{
    struct relocation entry;
    memcpy(&entry, (const u8 *)image + elf->rela_offset + i * sizeof(entry),
           sizeof(entry));
    *virt = entry.offset + elf->bias;
    *value = (u64)entry.addend + elf->bias;
    if ((u32)entry.info != RELOCATION_RELATIVE ||
        elf_segment_of(elf, *virt, sizeof(u64)) == 0) {
        return E_FORMAT;
    }
    return 0;
}
