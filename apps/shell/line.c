// line.c - the line editor: bytes in, terminal text out.
// SPDX-License-Identifier: MIT
//
// The terminal's width is unknown and it may be a log file: the cursor moves
// left by backspaces, right by writing what is there, and nothing else is sent
// but the text itself. A character beyond ASCII is several bytes and one
// column.
#include "line.h"
#include "../../lib/string.h"

enum {
    CTRL_A = 1,
    CTRL_C = 3,
    CTRL_D = 4,
    CTRL_E = 5,
    BELL = 7,
    BACKSPACE = 8
};
enum { TAB = 9, LF = 10, CTRL_K = 11, CTRL_L = 12, CR = 13, CTRL_U = 21 };
enum { ESC = 27, DELETE = 127 };

enum line_state { // inside an escape sequence, ECMA-48 5.4
    PLAIN,
    ESCAPE,   // after ESC
    CONTROL,  // after ESC [: the first parameter
    MODIFIER, // after its ';': the key is the same with Shift or Ctrl
    FUNCTION, // after ESC O: one byte
    SWALLOW,  // after ESC [ [: one byte, a function key of some consoles
    STRING,   // after ESC ], P, X, ^, _: anything up to BEL or ESC
};

static void emit_text(const struct line *line, const char *text)
{
    line->emit(text, strlen(text));
}

static void emit_repeated(const struct line *line, char byte, u32 n)
{
    char run[32];
    memset(run, byte, sizeof(run));
    for (; n > sizeof(run); n -= (u32)sizeof(run)) {
        line->emit(run, sizeof(run));
    }
    if (n > 0) {
        line->emit(run, n);
    }
}

static int continues(char byte) // a character, and does not begin one
{
    return ((u8)byte & 0xC0) == 0x80;
}

static u32 columns_between(const struct line *line, u32 from, u32 to)
{
    u32 n = 0;
    for (; from < to; from++) {
        n += !continues(line->text[from]);
    }
    return n;
}

static void line_move(struct line *line, u32 to)
{
    if (to < line->cursor) {
        emit_repeated(line, '\b', columns_between(line, to, line->cursor));
    } else if (to > line->cursor) {
        line->emit(line->text + line->cursor, to - line->cursor);
    }
    line->cursor = to;
}

// The text from the cursor on has changed and is `shorter` columns shorter.
static void line_show_rest(const struct line *line, u32 shorter)
{
    u32 rest = line->len - line->cursor;
    if (rest > 0) {
        line->emit(line->text + line->cursor, rest);
    }
    emit_repeated(line, ' ', shorter);
    emit_repeated(line, '\b',
                  columns_between(line, line->cursor, line->len) + shorter);
}

void line_delete(struct line *line, u32 from, u32 to)
{
    if (from >= to) {
        return;
    }
    line_move(line, from);
    u32 shorter = columns_between(line, from, to);
    memmove(line->text + from, line->text + to, line->len - to);
    line->len -= to - from;
    line_show_rest(line, shorter);
}

void line_insert(struct line *line, const char *text, u64 len)
{
    if (len > LINE_CAP - line->len) {
        line->too_long = 1;
        return;
    }
    char *here = line->text + line->cursor;
    memmove(here + len, here, line->len - line->cursor);
    memcpy(here, text, len);
    line->len += (u32)len;
    line_move(line, line->cursor + (u32)len);
    line_show_rest(line, 0);
}

void line_redraw(const struct line *line)
{
    emit_text(line, line->prompt);
    line->emit(line->text, line->len);
    emit_repeated(line, '\b', columns_between(line, line->cursor, line->len));
}

void line_begin(struct line *line, const char *prompt)
{
    line->prompt = prompt;
    line->len = line->cursor = line->browsing = 0;
    line->too_long = line->after_tab = 0;
    line->state = PLAIN;
    line->utf8.left = line->n_letter = 0;
    emit_text(line, prompt);
}

// Where the character after the cursor, and the one before it, has its far end.
static u32 line_after(const struct line *line)
{
    u32 at = line->cursor + (line->cursor < line->len);
    while (at < line->len && continues(line->text[at])) {
        at++;
    }
    return at;
}

static u32 line_before(const struct line *line)
{
    u32 at = line->cursor - (line->cursor > 0);
    while (at > 0 && continues(line->text[at])) {
        at--;
    }
    return at;
}

static void line_delete_here(struct line *line)
{
    line_delete(line, line->cursor, line_after(line));
}

// The numbered keys: ESC [ n ~.
static void line_numbered_key(struct line *line, u32 number)
{
    if (number == 1 || number == 7) {
        line_move(line, 0);
    } else if (number == 4 || number == 8) {
        line_move(line, line->len);
    } else if (number == 3) {
        line_delete_here(line);
    }
}

// The last byte of ESC [ .. or ESC O ..; what is not ours is swallowed.
static void line_final(struct line *line, u8 byte)
{
    switch (byte) {
    case 'A':
        line_up(line);
        break;
    case 'B':
        line_down(line);
        break;
    case 'C':
        line_move(line, line_after(line));
        break;
    case 'D':
        line_move(line, line_before(line));
        break;
    case 'H':
        line_move(line, 0);
        break;
    case 'F':
        line_move(line, line->len);
        break;
    case '~':
        line_numbered_key(line, line->parameter);
        break;
    default:
        break;
    }
}

