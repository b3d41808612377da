// test_serial.c - what was typed before the serial port was set up.
// SPDX-License-Identifier: MIT
#include "../../kernel/cpu.h"
#define pause() ((void)0)
#include "../../drivers/serial.c"
#include "clock_fake.h"
#include "test.h"

// A port without FIFOs: it holds one byte, and takes the next from the line so
// many looks after that was read. Switching the FIFOs on throws away what it
// holds.
static const char *line;
static u32 line_looks, wait, looks;
static u8 held, full, fifo, bad, registers[8];

static void port_take(void)
{
    if (!full && *line && wait-- == 0) {
        held = (u8)*line++;
        full = 1;
    }
}

u8 inb(u16 port)
{
    if (port == COM1 + UART_DATA) {
        full = 0;
        wait = line_looks;
        return held;
    }
    if (port != COM1 + UART_LSR) {
        return registers[port - COM1];
    }
    looks++;
    port_take();
    return (u8)(LSR_THRE | (full ? LSR_READY | bad : 0));
}

void outb(u16 port, u8 value)
{
    if (port == COM1 + UART_FCR) {
        port_take(); // at the worst moment
        fifo = 1;
        full = 0;
    }
    registers[port - COM1] = value;
}

static char typed[512];
static u32 typed_n;

void input_push_line(u8 byte)
{
    CHECK(typed_n < sizeof(typed) - 1);
    typed[typed_n++] = (char)byte;
    typed[typed_n] = 0;
}

u32 input_room(void)
{
    return 64;
}

void input_add_source(const struct input_source *source)
{
    (void)source;
}

void console_add_sink(const struct console_sink *sink)
{
    (void)sink;
}

void interrupt_set_handler(u8 vector, interrupt_handler *fn, void *context)
{
    (void)vector, (void)fn, (void)context;
}

int apic_route_irq(u32 irq, u8 vector)
{
    (void)irq, (void)vector;
    return 0;
}

static void begin(const char *text, u32 between)
{
    memset(&serial, 0, sizeof(serial));
    line = text;
    line_looks = between;
    wait = looks = typed_n = typed[0] = full = fifo = bad = 0;
    CHECK_EQ(serial_init(), 0);
    CHECK_EQ(serial_start_input(), 0);
}

static void nothing_typed(void)
{
    begin("", 0);
    CHECK_EQ(looks, 1);
    CHECK_EQ(typed_n, 0);
    CHECK(fifo);
}

static void all_of_it_arrives(void)
{
    static const u32 between[] = {0, 1, 2, 7, 50, SILENT_LOOKS - 2};
    for (u32 i = 0; i < array_size(between); i++) {
        begin("run hello early\r", between[i]);
        CHECK(strcmp(typed, "run hello early\r") == 0 && fifo);
    }
}

static void a_line_that_does_not_end(void)
{
    static char much[2 * EARLY_BYTES];
    memset(much, 'x', sizeof(much) - 1);
    begin(much, 3);
    CHECK_EQ(typed_n, EARLY_BYTES);
    CHECK(looks < EARLY_BYTES * 4 + SILENT_LOOKS);
    CHECK(line == much + EARLY_BYTES && !fifo); // the sender has the rest
    for (u32 i = 0; typed_n < sizeof(much) - 1 && i < sizeof(much) * 4; i++) {
        serial_poll();
    }
    CHECK_EQ(typed_n, sizeof(much) - 1);
}

static void noise_is_nothing(void)
{
    begin("", 0);
    line = "zzzz";
    bad = LSR_BAD;
    serial.early_n = looks = 0;
    serial_keep_early();
    CHECK_EQ(serial.early_n, 0);
    CHECK_EQ(looks, 1);
}

int main(void)
{
    RUN(nothing_typed);
    RUN(all_of_it_arrives);
    RUN(a_line_that_does_not_end);
    RUN(noise_is_nothing);
    return TEST_RESULT();
}
