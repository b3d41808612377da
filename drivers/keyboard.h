// keyboard.h - keys of any keyboard become typed bytes.
// SPDX-License-Identifier: MIT
#pragma once
#include "keymap.h"

struct keyboard {
    u8 modifiers; // MOD_*
};

enum { LED_NUM = 1, LED_CAPS = 2, LED_SCROLL = 4 }; // HID 1.11, B.1

void keyboard_init(void); // as often as one likes
void keyboard_press(struct keyboard *keyboard, u8 key);
void keyboard_release(struct keyboard *keyboard, u8 key);
u8 keyboard_leds(void); // what every keyboard is to show
// Call fn after they changed.
void keyboard_add_leds(void (*fn)(void));
