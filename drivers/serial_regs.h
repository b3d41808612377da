// serial_regs.h - PC16550D registers, as offsets from the port (TI SNLS378).
// SPDX-License-Identifier: MIT
#pragma once

enum {
    UART_DATA = 0, // with LCR_DIVISOR: UART_DIVISOR_LOW
    UART_DIVISOR_LOW = 0,
    UART_IER = 1,
    IER_RECEIVED = 1,
    UART_DIVISOR_HIGH = 1,
    UART_IIR = 2,
    UART_FCR = 2,
    FCR_ENABLE = 1,
    FCR_CLEAR_TRANSMIT = 4,
    UART_LCR = 3,
    LCR_8N1 = 3,
    LCR_DIVISOR = 0x80,
    UART_MCR = 4,
    MCR_DTR = 1,
    MCR_RTS = 2,
    MCR_OUT2 = 8, // lets the interrupt out on a PC
    UART_LSR = 5,
    LSR_READY = 1,
    LSR_BAD = 0x1C, // parity, framing, break
    LSR_THRE = 0x20,
    UART_SCRATCH = 7,
};
