// xhci_world.h - USB devices for tests: a keyboard beside a mouse, a hub.
// SPDX-License-Identifier: MIT
#pragma once
#include "xhci_card.h"

static const u8 keyboard_device[18] = {18,   1,    0, 2, 0, 0, 0, 16, 0x12,
                                       0x34, 0x56, 7, 0, 1, 0, 0, 0,  1};
static const u8 hub_device[18] = {18, 1, 0, 2, 9, 0, 1, 64, 1,
                                  0,  2, 0, 0, 1, 0, 0, 0,  1};
// A mouse in front of the keyboard: two interfaces, a HID descriptor each.
static const u8 keyboard_config[59] = {
    9, 2,    59,   0, 2, 1, 0,    0xA0, 50, //
    9, 4,    0,    0, 1, 3, 1,    2,    0,  //
    9, 0x21, 0x11, 1, 0, 1, 0x22, 50,   0,  //
    7, 5,    0x82, 3, 4, 0, 10,             //
    9, 4,    1,    0, 1, 3, 1,    1,    0,  //
    9, 0x21, 0x11, 1, 0, 1, 0x22, 63,   0,  //
    7, 5,    0x81, 3, 8, 0, 10,
};
static const u8 hub_config[25] = {9, 2, 25, 0, 1, 1, 0, 0xE0, 0, 9, 4, 0, 0,
                                  1, 9, 0,  0, 0, 7, 5, 0x81, 3, 1, 0, 12};

// How the devices behave; the hub is on port 2, everything else types.
static struct {
    int stall_class, stall_all, error_all, silent, shorter;
    u32 hub_ports[8]; // status and change
    u8 idle, leds, protocol_set, led_requests;
    u32 requests;
    const u8 *config;
    u32 config_bytes;
    u32 unplug_at; // request at which the port loses its device
} world;

static int give(u8 *data, u32 length, const u8 *from, u32 n)
{
    n = n < length ? n : length;
    n = world.shorter && n > 2 ? n / 2 : n;
    memcpy(data, from, n);
    return (int)n;
}

static int hub_answer(const u8 s[8], u8 *data, u32 length)
{
    u32 *port = &world.hub_ports[s[4] & 7];
    if (s[0] == 0xA0 && s[1] == 6) {
        static const u8 hub[7] = {9, 0x29, 4, 0x60, 0, 50, 100};
        return give(data, length, hub, 7);
    }
    if (s[0] == 0xA3) {
        return give(data, length, (const u8 *)port, 4);
    }
    if (s[0] == 0x23 && s[1] == 1 && s[2] >= 16) {
        *port &= ~(1u << s[2]);
    } else if (s[0] == 0x23 && s[1] == 3 && s[2] == 4) {
        *port |= 2 | 1u << 20;
    }
    return 0;
}

static int keyboard_answer(const u8 s[8], const u8 *data)
{
    if (world.stall_class) {
        return -ANSWER_STALL;
    }
    if (s[1] == 10) {
        world.idle = s[3];
    } else if (s[1] == 11) {
        world.protocol_set = 1;
    } else if (s[1] == 9) {
        world.leds = data[0];
        world.led_requests++;
    }
    return 0;
}

static int device_answer(const struct card_slot *slot, const u8 s[8], u8 *data,
                         u32 length)
{
    int hub = slot->port == 2 && slot->route == 0;
    world.requests++;
    if (world.requests == world.unplug_at) {
        card_plug(slot->port, 0);
        return -ANSWER_ERROR;
    }
    if (world.stall_all || world.error_all || world.silent) {
        return world.silent      ? -ANSWER_NEVER
               : world.error_all ? -ANSWER_ERROR
                                 : -ANSWER_STALL;
    }
    if (s[0] == 0x80 && s[1] == 6) {
        if (s[3] == 1) {
            return give(data, length, hub ? hub_device : keyboard_device, 18);
        }
        return hub ? give(data, length, hub_config, 25)
                   : give(data, length, world.config, world.config_bytes);
    }
    if ((s[0] & 0x60) == 0) {
        return 0;
    }
    return hub ? hub_answer(s, data, length) : keyboard_answer(s, data);
}

static void begin(void)
{
    card_reset();
    memset(&world, 0, sizeof(world));
    world.config = keyboard_config;
    world.config_bytes = sizeof(keyboard_config);
}

static u32 running(void)
{
    u32 n = 0;
    for (u32 i = 0; card_hc() && i < XHCI_DEVICES; i++) {
        n += card_hc()->devices[i].state == USB_RUNNING;
    }
    return n;
}

static inline u32 slots_in_use(void)
{
    u32 n = 0;
    for (u32 i = 0; i < CARD_SLOTS; i++) {
        n += card.slots[i].enabled;
    }
    return n;
}

static u32 slot_of(u32 port, u32 route)
{
    for (u32 i = 1; i < CARD_SLOTS; i++) {
        if (card.slots[i].enabled && card.slots[i].port == port &&
            card.slots[i].route == route) {
            return i;
        }
    }
    return 0;
}

static void report(u32 slot, u8 modifiers, u8 key)
{
    u8 bytes[8] = {modifiers, 0, key};
    CHECK(card_report(slot, bytes, 8, CODE_SUCCESS));
    card_run(1);
}

// One keyboard on port 1 at boot, started.
static u32 one_keyboard(void)
{
    begin();
    card_plug(1, USB_FULL);
    CHECK_EQ(xhci_probe(&card_function), 0);
    CHECK_EQ(running(), 1);
    return slot_of(1, 0);
}
