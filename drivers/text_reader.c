// text_reader.c - bytes onto a screen of text: UTF-8, control characters, and
// the escape sequences that programs and line editors use.
// SPDX-License-Identifier: MIT
//
// ECMA-48: 5.4 control sequences, 5.6 control strings, 8.3 what they do. One
// that is not known here is swallowed; one that never ends stops being a
// sequence after SEQUENCE_BYTES.
#include "text.h"

enum { SEQUENCE_BYTES = 256, PARAMETER_MOST = 9999, TAB_STOP = 8 };
enum { BACKSPACE = 8, TAB = 9, LF = 10, CR = 13, BELL = 7, ESC = 27 };
enum { DELETE = 0x7F, C1_END = 0xA0 };

enum text_state {
    PLAIN,
    ESCAPE,  // after ESC
    CHARSET, // after ESC and an intermediate byte: one more
    CONTROL, // after ESC [
    STRING,  // after ESC ], P, X, ^, _: up to BEL or ESC
};

static u32 text_here(const struct text *text)
{
    return text->row * text->columns + text->column;
}

// Parameter i; 0 and none at all mean `otherwise`.
static u32 text_parameter(const struct text *text, u32 i, u32 otherwise)
{
    u32 value = i < text->n ? text->parameters[i] : 0;
    return value ? value : otherwise;
}

// ---- colours: SGR, 8.3.117 ----

static void text_colour(struct text *text, u32 colour, int behind)
{
    u32 pen = text->pen;
    pen = behind ? (pen & 0x0F00) | (colour & 7) << 12
                 : (pen & 0x7000) | (colour & 15) << 8;
    text->pen = (u16)pen;
}

// 38 and 48: 5;N of the first sixteen, else the default; 2;R;G;B is passed by.
// Returns how many parameters belong to it.
static u32 text_extended(struct text *text, u32 i)
{
    int behind = text->parameters[i] == 48;
    u32 kind = text_parameter(text, i + 1, 0);
    if (kind != 5) {
        return kind == 2 ? 4 : 1;
    }
    u32 colour = text_parameter(text, i + 2, 0);
    text_colour(text, colour < 16 ? colour : behind ? 0 : 7, behind);
    return 2;
}

static void text_attribute(struct text *text, u32 value)
{
    if (value == 0) {
        text->pen = CELL_BLANK;
        text->bold = text->inverse = 0;
    } else if (value == 1 || value == 22) {
        text->bold = value == 1;
    } else if (value == 7 || value == 27) {
        text->inverse = value == 7;
    } else if (value >= 30 && value <= 37) {
        text_colour(text, value - 30, 0);
    } else if (value >= 40 && value <= 47) {
        text_colour(text, value - 40, 1);
    } else if (value >= 90 && value <= 97) {
        text_colour(text, value - 90 + 8, 0);
    } else if (value >= 100 && value <= 107) {
        text_colour(text, value - 100, 1);
    } else if (value == 39 || value == 49) {
        text_colour(text, value == 39 ? 7 : 0, value == 49);
    }
}

static void text_attributes(struct text *text)
{
    if (text->n == 0) {
        text_attribute(text, 0);
    }
    for (u32 i = 0; i < text->n; i++) {
        u32 value = text->parameters[i];
        if (value == 38 || value == 48) {
            i += text_extended(text, i);
        } else {
            text_attribute(text, value);
        }
    }
}

// ---- erasing: 0 from the cursor on, 1 up to and with it, 2 all ----

static void text_erase_part(struct text *text, u32 start, u32 end)
{
    u32 part = text_parameter(text, 0, 0), here = text_here(text);
    u32 behind = here < end ? here + 1 : end;
    text_erase(text, part == 0 ? here : start, part == 1 ? behind : end);
}

static void text_erase_line(struct text *text)
{
    u32 start = text->row * text->columns;
    text_erase_part(text, start, start + text->columns);
}

static void text_save(struct text *text)
{
    text->saved_row = text->row;
    text->saved_column = text->column;
}

static void text_move(struct text *text, u8 final)
{
    i64 n = text_parameter(text, 0, 1), row = text->row, column = text->column;
    switch (final) {
    case 'A':
        row -= n;
        break;
    case 'B':
        row += n;
        break;
    case 'C':
        column += n;
        break;
    case 'D':
        column -= n;
        break;
    case 'G':
        column = n - 1;
        break;
    case 'd':
        row = n - 1;
        break;
    default: // H, f
        row = n - 1;
        column = (i64)text_parameter(text, 1, 1) - 1;
        break;
    }
    text_go(text, row, column);
}

