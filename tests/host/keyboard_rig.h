// keyboard_rig.h - what the kernel gives keyboards, on the host: bytes typed
// end in typed[].
// SPDX-License-Identifier: MIT
#pragma once
#include "../../drivers/keymap.c"
#include "../../drivers/keyboard.c"
#undef LOG_TAG
#include "log_fake.h"

static char typed[512];
static u32 typed_n, typed_room = sizeof(typed) - 1, reboots;
static char option[16];
void option_read(const char *key, char *value, u64 cap)
{
    (void)key;
    snprintf(value, cap, "%s", option);
}

u32 input_room(void)
{
    return typed_room - typed_n;
}

void input_push(u8 byte)
{
    CHECK(typed_n < typed_room);
    if (typed_n < sizeof(typed) - 1) {
        typed[typed_n++] = (char)byte;
        typed[typed_n] = 0;
    }
}

int power_reboot(void)
{
    reboots++;
    return 0;
}

// What was typed since the last question.
static inline int was_typed(const char *text)
{
    int same = strcmp(typed, text) == 0;
    if (!same) {
        printf("  typed \"%s\", want \"%s\"\n", typed, text);
    }
    typed_n = 0;
    typed[0] = 0;
    return same;
}

static inline void use_layout(const char *name)
{
    memset(&keyboards, 0, sizeof(keyboards));
    snprintf(option, sizeof(option), "%s", name);
    keyboard_init();
}
