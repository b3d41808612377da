// test_line_editor.c - apps/shell/line.c: bytes in, and what a terminal would
// then show, compared with what the editor believes.
// SPDX-License-Identifier: MIT
#include "test.h"
#include "../../lib/string_copy.c"
#include "../../lib/utf8.c"
#include "../../apps/shell/line.c"
#include "../../apps/shell/line_history.c"

// A terminal of one endless line: printable text, backspace, newline, and the
// clear sequence of Ctrl-L. Anything else is a stray character.
static char screen[8192];
static int column, columns, strays;
static char log_text[65536];
static u64 log_len;

static void terminal_write(const char *text, u64 len)
{
    if (log_len + len < sizeof(log_text)) {
        memcpy(log_text + log_len, text, len);
        log_len += len;
        log_text[log_len] = 0;
    }
    if (len == 7 && memcmp(text, "\033[2J\033[H", 7) == 0) {
        column = columns = 0;
        return;
    }
    for (u64 i = 0; i < len; i++) {
        if (text[i] == '\n') {
            column = columns = 0;
        } else if (text[i] == '\b') {
            column--;
            strays += column < 0;
        } else if (text[i] >= ' ' && text[i] < 127) {
            screen[column++] = text[i];
            columns = column > columns ? column : columns;
        } else {
            strays++;
        }
    }
}

static struct line line;

static void fresh(void)
{
    memset(&line, 0, sizeof(line));
    line.emit = terminal_write;
    column = columns = strays = 0;
    log_len = 0;
    line_begin(&line, "ingot> ");
}

static enum line_event feed(const char *bytes)
{
    enum line_event event = LINE_MORE;
    for (; *bytes; bytes++) {
        event = line_feed(&line, (u8)*bytes);
    }
    return event;
}

// What the terminal shows is prompt + text (and erased blanks), the cursor
// where the editor has it.
static int in_step(void)
{
    int text_end = 7 + (int)line.len;
    if (strays || column != 7 + (int)line.cursor || columns < text_end ||
        memcmp(screen, "ingot> ", 7) != 0 ||
        memcmp(screen + 7, line.text, line.len) != 0) {
        return 0;
    }
    for (int i = text_end; i < columns; i++) {
        if (screen[i] != ' ') {
            return 0;
        }
    }
    return 1;
}

static int shows(const char *text, u32 cursor)
{
    return in_step() && line.len == strlen(text) && line.cursor == cursor &&
           memcmp(line.text, text, line.len) == 0;
}

static void test_typing_is_echoed_once(void)
{
    fresh();
    CHECK_EQ(feed("run hello\r"), LINE_DONE);
    CHECK(strcmp(log_text, "ingot> run hello\n") == 0);
    CHECK(strcmp(line.text, "run hello") == 0);
}

static void test_line_ends(void)
{
    fresh();
    CHECK_EQ(feed("a\r"), LINE_DONE);
    line_begin(&line, "ingot> ");
    CHECK_EQ(feed("\n"), LINE_MORE); // the LF of CRLF
    CHECK_EQ(feed("b\n"), LINE_DONE);
    line_begin(&line, "ingot> ");
    CHECK_EQ(feed("\n"), LINE_DONE); // an empty line of its own
    line_begin(&line, "ingot> ");
    CHECK_EQ(feed("\r"), LINE_DONE);
    line_begin(&line, "ingot> ");
    CHECK_EQ(feed("\r"), LINE_DONE);
}

static void test_insert_in_the_middle(void)
{
    fresh();
    feed("run hllo");
    feed("\033[D\033[D\033[D");
    CHECK(shows("run hllo", 5));
    feed("e");
    CHECK(shows("run hello", 6));
    feed("\033[C");
    CHECK(shows("run hello", 7));
    feed("\033[H");
    CHECK(shows("run hello", 0));
    feed("x\033[F!");
    CHECK(shows("xrun hello!", 11));
}

static void test_delete_and_backspace(void)
{
    fresh();
    feed("abcdef\001\033[3~");
    CHECK(shows("bcdef", 0));
    feed("\033[C\033[C\004");
    CHECK(shows("bcef", 2));
    feed("\b");
    CHECK(shows("bef", 1));
    feed("\177\177\177");
    CHECK(shows("ef", 0));
    feed("\005\033[3~\004");
    CHECK(shows("ef", 2));
}