static void text_control(struct text *text, u8 final)
{
    switch (final) {
    case 'A':
    case 'B':
    case 'C':
    case 'D':
    case 'G':
    case 'H':
    case 'd':
    case 'f':
        text_move(text, final);
        break;
    case 'J':
        text_erase_part(text, 0, text->rows * text->columns);
        break;
    case 'K':
        text_erase_line(text);
        break;
    case 'P':
        text_delete(text, text_parameter(text, 0, 1));
        break;
    case '@':
        text_insert(text, text_parameter(text, 0, 1));
        break;
    case 'm':
        text_attributes(text);
        break;
    case 's':
        text_save(text);
        break;
    case 'u':
        text_go(text, text->saved_row, text->saved_column);
        break;
    default:
        break;
    }
}

// ESC [ ? ..: only 25, the cursor, means something here.
static void text_private(struct text *text, u8 final)
{
    if (text_parameter(text, 0, 0) == 25 && (final == 'h' || final == 'l')) {
        text->hidden = final == 'l';
    }
}

// ---- the sequence, byte by byte ----

static void text_digit(struct text *text, u8 byte)
{
    if (text->n == 0) {
        text->parameters[text->n++] = 0;
    }
    u32 *value = &text->parameters[text->n - 1];
    *value = *value * 10 + (u32)(byte - '0');
    *value = *value > PARAMETER_MOST ? PARAMETER_MOST : *value;
}

// What does not fit is not kept: the last one is overwritten.
static void text_next_parameter(struct text *text)
{
    if (text->n == 0) {
        text->parameters[text->n++] = 0;
    }
    if (text->n < TEXT_PARAMETERS) {
        text->n++;
    }
    text->parameters[text->n - 1] = 0;
}

static void text_in_control(struct text *text, u8 byte)
{
    if (byte >= '0' && byte <= '9') {
        text_digit(text, byte);
    } else if (byte == ';' || byte == ':') {
        text_next_parameter(text);
    } else if (byte >= '<' && byte <= '?') {
        text->private = byte;
    } else if (byte >= '@' && byte < DELETE) {
        text->state = PLAIN;
        if (text->private == 0) {
            text_control(text, byte);
        } else if (text->private == '?') {
            text_private(text, byte);
        }
    } else {
        text->private = '!'; // an intermediate byte: not one of ours
    }
}

static void text_after_escape(struct text *text, u8 byte)
{
    text->n = text->private = 0;
    text->state = PLAIN;
    if (byte == '[') {
        text->state = CONTROL;
    } else if (byte == ']' || byte == 'P' || byte == 'X' || byte == '^' ||
               byte == '_') {
        text->state = STRING;
    } else if (byte >= ' ' && byte <= '/') {
        text->state = CHARSET;
    } else if (byte == '7') {
        text_save(text);
    } else if (byte == '8') {
        text_go(text, text->saved_row, text->saved_column);
    }
}

static void text_in_sequence(struct text *text, u8 byte)
{
    if (text->taken++ >= SEQUENCE_BYTES) {
        text->state = PLAIN;
    }
    switch (text->state) {
    case ESCAPE:
        text_after_escape(text, byte);
        break;
    case CONTROL:
        text_in_control(text, byte);
        break;
    case CHARSET:
        text->state = PLAIN;
        break;
    default:
        break;
    }
}

static void text_backspace(struct text *text)
{
    if (text->column > 0) {
        text->column--;
    } else if (text->row > 0) { // a long line that went on below
        text->column = text->columns - 1;
        text->row--;
    }
}

static void text_control_character(struct text *text, u8 byte)
{
    if (byte == ESC) {
        text->state = ESCAPE;
        text->taken = 0;
        return;
    }
    if (text->state == STRING && byte != BELL) {
        return;
    }
    text->state = PLAIN; // it ends what was open
    if (byte == LF) {
        text->column = 0;
        text_line_feed(text);
    } else if (byte == CR) {
        text->column = 0;
    } else if (byte == BACKSPACE) {
        text_backspace(text);
    } else if (byte == TAB) {
        text_go(text, text->row, (text->column | (TAB_STOP - 1)) + 1);
    }
}

static void text_byte(struct text *text, u8 byte)
{
    u32 code = utf8_feed(&text->utf8, byte);
    if (code == UTF8_CUT) {
        text_put(text, UTF8_BAD);
        code = utf8_feed(&text->utf8, byte);
    }
    if (code < ' ') {
        text_control_character(text, byte);
    } else if (code != UTF8_MORE && (code < DELETE || code >= C1_END)) {
        text_put(text, code);
    }
}

void text_write(struct text *text, const char *bytes, u64 len)
{
    for (u64 i = 0; i < len; i++) {
        u8 byte = (u8)bytes[i];
        if (text->state != PLAIN && byte >= ' ') {
            text_in_sequence(text, byte);
        } else {
            text_byte(text, byte);
        }
    }
}
