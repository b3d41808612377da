// test_pager.c - long listings page by page, and colours, at a screen only.
// SPDX-License-Identifier: MIT
#include "shell_rig.h"

#define BAR_TEXT " space: more  enter: a line  q: enough "

static u32 count(const char *text, const char *part)
{
    u32 n = 0;
    for (; *text; text++) {
        n += strncmp(text, part, strlen(part)) == 0;
    }
    return n;
}

static const char *typed(const char *text)
{
    (void)session(text);
    return transcript;
}

static void at_screen(u32 columns, u32 rows)
{
    fresh();
    con = (struct con_info){.columns = columns, .rows = rows, .at_keyboard = 1};
}

static void test_pages(void)
{
    at_screen(80, 5);
    const char *got = typed("help\r q");
    CHECK_EQ(count(got, BAR_TEXT), 2);
    CHECK_EQ(count(got, "\n"), 2 + 4 + 4); // Ready, the command, two pages
    CHECK(has(got, "\r\033[K"));
    got = typed("help\r\r\rq");
    CHECK_EQ(count(got, BAR_TEXT), 3);
    CHECK_EQ(count(got, "\n"), 2 + 4 + 1 + 1);
    got = typed("help\r\003ver\rq");
    CHECK_EQ(count(got, BAR_TEXT), 1); // ver has four lines
    CHECK(has(got, "Command line:"));
}

static void test_a_page_that_fits_asks_nothing(void)
{
    at_screen(80, 50);
    CHECK_EQ(count(typed("help\rver\rls\r"), BAR_TEXT), 0);
    at_screen(80, 5);
    CHECK_EQ(count(typed("ver\r"), BAR_TEXT), 0);
}

static void test_wrapped_lines_count(void)
{
    at_screen(20, 6);
    memset(command_line, 'x', 100);
    CHECK_EQ(count(typed("ver\rqq"), BAR_TEXT), 1);
    CHECK(count(transcript, "x") < 100);
}

static void test_each_command_has_its_pages(void)
{
    at_screen(80, 5);
    const char *got = typed("help;ver\rq");
    CHECK(has(got, "Command line:"));
    CHECK_EQ(count(got, BAR_TEXT), 1);
}

static void test_nobody_at_the_screen(void)
{
    fresh();
    con = (struct con_info){.columns = 80, .rows = 5}; // by the serial line
    const char *got = typed("help\rnosuch\r");
    CHECK(count(got, BAR_TEXT) == 0 && count(got, "\033") == 0);
    con = (struct con_info){.at_keyboard = 1}; // no screen
    got = typed("help\rnosuch\r");
    CHECK(count(got, BAR_TEXT) == 0 && count(got, "\033") == 0);
}

static void test_the_serial_line_sees_plain_text(void)
{
    fresh();
    CHECK(same(session("nosuch\r"), P
               "nosuch\nerror: unknown command 'nosuch': help lists them\n" P));
}

static void test_run_option_is_never_paged(void)
{
    at_screen(80, 5);
    string_copy(command_line, "run=help", sizeof(command_line));
    CHECK_EQ(count(typed(""), BAR_TEXT), 0);
}

static void test_colours(void)
{
    at_screen(80, 25);
    const char *got = typed("nosuch\r");
    CHECK(has(got, "\033[92mingot>\033[0m nosuch\n"));
    CHECK(has(got, "\033[91merror: unknown command 'nosuch'"));
}

int main(void)
{
    RUN(test_pages);
    RUN(test_a_page_that_fits_asks_nothing);
    RUN(test_wrapped_lines_count);
    RUN(test_each_command_has_its_pages);
    RUN(test_nobody_at_the_screen);
    RUN(test_the_serial_line_sees_plain_text);
    RUN(test_run_option_is_never_paged);
    RUN(test_colours);
    return TEST_RESULT();
}
