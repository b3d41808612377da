// ps2.c - the PS/2 keyboard behind an 8042 controller.
// SPDX-License-Identifier: MIT
//
// IBM PS/2 Hardware Interface Technical Reference. Tested on QEMU only. No
// self-test and no reset: both take half a second on real keyboards, and what
// was typed while the machine booted would be lost.
#include "ps2.h"
#include "keyboard.h"
#include "ps2_regs.h"
#include "../kernel/apic.h"
#include "../kernel/input.h"
#include "../kernel/machine.h"

#define LOG_TAG "ps2"

enum { PS2_IRQ = 1, BYTES_AN_INTERRUPT = 32, EARLY_BYTES = 32 };
enum { CONTROLLER_MS = 20, KEYBOARD_MS = 30 }; // a keyboard answers in 20
enum { LEDS_TRIES = 3, LEDS_MS = 200 };
// What the keyboard has not acknowledged yet.
enum leds_step { LEDS_SHOWN, LEDS_COMMAND, LEDS_STATE };

static struct {
    struct ps2_decoder decoder;
    struct keyboard keyboard;
    u8 early[EARLY_BYTES]; // came before anybody knew how to read them
    u32 n_early;
    u8 leds_sent;  // what it was told, or is being told
    u8 leds_tries; // left
    enum leds_step leds_step;
    struct deadline leds_limit;
} ps2;

static int ps2_wait(u8 mask, u8 want, u32 ms)
{
    struct deadline limit = deadline_ms(ms);
    while ((inb(PS2_STATUS) & mask) != want) {
        if (deadline_passed(&limit)) {
            return E_TIMEOUT;
        }
        pause();
    }
    return 0;
}

static int ps2_write(u16 port, u8 byte)
{
    TRY(ps2_wait(STATUS_BUSY, 0, CONTROLLER_MS));
    outb(port, byte);
    return 0;
}

static int ps2_read(u32 ms)
{
    TRY(ps2_wait(STATUS_FULL, STATUS_FULL, ms));
    return inb(PS2_DATA);
}

static void ps2_keep(u8 byte)
{
    if (ps2.n_early < EARLY_BYTES) {
        ps2.early[ps2.n_early++] = byte;
    }
}

// Whatever waits, into the early bytes. Bounded: a port that is always full is
// none.
static int ps2_drain(void)
{
    for (u32 i = 0; i < EARLY_BYTES; i++) {
        u8 status = inb(PS2_STATUS);
        if ((status & STATUS_FULL) == 0) {
            return 0;
        }
        u8 byte = inb(PS2_DATA);
        if ((status & STATUS_AUX) == 0) {
            ps2_keep(byte);
        }
    }
    return E_IO;
}

static void ps2_feed(u8 byte)
{
    u32 key = ps2_decode(&ps2.decoder, byte);
    if (key & PS2_RELEASED) {
        keyboard_release(&ps2.keyboard, (u8)key);
    } else if (key != 0) {
        keyboard_press(&ps2.keyboard, (u8)key);
    }
}

// The early bytes, in the set that they came in.
static void ps2_feed_early(u8 set)
{
    ps2.decoder.set = set;
    for (u32 i = 0; i < ps2.n_early; i++) {
        ps2_feed(ps2.early[i]);
    }
    ps2.n_early = 0;
}

// Does the controller translate as it was told to? Its answer may stand behind
// keys that were pressed before. Returns the set that arrives from now on.
static int ps2_read_set(void)
{
    int plain = 0;
    TRY(ps2_write(PS2_COMMAND, COMMAND_READ_CONFIG));
    for (u32 i = 0; i < EARLY_BYTES; i++) {
        int byte = ps2_read(CONTROLLER_MS);
        if (byte < 0) {
            return plain ? 2 : byte;
        }
        if (byte == CONFIG_QUIET) {
            return 1;
        }
        if (byte == CONFIG_QUIET - CONFIG_TRANSLATE) {
            plain = 1;
        } else {
            ps2_keep((u8)byte);
        }
    }
    return E_IO;
}

// Both ports silent, then the keyboard's alone with an interrupt and with
// translation, where the controller can translate.
static int ps2_start_controller(void)
{
    TRY(ps2_write(PS2_COMMAND, COMMAND_KEYBOARD_OFF));
    TRY(ps2_write(PS2_COMMAND, COMMAND_AUX_OFF));
    TRY(ps2_drain());
    TRY(ps2_write(PS2_COMMAND, COMMAND_WRITE_CONFIG));
    TRY(ps2_write(PS2_DATA, CONFIG_QUIET));
    int set = ps2_read_set();
    TRY(set);
    ps2_feed_early((u8)set);
    return ps2_write(PS2_COMMAND, COMMAND_KEYBOARD_ON);
}

