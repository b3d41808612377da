// test_xhci_faults.c - the USB driver against a made-up controller: devices
// refuse, lie and vanish, and so does the controller.
// SPDX-License-Identifier: MIT
#include "xhci_world.h"

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
    RUN(test_what_is_no_keyboard);
    RUN(test_devices_that_fail);
    RUN(test_commands_that_fail);
    RUN(test_unplugged_at_every_request);
    RUN(test_a_report_that_fails);
    RUN(test_a_dead_controller);
    RUN(test_probes_that_fail);
    RUN(test_events_that_lie);
    free_arena();
    return TEST_RESULT();
}
