// utf8.c - UTF-8, a byte at a time; whatever comes, there is an answer.
// SPDX-License-Identifier: MIT
#include "utf8.h"

// RFC 3629, section 3: no longer than needed, no surrogates, no further than
// U+10FFFF.
static u32 utf8_check(const struct utf8 *utf8)
{
    static const u32 least[] = {0, 0, 0x80, 0x800, 0x10000};
    u32 code = utf8->code;
    int bad = code < least[utf8->length] || code > 0x10FFFF ||
              (code >= 0xD800 && code <= 0xDFFF);
    return bad ? UTF8_BAD : code;
}

static u32 utf8_first(struct utf8 *utf8, u8 byte)
{
    if (byte < 0x80) {
        return byte;
    }
    if (byte < 0xC2 || byte > 0xF4) {
        return UTF8_BAD;
    }
    utf8->length = byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    utf8->left = utf8->length - 1;
    utf8->code = byte & (0x7Fu >> utf8->length);
    return UTF8_MORE;
}

u32 utf8_feed(struct utf8 *utf8, u8 byte)
{
    if (utf8->left == 0) {
        return utf8_first(utf8, byte);
    }
    if ((byte & 0xC0) != 0x80) {
        utf8->left = 0;
        return UTF8_CUT;
    }
    utf8->code = utf8->code << 6 | (byte & 0x3F);
    return --utf8->left > 0 ? UTF8_MORE : utf8_check(utf8);
}
