// test_xhci.c - the USB driver against a made-up controller: devices start,
// type, refuse, lie, and vanish.
// SPDX-License-Identifier: MIT
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

static u32 slots_in_use(void)
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

static void test_a_keyboard(void)
{
    u32 slot = one_keyboard();
    CHECK(now_ns < 100000000);
    CHECK(world.protocol_set);
    CHECK_EQ(world.leds, LED_NUM);
    CHECK_EQ(*card_reg(HC_LEGACY) & LEGSUP_BIOS, 0);
    CHECK_EQ(*card_reg(HC_LEGACY + 4), 0xE0000000u);
    CHECK_EQ(card.n_commands[TRB_EVALUATE_CONTEXT], 1); // packets of 16
    CHECK(__builtin_strstr(last_log, "3412:0756 at 00:04.0-1") != 0);
    report(slot, 0, KEY_A);
    report(slot, 0, 0);
    report(slot, MOD_SHIFT & 0x0F, KEY_A + 1);
    report(slot, 0, 0);
    CHECK(was_typed("aB"));
    u32 before = card.interrupts;
    card_run(500);
    CHECK_EQ(card.interrupts, before); // nothing ticks
}

static void test_contexts_of_64_bytes_and_low_memory(void)
{
    begin();
    *card_reg(XHCI_HCCPARAMS1) ^= HCC1_CSZ | HCC1_AC64;
    card_plug(1, USB_HIGH);
    CHECK_EQ(xhci_probe(&card_function), 0);
    CHECK(low_allocations > 5);
    report(slot_of(1, 0), 0, KEY_A);
    CHECK(was_typed("a"));
}

static void test_many_reports(void)
{
    u32 slot = one_keyboard();
    for (u32 i = 0; i < 400; i++) {
        report(slot, 0, (u8)(KEY_A + i % 2));
        CHECK(was_typed(i % 2 ? "b" : "a"));
    }
}

static void test_a_held_key_repeats(void)
{
    u32 slot = one_keyboard();
    report(slot, 0, KEY_A);
    CHECK(world.idle != 0);
    report(slot, 0, KEY_A);
    CHECK(was_typed("a"));
    now_ns += 400000000;
    report(slot, 0, KEY_A);
    report(slot, 0, KEY_A);
    CHECK(was_typed("aa"));
    report(slot, 0, 0);
    CHECK_EQ(world.idle, 0);
    report(slot, 1, KEY_CAPS_LOCK);
    CHECK_EQ(world.idle, 0);
    CHECK_EQ(world.leds, LED_NUM | LED_CAPS);
}

static void test_too_many_keys_and_short_reports(void)
{
    u32 slot = one_keyboard();
    u8 roll_over[8] = {0, 0, 1, 1, 1, 1, 1, 1};
    report(slot, 0, KEY_A);
    card_report(slot, roll_over, 8, CODE_SUCCESS);
    card_report(slot, roll_over, 0, CODE_SHORT_PACKET);
    card_report(slot, roll_over, 2, CODE_SHORT_PACKET);
    card_run(1);
    report(slot, 0, KEY_A);
    CHECK(was_typed("a"));
    u8 six[8] = {0, 0, 4, 5, 6, 7, 8, 9};
    card_report(slot, six, 8, CODE_SUCCESS);
    card_run(1);
    CHECK(was_typed("bcdef"));
}

static void test_refused_requests_are_no_loss(void)
{
    begin();
    world.stall_class = 1;
    card_plug(1, USB_LOW);
    CHECK_EQ(xhci_probe(&card_function), 0);
    report(slot_of(1, 0), 0, KEY_A);
    CHECK(was_typed("a"));
    CHECK(card.n_commands[TRB_RESET_ENDPOINT] >= 1);
}

static void test_what_is_no_keyboard(void)
{
    static const u8 mouse[34] = {9, 2, 34, 0, 1, 1, 0, 0,    0, 9, 4, 0, 0,
                                 1, 3, 1,  2, 0, 7, 5, 0x81, 3, 4, 0, 10};
    begin();
    world.config = mouse;
    world.config_bytes = 34;
    card_plug(1, USB_FULL);
    card_plug(3, USB_SUPER);
    CHECK_EQ(xhci_probe(&card_function), 0);
    CHECK_EQ(running(), 0);
    CHECK_EQ(slots_in_use(), 0);
    u32 before = world.requests;
    card_run(300);
    CHECK_EQ(world.requests, before);
}

