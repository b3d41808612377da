// test_line_utf8.c - apps/shell/line.c with characters beyond ASCII: several
// bytes, one column.
// SPDX-License-Identifier: MIT
#include "test.h"
#include "../../lib/string_copy.c"
#include "../../lib/utf8.c"
#include "../../apps/shell/line.c"
#include "../../apps/shell/line_history.c"

// A terminal of one line, as code points; half a character is a stray one.
static u32 screen[8192];
static int column, columns, strays;
static struct utf8 decoder;

static void show(u32 code)
{
    if (code == '\n') {
        column = columns = 0;
    } else if (code == '\b') {
        strays += --column < 0;
    } else if (code != UTF8_MORE) {
        strays += code < ' ' || (code >= 127 && code < 0xA0) ||
                  code == UTF8_BAD || code == UTF8_CUT;
        screen[column++] = code;
        columns = column > columns ? column : columns;
    }
}

static void terminal_write(const char *text, u64 len)
{
    if (len == 7 && memcmp(text, "\033[2J\033[H", 7) == 0) {
        strays += decoder.left;
        column = columns = 0;
        return;
    }
    for (u64 i = 0; i < len; i++) {
        show(utf8_feed(&decoder, (u8)text[i]));
    }
}

static struct line line;

static void fresh(void)
{
    memset(&line, 0, sizeof(line));
    memset(&decoder, 0, sizeof(decoder));
    line.emit = terminal_write;
    column = columns = strays = 0;
    line_begin(&line, "> ");
}

static enum line_event feed(const char *bytes)
{
    enum line_event event = LINE_MORE;
    for (; *bytes; bytes++) {
        event = line_feed(&line, (u8)*bytes);
    }
    return event;
}

// The terminal shows the prompt, the text, blanks; and the cursor in its place.
static int in_step(void)
{
    struct utf8 utf8 = {0};
    int at = 2, cursor = line.cursor == 0 ? 2 : -1;
    for (u32 i = 0; i < line.len; i++) {
        u32 code = utf8_feed(&utf8, (u8)line.text[i]);
        if (code != UTF8_MORE && screen[at++] != code) {
            return 0;
        }
        cursor = i + 1 == line.cursor && code != UTF8_MORE ? at : cursor;
    }
    for (int i = at; i < columns; i++) {
        strays += screen[i] != ' ';
    }
    return strays == 0 && decoder.left == 0 && column == cursor;
}

static int shows(const char *text, u32 cursor)
{
    return in_step() && line.len == strlen(text) && line.cursor == cursor &&
           memcmp(line.text, text, line.len) == 0;
}

static void test_typing(void)
{
    fresh();
    feed("gr\xC3\xBC\xC3\x9F"
         "e \xE2\x82\xAC \xF0\x9F\x98\x80");
    CHECK(shows("grüße € 😀", 16));
    CHECK_EQ(column, 11);
    CHECK_EQ(feed("\r"), LINE_DONE);
    CHECK(strcmp(line.text, "grüße € 😀") == 0);
}

static void test_cursor_and_delete(void)
{
    fresh();
    feed("aö€z");
    feed("\033[D\033[D");
    CHECK(shows("aö€z", 3));
    feed("ü");
    CHECK(shows("aöü€z", 5));
    feed("\b\b");
    CHECK(shows("a€z", 1));
    feed("\033[3~");
    CHECK(shows("az", 1));
    feed("ß\033[H\033[C\033[C\004");
    CHECK(shows("aß", 3));
    feed("\033[D\013ä\025");
    CHECK(shows("", 0));
    feed("é\b\b\033[C\033[D\004");
    CHECK(shows("", 0));
}

static void test_redraw_and_history(void)
{
    fresh();
    feed("öl\r");
    line_remember(&line);
    line_begin(&line, "> ");
    feed("€€\033[D");
    feed("\014");
    CHECK(shows("€€", 3));
    feed("\033[A");
    CHECK(shows("öl", 3));
    feed("\033[B");
    CHECK(shows("€€", 6));
}

static void test_what_is_no_character(void)
{
    fresh();
    feed("a\xE4"
         "b"); // Latin-1
    CHECK(shows("ab", 2));
    feed("\xC3\xC3\xA4"); // cut by the next one
    CHECK(shows("abä", 4));
    feed("\x84\xBF\xC2\x9B\xFF\xF8"); // no beginning; CSI of eight bits
    CHECK(shows("abä", 4));
    feed("\xE2\x82\b");
    CHECK(shows("ab", 2));
    feed("\xC3\033[D\xA4");
    CHECK(shows("ab", 1));
    feed("\xED\xA0\x80\xC0\x80\xF5\x80\x80\x80"); // surrogate, overlong, too
                                                  // large
    CHECK(shows("ab", 1));
    CHECK_EQ(feed("\xC3\r"), LINE_DONE);
    CHECK(strcmp(line.text, "ab") == 0);
}

static void test_too_long_is_refused_whole(void)
{
    fresh();
    for (int i = 0; i < LINE_CAP / 2 - 1; i++) {
        feed("ä");
    }
    feed("x");
    CHECK_EQ(line.len, LINE_CAP - 1);
    CHECK_EQ(line.too_long, 0);
    feed("ö"); // one byte would fit
    CHECK_EQ(line.len, LINE_CAP - 1);
    CHECK_EQ(feed("\r"), LINE_TOO_LONG);
}

static void test_random_bytes_stay_in_step(void)
{
    const char *keys[] = {"a",      "ä",    "€",      "😀",      "\033[A",
                          "\033[B", "\b",   "\033[C", "\033[D", "\033[H",
                          "\033[F", "\004", "\013",   "\025",   "\014"};
    fresh();
    srand(3);
    for (int i = 0; i < 100000 && strays == 0; i++) {
        char byte[2] = {(char)(128 + rand() % 128), 0};
        int key = rand() % 20;
        if (key == 19) {
            CHECK(feed("\r") != LINE_MORE);
            line_remember(&line);
            line_begin(&line, "> ");
        } else {
            feed(key < 15 ? keys[key] : byte);
        }
        CHECK(in_step());
    }
}

int main(void)
{
    RUN(test_typing);
    RUN(test_cursor_and_delete);
    RUN(test_redraw_and_history);
    RUN(test_what_is_no_character);
    RUN(test_too_long_is_refused_whole);
    RUN(test_random_bytes_stay_in_step);
    return TEST_RESULT();
}
