// test_ps2.c - the 8042: one that translates, one that cannot, one that never
// answers, keys that were pressed before anybody looked.
// SPDX-License-Identifier: MIT
#include "keyboard_rig.h"
#include "../../drivers/ps2_scancode.c"
#include "../../drivers/ps2.c"

static struct {
    u8 absent, dead, no_translation, no_keyboard, always_full;
    u8 queue[64]; // from the keyboard
    u32 n_queue;
    u8 answers[8]; // the controller's own, behind what waits
    u32 n_answers;
    u8 command, config, leds, told;
} card;
static u64 now_ns;

struct deadline deadline_ns(u64 ns)
{
    return (struct deadline){now_ns + ns, 0};
}

int deadline_passed(struct deadline *deadline)
{
    now_ns += 10000;
    return now_ns >= deadline->end;
}

static u8 card_take(void)
{
    u8 byte = 0;
    if (card.n_queue > 0) {
        byte = card.queue[0];
        memmove(card.queue, card.queue + 1, --card.n_queue);
    } else if (card.n_answers > 0) {
        byte = card.answers[0];
        memmove(card.answers, card.answers + 1, --card.n_answers);
    }
    return byte;
}

static void key(u8 byte)
{
    card.queue[card.n_queue++ % sizeof(card.queue)] = byte;
}

static void keyboard_hears(u8 byte)
{
    if (!card.no_keyboard) {
        key(KEYBOARD_ACK);
    }
    if (card.told == KEYBOARD_LEDS) {
        card.leds = byte;
    }
    card.told = byte;
}

u8 inb(u16 port)
{
    if (card.absent) {
        return 0xFF;
    }
    if (port == PS2_STATUS) {
        int full = card.n_queue + card.n_answers > 0 || card.always_full;
        return (u8)((full ? STATUS_FULL : 0) | (card.dead ? STATUS_BUSY : 0));
    }
    return card_take();
}

void outb(u16 port, u8 value)
{
    CHECK(!card.absent);
    if (port == PS2_COMMAND) {
        card.command = value;
        if (value == COMMAND_READ_CONFIG) {
            card.answers[card.n_answers++ % 8] = card.config;
        }
    } else if (card.command == COMMAND_WRITE_CONFIG) {
        card.config =
            card.no_translation ? value & (u8)~CONFIG_TRANSLATE : value;
        card.command = 0;
    } else {
        keyboard_hears(value);
    }
}

static struct acpi the_acpi;

const struct acpi *machine_acpi(void)
{
    return &the_acpi;
}

void input_add_source(const struct input_source *source)
{
    (void)source;
}

void interrupt_set_handler(u8 vector, interrupt_handler *fn, void *context)
{
    CHECK_EQ(vector, VECTOR_IRQ_BASE + 1);
    (void)fn;
    (void)context;
}

int apic_route_irq(u32 irq, u8 vector)
{
    (void)vector;
    CHECK_EQ(irq, 1);
    return 0;
}

static void begin(void)
{
    memset(&card, 0, sizeof(card));
    memset(&ps2, 0, sizeof(ps2));
    the_acpi.has_8042 = 1;
    now_ns = 0;
    use_layout("");
    typed_n = 0;
}

static void test_translated(void)
{
    begin();
    CHECK_EQ(ps2_start_input(), 0);
    CHECK_EQ(card.leds, 2); // Num Lock
    CHECK(now_ns < 1000000);
    key(0x1E);
    key(0x9E);
    ps2_poll();
    CHECK(was_typed("a"));
    key(0x3A); // Caps Lock
    ps2_poll();
    CHECK_EQ(card.leds, 6);
}

static void test_untranslated(void)
{
    begin();
    card.no_translation = 1;
    CHECK_EQ(ps2_start_input(), 0);
    key(0x1C);
    key(0xF0);
    key(0x1C);
    ps2_poll();
    CHECK(was_typed("a"));
}

static void test_keys_before_anybody_looked(void)
{
    begin();
    for (u8 code = 0x1E; code < 0x26; code++) {
        key(code);
        key(code | 0x80);
    }
    CHECK_EQ(ps2_start_input(), 0);
    CHECK(was_typed("asdfghjk"));
}

static void test_nothing_there(void)
{
    begin();
    card.absent = 1;
    CHECK_EQ(ps2_start_input(), E_NODEV);
    CHECK_EQ(now_ns, 0);
    begin();
    the_acpi.has_8042 = 0;
    CHECK_EQ(ps2_start_input(), E_NODEV);
    CHECK_EQ(card.command, 0);
}

static void test_no_answer(void)
{
    begin();
    card.dead = 1;
    CHECK_EQ(ps2_start_input(), E_NODEV);
    CHECK(now_ns < 100000000);
    begin();
    card.always_full = 1;
    CHECK_EQ(ps2_start_input(), E_NODEV);
    begin();
    card.no_keyboard = 1; // one may be plugged in later
    CHECK_EQ(ps2_start_input(), 0);
    CHECK(now_ns < 200000000);
    key(0xAA);
    key(0x1E);
    ps2_poll();
    CHECK(was_typed("a"));
}

static void test_a_keyboard_that_asks_again(void)
{
    begin();
    CHECK_EQ(ps2_start_input(), 0);
    for (u32 i = 0; i < 20; i++) {
        key(KEYBOARD_RESEND);
        key(KEYBOARD_ACK);
    }
    ps2_poll();
    CHECK(was_typed(""));
    key(0x1E);
    ps2_poll();
    CHECK(was_typed("a"));
}

int main(void)
{
    RUN(test_translated);
    RUN(test_untranslated);
    RUN(test_keys_before_anybody_looked);
    RUN(test_nothing_there);
    RUN(test_no_answer);
    RUN(test_a_keyboard_that_asks_again);
    return TEST_RESULT();
}
