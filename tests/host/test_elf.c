// test_elf.c - program images: the good ones laid out, each bad field refused.
// SPDX-License-Identifier: MIT
#include "test.h"
#include <stddef.h>
#include "../../kernel/elf.c"

#define START 0xFFFF800000000000ul
static const struct elf_window window = {START, START + (1ul << 38)};

static struct image {
    struct elf_header header;
    struct program_header segments[4];
    struct dynamic dynamic[8];
    struct relocation relocations[2];
    u8 body[8192];
} image;

static struct elf_image elf;
static const char *why;

static void add_segment(u32 type, u32 flags, u64 virt, u64 offset,
                        u64 file_bytes, u64 mem_bytes)
{
    image.segments[image.header.n_program_headers++] =
        (struct program_header){.type = type,
                                .flags = flags,
                                .virt = virt,
                                .offset = offset,
                                .file_bytes = file_bytes,
                                .mem_bytes = mem_bytes};
}

static void build(u16 type, u64 base)
{
    static const u8 ident[7] = {0x7F, 'E', 'L', 'F', 2, 1, 1};
    memset(&image, 0, sizeof(image));
    memcpy(image.header.ident, ident, sizeof(ident));
    image.header.type = type;
    image.header.machine = MACHINE_X86_64;
    image.header.entry = base + 16;
    image.header.program_headers = offsetof(struct image, segments);
    image.header.program_header_bytes = sizeof(struct program_header);
    add_segment(SEGMENT_LOAD, 4 | SEGMENT_EXEC, base, 0, 512, 512);
    add_segment(SEGMENT_LOAD, 4 | SEGMENT_WRITE, base + 0x1000, 512, 100,
                100000);
}

static int read_it(void)
{
    return elf_read(&image, sizeof(image), &window, &elf, &why);
}

static void check_refused(const char *reason)
{
    CHECK_EQ(read_it(), E_FORMAT);
    CHECK(why != 0 && __builtin_strstr(why, reason) != 0);
}

static void test_a_static_program(void)
{
    build(TYPE_EXEC, START);
    CHECK_EQ(read_it(), 0);
    CHECK_EQ(elf.n_segments, 2);
    CHECK_EQ(elf.entry, START + 16);
    CHECK_EQ(elf.bias, 0);
    CHECK_EQ(elf.segments[0].flags, PAGE_EXEC);
    CHECK_EQ(elf.segments[1].flags, PAGE_WRITE);
    CHECK_EQ(elf.end, START + 0x1000 + align_up(100000, PAGE));
}

static void test_segments_are_sorted(void)
{
    build(TYPE_EXEC, START);
    struct program_header swap = image.segments[0];
    image.segments[0] = image.segments[1];
    image.segments[1] = swap;
    CHECK_EQ(read_it(), 0);
    CHECK_EQ(elf.segments[0].virt, START);
}

static void test_a_pie_is_moved(void)
{
    build(TYPE_DYN, 0x400000);
    CHECK_EQ(read_it(), 0);
    CHECK_EQ(elf.entry, START + 16);
    CHECK_EQ(elf.bias, START - 0x400000);
}

static void add_relocations(u64 bytes)
{
    build(TYPE_DYN, 0);
    image.segments[0].file_bytes = image.segments[0].mem_bytes = 4096;
    image.header.entry = 16;
    add_segment(SEGMENT_DYNAMIC, 4, 0, offsetof(struct image, dynamic),
                sizeof(image.dynamic), 0);
    u64 at = offsetof(struct image, relocations);
    image.dynamic[0] = (struct dynamic){DYNAMIC_RELA, at};
    image.dynamic[1] = (struct dynamic){DYNAMIC_RELA_BYTES, bytes};
    image.relocations[0] =
        (struct relocation){0x1000, RELOCATION_RELATIVE, 0x1234};
    image.relocations[1] = (struct relocation){0x1008, 7, 0};
}

