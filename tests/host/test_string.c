// test_string.c - lib/string.c against plain loops, with guard bytes around.
// SPDX-License-Identifier: MIT
#include "test.h"
#define memcpy ingot_memcpy
#define memmove ingot_memmove
#define memset ingot_memset
#define memcmp ingot_memcmp
#define strlen ingot_strlen
#define strnlen ingot_strnlen
#define strcmp ingot_strcmp
#define strncmp ingot_strncmp
#define strchr ingot_strchr
#include "../../lib/string.c"
#include "../../lib/string_copy.c"

enum { AREA = 400, LONGEST = 200 };
static u8 area[AREA], model[AREA];

static void fill_areas(void)
{
    for (int i = 0; i < AREA; i++) {
        area[i] = model[i] = (u8)(i * 7 + 3);
    }
}

static int areas_equal(void)
{
    for (int i = 0; i < AREA; i++) {
        if (area[i] != model[i]) {
            return 0;
        }
    }
    return 1;
}

static void test_memmove_every_length_and_distance(void)
{
    for (int len = 0; len <= LONGEST; len++) {
        for (int to = 90; to <= 110; to++) {
            fill_areas();
            CHECK(memmove(area + to, area + 100, (u64)len) == area + to);
            for (int i = 0; i < len; i++) {
                model[to + i] = (u8)((100 + i) * 7 + 3);
            }
            CHECK(areas_equal());
        }
    }
}

static void test_memcpy_every_length_and_offset(void)
{
    for (int len = 0; len <= LONGEST; len++) {
        for (int offset = 0; offset < 9; offset++) {
            fill_areas();
            CHECK(memcpy(area + offset, area + 200 - offset, (u64)len) ==
                  area + offset);
            for (int i = 0; i < len && offset + len <= 200 - offset; i++) {
                model[offset + i] = (u8)((200 - offset + i) * 7 + 3);
            }
            CHECK(offset + len > 200 - offset || areas_equal());
        }
    }
}

static void test_memset_every_length_and_offset(void)
{
    for (int len = 0; len <= LONGEST; len++) {
        for (int offset = 0; offset < 9; offset++) {
            fill_areas();
            CHECK(memset(area + offset, 0x1A5, (u64)len) == area + offset);
            for (int i = 0; i < len; i++) {
                model[offset + i] = 0xA5;
            }
            CHECK(areas_equal());
        }
    }
}

static void test_memcmp_finds_every_place(void)
{
    static u8 a[70], b[70];
    for (u64 len = 0; len < 70; len++) {
        CHECK_EQ(memcmp(a, b, len), 0);
        for (u64 i = 0; i < len; i++) {
            a[i] = 200; // above 127: bytes compare unsigned
            CHECK(memcmp(a, b, len) > 0);
            CHECK(memcmp(b, a, len) < 0);
            CHECK_EQ(memcmp(a, b, i), 0);
            a[i] = 0;
        }
    }
}

static void test_lengths(void)
{
    CHECK_EQ(strlen(""), 0);
    CHECK_EQ(strlen("ingot"), 5);
    const char open[3] = {'a', 'b', 'c'}; // no 0: ASan sees a read too far
    CHECK_EQ(strnlen(open, 3), 3);
    CHECK_EQ(strnlen("ab", 9), 2);
    CHECK_EQ(strnlen("ab", 0), 0);
}

static void test_compare(void)
{
    CHECK_EQ(strcmp("", ""), 0);
    CHECK(strcmp("a", "") > 0);
    CHECK(strcmp("abc", "abd") < 0);
    CHECK(strcmp("\xFF", "a") > 0);
    CHECK_EQ(strncmp("abc", "abd", 2), 0);
    CHECK(strncmp("abc", "abd", 3) < 0);
    CHECK_EQ(strncmp("ab", "ab", 99), 0);
    CHECK_EQ(strncmp("a", "b", 0), 0);
}

static void test_strchr(void)
{
    const char *text = "a.b.c";
    CHECK(strchr(text, '.') == text + 1);
    CHECK(strchr(text, 0) == text + 5);
    CHECK(strchr(text, 'x') == 0);
}

static void test_string_copy(void)
{
    char to[8] = "zzzzzzz";
    CHECK_EQ(string_copy(to, "ab", sizeof(to)), 2);
    CHECK_EQ(strcmp(to, "ab"), 0);
    CHECK_EQ(to[3], 'z');
    CHECK_EQ(string_copy(to, "abcdefghij", 4), 3);
    CHECK_EQ(strcmp(to, "abc"), 0);
    CHECK_EQ(string_copy(to, "q", 0), 0);
    CHECK_EQ(to[0], 'a');
    const char open[3] = {'x', 'y', 'z'};
    CHECK_EQ(string_copy(to, open, 4), 3);
    CHECK_EQ(strcmp(to, "xyz"), 0);
}

int main(void)
{
    RUN(test_memmove_every_length_and_distance);
    RUN(test_memcpy_every_length_and_offset);
    RUN(test_memset_every_length_and_offset);
    RUN(test_memcmp_finds_every_place);
    RUN(test_lengths);
    RUN(test_compare);
    RUN(test_strchr);
    RUN(test_string_copy);
    return TEST_RESULT();
}