// A byte to the keyboard, and its answer; keys that come between are kept.
static int ps2_tell(u8 byte)
{
    TRY(ps2_write(PS2_DATA, byte));
    for (u32 i = 0; i < EARLY_BYTES; i++) {
        int answer = ps2_read(KEYBOARD_MS);
        TRY(answer);
        if (answer == KEYBOARD_ACK) {
            return 0;
        }
        if (answer == KEYBOARD_RESEND) {
            return E_IO;
        }
        ps2_keep((u8)answer);
    }
    return E_IO;
}

// Set 2, and it may speak. None plugged in: one that comes later does so by
// itself.
static void ps2_start_keyboard(void)
{
    int result = ps2_tell(KEYBOARD_SET);
    if (result == 0) {
        result = ps2_tell(2);
    }
    if (result != E_TIMEOUT) {
        result = ps2_tell(KEYBOARD_ENABLE);
    }
    log_info("%s, scan code set %u",
             result < 0 ? "no keyboard answers yet" : "keyboard",
             ps2.decoder.set);
    ps2_feed_early(ps2.decoder.set);
}

// ---- what runs by interrupt ----
static void ps2_send_leds(enum leds_step step)
{
    u8 leds = ps2.leds_sent;
    u8 byte = KEYBOARD_LEDS;
    if (step == LEDS_STATE) {
        byte = (u8)((leds & LED_SCROLL ? 1 : 0) | (leds & LED_NUM ? 2 : 0) |
                    (leds & LED_CAPS ? 4 : 0));
    }
    ps2.leds_limit = deadline_ms(LEDS_MS);
    ps2.leds_step = LEDS_SHOWN;
    if ((inb(PS2_STATUS) & STATUS_BUSY) == 0) {
        outb(PS2_DATA, byte);
        ps2.leds_step = step;
    }
}

// Start telling the keyboard, unless it is being told. One that did not answer
// is told again at the next change.
static void ps2_show_leds(void)
{
    if (ps2.leds_step != LEDS_SHOWN && !deadline_passed(&ps2.leds_limit)) {
        return;
    }
    ps2.leds_sent = keyboard_leds();
    ps2.leds_tries = LEDS_TRIES;
    ps2_send_leds(LEDS_COMMAND);
}

static void ps2_leds_acknowledged(void)
{
    if (ps2.leds_step == LEDS_COMMAND) {
        ps2_send_leds(LEDS_STATE);
        return;
    }
    ps2.leds_step = LEDS_SHOWN;
    if (ps2.leds_sent != keyboard_leds()) { // changed again meanwhile
        ps2_show_leds();
    }
}

// Returns 1 when byte was the keyboard's answer to us.
static int ps2_is_answer(u8 byte)
{
    if (byte != KEYBOARD_ACK && byte != KEYBOARD_RESEND) {
        return 0;
    }
    if (ps2.leds_step == LEDS_SHOWN) {
        return 1;
    }
    if (byte == KEYBOARD_ACK) {
        ps2_leds_acknowledged();
    } else if (ps2.leds_tries > 0) {
        ps2.leds_tries--;
        ps2_send_leds(ps2.leds_step);
    } else {
        ps2.leds_step = LEDS_SHOWN;
    }
    return 1;
}

static void ps2_poll(void)
{
    for (u32 i = 0; i < BYTES_AN_INTERRUPT; i++) {
        u8 status = inb(PS2_STATUS);
        if ((status & STATUS_FULL) == 0 || status == STATUS_ABSENT) {
            return;
        }
        u8 byte = inb(PS2_DATA);
        if ((status & STATUS_AUX) == 0 && !ps2_is_answer(byte)) {
            ps2_feed(byte);
        }
    }
}

static void ps2_interrupt(void *context)
{
    (void)context;
    ps2_poll();
}

static const struct input_source ps2_source = {"ps2", ps2_poll, 0};

static int ps2_init(void)
{
    return E_NODEV; // it shows no text
}

static int ps2_start_input(void)
{
    keyboard_init();
    if (!machine_acpi()->has_8042 || inb(PS2_STATUS) == STATUS_ABSENT) {
        return E_NODEV;
    }
    int result = ps2_start_controller();
    if (result < 0) {
        log_warn("the controller does not answer (%d)", result);
        return E_NODEV;
    }
    ps2_start_keyboard();
    input_add_source(&ps2_source);
    keyboard_add_leds(ps2_show_leds);
    ps2_show_leds();
    interrupt_set_handler(VECTOR_IRQ_BASE + PS2_IRQ, ps2_interrupt, 0);
    TRY(apic_route_irq(PS2_IRQ, VECTOR_IRQ_BASE + PS2_IRQ));
    ps2_poll(); // what came before would hold the interrupt back
    return 0;
}

const struct console_driver ps2_driver = {"ps2", ps2_init, ps2_start_input};
