// fuzz_screen.c - any bytes as console text: they stay on the screen.
// SPDX-License-Identifier: MIT
//
// Input: columns, rows, then the text, in pieces of the length that its first
// byte says.
#include <stdlib.h>
#include <string.h>
#include "../../lib/font.c"
#include "../../lib/font_find.c"
#include "../../lib/utf8.c"
#include "../../drivers/text.c"
#include "../../drivers/text_reader.c"

static void check(const struct text *text)
{
    if (text->row >= text->rows || text->column > text->columns ||
        (text->first <= text->last && text->last >= text->rows)) {
        abort();
    }
    for (u32 i = 0; i < text->rows * text->columns; i++) {
        if ((text->cells[i] & CELL_GLYPH) >= FONT_GLYPHS ||
            text->cells[i] & CELL_CURSOR) {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const u8 *data, unsigned long len)
{
    if (len < 3) {
        return 0;
    }
    u32 columns = data[0] % 40 + 1, rows = data[1] % 12 + 1;
    u16 *cells = malloc((u64)columns * rows * sizeof(u16));
    struct text text;
    text_begin(&text, cells, columns, rows);
    for (unsigned long at = 2; at < len;) {
        unsigned long n = data[at] % 32 + 1ul;
        n = n < len - at ? n : len - at;
        text_write(&text, (const char *)data + at, n);
        check(&text);
        text_clean(&text);
        at += n;
    }
    free(cells);
    return 0;
}
