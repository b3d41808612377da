// interrupt.h - the IDT: exceptions are reported, device interrupts handled.
// SPDX-License-Identifier: MIT
#pragma once
#include "../include/ingot.h"

// As isr.asm leaves them on the interrupt stack.
struct registers {
    u64 r15, r14, r13, r12, r11, r10, r9, r8;
    u64 rbp, rdi, rsi, rdx, rcx, rbx, rax;
    u64 vector, error;
    u64 rip, cs, rflags, rsp, ss;
};

enum {
    VECTOR_PIC_BASE = 0x30, // where a masked 8259 would land: ignored
    // A higher vector comes first, so that no device of a program's keeps keys
    // or another core from being heard. Sixteen are a class of priority.
    VECTOR_HOOKS = 0x40,    // 32 for messages of devices that programs drive
    VECTOR_DRIVERS = 0x60,  // 16 for those of the kernel's own
    VECTOR_IRQ_BASE = 0x70, // legacy IRQs 0 to 12, wherever they come from
    VECTOR_HOOK = 0x7D,     // a call that waits lets hooks run: no device's
    VECTOR_TIMER = 0x7E,    // the core's own APIC timer
    VECTOR_CORE = 0x7F,     // from another core
    VECTOR_SPURIOUS = 0xFF,
};

enum { SELECTOR_CODE = 8, SELECTOR_DATA = 16 }; // core.c's

typedef void interrupt_handler(void *context);

void interrupt_init(void);       // from here on an exception is a report
void interrupt_load(void);       // the same IDT on a further core
void interrupt_use_stacks(void); // core_init() has made them
// Handle a vector with fn(context). Called with interrupts off.
void interrupt_set_handler(u8 vector, interrupt_handler *fn, void *context);
u64 interrupt_count(void); // device interrupts since boot
