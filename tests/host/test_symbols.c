// test_symbols.c - names for addresses: nearest below, and nothing but the
// image is ever read, whatever its tables say.
// SPDX-License-Identifier: MIT
#include "test.h"
#include <stddef.h>
#include <string.h>
#include "../../kernel/symbols.c"

#define NAMES "\0first\0second\0label\0data\0a\tb"

static struct {
    struct elf_header header;
    struct section_header sections[4];
    struct entry entries[6];
    char names[sizeof(NAMES) - 1];
} image;
static struct symbol found;

static void add(u32 i, u32 name, u8 type, u64 value)
{
    image.entries[i] = (struct entry){.name = name,
                                      .info = (u8)(1 << 4 | type),
                                      .section = 1,
                                      .value = value};
}

static void build(void)
{
    static const u8 ident[7] = {0x7F, 'E', 'L', 'F', 2, 1, 1};
    memset(&image, 0, sizeof(image));
    memcpy(image.header.ident, ident, sizeof(ident));
    image.header.section_headers = offsetof(__typeof__(image), sections);
    image.header.section_header_bytes = SECTION_BYTES;
    image.header.n_section_headers = 4;
    image.sections[2] =
        (struct section_header){.type = SECTION_SYMBOLS,
                                .offset = offsetof(__typeof__(image), entries),
                                .bytes = sizeof(image.entries),
                                .link = 3};
    image.sections[3] =
        (struct section_header){.type = 3,
                                .offset = offsetof(__typeof__(image), names),
                                .bytes = sizeof(image.names)};
    memcpy(image.names, NAMES, sizeof(image.names));
    add(1, 7, SYMBOL_FUNCTION, 0x2000);
    add(2, 1, SYMBOL_FUNCTION, 0x1000);
    add(3, 14, SYMBOL_LABEL, 0x2000);
    add(4, 20, 1, 0x2100);
}

static int find(u64 address)
{
    return symbols_find(&image, sizeof(image), address, &found);
}

static void test_nearest_below(void)
{
    build();
    CHECK_EQ(find(0x1000), 0);
    CHECK(strcmp(found.name, "first") == 0 && found.offset == 0);
    CHECK_EQ(find(0x1FFF), 0);
    CHECK(strcmp(found.name, "first") == 0 && found.offset == 0xFFF);
}

static void test_a_function_wins_over_a_label_and_data(void)
{
    build();
    CHECK_EQ(find(0x2200), 0);
    CHECK(strcmp(found.name, "second") == 0 && found.offset == 0x200);
    image.entries[1] = image.entries[4];
    CHECK_EQ(find(0x2200), 0);
    CHECK(strcmp(found.name, "label") == 0);
}

static void test_none_below(void)
{
    build();
    CHECK_EQ(find(0xFFF), E_FORMAT);
}

static void test_a_name_that_cannot_be_shown(void)
{
    build();
    add(1, 25, SYMBOL_FUNCTION, 0x2000);
    add(3, 25, SYMBOL_FUNCTION, 0x2000);
    CHECK_EQ(find(0x2000), 0);
    CHECK(strcmp(found.name, "a") == 0);
    image.names[25] = '\033';
    CHECK_EQ(find(0x2000), E_FORMAT);
}

static void test_a_name_at_the_end_of_the_file(void)
{
    build();
    image.names[sizeof(image.names) - 1] = 'x';
    add(1, sizeof(image.names) - 1, SYMBOL_FUNCTION, 0x2000);
    add(3, sizeof(image.names) - 1, SYMBOL_FUNCTION, 0x2000);
    CHECK_EQ(find(0x2000), 0);
    CHECK(strcmp(found.name, "x") == 0);
    add(1, ~0u, SYMBOL_FUNCTION, 0x2001);
    CHECK_EQ(find(0x2001), E_FORMAT);
}

static void test_damaged_tables(void)
{
    static const u64 bad[] = {sizeof(image), ~0ul, ~0ul - 63, 1ul << 63};
    for (u32 i = 0; i < array_size(bad); i++) {
        build();
        image.header.section_headers = bad[i];
        CHECK_EQ(find(0x1000), E_FORMAT);
        build();
        image.sections[2].offset = bad[i];
        CHECK_EQ(find(0x1000), E_FORMAT);
        build();
        image.sections[2].bytes = bad[i];
        CHECK_EQ(find(0x1000), E_FORMAT);
        build();
        image.sections[3].offset = bad[i];
        CHECK_EQ(find(0x1000), E_FORMAT);
        build();
        image.sections[2].link = (u32)bad[i];
        CHECK_EQ(find(0x1000), E_FORMAT);
    }
}

static void test_no_tables(void)
{
    build();
    image.header.n_section_headers = 0;
    CHECK_EQ(find(0x1000), E_FORMAT);
    build();
    image.sections[2].type = 0;
    CHECK_EQ(find(0x1000), E_FORMAT);
    image.header.n_section_headers = 0xFFFF; // runs into what follows
    CHECK_EQ(find(0x1000), E_FORMAT);
    build();
    image.header.section_header_bytes = 0;
    CHECK_EQ(find(0x1000), E_FORMAT);
    build();
    image.header.ident[0] = 0;
    CHECK_EQ(find(0x1000), E_FORMAT);
}

// Every length, in memory of exactly that size: ASan watches the end.
static void test_every_cut(void)
{
    build();
    u64 whole = offsetof(__typeof__(image), names) + sizeof(image.names);
    for (u64 len = 0; len < whole; len++) {
        u8 *copy = malloc(len + (len == 0));
        memcpy(copy, &image, len);
        int result = symbols_find(copy, len, 0x1000, &found);
        CHECK(result == E_FORMAT);
        free(copy);
    }
}

int main(void)
{
    RUN(test_nearest_below);
    RUN(test_a_function_wins_over_a_label_and_data);
    RUN(test_none_below);
    RUN(test_a_name_that_cannot_be_shown);
    RUN(test_a_name_at_the_end_of_the_file);
    RUN(test_damaged_tables);
    RUN(test_no_tables);
    RUN(test_every_cut);
    return TEST_RESULT();
}
