// line.h - the line editor: bytes in, terminal text out. It knows nothing of
// consoles, so a test can drive it.
// SPDX-License-Identifier: MIT
#pragma once
#include "../../lib/utf8.h"

enum { LINE_CAP = 1024, LINE_HISTORY = 16 };

enum line_event {
    LINE_MORE,      // nothing to do yet
    LINE_DONE,      // line->text is a whole line
    LINE_TOO_LONG,  // a line ended that did not fit: there is no text
    LINE_CANCELLED, // Ctrl-C: begin again
};

struct line {
    void (*emit)(const char *text, u64 len);
    // Tab was typed, again: twice in a row. May be null.
    void (*complete)(struct line *line, int again);
    const char *prompt;
    u32 len, cursor;
    u32 parameter;       // of an escape sequence that is being typed
    u8 state, after_tab; // enum line_state; the last byte was Tab
    u8 after_cr;         // the last byte was CR: an LF belongs to it
    u8 too_long;         // something did not fit: the line is refused
    u8 n_letter;
    char letter[4]; // of a character beyond ASCII that is being typed
    struct utf8 utf8;
    u32 n_history; // lines ever remembered
    u32 browsing;  // 0: the line itself, n: the n-th latest
    char text[LINE_CAP + 1];
    char draft[LINE_CAP + 1]; // the line itself while browsing
    char history[LINE_HISTORY][LINE_CAP + 1];
};

// Show the prompt and start an empty line. prompt must outlive the line.
void line_begin(struct line *line, const char *prompt);
enum line_event line_feed(struct line *line, u8 byte);
// Keep the text for the up arrow; an empty line or a repetition is not kept.
void line_remember(struct line *line);

// For completion: insert at the cursor; show prompt and text once more.
void line_insert(struct line *line, const char *text, u64 len);
void line_redraw(const struct line *line);

// For line_history.c: delete bytes that are whole characters; the arrows.
void line_delete(struct line *line, u32 from, u32 to);
void line_up(struct line *line);
void line_down(struct line *line);
