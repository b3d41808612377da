// test_format.c - lib/format.c against the host's printf, and at its edges.
// SPDX-License-Identifier: MIT
#include "test.h"
#include "../../lib/format.c"

static int same(const char *a, const char *b)
{
    if (strcmp(a, b) != 0) {
        printf("  \"%s\", want \"%s\"\n", a, b);
        return 0;
    }
    return 1;
}

// The same call through ours and the host's: one text, one length.
#define AGREE(...)                                                             \
    do {                                                                       \
        char ours[200], theirs[200];                                           \
        u64 ours_len = format(ours, sizeof(ours), __VA_ARGS__);                \
        int theirs_len = snprintf(theirs, sizeof(theirs), __VA_ARGS__);        \
        CHECK(same(ours, theirs));                                             \
        CHECK_EQ(ours_len, theirs_len);                                        \
    } while (0)

static void test_plain(void)
{
    AGREE("%s", "");
    AGREE("a line\n");
    AGREE("100%%");
    AGREE("%c%c|%3c|%-3c|", 'x', 'y', 'z', 'w');
}

static void test_integers(void)
{
    const int values[] = {
        0, 1, -1, 9, 10, 123456, -123456, 2147483647, -2147483647 - 1};
    for (unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        AGREE("%d|%i|%u|%x|%X", values[i], values[i], (u32)values[i],
              (u32)values[i], (u32)values[i]);
        AGREE("%8d|%-8d|%08d|%.5d|%8.5d|%-8.5d|", values[i], values[i],
              values[i], values[i], values[i], values[i]);
        AGREE("%#x|%#10x|%#010x|%-#10x|%#X|%.0d", (u32)values[i],
              (u32)values[i], (u32)values[i], (u32)values[i], (u32)values[i],
              values[i]);
        AGREE("%*d|%-*d|%.*d", 7, values[i], 7, values[i], 4, values[i]);
        AGREE("%*d|%.*d", -7, values[i], -4, values[i]);
    }
}

static void test_long_integers(void)
{
    const long values[] = {0, -1, 9223372036854775807, -9223372036854775807 - 1,
                           4294967296};
    for (unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        AGREE("%ld|%lu|%lx|%lX|%zu", values[i], (u64)values[i], (u64)values[i],
              (u64)values[i], (u64)values[i]);
        AGREE("%llx|%016lx|%22ld|%-22ld|", (unsigned long long)values[i],
              (u64)values[i], values[i], values[i]);
    }
}

static void test_strings(void)
{
    AGREE("%s|%8s|%-8s|%.2s|%8.2s|%-8.2s|%.0s|", "abc", "abc", "abc", "abc",
          "abc", "abc", "abc");
    AGREE("%*s|%-*s|%.*s", 6, "abc", 6, "abc", 2, "abc");
    const char open[3] = {'a', 'b', 'c'}; // ASan sees a read too far
    char text[8];
    CHECK_EQ(format(text, sizeof(text), "%.3s", open), 3);
    const char *volatile null = 0;
    CHECK_EQ(format(text, sizeof(text), "%s", null), 6);
    CHECK(same(text, "(null)"));
}

static void test_pointers(void)
{
    int here;
    AGREE("%p|%20p|%-20p|", (void *)&here, (void *)&here, (void *)&here);
}

static void test_room(void)
{
    for (u64 cap = 0; cap < 12; cap++) {
        char text[16];
        for (unsigned i = 0; i < sizeof(text); i++) {
            text[i] = '#';
        }
        CHECK_EQ(format(text, cap, "%s-%05d", "abc", 42), 9);
        for (u64 i = 0; i < sizeof(text); i++) {
            char want = i + 1 < cap && i < 9 ? "abc-00042"[i] : '#';
            want = cap > 0 && i == (cap - 1 < 9 ? cap - 1 : 9) ? 0 : want;
            CHECK_EQ(text[i], want);
        }
    }
}

// The compiler would refuse these as literals.
static void test_unknown_stands(void)
{
    const char *volatile odd[] = {"%q", "%", "%5", "a%-08.3", "%f x", "%lq"};
    for (unsigned i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        char text[32];
        const char *form = odd[i];
        format(text, sizeof(text), form, 0);
        CHECK(same(text, form));
    }
}

static void test_absurd_widths(void)
{
    char text[32];
    volatile int most = 2147483647, least = -2147483647 - 1;
    CHECK_EQ(format(text, sizeof(text), "%*d", most, 1), 4096);
    CHECK_EQ(format(text, sizeof(text), "%*d", least, 1), 4096);
    const char *volatile wide = "%99999999999999d";
    const char *form = wide;
    CHECK_EQ(format(text, sizeof(text), form, 1), 4096);
}

int main(void)
{
    RUN(test_plain);
    RUN(test_integers);
    RUN(test_long_integers);
    RUN(test_strings);
    RUN(test_pointers);
    RUN(test_room);
    RUN(test_unknown_stands);
    RUN(test_absurd_widths);
    return TEST_RESULT();
}
