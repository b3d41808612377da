// test_xhci.c - the USB driver against a made-up controller: devices start,
// type, and come and go.
// SPDX-License-Identifier: MIT
#include "xhci_world.h"

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

int main(void)
{
    RUN(test_a_keyboard);
    RUN(test_contexts_of_64_bytes_and_low_memory);
    RUN(test_many_reports);
    RUN(test_a_held_key_repeats);
    RUN(test_too_many_keys_and_short_reports);
    RUN(test_refused_requests_are_no_loss);
    RUN(test_plugged_in_again_and_again);
    RUN(test_a_hub);
    free_arena();
    return TEST_RESULT();
}
