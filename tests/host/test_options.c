// test_options.c - --name and --name VALUE, and averages with decimals.
// SPDX-License-Identifier: MIT
#include "test.h"

// Stand in for the call table: only the console and the clock are used.
#include "../../include/ingot.h"
static char printed[1024];
static u64 printed_len;
static i64 fake_write(const void *text, u64 len)
{
    for (u64 i = 0; i < len && printed_len < sizeof(printed) - 1; i++) {
        printed[printed_len++] = ((const char *)text)[i];
    }
    printed[printed_len] = 0;
    return (i64)len;
}
static u64 fake_ns(void)
{
    return 5000;
}
static int fake_alloc(u64 bytes, u32 flags, void **memory)
{
    (void)bytes, (void)flags, (void)memory;
    return E_NOMEM;
}
static int fake_free(void *memory, u64 bytes)
{
    (void)memory, (void)bytes;
    return 0;
}
static const struct ingot table = {.con_write = fake_write,
                                   .time_ns = fake_ns,
                                   .mem_alloc = fake_alloc,
                                   .mem_free = fake_free};
#define os (&table)

u64 strlen(const char *text);
int strcmp(const char *a, const char *b);
#include "../../lib/format.c"
#include "../../apps/lib/print.c"
#include "../../apps/lib/args.c"
#include "../../apps/lib/options.c"
#include "../../apps/lib/bench.c"

static int said(const char *text)
{
    int found = 0;
    u64 len = strlen(text);
    for (u64 i = 0; !found && i + len <= printed_len; i++) {
        u64 same = 0;
        while (same < len && printed[i + same] == text[same]) {
            same++;
        }
        found = same == len;
    }
    printed_len = 0;
    return found;
}

static void flags_are_taken_out(void)
{
    char *argv[] = {"p", "1", "--inline", "2", 0};
    int argc = 4;
    CHECK_EQ(option_flag(&argc, argv, "--other"), 0);
    CHECK_EQ(option_flag(&argc, argv, "--inline"), 1);
    CHECK_EQ(argc, 3);
    CHECK(strcmp(argv[1], "1") == 0 && strcmp(argv[2], "2") == 0);
    CHECK_EQ(option_end(argc, argv, 2, "p"), 0);
}

static void numbers_are_taken_out(void)
{
    char *argv[] = {"p", "--frames", "70000", "1", 0};
    int argc = 4;
    u64 value = 3;
    CHECK_EQ(option_number(&argc, argv, "--seconds", 10, &value), 0);
    CHECK_EQ(value, 3);
    CHECK_EQ(option_number(&argc, argv, "--frames", 100000, &value), 0);
    CHECK_EQ(value, 70000);
    CHECK_EQ(argc, 2);
    CHECK(strcmp(argv[1], "1") == 0);
}

static void bad_numbers_are_refused(void)
{
    static char *bad[] = {"0", "11", "-1", "x", "", "99999999999999999999999"};
    for (u32 i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char *argv[] = {"p", "--n", bad[i], 0};
        int argc = 3;
        u64 value = 7;
        CHECK_EQ(option_number(&argc, argv, "--n", 10, &value), E_ARG);
        CHECK_EQ(value, 7);
        CHECK(said("error: p"));
    }
    char *argv[] = {"p", "--n", 0};
    int argc = 2;
    u64 value;
    CHECK_EQ(option_number(&argc, argv, "--n", 10, &value), E_ARG);
    CHECK(said("--n needs a number"));
}

static void what_is_left_is_checked(void)
{
    char *unknown[] = {"p", "--what", 0};
    CHECK_EQ(option_end(2, unknown, 5, "p [n]"), E_ARG);
    CHECK(said("unknown option '--what'; usage: p [n]"));
    char *many[] = {"p", "1", "2", 0};
    CHECK_EQ(option_end(3, many, 1, "p [n]"), E_ARG);
    CHECK(said("too many"));
}

static void averages(void)
{
    bench_print((struct bench){13200000, 34300000}, 1000000);
    CHECK(said("Iterations: 1000000\nAverage: 13.20 ns (34.30 cycles)\n"));
    bench_print((struct bench){7, 1}, 3);
    CHECK(said("Average: 2.33 ns (0.33 cycles)\n"));
    CHECK_EQ(bench_tenths(34250000, 1000000), 343);
    CHECK_EQ(bench_tenths(5, 0), 0);
    struct bench took = {13204999, 0};
    print(BENCH_FIELDS, BENCH_ARGS(took, 1000000));
    CHECK(said("iterations=1000000 ns=13.20 cycles=0.0"));
}

int main(void)
{
    RUN(flags_are_taken_out);
    RUN(numbers_are_taken_out);
    RUN(bad_numbers_are_refused);
    RUN(what_is_left_is_checked);
    RUN(averages);
    return TEST_RESULT();
}
