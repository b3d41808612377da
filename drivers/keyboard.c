// keyboard.c - keys of any keyboard become typed bytes.
// SPDX-License-Identifier: MIT
//
// What a key sends is what a terminal would send (ECMA-48, xterm), so whoever
// reads typed bytes need not know where they come from. Keys that stand for
// nothing send nothing.
#include "keyboard.h"
#include "../kernel/input.h"
#include "../kernel/option.h"
#include "../kernel/power.h"

#define LOG_TAG "keyboard"

static struct {
    const struct keymap *map;
    u8 leds;
    void (*changed[2])(void);
} keyboards;

// clang-format off
static const struct {
    u8 key;
    char text[6];
} sequences[] = {
    {KEY_ENTER, "\r"}, {KEY_ESCAPE, "\033"}, {KEY_BACKSPACE, "\177"},
    {KEY_TAB, "\t"}, {KEY_PAD_ENTER, "\r"}, {KEY_PAD_SLASH, "/"},
    {KEY_PAD_STAR, "*"}, {KEY_PAD_MINUS, "-"}, {KEY_PAD_PLUS, "+"},
    {KEY_PAD_EQUAL, "="}, {KEY_UP, "\033[A"}, {KEY_DOWN, "\033[B"},
    {KEY_RIGHT, "\033[C"}, {KEY_LEFT, "\033[D"}, {KEY_HOME, "\033[H"},
    {KEY_END, "\033[F"}, {KEY_INSERT, "\033[2~"}, {KEY_DELETE, "\033[3~"},
    {KEY_PAGE_UP, "\033[5~"}, {KEY_PAGE_DOWN, "\033[6~"},
    {KEY_F1, "\033OP"}, {KEY_F1 + 1, "\033OQ"}, {KEY_F1 + 2, "\033OR"},
    {KEY_F1 + 3, "\033OS"}, {KEY_F1 + 4, "\033[15~"},
    {KEY_F1 + 5, "\033[17~"}, {KEY_F1 + 6, "\033[18~"},
    {KEY_F1 + 7, "\033[19~"}, {KEY_F1 + 8, "\033[20~"},
    {KEY_F1 + 9, "\033[21~"}, {KEY_F1 + 10, "\033[23~"},
    {KEY_F12, "\033[24~"},
};
// clang-format on

// KEY_PAD_1 to KEY_PAD_POINT: what they print, and which key they are without
// Num Lock.
static const char pad_text[] = "1234567890.";
static const u8 pad_keys[] = {
    KEY_END,  KEY_DOWN, KEY_PAGE_DOWN, KEY_LEFT,   KEY_NONE,   KEY_RIGHT,
    KEY_HOME, KEY_UP,   KEY_PAGE_UP,   KEY_INSERT, KEY_DELETE,
};

void keyboard_init(void)
{
    char name[16];
    if (keyboards.map != 0) {
        return;
    }
    option_read("keyboard=", name, sizeof(name));
    keyboards.map = keymap_find(name);
    if (keyboards.map == 0) {
        log_warn("keyboard=%s: there are us, de, fr", name);
        keyboards.map = keymap_find("");
    }
    keyboards.leds = LED_NUM;
}

u8 keyboard_leds(void)
{
    return keyboards.leds;
}

void keyboard_add_leds(void (*fn)(void))
{
    for (u32 i = 0; i < array_size(keyboards.changed); i++) {
        if (keyboards.changed[i] == 0 || keyboards.changed[i] == fn) {
            keyboards.changed[i] = fn;
            return;
        }
    }
}

static void keyboard_toggle(u8 led)
{
    keyboards.leds ^= led;
    for (u32 i = 0; i < array_size(keyboards.changed); i++) {
        if (keyboards.changed[i] != 0) {
            keyboards.changed[i]();
        }
    }
}

// All of a text or nothing: half a sequence would be another key.
static void keyboard_send(const char *text, u32 len)
{
    if (input_room() < len) {
        return;
    }
    for (u32 i = 0; i < len; i++) {
        input_push((u8)text[i]);
    }
}

// RFC 3629; layouts stay below 0x10000.
static void keyboard_send_character(u32 c)
{
    char text[3] = {(char)c};
    u32 len = 1;
    if (c >= 0x800) {
        text[0] = (char)(0xE0 | c >> 12);
        text[1] = (char)(0x80 | (c >> 6 & 0x3F));
        text[2] = (char)(0x80 | (c & 0x3F));
        len = 3;
    } else if (c >= 0x80) {
        text[0] = (char)(0xC0 | c >> 6);
        text[1] = (char)(0x80 | (c & 0x3F));
        len = 2;
    }
    keyboard_send(text, len);
}

// Ctrl with a letter or with one of [ \ ] ^ _ is a control character.
static void keyboard_type(u32 c, u8 modifiers)
{
    if (c == 0 || modifiers & (MOD_ALT | MOD_GUI)) {
        return;
    }
    if ((modifiers & MOD_CTRL) == 0) {
        keyboard_send_character(c);
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= '_')) {
        keyboard_send_character(c & 0x1F);
    }
}

static int keyboard_send_sequence(u8 key)
{
    for (u32 i = 0; i < array_size(sequences); i++) {
        if (sequences[i].key == key) {
            keyboard_send(sequences[i].text, (u32)strlen(sequences[i].text));
            return 1;
        }
    }
    return 0;
}

// The keypad's key under this modifier and Num Lock; 0 when it printed a digit.
static u8 keyboard_pad_key(const struct keyboard *keyboard, u8 key)
{
    int digits = (keyboards.leds & LED_NUM) != 0;
    if (keyboard->modifiers & MOD_SHIFT) {
        digits = !digits;
    }
    if (digits) {
        keyboard_type((u8)pad_text[key - KEY_PAD_1],
                      keyboard->modifiers & (u8)~MOD_CTRL);
        return 0;
    }
    return pad_keys[key - KEY_PAD_1];
}

static int keyboard_is_lock(u8 key)
{
    u8 led = key == KEY_NUM_LOCK      ? LED_NUM
             : key == KEY_CAPS_LOCK   ? LED_CAPS
             : key == KEY_SCROLL_LOCK ? LED_SCROLL
                                      : 0;
    if (led != 0) {
        keyboard_toggle(led);
    }
    return led != 0;
}

void keyboard_press(struct keyboard *keyboard, u8 key)
{
    if (key >= KEY_CTRL && key <= KEY_RIGHT_GUI) {
        keyboard->modifiers |= (u8)(1u << (key - KEY_CTRL));
        return;
    }
    if (keyboard_is_lock(key)) {
        return;
    }
    u8 modifiers = keyboard->modifiers;
    if ((key == KEY_DELETE || key == KEY_PAD_POINT) && modifiers & MOD_CTRL &&
        modifiers & MOD_ALT) {
        power_reboot();
    }
    if (key >= KEY_PAD_1 && key <= KEY_PAD_POINT) {
        key = keyboard_pad_key(keyboard, key);
    }
    if (key == KEY_TAB && modifiers & MOD_SHIFT) {
        keyboard_send("\033[Z", 3);
    } else if (modifiers & MOD_ALT || !keyboard_send_sequence(key)) {
        keyboard_type(keymap_character(keyboards.map, key, modifiers,
                                       keyboards.leds & LED_CAPS),
                      modifiers);
    }
}

void keyboard_release(struct keyboard *keyboard, u8 key)
{
    if (key >= KEY_CTRL && key <= KEY_RIGHT_GUI) {
        keyboard->modifiers &= (u8) ~(1u << (key - KEY_CTRL));
    }
}
