// serial.c - the 16550 serial port COM1: console text out, typed bytes in.
// SPDX-License-Identifier: MIT
//
// PC16550D data sheet (TI SNLS378). Tested on QEMU only.
#include "../kernel/apic.h"
#include "../kernel/console.h"
#include "../kernel/input.h"
#include "../kernel/driver.h"
#include "serial_regs.h"

#define LOG_TAG "serial"

enum { FIFO_BYTES = 16, COM1 = 0x3F8, COM1_IRQ = 4 };
enum { SEND_MS = 5000, BYTES_AN_INTERRUPT = 256 };
// How often the line is looked at, and how long not in between, before it
// counts as silent: longer than a byte takes.
enum { EARLY_BYTES = 128, SILENT_LOOKS = 100, PAUSES = 500 };

static struct {
    u8 present;
    u8 stuck;  // the transmitter did not come free in time
    u8 paused; // the input ring was full
    u8 by_interrupt;
    u32 holds;             // bytes the transmitter takes
    u32 room;              // bytes it surely takes now
    u8 early[EARLY_BYTES]; // typed before the port was set up
    u32 early_n;
} serial;

// Wait until the FIFO is empty. Whoever reads the line may be slow (a host
// under load, a terminal stopped by hand), so the wait is long, about seconds;
// but only the first byte that finds it stuck waits, the rest are lost until it
// moves again. Returns 0 when there is room.
static int serial_wait_room(void)
{
    if ((inb(COM1 + UART_LSR) & LSR_THRE) == 0) {
        struct deadline limit = deadline_ms(SEND_MS);
        do {
            if (serial.stuck || deadline_passed(&limit)) {
                serial.stuck = 1;
                return E_TIMEOUT;
            }
            pause();
        } while ((inb(COM1 + UART_LSR) & LSR_THRE) == 0);
    }
    serial.stuck = 0;
    serial.room = serial.holds;
    return 0;
}

static void serial_send(u8 byte)
{
    if (serial.room == 0 && serial_wait_room() < 0) {
        return;
    }
    outb(COM1 + UART_DATA, byte);
    serial.room--;
}

static void serial_write(const char *text, u64 len)
{
    for (u64 i = 0; i < len; i++) {
        if (text[i] == '\n') {
            serial_send('\r');
        }
        serial_send((u8)text[i]);
    }
}

static void serial_set_receiving(int on)
{
    outb(COM1 + UART_MCR,
         on ? MCR_DTR | MCR_RTS | MCR_OUT2 : MCR_DTR | MCR_OUT2);
    if (serial.by_interrupt) {
        outb(COM1 + UART_IER, on ? IER_RECEIVED : 0);
    }
    serial.paused = !on;
}

// Bytes into the ring while there is room; then RTS drops and the sender waits.
static void serial_poll(void)
{
    for (u32 i = 0; i < BYTES_AN_INTERRUPT && !serial.paused; i++) {
        if ((inb(COM1 + UART_LSR) & LSR_READY) == 0) {
            return;
        }
        if (input_room() == 0) {
            serial_set_receiving(0);
            return;
        }
        input_push_line(inb(COM1 + UART_DATA));
    }
}

static void serial_interrupt(void *context)
{
    (void)context;
    inb(COM1 + UART_IIR);
    serial_poll();
}

static void serial_resume(void)
{
    if (serial.paused) {
        serial_set_receiving(1);
        serial_poll();
    }
}

static const struct console_sink serial_sink = {"serial", serial_write};
static const struct input_source serial_source = {"serial", serial_poll,
                                                  serial_resume};

// A port that is not there reads all ones and keeps nothing.
static int serial_is_present(void)
{
    outb(COM1 + UART_SCRATCH, 0x5A);
    if (inb(COM1 + UART_SCRATCH) != 0x5A) {
        return 0;
    }
    outb(COM1 + UART_SCRATCH, 0xA5);
    return inb(COM1 + UART_SCRATCH) == 0xA5;
}

// What was typed before: first what a port without FIFOs holds, and then all
// until the line is silent. Not what a plug or a wrong speed made of it.
static void serial_keep_early(void)
{
    for (u32 looks = 0, most = 1; looks < most && serial.early_n < EARLY_BYTES;
         looks++) {
        // Looking without a break would keep an emulator from going on.
        for (u32 i = 0; i < PAUSES && most > 1; i++) {
            pause();
        }
        u8 status = inb(COM1 + UART_LSR);
        u8 byte = status & LSR_READY ? inb(COM1 + UART_DATA) : 0;
        if ((status & (LSR_READY | LSR_BAD)) == LSR_READY) {
            serial.early[serial.early_n++] = byte;
            looks = 0;
            most = SILENT_LOOKS;
        }
    }
}

// Switching the FIFOs on empties them: not while somebody sends on and on, who
// is served byte by byte.
static void serial_switch_fifo_on(void)
{
    serial.holds = 1;
    if (serial.early_n < EARLY_BYTES) {
        outb(COM1 + UART_FCR, FCR_ENABLE | FCR_CLEAR_TRANSMIT);
        serial.holds = FIFO_BYTES;
    }
}

static int serial_init(void)
{
    if (!serial_is_present()) {
        return E_NODEV;
    }
    outb(COM1 + UART_IER, 0);
    outb(COM1 + UART_LCR, LCR_8N1);
    serial_keep_early();
    serial_switch_fifo_on();
    outb(COM1 + UART_LCR, LCR_DIVISOR);
    outb(COM1 + UART_DIVISOR_LOW, 1); // 115200 baud
    outb(COM1 + UART_DIVISOR_HIGH, 0);
    outb(COM1 + UART_LCR, LCR_8N1);
    serial.present = 1;
    serial_set_receiving(1);
    console_add_sink(&serial_sink);
    return 0;
}

static int serial_start_input(void)
{
    if (!serial.present) {
        return E_NODEV;
    }
    for (u32 i = 0; i < serial.early_n; i++) {
        input_push_line(serial.early[i]);
    }
    input_add_source(&serial_source);
    interrupt_set_handler(VECTOR_IRQ_BASE + COM1_IRQ, serial_interrupt, 0);
    TRY(apic_route_irq(COM1_IRQ, VECTOR_IRQ_BASE + COM1_IRQ));
    serial.by_interrupt = 1;
    serial_set_receiving(1);
    return 0;
}

const struct console_driver serial_driver = {"serial", serial_init,
                                             serial_start_input};
