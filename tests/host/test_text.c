// test_text.c - a screen of text: letters, sequences, scrolling.
// SPDX-License-Identifier: MIT
#include "test.h"
#include "../../lib/font.c"
#include "../../lib/font_find.c"
#include "../../lib/utf8.c"
#include "../../drivers/text.c"
#include "../../drivers/text_reader.c"

enum { COLUMNS = 10, ROWS = 4 };

static struct text text;
static char row_text[COLUMNS * 4 + 1];

// Exactly as large as told: ASan watches the ends.
static u16 *cells;

static void fresh(void)
{
    free(cells);
    cells = malloc(COLUMNS * ROWS * sizeof(u16));
    text_begin(&text, cells, COLUMNS, ROWS);
}

static void feed(const char *bytes)
{
    text_write(&text, bytes, strlen(bytes));
}

static int shows(u32 row, const char *want)
{
    u32 n = 0;
    for (u32 i = 0; i < COLUMNS; i++) {
        u8 glyph = cells[row * COLUMNS + i] & CELL_GLYPH;
        row_text[n++] = glyph < FONT_LATIN      ? (char)(glyph + ' ')
                        : glyph == FONT_UNKNOWN ? '?'
                                                : '^';
    }
    while (n > 0 && row_text[n - 1] == ' ') {
        n--;
    }
    row_text[n] = 0;
    if (strcmp(row_text, want) != 0) {
        printf("  row %u: '%s', want '%s'\n", row, row_text, want);
    }
    return strcmp(row_text, want) == 0;
}

static void test_letters_and_lines(void)
{
    fresh();
    feed("one\ntwo\r3");
    CHECK(shows(0, "one") && shows(1, "3wo"));
    CHECK(text.row == 1 && text.column == 1);
    feed("\tx");
    CHECK(shows(1, "3wo     x"));
}

static void test_a_full_line_wraps_when_it_must(void)
{
    fresh();
    feed("0123456789");
    CHECK(text.row == 0 && text.column == COLUMNS);
    feed("\nabc");
    CHECK(shows(0, "0123456789") && shows(1, "abc"));
    fresh();
    feed("0123456789A\b\b9");
    CHECK(shows(0, "0123456789") && shows(1, "A"));
    CHECK(text.row == 0 && text.column == COLUMNS);
    feed("\b\b\b");
    CHECK_EQ(text.column, 7);
}

static void test_it_scrolls(void)
{
    fresh();
    feed("a\nb\nc\nd\ne");
    CHECK(shows(0, "b") && shows(3, "e"));
    feed("\n\n\n\n\n\n");
    CHECK(shows(0, "") && shows(3, ""));
    CHECK_EQ(text.row, ROWS - 1);
}

static void test_backspaces_stop_at_the_top(void)
{
    fresh();
    for (int i = 0; i < 500; i++) {
        feed("\b");
    }
    CHECK(text.row == 0 && text.column == 0);
}

static void test_moves_are_clipped(void)
{
    fresh();
    feed("\033[99;99Hx");
    CHECK(text.row == ROWS - 1 && text.column == COLUMNS);
    feed("\033[999A\033[999Dy");
    CHECK(shows(0, "y"));
    feed("\033[2Bz\033[C!\033[3G#\033[1d@");
    CHECK(shows(2, " z#!") && shows(0, "y  @"));
    fresh();
    feed("\033[2;3Hq\033[H<\033[;4Hp\033[3d\033[5G5\033[9999999999B.");
    CHECK(shows(0, "<  p") && shows(1, "  q") && shows(2, "    5"));
    CHECK_EQ(text.row, ROWS - 1);
}

static void test_erasing(void)
{
    fresh();
    feed("aaaaaaaaa\nbbbbbbbbb\nccccccccc\033[2;4H\033[K");
    CHECK(shows(0, "aaaaaaaaa") && shows(1, "bbb") && shows(2, "ccccccccc"));
    feed("\033[1;3H\033[1K");
    CHECK(shows(0, "   aaaaaa"));
    feed("\033[2K");
    CHECK(shows(0, ""));
    feed("\033[2;2H\033[J");
    CHECK(shows(1, "b") && shows(2, ""));
    feed("xyz\033[2J\033[Hnew");
    CHECK(shows(0, "new") && shows(1, ""));
    fresh();
    feed("0123456789\033[1J"); // the cursor waits behind the last column
    CHECK(shows(0, ""));
}

static void test_inserting_and_deleting(void)
{
    fresh();
    feed("abcdefghij\033[3G\033[2P");
    CHECK(shows(0, "abefghij"));
    feed("\033[3@");
    CHECK(shows(0, "ab   efghi"));
    feed("\033[999P");
    CHECK(shows(0, "ab"));
    feed("\033[999@");
    CHECK(shows(0, "ab"));
    feed("0123456789\033[P\033[@");
}

static u16 pen_after(const char *bytes)
{
    fresh();
    feed(bytes);
    return text_pen(&text);
}

