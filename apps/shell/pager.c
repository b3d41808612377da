// pager.c - a long listing page by page, for a person before the screen.
// SPDX-License-Identifier: MIT
//
// Only for a line that was typed on a keyboard of the machine while a screen is
// a console: whoever types by the serial line has a terminal that scrolls back,
// or is a script. Programs are not paged: their output is their own.
#include "shell.h"

#define BAR "\033[7m space: more  enter: a line  q: enough \033[0m"
#define BAR_GONE "\r\033[K"
enum { PAGER_STOP = 3 };

static struct {
    u32 columns, rows; // of the screen
    u32 column;        // of the line being printed
    u32 left;          // lines until the page is full
    u8 allowed;        // a person typed this line before the screen
    u8 enough;         // the rest is not wanted
    u8 in_escape;      // takes no room on the screen
} pager;

int shell_at_screen(void)
{
    struct con_info info;
    (void)os->con_info(&info);
    return info.rows > 0 && info.at_keyboard;
}

static void pager_ask(void)
{
    u8 key = 0;
    (void)os->con_write(BAR, sizeof(BAR) - 1);
    while (os->con_read(&key, 1, -1) <= 0) {
    }
    (void)os->con_write(BAR_GONE, sizeof(BAR_GONE) - 1);
    pager.enough = key == 'q' || key == 'Q' || key == PAGER_STOP;
    pager.left = key == '\r' || key == '\n' ? 1 : pager.rows - 1;
}

// One byte further. Returns 1 when it ends a line of the screen.
static int pager_advance(char byte)
{
    if (pager.in_escape) { // ends at a letter
        pager.in_escape = (byte | 0x20) < 'a' || (byte | 0x20) > 'z';
        return 0;
    }
    if (byte == '\033') {
        pager.in_escape = 1;
        return 0;
    }
    int full = pager.column == pager.columns && byte != '\n';
    pager.column = byte == '\n' ? 0 : full ? 1 : pager.column + 1;
    return byte == '\n' || full;
}

// Asked before the first byte of the next page, so that a listing which ends
// with its page asks nothing.
static void pager_print(const char *text, u64 len)
{
    u64 start = 0;
    for (u64 i = 0; i < len && !pager.enough; i++) {
        if (pager.left == 0) {
            (void)os->con_write(text + start, i - start);
            start = i;
            pager_ask();
        }
        pager.left -= (u32)pager_advance(text[i]);
    }
    if (!pager.enough && len > start) {
        (void)os->con_write(text + start, len - start);
    }
}

void pager_allow(int on)
{
    pager.allowed = on != 0;
}

void pager_begin(void)
{
    struct con_info info;
    if (!pager.allowed) {
        return;
    }
    (void)os->con_info(&info);
    pager.columns = info.columns;
    pager.rows = info.rows;
    pager.column = pager.enough = pager.in_escape = 0;
    pager.left = info.rows - 1;
    print_to = pager_print;
}

void pager_end(void)
{
    print_to = 0;
}
