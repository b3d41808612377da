// core.h - what belongs to one core: descriptor tables, stacks, and what it
// does.
// SPDX-License-Identifier: MIT
#pragma once
#include "../include/ingot.h"

enum { CORES = 256 };

// Interrupt stacks, by IST number: separate ones for what may strike inside
// another handler. Then the stack a core starts and waits on, and the one that
// a program's function runs on. Each ends in an unmapped page.
enum core_stack {
    STACK_INTERRUPT = 1,
    STACK_EXCEPTION,
    STACK_PAGE_FAULT,
    STACK_DOUBLE_FAULT,
    STACK_NMI,
    STACK_MACHINE_CHECK,
    IST_STACKS = STACK_MACHINE_CHECK,
    STACK_HOOK, // a program's hooks, where they interrupt it
    STACK_IDLE,
    STACK_WORK,
};

struct tss { // Intel SDM volume 3, 7.7
    u32 reserved0;
    u32 rsp[6];
    u32 reserved1[2];
    u32 ist[14]; // seven addresses, low half first
    u32 reserved2[2];
    u16 reserved3;
    u16 io_map;
};
_Static_assert(sizeof(struct tss) == 104, "the processor's TSS");

struct core {
    struct core *self; // first: GS points here
    u32 index;
    u32 apic_id;
    u64 saved;  // at 16, isr.asm: what app_leave() needs to end what runs here
    u64 xcr0;   // at 24, isr.asm; as it is to be, like cr0 and cr4 below
    u32 inside; // a device interrupt's handler is running
    u32 stop;   // leave the program's code
    u32 whole;  // in a call that ends before anything stops
    u64 gdt[5]; // null, code, data, TSS (two entries)
    u32 reporting; // an exception is being reported
    u32 used;      // ran something since the program was started
    u32 lost;      // did not stop
    u64 cr0, cr4, efer;
    struct tss tss;
    // The mailbox: a line of its own, because waiting cores watch it.
    __attribute__((aligned(64))) void (*fn)(void *);
    void *arg;
    u32 busy;       // taken by a sender, given back when fn has returned
    u64 hooks;      // due on this core, a bit each (hook.c)
    u8 hook_runs;   // inside a hook, or between two
    u8 hook_steps;  // the trap flag is set to find the end of a call
    u8 hook_timer;  // its timer is set
    u8 hook_hushed; // devices of the program wait
};

_Static_assert(__builtin_offsetof(struct core, saved) == 16 &&
                   __builtin_offsetof(struct core, xcr0) == 24,
               "isr.asm");

void core_begin(void); // the very first step: core_self() works
// Make a core's descriptor tables and stacks. E_NOMEM.
int must_check core_make(u32 index, u32 apic_id);
// Load them on the core that calls; SSE, AVX and x87 switched on.
void core_load(struct core *core);
// The same again, and the control registers as they were: a program in ring 0
// may have changed any of them.
void core_restore(struct core *core);
// GS as core_self() needs it, for the core whose interrupt stack this is.
void core_find_self(const void *on_stack);
struct core *core_get(u32 index); // null: not made
u64 core_stack_top(u32 index, enum core_stack stack);
// 1 when a stack pointer is on one of the interrupt stacks of a core.
int core_is_interrupt_stack(u64 rsp);
// 1 when address lies below a stack of a core, where nothing is mapped.
int core_is_stack_guard(u64 address);

// The calling core; volatile, because the compiler knows nothing of cores.
#ifdef MMIO_FAKE
struct core *core_self(void); // the host has one of its own
#else
static inline struct core *core_self(void)
{
    struct core *core;
    __asm__ volatile("movq %%gs:0, %0" : "=r"(core));
    return core;
}
#endif