static void test_devices_that_fail(void)
{
    for (u32 i = 0; i < 4; i++) {
        begin();
        world.stall_all = i == 0;
        world.error_all = i == 1;
        world.silent = i == 2;
        world.shorter = i == 3;
        card_plug(1, USB_FULL);
        CHECK_EQ(xhci_probe(&card_function), 0);
        CHECK(now_ns < 2000000000);
        card_run(5000);
        CHECK_EQ(running(), 0);
        CHECK_EQ(slots_in_use(), 0);
        CHECK(__builtin_strstr(last_log, "given up") != 0);
        CHECK(!usb_is_busy(card_hc()));
        world.stall_all = world.error_all = world.silent = world.shorter = 0;
        card_plug(1, 0);
        card_run(1);
        card_plug(1, USB_FULL);
        card_run(300);
        CHECK_EQ(running(), 1);
    }
}

static void test_commands_that_fail(void)
{
    for (u32 type = TRB_ENABLE_SLOT; type <= TRB_STOP_ENDPOINT; type++) {
        begin();
        card.fail_command = (u8)type;
        card.failures = 1;
        card_plug(1, USB_FULL);
        CHECK_EQ(xhci_probe(&card_function), 0);
        card_run(1000);
        CHECK_EQ(running(), 1);
    }
}

static void test_unplugged_at_every_request(void)
{
    for (u32 at = 1; at < 14; at++) {
        begin();
        world.unplug_at = at;
        card_plug(1, USB_FULL);
        CHECK_EQ(xhci_probe(&card_function), 0);
        card_run(1000);
        CHECK_EQ(slots_in_use(), running());
        CHECK(!usb_is_busy(card_hc()));
        world.unplug_at = 0;
        card_plug(1, USB_FULL);
        card_run(300);
        CHECK_EQ(running(), 1);
        CHECK_EQ(slots_in_use(), 1);
    }
}

static void test_plugged_in_again_and_again(void)
{
    one_keyboard();
    for (u32 i = 0; i < 200; i++) {
        card_plug(1, 0);
        card_run(i % 5);
        card_plug(1, i % 3 ? USB_FULL : USB_LOW);
        card_run(i % 7 * 40);
    }
    card_run(1000);
    CHECK_EQ(running(), 1);
    CHECK_EQ(slots_in_use(), 1);
    report(slot_of(1, 0), 0, KEY_A);
    CHECK(was_typed("a"));
}

static void test_a_hub(void)
{
    begin();
    world.hub_ports[3] = 0x10101; // connected, powered, changed
    card_plug(2, USB_HIGH);
    CHECK_EQ(xhci_probe(&card_function), 0);
    card_run(1500);
    CHECK_EQ(running(), 2);
    u32 slot = slot_of(2, 3), hub = slot_of(2, 0);
    struct usb_device *device = xhci_find_slot(card_hc(), slot);
    CHECK(device && device->tt_slot == hub && device->tt_port == 3);
    report(slot, 0, KEY_A);
    CHECK(was_typed("a"));
    world.hub_ports[3] = 0x10100; // gone
    CHECK(card_report(hub, "\x08", 1, CODE_SUCCESS));
    card_run(500);
    CHECK_EQ(running(), 1);
    CHECK_EQ(slots_in_use(), 1);
    world.hub_ports[1] = 0x10101;
    CHECK(card_report(hub, "\x02", 1, CODE_SUCCESS));
    card_run(500);
    CHECK_EQ(running(), 2);
    card_plug(2, 0); // with everything behind it
    card_run(10);
    CHECK_EQ(running(), 0);
    CHECK_EQ(slots_in_use(), 0);
}

static void test_a_report_that_fails(void)
{
    u32 slot = one_keyboard();
    for (u32 i = 0; i < 2; i++) {
        CHECK(card_report(slot, "", 0, i ? CODE_STALL : 4));
        card_run(500);
        CHECK_EQ(running(), 1);
        slot = slot_of(1, 0);
        report(slot, 0, KEY_A);
        CHECK(was_typed("a"));
    }
    CHECK(card_report(slot, "", 0, 4));
    card_run(500);
    CHECK_EQ(running(), 0); // and given up
}