static void test_relocations(void)
{
    u64 virt, value;
    add_relocations(2 * sizeof(struct relocation));
    CHECK_EQ(read_it(), 0);
    CHECK_EQ(elf.rela_count, 2);
    CHECK_EQ(elf_relocation(&image, &elf, 0, &virt, &value), 0);
    CHECK_EQ(virt, START + 0x1000);
    CHECK_EQ(value, START + 0x1234);
    CHECK_EQ(elf_relocation(&image, &elf, 1, &virt, &value), E_FORMAT);
    image.relocations[0].offset = 1ul << 40;
    CHECK_EQ(elf_relocation(&image, &elf, 0, &virt, &value), E_FORMAT);
    image.relocations[0].offset = 0x1000 + 100000 - 7; // its last byte is out
    CHECK_EQ(elf_relocation(&image, &elf, 0, &virt, &value), E_FORMAT);
}

static void test_hostile_dynamic_sections(void)
{
    add_relocations(1ul << 60);
    check_refused("relocations outside the");
    add_relocations(24);
    image.dynamic[2] = (struct dynamic){DYNAMIC_NEEDED, 1};
    check_refused("shared library");
    add_relocations(24);
    image.segments[2].offset = ~0ul - 8;
    check_refused("dynamic section");
    add_relocations(24);
    image.segments[2].offset = sizeof(image) - 16;
    check_refused("dynamic section");
    add_relocations(24);
    image.dynamic[0].value = 0x1000 + 200; // in .bss: not in the file
    check_refused("relocations outside the file");
}

static void test_hostile_headers(void)
{
    build(TYPE_EXEC, START);
    image.header.ident[4] = 1;
    check_refused("64-bit");
    build(TYPE_EXEC, START);
    image.header.machine = 3;
    check_refused("x86-64");
    build(1, START);
    check_refused("neither");
    build(TYPE_EXEC, START);
    image.header.n_program_headers = 0xFFFF;
    check_refused("program headers");
    build(TYPE_EXEC, START);
    image.header.program_headers = ~0ul - 3;
    check_refused("past the end");
    build(TYPE_EXEC, START);
    image.header.program_headers = sizeof(image) - 100;
    check_refused("past the end");
    build(TYPE_EXEC, START);
    image.header.entry = START + 0x1004; // data
    check_refused("entry");
    build(TYPE_EXEC, START);
    image.header.entry = 0;
    check_refused("entry");
    build(TYPE_EXEC, START);
    image.segments[0].type = SEGMENT_INTERPRETER;
    check_refused("dynamic linker");
}

static void test_hostile_segments(void)
{
    build(TYPE_EXEC, START);
    image.segments[1].virt = START + 100;
    check_refused("share a page");
    build(TYPE_EXEC, START);
    image.segments[1].virt = START;
    check_refused("share a page");
    build(TYPE_EXEC, START);
    image.segments[1].mem_bytes = ~0ul;
    check_refused("outside the program window");
    build(TYPE_EXEC, START);
    image.segments[1].virt = 0xFFFFFFFF80200000ul;
    check_refused("outside the program window");
    build(TYPE_EXEC, START);
    image.segments[1].virt = 0x100000;
    check_refused("outside the program window");
    build(TYPE_EXEC, START);
    image.segments[1].offset = ~0ul - 10;
    check_refused("past the end of the file");
    build(TYPE_EXEC, START);
    image.segments[1].file_bytes = image.segments[1].mem_bytes + 1;
    check_refused("larger in the file");
    build(TYPE_EXEC, START);
    image.segments[0].type = image.segments[1].type = 99;
    check_refused("nothing to load");
    build(TYPE_EXEC, START);
    image.segments[0].flags = SEGMENT_WRITE | SEGMENT_EXEC;
    check_refused("writable and executable");
}

static void test_every_truncation(void)
{
    build(TYPE_EXEC, START);
    u64 needs = 612; // the second segment's bytes end here
    for (u64 len = 0; len < needs; len++) {
        u8 *copy = malloc(len ? len : 1);
        memcpy(copy, &image, len);
        CHECK_EQ(elf_read(copy, len, &window, &elf, &why), E_FORMAT);
        free(copy);
    }
    CHECK_EQ(elf_read(&image, needs, &window, &elf, &why), 0);
}

int main(void)
{
    RUN(test_a_static_program);
    RUN(test_segments_are_sorted);
    RUN(test_a_pie_is_moved);
    RUN(test_relocations);
    RUN(test_hostile_dynamic_sections);
    RUN(test_hostile_headers);
    RUN(test_hostile_segments);
    RUN(test_every_truncation);
    return TEST_RESULT();
}
