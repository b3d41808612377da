// parse.h - a typed line taken apart into commands and words.
// SPDX-License-Identifier: MIT
#pragma once
#include "../../include/ingot.h"

enum { PARSE_WORDS = 256 };

struct parsed {
    u32 n;                    // entries used in words
    char *words[PARSE_WORDS]; // a null pointer ends each command
};

// Take text apart, in place: words are separated by blanks, commands by ';',
// "quotes" keep both, and a word that starts with # begins a comment. Returns
// null, or what is wrong with the line; nothing of it should run then.
const char *parse_line(char *text, struct parsed *parsed);
