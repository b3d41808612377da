// interrupt.c - the IDT: exceptions become reports, device interrupts handlers.
// SPDX-License-Identifier: MIT
//
// Intel SDM volume 3, 6.14. Every gate runs on a stack of its own once
// core_init() has made them, so programs may use the red zone.
#include "interrupt.h"
#include "../lib/string.h"
#include "app.h"
#include "apic.h"
#include "core.h"
#include "cpu.h"
#include "fault.h"
#include "panic.h"
#include "hook.h"
#include "msi.h"

enum { VECTORS = 256, STUBS = 0x80, STUB_BYTES = 16, EXCEPTIONS = 32 };
enum {
    VECTOR_DEBUG = 1,
    VECTOR_NMI = 2,
    VECTOR_DOUBLE_FAULT = 8,
    VECTOR_PAGE_FAULT = 14,
    VECTOR_MACHINE_CHECK = 18
};

struct gate {
    u16 offset_low, selector;
    u8 ist, type;
    u16 offset_middle;
    u32 offset_high, reserved;
};
_Static_assert(sizeof(struct gate) == 16, "the processor's gate");

extern const char interrupt_stubs[], interrupt_stub_spurious[];

static struct gate idt[VECTORS] __attribute__((aligned(16)));
static struct {
    interrupt_handler *fn;
    void *context;
} handlers[STUBS];
static u64 interrupts;

static void interrupt_set_gate(u32 vector, const char *stub, u8 ist)
{
    u64 address = (u64)stub;
    idt[vector] = (struct gate){
        .offset_low = (u16)address,
        .selector = SELECTOR_CODE,
        .ist = ist,
        .type = 0x8E, // present, interrupt gate: IF is cleared
        .offset_middle = (u16)(address >> 16),
        .offset_high = (u32)(address >> 32),
    };
}

static u8 interrupt_stack(u32 vector)
{
    switch (vector) {
    case VECTOR_NMI:
        return STACK_NMI;
    case VECTOR_DOUBLE_FAULT:
        return STACK_DOUBLE_FAULT;
    case VECTOR_PAGE_FAULT:
        return STACK_PAGE_FAULT;
    case VECTOR_MACHINE_CHECK:
        return STACK_MACHINE_CHECK;
    default:
        return vector < EXCEPTIONS ? STACK_EXCEPTION : STACK_INTERRUPT;
    }
}

static void interrupt_fill(int with_stacks)
{
    for (u32 vector = 0; vector < STUBS; vector++) {
        interrupt_set_gate(vector, interrupt_stubs + vector * STUB_BYTES,
                           with_stacks ? interrupt_stack(vector) : 0);
    }
    interrupt_set_gate(VECTOR_SPURIOUS, interrupt_stub_spurious,
                       with_stacks ? STACK_INTERRUPT : 0);
}

void interrupt_load(void)
{
    struct __attribute__((packed)) {
        u16 limit;
        u64 base;
    } pointer = {sizeof(idt) - 1, (u64)idt};
    __asm__ volatile("lidt %0" : : "m"(pointer));
}

void interrupt_init(void)
{
    interrupt_fill(0);
    interrupt_load();
}

void interrupt_use_stacks(void)
{
    interrupt_fill(1);
}

void interrupt_set_handler(u8 vector, interrupt_handler *fn, void *context)
{
    handlers[vector].context = context;
    handlers[vector].fn = fn;
}

static void interrupt_reserved(void *context)
{
    (void)context; // taken, and not yet told what for
}

int interrupt_take_vector(u8 first, interrupt_handler *fn, void *context)
{
    u32 end = first == VECTOR_HOOKS ? VECTOR_DRIVERS : VECTOR_IRQ_BASE;
    for (u32 vector = first; vector < end; vector++) {
        interrupt_handler *none = 0;
        if (__atomic_compare_exchange_n(&handlers[vector].fn, &none,
                                        interrupt_reserved, 0, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
            handlers[vector].context = context;
            store_release(&handlers[vector].fn, fn);
            return (int)vector;
        }
    }
    return E_NOMEM;
}

void interrupt_give_vector(u8 vector)
{
    if (vector >= VECTOR_HOOKS && vector < VECTOR_IRQ_BASE) {
        store_release(&handlers[vector].fn, (interrupt_handler *)0);
    }
}

u64 interrupt_count(void)
{
    return interrupts;
}

// Vectors with an error code (SDM table 6-1).
#define ERROR_CODES                                                            \
    (BIT(8) | BITS(14, 10) | BIT(17) | BIT(21) | BIT(29) | BIT(30))

// A program's INT n pushes none, whatever the vector: all lies a word too low.
// Where CS should be are then flags, and bit 1 of these is always set.
static void interrupt_repair(struct registers *regs)
{
    if (regs->vector < EXCEPTIONS && ERROR_CODES >> regs->vector & 1 &&
        regs->rip == SELECTOR_CODE && regs->cs & BIT(1)) {
        memmove(&regs->rip, &regs->error, 5 * sizeof(u64));
        regs->error = 0;
    }
}

static void interrupt_exception(struct registers *regs)
{
    if (panic_is_elsewhere(core_self())) {
        panic_stop_here();
    }
    int step = regs->vector == VECTOR_DEBUG || regs->vector == VECTOR_NMI;
    if (step && app_stop_step(regs)) {
        return;
    }
    if (regs->vector == VECTOR_NMI && core_self()->index != 0) {
        return; // smp_stop_all()'s: the core had stopped before it came
    }
    if (!core_self()->inside && app_fault(regs)) {
        return;
    }
    panic_exception(regs);
}

// Called by isr.asm with interrupts off.
void interrupt_dispatch(struct registers *regs);
void interrupt_dispatch(struct registers *regs)
{
    core_find_self(regs);
    interrupt_repair(regs);
    if (regs->vector < EXCEPTIONS) {
        interrupt_exception(regs);
        return;
    }
    if (regs->vector >= VECTOR_PIC_BASE &&
        regs->vector < VECTOR_PIC_BASE + 16) {
        return; // a masked 8259's spurious interrupt
    }
    if (regs->vector == VECTOR_HOOK) {
        hook_deliver(regs);
        return;
    }
    struct core *core = core_self();
    __atomic_fetch_add(&interrupts, 1, __ATOMIC_RELAXED);
    core->inside = 1;
    interrupt_handler *fn = load_acquire(&handlers[regs->vector].fn);
    if (fn != 0) { // null: given back while it was on its way
        fn(handlers[regs->vector].context);
    }
    core->inside = 0;
    apic_end_of_interrupt();
    app_stop_step(regs);
}
