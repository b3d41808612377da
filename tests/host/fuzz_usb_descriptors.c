// fuzz_usb_descriptors.c - devices that answer anything, report anything, come
// and go at any time, and a controller whose events lie: nothing is read or
// written outside, every wait ends, and a good keyboard works afterwards.
// SPDX-License-Identifier: MIT
#include "xhci_card.h"

static struct {
    const u8 *next;
    u64 left;
} script;

static u32 script_byte(void)
{
    if (script.left == 0) {
        return 0;
    }
    script.left--;
    return *script.next++;
}

static u32 script_word(void)
{
    u32 low = script_byte();
    return low | script_byte() << 8;
}

static void check(int holds)
{
    if (!holds) {
        abort();
    }
}

static const u8 good_device[18] = {18, 1, 0, 2, 0, 0, 0, 8, 1,
                                   0,  2, 0, 0, 1, 0, 0, 0, 1};
static const u8 good_config[34] = {
    9, 2, 34,   0,    1, 1, 0, 0xA0, 50, 9, 4, 0, 0,    1, 3, 1, 1,
    0, 9, 0x21, 0x11, 1, 0, 1, 0x22, 63, 0, 7, 5, 0x81, 3, 8, 0, 10};
static int honest;

static int answer_well(const u8 s[8], u8 *data, u32 length)
{
    const u8 *from = s[3] == 1 ? good_device : good_config;
    u32 n = s[3] == 1 ? 18 : 34;
    if (s[0] != 0x80 || s[1] != 6) {
        return 0;
    }
    n = n < length ? n : length;
    memcpy(data, from, n);
    return (int)n;
}

// A descriptor with bytes changed, or bytes alone.
static int device_answer(const struct card_slot *slot, const u8 s[8], u8 *data,
                         u32 length)
{
    (void)slot;
    u32 how = honest ? 0 : script_byte();
    if (how % 8 >= 5) {
        return -(int)(how % 8 - 4);
    }
    int n = answer_well(s, data, length);
    u32 changes = how / 8 % 16;
    if (how % 8 == 4 && length > 0) {
        n = (int)(script_word() % (length + 1));
        changes = (u32)n;
        memset(data, 0, length);
    }
    for (u32 i = 0; i < changes && length > 0 && !honest; i++) {
        data[(how % 8 == 4 ? i : script_byte()) % length] = (u8)script_byte();
    }
    return n;
}

static void post_anything(void)
{
    struct xhci *hc = card_hc();
    u64 bases[] = {(u64)hc->commands.trbs,
                   (u64)hc->devices[0].memory->control_ring,
                   (u64)hc->devices[0].memory->in_ring, 0};
    u64 pointer = bases[script_byte() % 4] + script_byte() * 8;
    u32 status = script_byte() << 24 | script_word();
    card_post((struct xhci_trb){pointer, status,
                                script_word() << 16 | script_word()});
}

static void report_anything(void)
{
    u8 bytes[64];
    u32 n = script_byte() % 65;
    for (u32 i = 0; i < n; i++) {
        bytes[i] = (u8)script_byte();
    }
    static const u8 codes[] = {1, 1, 1, 1, 13, 4, 6, 26};
    card_report(1 + script_byte() % 16, bytes, n, codes[script_byte() % 8]);
}

static void step(void)
{
    switch (script_byte() % 8) {
    case 0:
    case 1:
        report_anything();
        break;
    case 2:
        card_plug(1 + script_byte() % CARD_PORTS, script_byte() % 16);
        break;
    case 3:
        post_anything();
        break;
    case 4:
        card.fail_command = 9 + script_byte() % 8;
        card.failures = script_byte() % 4;
        break;
    case 5:
        card_run(script_byte());
        break;
    default:
        card_run(1);
    }
    typed_n = 0;
}

// The lies are over. A controller that is not dead starts a good keyboard.
static void end_well(void)
{
    honest = 1;
    card.failures = 0;
    for (u32 port = 1; port <= CARD_PORTS; port++) {
        card_plug(port, 0);
    }
    for (u32 i = 0; i < 60 && usb_is_busy(card_hc()); i++) {
        card_run(100);
    }
    check(card_hc()->dead || !usb_is_busy(card_hc()));
    card_plug(1, USB_FULL);
    card_run(300);
    typed_n = 0;
    u32 slot = 1;
    while (slot < CARD_SLOTS - 1 && !card.slots[slot].configured) {
        slot++;
    }
    card_report(slot, "\0\0\4\0\0\0\0", 8, CODE_SUCCESS);
    card_run(1);
    int lost = 0; // slots that an event took away from us
    for (u32 i = 0; i < XHCI_DEVICES; i++) {
        lost |= card_hc()->devices[i].state == USB_LOST;
    }
    check(card_hc()->dead || lost || typed_n == 1);
}

int LLVMFuzzerTestOneInput(const u8 *data, u64 len);
int LLVMFuzzerTestOneInput(const u8 *data, u64 len)
{
    script.next = data;
    script.left = len < 4096 ? len : 4096;
    usb_parse_configuration(data, (u32)len);
    honest = 0;
    look_ns = 500000;
    test_failed_checks = 0;
    card_reset();
    *card_reg(XHCI_HCCPARAMS1) ^= script_byte() & 1 ? HCC1_CSZ : 0;
    card_plug(1 + script_byte() % 2, 1 + script_byte() % 4);
    check(xhci_probe(&card_function) == 0);
    while (script.left > 0) {
        step();
    }
    end_well();
    free_arena();
    return 0;
}
