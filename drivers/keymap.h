// keymap.h - keyboard layouts: which character a key stands for.
// SPDX-License-Identifier: MIT
#pragma once
#include "../kernel/driver.h"

// A key is its usage on the HID keyboard page (HID Usage Tables 1.12, 10),
// whatever keyboard it comes from; letters are named after the US layout.
enum key {
    KEY_NONE = 0,
    KEY_ERROR = 1, // more keys are down than the keyboard can tell apart
    KEY_A = 0x04,
    KEY_1 = 0x1E,
    KEY_0 = 0x27,
    KEY_ENTER = 0x28,
    KEY_ESCAPE,
    KEY_BACKSPACE,
    KEY_TAB,
    KEY_SPACE,
    KEY_MINUS,
    KEY_BACKSLASH = 0x31,
    KEY_HASH = 0x32, // the same key on ISO keyboards
    KEY_SEMICOLON = 0x33,
    KEY_SLASH = 0x38,
    KEY_CAPS_LOCK = 0x39,
    KEY_F1 = 0x3A,
    KEY_F12 = 0x45,
    KEY_PRINT,
    KEY_SCROLL_LOCK,
    KEY_PAUSE,
    KEY_INSERT,
    KEY_HOME,
    KEY_PAGE_UP,
    KEY_DELETE,
    KEY_END,
    KEY_PAGE_DOWN,
    KEY_RIGHT,
    KEY_LEFT,
    KEY_DOWN,
    KEY_UP,
    KEY_NUM_LOCK,
    KEY_PAD_SLASH,
    KEY_PAD_STAR,
    KEY_PAD_MINUS,
    KEY_PAD_PLUS,
    KEY_PAD_ENTER,
    KEY_PAD_1,
    KEY_PAD_9 = 0x61,
    KEY_PAD_0,
    KEY_PAD_POINT,
    KEY_ISO = 0x64, // between left Shift and Z
    KEY_MENU = 0x65,
    KEY_PAD_EQUAL = 0x67,
    KEY_CTRL = 0xE0, // the modifiers, in the order of their bits below
    KEY_SHIFT,
    KEY_ALT,
    KEY_GUI,
    KEY_RIGHT_CTRL,
    KEY_RIGHT_SHIFT,
    KEY_ALTGR,
    KEY_RIGHT_GUI,
};

enum { // HID 1.11, B.1: byte 0 of a boot keyboard's report
    MOD_CTRL = 0x11,
    MOD_SHIFT = 0x22,
    MOD_ALT = 0x04,
    MOD_ALTGR = 0x40,
    MOD_GUI = 0x88,
};

enum { KEYMAP_KEYS = 48 };

struct keymap {
    const char *name; // what keyboard= calls it
    // Characters of KEY_A to KEY_0, KEY_MINUS to KEY_BACKSLASH, KEY_SEMICOLON
    // to KEY_SLASH, KEY_ISO. A blank: no character. altgr may be null.
    const u16 *plain, *shift, *altgr;
};

// The layout of that name, null when there is none; the first for "".
const struct keymap *keymap_find(const char *name);
// The character of a key, 0: none.
u32 keymap_character(const struct keymap *map, u8 key, u8 modifiers, int caps);
