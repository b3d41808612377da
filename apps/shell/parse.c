// parse.c - a typed line taken apart into commands and words.
// SPDX-License-Identifier: MIT
#include "parse.h"
#include "../../lib/string.h"

static int is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

// Copy one word to `to`, without its quotes. to never overtakes from, since a
// word does not grow. Returns where reading stopped, null in an open quote.
static char *parse_word(char *from, char **to)
{
    int quoted = 0;
    while (*from && (quoted || (!is_blank(*from) && *from != ';'))) {
        if (*from == '"') {
            quoted = !quoted;
        } else {
            *(*to)++ = *from;
        }
        from++;
    }
    return quoted ? 0 : from;
}

static const char *parse_add(struct parsed *parsed, char *word)
{
    if (parsed->n >= PARSE_WORDS - 1) { // the last null has its place
        return "too many words in one line";
    }
    parsed->words[parsed->n++] = word;
    return 0;
}

// A null ends a command; one that has no words needs none.
static const char *parse_end_command(struct parsed *parsed)
{
    if (parsed->n == 0 || !parsed->words[parsed->n - 1]) {
        return 0;
    }
    return parse_add(parsed, 0);
}

const char *parse_line(char *text, struct parsed *parsed)
{
    const char *why = 0;
    char *to = text;
    parsed->n = 0;
    while (*text && *text != '#' && !why) {
        if (is_blank(*text)) {
            text++;
            continue;
        }
        if (*text == ';') {
            text++;
            why = parse_end_command(parsed);
            continue;
        }
        why = parse_add(parsed, to);
        text = parse_word(text, &to);
        if (!text) {
            return "a quote is not closed";
        }
        char stop = *text; // the word's 0 may take its place
        *to++ = 0;
        text += stop != 0;
        if (stop == ';' && !why) {
            why = parse_end_command(parsed);
        }
    }
    if (!why) {
        parsed->words[parsed->n] = 0;
        parsed->n += parsed->n > 0 && parsed->words[parsed->n - 1];
    }
    return why;
}
