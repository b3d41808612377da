// keymap.c - keyboard layouts: which character a key stands for.
// SPDX-License-Identifier: MIT
//
// To add a layout: three strings of 48 characters, in the order of keymap.h,
// and a line in the table. Accents that a typewriter would hold back for the
// next letter are typed at once.
#include "keymap.h"

// clang-format off
static const struct keymap keymaps[] = {
    {"us",
     u"abcdefghijklmnopqrstuvwxyz1234567890-=[]\\;'`,./\\",
     u"ABCDEFGHIJKLMNOPQRSTUVWXYZ!@#$%^&*()_+{}|:\"~<>?|",
     0},
    {"de",
     u"abcdefghijklmnopqrstuvwxzy1234567890ß´ü+#öä^,.-<",
     u"ABCDEFGHIJKLMNOPQRSTUVWXZY!\"§$%&/()=?`Ü*'ÖÄ°;:_>",
     u"    €       µ   @          ²³   {[]}\\  ~       |"},
    {"fr",
     u"qbcdefghijkl,noparstuvzxyw&é\"'(-è_çà)=^$*mù²;:!<",
     u"QBCDEFGHIJKL?NOPARSTUVZXYW1234567890°+¨£µM% ./§>",
     u"    €                      ~#{[|`\\^@]} ¤        "},
};
// clang-format on

// Its place in the strings, or KEYMAP_KEYS.
static u32 keymap_place(u8 key)
{
    if (key >= KEY_A && key <= KEY_0) {
        return key - KEY_A;
    }
    if (key == KEY_HASH) {
        key = KEY_BACKSLASH;
    }
    if (key >= KEY_MINUS && key <= KEY_BACKSLASH) {
        return 36u + key - KEY_MINUS;
    }
    if (key >= KEY_SEMICOLON && key <= KEY_SLASH) {
        return 41u + key - KEY_SEMICOLON;
    }
    return key == KEY_ISO ? 47 : KEYMAP_KEYS;
}

const struct keymap *keymap_find(const char *name)
{
    for (u32 i = 0; i < array_size(keymaps); i++) {
        if (*name == 0 || strcmp(name, keymaps[i].name) == 0) {
            return &keymaps[i];
        }
    }
    return 0;
}

// Latin-1: a small letter and its capital are 32 apart.
static int keymap_is_letter(u16 plain, u16 shift)
{
    int small = (plain >= 'a' && plain <= 'z') || plain >= 0xE0;
    return small && shift + 32 == plain;
}

u32 keymap_character(const struct keymap *map, u8 key, u8 modifiers, int caps)
{
    u32 place = keymap_place(key);
    if (place == KEYMAP_KEYS) {
        return key == KEY_SPACE ? ' ' : 0;
    }
    u16 plain = map->plain[place], shift = map->shift[place];
    int shifted = (modifiers & MOD_SHIFT) != 0;
    if (caps && keymap_is_letter(plain, shift)) {
        shifted = !shifted;
    }
    u16 character = shifted ? shift : plain;
    if (modifiers & MOD_ALTGR) {
        character = map->altgr ? map->altgr[place] : ' ';
    }
    return character == ' ' ? 0 : character;
}
