// test_shell_parse.c - apps/shell/parse.c: lines into commands and words; and
// apps/lib/args.c: words into numbers.
// SPDX-License-Identifier: MIT
#include "test.h"
#include "../../lib/format.c"
#include "../../lib/string_copy.c"
#include "../../apps/shell/parse.c"

static struct ingot table;
#define os (&table)
#include "../../apps/lib/print.c"
#include "../../apps/lib/args.c"

static char written[4096];
static u64 written_len;

static i64 fake_write(const void *text, u64 len)
{
    memcpy(written + written_len, text, len);
    written_len += len;
    written[written_len] = 0;
    return (i64)len;
}

// The words joined by '|', commands by " / ": what a person can compare.
static const char *parsed_text(const char *line)
{
    static char text[4096], result[4096];
    static struct parsed parsed;
    string_copy(text, line, sizeof(text));
    const char *why = parse_line(text, &parsed);
    if (why) {
        return why;
    }
    u64 len = 0;
    result[0] = 0;
    for (u32 i = 0; i < parsed.n; i++) {
        const char *next = i + 1 < parsed.n ? parsed.words[i + 1] : 0;
        len += parsed.words[i]
                   ? format(result + len, sizeof(result) - len, "%s%s",
                            parsed.words[i], next ? "|" : "")
                   : format(result + len, sizeof(result) - len, "%s",
                            i + 1 < parsed.n ? " / " : "");
    }
    CHECK(parsed.n == 0 || !parsed.words[parsed.n - 1]);
    return result;
}

#define PARSES(line, want)                                                     \
    do {                                                                       \
        const char *got = parsed_text(line);                                   \
        CHECK(strcmp(got, want) == 0);                                         \
        if (strcmp(got, want) != 0) {                                          \
            printf("  got: %s\n", got);                                        \
        }                                                                      \
    } while (0)

static void test_words(void)
{
    PARSES("", "");
    PARSES("   \t ", "");
    PARSES("ls", "ls");
    PARSES("  run   netpoll\t0  1000000  ", "run|netpoll|0|1000000");
    PARSES("a\r", "a");
}

static void test_commands(void)
{
    PARSES("ls;mem", "ls / mem");
    PARSES("ls ; mem a b;ver", "ls / mem|a|b / ver");
    PARSES(";;; ls ;; ; mem ;", "ls / mem");
    PARSES(";", "");
}

static void test_quotes(void)
{
    PARSES("run \"my app\" \"a;b\"", "run|my app|a;b");
    PARSES("a\"b c\"d e", "ab cd|e");
    PARSES("x \"\" y", "x||y");
    PARSES("x \"#1\";y", "x|#1 / y");
    PARSES("x \"abc", "a quote is not closed");
    PARSES("ls; x \"", "a quote is not closed");
}

static void test_comments(void)
{
    PARSES("# all of it; ls", "");
    PARSES("ls # the rest; mem", "ls");
    PARSES("ls;# the rest", "ls");
    PARSES("a#b c", "a#b|c");
}

static void test_too_many_words(void)
{
    char line[1025];
    u64 len = 0;
    for (u32 i = 0; i < PARSE_WORDS - 1; i++) {
        len += format(line + len, sizeof(line) - len, "a ");
    }
    CHECK(strcmp(parsed_text(line), "too many words in one line") != 0);
    format(line + len, sizeof(line) - len, "a ");
    PARSES(line, "too many words in one line");
    for (u32 i = 0; i < 512; i++) {
        format(line + 2 * i, 3, "a;");
    }
    PARSES(line, "too many words in one line");
}

// Random lines: no read or write outside (ASan), and an end.
static void test_random_lines(void)
{
    const char alphabet[] = "ab \t;;\"#\r1";
    srand(1);
    for (int round = 0; round < 200000; round++) {
        int len = rand() % 40;
        char *line = malloc((size_t)len + 1);
        static struct parsed parsed;
        for (int i = 0; i < len; i++) {
            line[i] = alphabet[rand() % (int)(sizeof(alphabet) - 1)];
        }
        line[len] = 0;
        if (!parse_line(line, &parsed)) {
            for (u32 i = 0; i < parsed.n; i++) {
                char *word = parsed.words[i];
                CHECK(!word || (word >= line && word <= line + len));
            }
        }
        free(line);
    }
}