static void test_a_dead_controller(void)
{
    one_keyboard();
    *card_reg(HC_OP + XHCI_USBSTS) |= STS_HCE;
    card_run(1);
    CHECK(__builtin_strstr(last_log, "reports an error") != 0);
    CHECK_EQ(master_off, 1);
    last_log[0] = 0;
    card_run(10);
    xhci_poll_all();
    CHECK_EQ(last_log[0], 0);
    one_keyboard();
    card.gone = 1;
    card_run(1);
    CHECK(__builtin_strstr(last_log, "was removed") != 0);
    one_keyboard();
    card.ignores_commands = 1;
    card_plug(3, USB_FULL);
    card_run(8000);
    CHECK(__builtin_strstr(last_log, "does not end") != 0);
}

static void test_probes_that_fail(void)
{
    begin();
    card.gone = 1;
    CHECK_EQ(xhci_probe(&card_function), E_GONE);
    begin();
    *card_reg(XHCI_DBOFF) = HC_BYTES;
    CHECK_EQ(xhci_probe(&card_function), E_UNSUPPORTED);
    begin();
    *card_reg(XHCI_RTSOFF) = HC_BYTES - 0x20;
    CHECK_EQ(xhci_probe(&card_function), E_UNSUPPORTED);
    begin();
    *card_reg(XHCI_HCSPARAMS1) = 0;
    CHECK_EQ(xhci_probe(&card_function), E_UNSUPPORTED);
    begin();
    card.hangs_reset = 1;
    CHECK_EQ(xhci_probe(&card_function), E_TIMEOUT);
    CHECK(now_ns < 1000000000);
    CHECK(master_off > 0);
    begin();
    card.keeps_firmware = 1;
    *card_reg(HC_LEGACY) |= 0xFF00; // and the list goes on, outside
    CHECK_EQ(xhci_probe(&card_function), 0);
    CHECK(now_ns < 1000000000);
    CHECK_EQ(*card_reg(HC_LEGACY) & LEGSUP_BIOS, 0);
    begin();
    vectors = E_NOMEM;
    CHECK_EQ(xhci_probe(&card_function), 0);
    CHECK(polled);
    vectors = 0x40;
}

// Events that no honest controller would send.
static void test_events_that_lie(void)
{
    u32 slot = one_keyboard();
    u64 pointers[] = {0,
                      1,
                      16,
                      ~0ul,
                      (u64)card_hc()->commands.trbs,
                      (u64)card_hc()->commands.trbs + 8,
                      (u64)card_hc()->devices[0].memory->in_ring,
                      (u64)card_hc()->devices[0].memory->control_ring};
    for (u32 type = 0; type < 64; type++) {
        for (u32 i = 0; i < array_size(pointers); i++) {
            for (u32 code = 0; code < 40; code += 3) {
                card_post((struct xhci_trb){pointers[i], code << 24 | 0xFFFFFF,
                                            type << 10 | i % 4 << 16 |
                                                (i % 3 ? 255 : slot) << 24});
                card_run(1);
            }
        }
    }
    card_run(3000);
    CHECK(!card_hc()->dead);
    was_typed(typed);
    card_plug(1, 0);
    card_run(10);
    card_plug(1, USB_FULL);
    card_run(500);
    report(slot_of(1, 0), 0, KEY_A);
    CHECK(was_typed("a"));
}

int main(void)
{
    RUN(test_a_keyboard);
    RUN(test_contexts_of_64_bytes_and_low_memory);
    RUN(test_many_reports);
    RUN(test_a_held_key_repeats);
    RUN(test_too_many_keys_and_short_reports);
    RUN(test_refused_requests_are_no_loss);
    RUN(test_what_is_no_keyboard);
    RUN(test_devices_that_fail);
    RUN(test_commands_that_fail);
    RUN(test_unplugged_at_every_request);
    RUN(test_plugged_in_again_and_again);
    RUN(test_a_hub);
    RUN(test_a_report_that_fails);
    RUN(test_a_dead_controller);
    RUN(test_probes_that_fail);
    RUN(test_events_that_lie);
    free_arena();
    return TEST_RESULT();
}
