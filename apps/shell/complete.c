// complete.c - what Tab does: commands first, then what their argument is.
// SPDX-License-Identifier: MIT
#include "files.h"
#include "shell.h"

struct names { // one pass over everything that could stand here
    enum offer offer;
    u32 next_command;
    struct file_walk walk;
};

struct matches {
    u64 n;
    u64 common;    // bytes all of them begin with
    char name[64]; // the first of them
};

static int names_next(struct names *names, char *name, u64 cap)
{
    struct file file;
    if (names->offer == OFFER_COMMANDS) {
        const char *text = shell_commands[names->next_command].name;
        if (text) {
            names->next_command++;
            string_copy(name, text, cap);
        }
        return text != 0;
    }
    if (names->offer == OFFER_NOTHING || !files_next(&names->walk, &file)) {
        return 0;
    }
    string_copy(name, file.name, cap);
    return 1;
}

// A name with these in it cannot be typed without quotes.
static int is_plain(const char *name)
{
    for (; *name; name++) {
        if (*name == ' ' || *name == ';' || *name == '"' || *name == '#') {
            return 0;
        }
    }
    return 1;
}

static struct names names_begin(enum offer offer)
{
    return (struct names){
        .offer = offer,
        .walk = {.place = offer == OFFER_MODULES ? IN_RAM : ON_DISK}};
}

static void match_name(struct matches *matches, const char *name)
{
    if (matches->n++ == 0) {
        matches->common = string_copy(matches->name, name, 64);
        return;
    }
    u64 same = 0;
    while (same < matches->common && name[same] == matches->name[same]) {
        same++;
    }
    while ((name[same] & 0xC0) == 0x80 && same > 0) {
        same--; // not in the middle of a character
    }
    matches->common = same;
}

static struct matches match_all(enum offer offer, const char *word, u64 len)
{
    char name[64];
    struct matches matches = {.n = 0};
    struct names names = names_begin(offer);
    while (names_next(&names, name, sizeof(name))) {
        if (strncmp(name, word, len) == 0 && is_plain(name)) {
            match_name(&matches, name);
        }
    }
    return matches;
}

static void list_all(enum offer offer, const char *word, u64 len)
{
    char name[64];
    u32 column = 0;
    struct names names = names_begin(offer);
    print_text("\n");
    while (names_next(&names, name, sizeof(name))) {
        if (strncmp(name, word, len) == 0 && is_plain(name)) {
            print("%-19s%s", name, ++column % 4 ? " " : "\n");
        }
    }
    print_text(column % 4 ? "\n" : "");
}

// Where the word that ends at the cursor begins, and what could stand there.
static u32 find_word(const struct line *line, enum offer *offer)
{
    u32 start = line->cursor, first = 0, words = 0;
    while (start > 0 && line->text[start - 1] != ' ' &&
           line->text[start - 1] != ';') {
        start--;
    }
    for (u32 i = 0; i < start; i++) { // the words of this command before it
        if (line->text[i] == ';') {
            words = 0;
        } else if (line->text[i] != ' ' &&
                   (i == 0 || line->text[i - 1] == ' ' ||
                    line->text[i - 1] == ';')) {
            first = words++ == 0 ? i : first;
        }
    }
    *offer = words == 0 ? OFFER_COMMANDS : OFFER_NOTHING;
    if (words == 1) {
        const char *end = line->text + first;
        while (*end != ' ') {
            end++;
        }
        const struct command *command =
            command_find(line->text + first, (u64)(end - line->text) - first);
        *offer = command ? command->offer : OFFER_NOTHING;
    }
    return start;
}

void complete_line(struct line *line, int again)
{
    enum offer offer;
    u32 start = find_word(line, &offer);
    const char *word = line->text + start;
    u64 len = line->cursor - start;
    struct matches matches = match_all(offer, word, len);
    if (matches.n == 1) {
        line_insert(line, matches.name + len, matches.common - len);
        line_insert(line, " ", 1);
    } else if (matches.n > 1 && matches.common > len) {
        line_insert(line, matches.name + len, matches.common - len);
    } else if (matches.n > 1 && again) {
        list_all(offer, word, len);
        line_redraw(line);
    }
}