static void test_kill(void)
{
    fresh();
    feed("one two three\001\033[C\033[C\033[C\013");
    CHECK(shows("one", 3));
    feed(" four\033[D\033[D\025");
    CHECK(shows("ur", 0));
    feed("\013");
    CHECK(shows("", 0));
    feed("\013\025");
    CHECK(shows("", 0));
}

static void test_cancel_and_clear(void)
{
    fresh();
    feed("half a li");
    CHECK_EQ(feed("\003"), LINE_CANCELLED);
    line_begin(&line, "ingot> ");
    feed("abc\033[D\014");
    CHECK(shows("abc", 2));
}

static void test_500_backspaces_stop_at_the_prompt(void)
{
    fresh();
    feed("abc");
    for (int i = 0; i < 500; i++) {
        line_feed(&line, i % 2 ? 8 : 127);
    }
    CHECK(shows("", 0));
    for (int i = 0; i < 500; i++) {
        feed("\033[D");
    }
    CHECK(shows("", 0));
    feed("ok");
    CHECK(shows("ok", 2));
}

static void enter(const char *text)
{
    feed(text);
    CHECK_EQ(feed("\r"), LINE_DONE);
    line_remember(&line);
    line_begin(&line, "ingot> ");
}

static void test_history(void)
{
    fresh();
    feed("\033[A\033[B");
    CHECK(shows("", 0));
    enter("first");
    enter("second");
    enter("second"); // kept once
    enter("");       // not kept
    feed("dra\033[A");
    CHECK(shows("second", 6));
    feed("\033[A");
    CHECK(shows("first", 5));
    feed("\033[A");
    CHECK(shows("first", 5));
    feed("\033OB\033OB");
    CHECK(shows("dra", 3));
    feed("\033[B");
    CHECK(shows("dra", 3));
}

static void test_history_keeps_sixteen(void)
{
    fresh();
    char text[16];
    for (int i = 0; i < 20; i++) {
        snprintf(text, sizeof(text), "line%d", i);
        enter(text);
    }
    for (int i = 0; i < 30; i++) {
        feed("\033[A");
    }
    CHECK(shows("line4", 5));
    CHECK_EQ(feed("\r"), LINE_DONE);
    CHECK(strcmp(line.text, "line4") == 0);
}

// Pause, print, function keys, modified arrows, answers of terminals, bytes of
// no character.
static void test_no_stray_characters(void)
{
    const char *swallowed[] = {
        "\033[2~",    "\033[5~",        "\033[6~",        "\033[15~",
        "\033OP",     "\033[[A",        "\033[[E",        "\033[1;5P",
        "\033x",      "\033\033[2~",    "\033[?1;2c",     "\033[12;40R",
        "\033]0;t\a", "\033]0;t\033\\", "\033P1$r\033\\", "\033[Z",
        "\xE9",       "\xF0\x9F\x98",   "\xFF\xFE",       "\033[\x80~",
        "\001",       "\034\035",       "\002\006\016",   "\033[99999999999~",
        "\033Om"};
    fresh();
    feed("ab");
    for (unsigned i = 0; i < sizeof(swallowed) / sizeof(swallowed[0]); i++) {
        feed(swallowed[i]);
        feed("\005"); // to the end
        CHECK(shows("ab", 2));
    }
    line_feed(&line, 0);
    CHECK(shows("ab", 2));
    feed("\033[1;5D");
    CHECK(shows("ab", 1));
    feed("\033[3;5~");
    CHECK(shows("a", 1));
}

static void test_control_ends_a_sequence(void)
{
    fresh();
    feed("ab\033[");
    CHECK_EQ(feed("\r"), LINE_DONE);
    line_begin(&line, "ingot> ");
    feed("ab\033]0;title");
    CHECK_EQ(feed("\003"), LINE_CANCELLED);
    line_begin(&line, "ingot> ");
    feed("\033[3");
    feed("\033[Da"); // a new one begins
    CHECK(shows("a", 1));
}