static void test_colours(void)
{
    CHECK_EQ(pen_after(""), 0x0700);
    CHECK_EQ(pen_after("\033[31m"), 0x0100);
    CHECK_EQ(pen_after("\033[1;31;44m"), 0x4900);
    CHECK_EQ(pen_after("\033[91m"), 0x0900);
    CHECK_EQ(pen_after("\033[7m"), 0x7000);
    CHECK_EQ(pen_after("\033[7m\033[0m"), 0x0700);
    CHECK_EQ(pen_after("\033[32;42m\033[m"), 0x0700);
    CHECK_EQ(pen_after("\033[32;42;39;49m"), 0x0700);
    CHECK_EQ(pen_after("\033[38;5;2m"), 0x0200);
    CHECK_EQ(pen_after("\033[38;5;200m"), 0x0700);
    CHECK_EQ(pen_after("\033[38;2;1;2;3;33m"), 0x0300);
    CHECK_EQ(pen_after("\033[48;5;4;1m"), 0x4F00);
    CHECK_EQ(pen_after("\033[38m"), 0x0700);
    CHECK_EQ(pen_after("\033[1;1;1;1;1;1;1;1;1;38m"), 0x0F00);
    CHECK_EQ(pen_after("\033[107m"), 0x7700);
    fresh();
    feed("\033[41m ");
    CHECK_EQ(cells[0], 0x1700);
}

static void test_unknown_sequences_are_swallowed(void)
{
    fresh();
    feed("a\033[>0;1c\033[?2004h\033[12;34;56;78;90;1;2;3;4;5;6z\033[ q"
         "\033(B\033]0;title\007\033Pq\033\\\033c\033[[A\033[=1hb");
    CHECK(shows(0, "aAb"));
    fresh();
    feed("\033[?25l");
    CHECK_EQ(text.hidden, 1);
    feed("\033[?25h\0337\033[3;3H\0338x\033[s\033[4;4H\033[uy");
    CHECK(text.hidden == 0 && shows(0, "xy"));
}

static void test_a_sequence_without_an_end_ends(void)
{
    fresh();
    feed("\033]");
    for (int i = 0; i < 300; i++) {
        feed("s");
    }
    CHECK(text.column > 0 || text.row > 0);
    fresh();
    feed("\033[1\nx"); // a control character ends it
    CHECK(shows(1, "x"));
}

static void test_utf8(void)
{
    fresh();
    feed("\xC3\xA4\xE2\x94\x80\xE2\x82\xAC");
    CHECK_EQ(cells[0] & CELL_GLYPH, font_find(0xE4));
    CHECK_EQ(cells[1] & CELL_GLYPH, font_find(0x2500));
    CHECK_EQ(cells[2] & CELL_GLYPH, font_find(0x20AC));
    CHECK_EQ(text.column, 3);
    fresh();
    feed("\xFF\xC0\xAFz"); // none begins anything
    CHECK(shows(0, "???z"));
    fresh();
    feed("\xE2\x94z\xF0\x9F\x98\x80\xED\xA0\x80\xF4\x90\x80\x80\xE0\x80\xAF");
    CHECK(shows(0, "?z????"));
    fresh();
    feed("\xE2\x94\n\xC3\033[31mx"); // cut by a control character
    CHECK(shows(0, "?") && shows(1, "?x"));
}

static void test_every_box_has_a_glyph(void)
{
    for (u32 code = 0x2500; code < 0x2580; code++) {
        CHECK(font_find(code) < FONT_UNKNOWN);
    }
    CHECK_EQ(font_find(0x2580), FONT_EXTRA + 37);
    CHECK_EQ(font_find(0x1F600), FONT_UNKNOWN);
    CHECK_EQ(font_find(0x7F), FONT_UNKNOWN);
    CHECK_EQ(font_find(0x9F), FONT_UNKNOWN);
    CHECK_EQ(font_find(0), FONT_UNKNOWN);
}

static void test_resize_keeps_the_text(void)
{
    fresh();
    feed("one\ntwo");
    u16 *more = malloc(20 * 6 * sizeof(u16));
    text_resize(&text, more, 20, 6);
    feed("!");
    CHECK_EQ(more[20 + 3] & CELL_GLYPH, font_find('!'));
    CHECK_EQ(more[20] & CELL_GLYPH, font_find('t'));
    CHECK_EQ(more[5 * 20 + 19], CELL_BLANK);
    free(more);
}

int main(void)
{
    RUN(test_letters_and_lines);
    RUN(test_a_full_line_wraps_when_it_must);
    RUN(test_it_scrolls);
    RUN(test_backspaces_stop_at_the_top);
    RUN(test_moves_are_clipped);
    RUN(test_erasing);
    RUN(test_inserting_and_deleting);
    RUN(test_colours);
    RUN(test_unknown_sequences_are_swallowed);
    RUN(test_a_sequence_without_an_end_ends);
    RUN(test_utf8);
    RUN(test_every_box_has_a_glyph);
    RUN(test_resize_keeps_the_text);
    free(cells);
    return TEST_RESULT();
}