static void check_number(const char *text, u64 want)
{
    u64 value = 77;
    const char *why = args_parse(text, &value);
    CHECK(!why);
    CHECK(value == want);
}

static void check_no_number(const char *text)
{
    u64 value = 77;
    CHECK(args_parse(text, &value));
    CHECK(value == 77);
}

static void test_numbers(void)
{
    check_number("0", 0);
    check_number("007", 7);
    check_number("1000000", 1000000);
    check_number("18446744073709551615", ~0ul);
    check_number("0xFFFFFFFFFFFFFFFF", ~0ul);
    check_number("0XabCD", 0xABCD);
    check_number("0x00000000000000000001", 1);
    const char *bad[] = {"",
                         "0x",
                         "x",
                         "12x",
                         "1 ",
                         " 1",
                         "-1",
                         "-",
                         "+1",
                         "0x12g",
                         "18446744073709551616",
                         "1e3",
                         "FF",
                         "1.5",
                         "0x10000000000000000",
                         "99999999999999999999999",
                         "0x123456789ABCDEF01"};
    for (u32 i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        check_no_number(bad[i]);
    }
}

static void test_argument_line(void)
{
    char name[] = "netpoll", five[] = "5", junk[] = "5x";
    char *argv[] = {name, five, junk, 0};
    u64 value = 9;
    table.con_write = fake_write;
    CHECK_EQ(args_number(3, argv, 1, (struct range){0, 10}, &value), 0);
    CHECK_EQ(value, 5);
    CHECK_EQ(args_number(3, argv, 3, (struct range){0, 10}, &value), 0);
    CHECK_EQ(value, 5);
    CHECK_EQ(written_len, 0);
    CHECK_EQ(args_number(3, argv, 1, (struct range){6, 10}, &value), E_ARG);
    CHECK(strcmp(written, "error: netpoll: '5' is not between 6 and 10\n") ==
          0);
    written_len = 0;
    CHECK_EQ(args_number(3, argv, 2, (struct range){0, 10}, &value), E_ARG);
    CHECK(strncmp(written, "error: netpoll: '5x' is not a number", 36) == 0);
    CHECK_EQ(value, 5);
}

static void test_hundredths(void)
{
    CHECK_EQ(hundredths(1, 3), 33);
    CHECK_EQ(hundredths(2, 3), 67);
    CHECK_EQ(hundredths(13200000, 1000000), 1320);
    CHECK_EQ(hundredths(5, 0), 0);
    CHECK_EQ(hundredths(~0ul / 100, 1), ~0ul / 100 * 100);
    CHECK_EQ(hundredths(~0ul, ~0ul), 100);
    CHECK_EQ(hundredths(~0ul - 1, ~0ul), 100);
    CHECK_EQ(hundredths(1ul << 62, 1ul << 63), 50);
}

static i64 long_write(const void *text, u64 len)
{
    CHECK_EQ(len, 2002);
    return fake_write(text, len);
}
static int fake_alloc(u64 bytes, u32 flags, void **memory)
{
    CHECK_EQ(flags, 0);
    *memory = malloc(bytes);
    return 0;
}
static int fake_free(void *memory, u64 bytes)
{
    CHECK_EQ(bytes, 2003);
    free(memory);
    return 0;
}

static void test_long_print_is_one_write(void)
{
    table.con_write = long_write;
    table.mem_alloc = fake_alloc;
    table.mem_free = fake_free;
    written_len = 0;
    print("%-2000s%c\n", "start", 'e');
    CHECK_EQ(written_len, 2002);
    CHECK_EQ(written[2000], 'e');
}

int main(void)
{
    RUN(test_words);
    RUN(test_commands);
    RUN(test_quotes);
    RUN(test_comments);
    RUN(test_too_many_words);
    RUN(test_random_lines);
    RUN(test_numbers);
    RUN(test_argument_line);
    RUN(test_hundredths);
    RUN(test_long_print_is_one_write);
    return TEST_RESULT();
}