static void test_too_long_is_refused_whole(void)
{
    fresh();
    for (int i = 0; i < LINE_CAP; i++) {
        feed("x");
    }
    CHECK_EQ(line.len, LINE_CAP);
    CHECK_EQ(feed("\r"), LINE_DONE);
    CHECK_EQ(strlen(line.text), LINE_CAP);
    line_begin(&line, "ingot> ");
    for (int i = 0; i < LINE_CAP + 1; i++) {
        feed("x");
    }
    feed("\b\b\b\b"); // what was lost does not come back
    CHECK_EQ(feed("\r"), LINE_TOO_LONG);
    line_begin(&line, "ingot> ");
    CHECK_EQ(feed("ok\r"), LINE_DONE);
    CHECK(strcmp(line.text, "ok") == 0);
}

static void test_too_long_can_be_dropped(void)
{
    fresh();
    for (int i = 0; i < 2 * LINE_CAP; i++) {
        feed("y");
    }
    feed("\025ok");
    CHECK(shows("ok", 2));
}

// 4 KiB of commands at once, with every kind of line end.
static void test_paste(void)
{
    fresh();
    const char *ends[] = {"\r", "\n", "\r\n"};
    int lines = 0, bytes = 0;
    for (; bytes < 4096; lines++) {
        char text[32];
        bytes += snprintf(text, sizeof(text), "peek %d", lines);
        feed(text);
        CHECK_EQ(line_feed(&line, (u8)ends[lines % 3][0]), LINE_DONE);
        CHECK(strcmp(line.text, text) == 0);
        line_remember(&line);
        line_begin(&line, "ingot> ");
        feed(ends[lines % 3] + 1);
    }
    CHECK(lines > 400);
}

static int completions, again_seen;
static void fake_complete(struct line *edited, int again)
{
    completions++;
    again_seen += again;
    line_insert(edited, "lo ", 3);
}

static void test_tab(void)
{
    fresh();
    feed("\t");
    CHECK(shows("", 0));
    line.complete = fake_complete;
    feed("run hel x\033[D\033[D\t");
    CHECK(shows("run hello  x", 10));
    CHECK_EQ(completions, 1);
    CHECK_EQ(again_seen, 0);
    feed("\t");
    CHECK_EQ(again_seen, 1);
    feed("a\t");
    CHECK_EQ(completions, 3);
    CHECK_EQ(again_seen, 1);
}

static void test_random_bytes_stay_in_step(void)
{
    const char *keys[] = {"a",      "bc",     "\033[A", "\033[B",  "\033[C",
                          "\033[D", "\033[H", "\033[F", "\033[3~", "\b",
                          "\013",   "\025",   "\004",   "\033",    "\033[",
                          "\014",   "\xE4",   ";",      "\t",      "\033O"};
    fresh();
    srand(2);
    for (int i = 0; i < 200000; i++) {
        int key = rand() % 24;
        if (key < 20) {
            feed(keys[key]);
        } else if (key == 20) {
            enum line_event event = feed("\r");
            CHECK(event == LINE_DONE || event == LINE_TOO_LONG);
            line_remember(&line);
            line_begin(&line, "ingot> ");
        } else {
            char byte[2] = {(char)(rand() % 128), 0};
            if (feed(byte) != LINE_MORE) {
                line_begin(&line, "ingot> ");
            }
        }
        log_len = 0;
        if (!in_step()) {
            CHECK(in_step());
            return;
        }
    }
}

int main(void)
{
    RUN(test_typing_is_echoed_once);
    RUN(test_line_ends);
    RUN(test_insert_in_the_middle);
    RUN(test_delete_and_backspace);
    RUN(test_kill);
    RUN(test_cancel_and_clear);
    RUN(test_500_backspaces_stop_at_the_prompt);
    RUN(test_history);
    RUN(test_history_keeps_sixteen);
    RUN(test_no_stray_characters);
    RUN(test_control_ends_a_sequence);
    RUN(test_too_long_is_refused_whole);
    RUN(test_too_long_can_be_dropped);
    RUN(test_paste);
    RUN(test_tab);
    RUN(test_random_bytes_stay_in_step);
    return TEST_RESULT();
}