static void line_after_escape(struct line *line, u8 byte)
{
    line->parameter = 0;
    if (byte == '[') {
        line->state = CONTROL;
    } else if (byte == 'O') {
        line->state = FUNCTION;
    } else if (byte == ']' || byte == 'P' || byte == 'X' || byte == '^' ||
               byte == '_') {
        line->state = STRING;
    } else {
        line->state = PLAIN;
    }
}

static void line_in_control(struct line *line, u8 byte)
{
    if (byte == ';') {
        line->state = MODIFIER;
    } else if (byte == '[') {
        line->state = SWALLOW;
    } else if (byte >= '@') {
        line->state = PLAIN;
        line_final(line, byte);
    } else if (byte >= '0' && byte <= '9' && line->state == CONTROL) {
        line->parameter = line->parameter % 100 * 10 + (u32)(byte - '0');
    }
}

static void line_in_sequence(struct line *line, u8 byte)
{
    switch (line->state) {
    case ESCAPE:
        line_after_escape(line, byte);
        break;
    case CONTROL:
    case MODIFIER:
        line_in_control(line, byte);
        break;
    case FUNCTION:
        line->state = PLAIN;
        line_final(line, byte);
        break;
    case SWALLOW:
        line->state = PLAIN;
        break;
    default:
        break;
    }
}

// A byte while a sequence is open. Returns 0 when it must be looked at as if
// there were none: a control character ends whatever was open.
static int line_feed_sequence(struct line *line, u8 byte)
{
    if (byte == ESC) {
        line->state = ESCAPE;
        return 1;
    }
    if (byte < ' ') {
        line->state = PLAIN;
        return byte == BELL;
    }
    if (byte < DELETE) {
        line_in_sequence(line, byte);
    }
    return 1;
}

static void line_tab(struct line *line)
{
    if (line->complete) {
        line->complete(line, line->after_tab);
        line->after_tab = 1;
    }
}

static void line_edit(struct line *line, u8 byte)
{
    switch (byte) {
    case CTRL_A:
        line_move(line, 0);
        break;
    case CTRL_E:
        line_move(line, line->len);
        break;
    case CTRL_K:
        line_delete(line, line->cursor, line->len);
        break;
    case CTRL_U:
        line_delete(line, 0, line->cursor);
        break;
    case CTRL_D:
        line_delete_here(line);
        break;
    case CTRL_L:
        emit_text(line, "\033[2J\033[H");
        line_redraw(line);
        break;
    case BACKSPACE:
    case DELETE:
        line_delete(line, line_before(line), line->cursor);
        break;
    default:
        break;
    }
}

static enum line_event line_end(struct line *line)
{
    line->text[line->len] = 0;
    emit_text(line, "\n");
    return line->too_long ? LINE_TOO_LONG : LINE_DONE;
}

static enum line_event line_cancel(struct line *line)
{
    emit_text(line, "^C\n");
    return LINE_CANCELLED;
}

// What did not fit is lost, so only the end of the line or a fresh start count.
static void line_give_up(struct line *line, u8 byte)
{
    if (byte == CTRL_U) {
        line->too_long = 0;
        line_delete(line, 0, line->len);
    }
}

// A byte beyond ASCII is held until its character is whole. What is none, and
// the control codes above 7Fh, are not text.
static void line_letter(struct line *line, u8 byte)
{
    u32 code = utf8_feed(&line->utf8, byte);
    if (code == UTF8_CUT) {
        line->n_letter = 0;
        code = utf8_feed(&line->utf8, byte);
    }
    line->letter[line->n_letter++] = (char)byte;
    if (code == UTF8_MORE) {
        return;
    }
    if (code != UTF8_BAD && code >= 0xA0) {
        line_insert(line, line->letter, line->n_letter);
    }
    line->n_letter = 0;
}

enum line_event line_feed(struct line *line, u8 byte)
{
    if (byte <= DELETE) {
        line->utf8.left = line->n_letter = 0;
    }
    int lf_of_cr = line->after_cr && byte == LF;
    line->after_cr = byte == CR;
    if (lf_of_cr || (line->state != PLAIN && line_feed_sequence(line, byte))) {
        return LINE_MORE;
    }
    if (byte == CR || byte == LF) {
        return line_end(line);
    }
    if (byte == CTRL_C) {
        return line_cancel(line);
    }
    if (byte == ESC) {
        line->state = ESCAPE;
    } else if (line->too_long) {
        line_give_up(line, byte);
    } else if (byte == TAB) {
        line_tab(line);
        return LINE_MORE;
    } else if (byte >= ' ' && byte < DELETE) {
        char text = (char)byte;
        line_insert(line, &text, 1);
    } else if (byte > DELETE) {
        line_letter(line, byte);
    } else {
        line_edit(line, byte);
    }
    line->after_tab = 0;
    return LINE_MORE;
}
