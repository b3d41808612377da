// ps2_regs.h - the 8042's ports and commands (IBM PS/2 Hardware Interface
// Technical Reference, "Keyboard and Auxiliary Device Controller").
// SPDX-License-Identifier: MIT
#pragma once

enum {
    PS2_DATA = 0x60,
    PS2_STATUS = 0x64,
    STATUS_FULL = 0x01, // a byte from the keyboard or the controller waits
    STATUS_BUSY = 0x02, // ours has not been taken yet
    STATUS_AUX = 0x20,  // the byte is the mouse's
    STATUS_ABSENT = 0xFF,

    PS2_COMMAND = 0x64,
    COMMAND_READ_CONFIG = 0x20,
    COMMAND_WRITE_CONFIG = 0x60,
    COMMAND_AUX_OFF = 0xA7,
    COMMAND_KEYBOARD_OFF = 0xAD,
    COMMAND_KEYBOARD_ON = 0xAE,

    CONFIG_INTERRUPT = 0x01,
    CONFIG_TESTED = 0x04, // the system flag
    CONFIG_KEYBOARD_OFF = 0x10,
    CONFIG_AUX_OFF = 0x20,
    CONFIG_TRANSLATE = 0x40, // set 2 becomes set 1
    CONFIG_QUIET = CONFIG_INTERRUPT | CONFIG_TESTED | CONFIG_KEYBOARD_OFF |
                   CONFIG_AUX_OFF | CONFIG_TRANSLATE,

    KEYBOARD_LEDS = 0xED, // the keyboard's own commands
    KEYBOARD_SET = 0xF0,
    KEYBOARD_ENABLE = 0xF4,
    KEYBOARD_ACK = 0xFA,
    KEYBOARD_RESEND = 0xFE,
};
