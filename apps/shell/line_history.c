// line_history.c - the line editor's memory: what the up arrow brings back.
// SPDX-License-Identifier: MIT
#include "line.h"
#include "../../lib/string.h"

void line_remember(struct line *line)
{
    const char *latest =
        line->history[(line->n_history + LINE_HISTORY - 1) % LINE_HISTORY];
    if (line->len == 0 ||
        (line->n_history > 0 && strcmp(latest, line->text) == 0)) {
        return;
    }
    string_copy(line->history[line->n_history % LINE_HISTORY], line->text,
                LINE_CAP + 1);
    line->n_history++;
}

// Show the n-th latest line, or the line itself for 0.
static void line_browse(struct line *line, u32 n)
{
    u32 kept = line->n_history < LINE_HISTORY ? line->n_history : LINE_HISTORY;
    if (n > kept) {
        return;
    }
    if (line->browsing == 0) {
        line->text[line->len] = 0;
        string_copy(line->draft, line->text, sizeof(line->draft));
    }
    const char *text =
        n ? line->history[(line->n_history - n) % LINE_HISTORY] : line->draft;
    line->browsing = n;
    line_delete(line, 0, line->len);
    line_insert(line, text, strlen(text));
}

void line_up(struct line *line)
{
    line_browse(line, line->browsing + 1);
}

void line_down(struct line *line)
{
    if (line->browsing > 0) {
        line_browse(line, line->browsing - 1);
    }
}
