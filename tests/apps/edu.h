// edu.h - QEMU's educational device: one MSI, for whatever reason one gives.
// SPDX-License-Identifier: MIT
//
// QEMU, docs/specs/edu: PCI 1234:11e8, BAR 0 is 1 MiB of registers.
#pragma once
#include "device.h"

enum { EDU_VENDOR = 0x1234, EDU_ID = 0x11e8, EDU_BYTES = 1 << 20 };
enum {
    EDU_FACTORIAL = 0x08,
    EDU_STATUS = 0x20,
    STATUS_BUSY = 1,
    STATUS_INTERRUPT = 0x80, // when the factorial is done
    EDU_CAUSES = 0x24,
    CAUSE_FACTORIAL = 1,
    CAUSE_DMA = 0x100,
    EDU_RAISE = 0x60,
    EDU_ACK = 0x64,
    EDU_DMA_FROM = 0x80, // 64 bits each
    EDU_DMA_TO = 0x88,
    EDU_DMA_BYTES = 0x90,
    EDU_DMA_COMMAND = 0x98,
    DMA_START = 1,
    DMA_TO_MEMORY = 2,
    DMA_INTERRUPT = 4,
    EDU_BUFFER = 0x40000, // the device's own memory, 4 KiB
    EDU_MOVED = 2048,     // bytes of it
};

static struct {
    u32 index; // of the PCI function
    u64 regs;
} edu;

static void edu_raise(void)
{
    device_write32(edu.regs + EDU_RAISE, 2);
}

// What it interrupted for; it may do so again.
static u32 edu_ack(void)
{
    u32 causes = device_read32(edu.regs + EDU_CAUSES);
    device_write32(edu.regs + EDU_ACK, causes);
    return causes;
}

static int edu_open(void)
{
    int index = device_find(EDU_VENDOR, EDU_ID, 0);
    if (index < 0) {
        return index;
    }
    edu.index = (u32)index;
    device_switch_on(edu.index);
    int result = device_map(edu.index, 0, EDU_BYTES, &edu.regs);
    if (result == 0) {
        (void)edu_ack(); // what the program before left
    }
    return result;
}

// By n multiplications in a thread of QEMU's; then it interrupts.
static void edu_start_factorial(u32 n)
{
    device_write32(edu.regs + EDU_STATUS, STATUS_INTERRUPT);
    device_write32(edu.regs + EDU_FACTORIAL, n);
}

// In a tenth of a second the device writes to phys, and interrupts.
static void edu_start_dma(u64 phys)
{
    *(volatile u64 *)(edu.regs + EDU_DMA_FROM) = EDU_BUFFER;
    *(volatile u64 *)(edu.regs + EDU_DMA_TO) = phys;
    *(volatile u64 *)(edu.regs + EDU_DMA_BYTES) = EDU_MOVED;
    *(volatile u64 *)(edu.regs + EDU_DMA_COMMAND) =
        DMA_START | DMA_TO_MEMORY | DMA_INTERRUPT;
}
