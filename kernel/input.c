// input.c - the ring of typed bytes: fed by interrupts, read by con_read.
// SPDX-License-Identifier: MIT
//
// One producer (interrupt handlers, or the poll of a waiting reader with
// interrupts off) and one consumer. Indices run free and are masked to index.
#include "input.h"
#include "app.h"
#include "cpu.h"
#include "hook.h"
#include "memory.h"
#include "time.h"

enum { CTRL_C = 3 };

static struct {
    const struct input_source *sources[INPUT_SOURCES];
    u32 n_sources;
    u32 by_interrupt;
    u32 prod, cons;
    u64 dropped;
    u32 at_keyboard;
    u8 *ring; // INPUT_CAP bytes
} input;

void input_add_source(const struct input_source *source)
{
    if (input.n_sources < INPUT_SOURCES) {
        input.sources[input.n_sources++] = source;
    }
}

int input_init(void)
{
    input.ring = memory_boot_buffer(INPUT_CAP, PAGE);
    return input.ring ? 0 : E_NOMEM;
}

void input_use_interrupts(void)
{
    input.by_interrupt = 1;
}
void input_use_polling(void)
{
    input.by_interrupt = 0;
}
u64 input_dropped(void)
{
    return input.dropped;
}

u32 input_room(void)
{
    return input.ring == 0
               ? 0
               : INPUT_CAP - (input.prod - load_acquire(&input.cons));
}

static void input_keep(u8 byte)
{
    if (byte == CTRL_C && app_stop()) {
        return;
    }
    if (input_room() == 0) {
        input.dropped++;
        return;
    }
    input.ring[input.prod % INPUT_CAP] = byte;
    store_release(&input.prod, input.prod + 1);
}

void input_push(u8 byte)
{
    input.at_keyboard = 1;
    input_keep(byte);
}

void input_push_line(u8 byte)
{
    input.at_keyboard = 0;
    input_keep(byte);
}

int input_at_keyboard(void)
{
    return (int)input.at_keyboard;
}

static void input_poll(void)
{
    u64 flags = irq_save();
    for (u32 i = 0; i < input.n_sources; i++) {
        input.sources[i]->poll();
    }
    irq_restore(flags);
}

static void input_resume(void)
{
    u64 flags = irq_save();
    for (u32 i = 0; i < input.n_sources; i++) {
        if (input.sources[i]->resume != 0) {
            input.sources[i]->resume();
        }
    }
    irq_restore(flags);
}

static u64 input_take(u8 *text, u64 cap)
{
    u64 n = 0;
    while (n < cap && input.cons != load_acquire(&input.prod)) {
        text[n++] = input.ring[input.cons % INPUT_CAP];
        store_release(&input.cons, input.cons + 1);
    }
    if (n > 0 && input_room() > INPUT_CAP / 2) {
        input_resume();
    }
    return n;
}

// Sleep until something happens. Interrupts go on together with HLT, so that a
// byte cannot slip in between.
static void input_idle(int forever)
{
    if (!input.by_interrupt || !forever) {
        input_poll();
        pause();
        return;
    }
    cli();
    if (input.cons == load_acquire(&input.prod) && !app_stopping() &&
        !hook_is_due(core_self())) {
        sti_hlt();
    }
    sti();
}

u64 input_read(void *text, u64 cap, i64 wait_ns)
{
    struct deadline limit = deadline_ns(wait_ns > 0 ? (u64)wait_ns : 0);
    for (;;) {
        u64 n = input_take(text, cap);
        if (n > 0) {
            return n;
        }
        app_leave_if_stopping();
        hook_let_run();
        if (!input.by_interrupt && wait_ns == 0) {
            input_poll();
            return input_take(text, cap);
        }
        if (wait_ns == 0 || (wait_ns > 0 && deadline_passed(&limit))) {
            return 0;
        }
        input_idle(wait_ns < 0);
    }
}

void input_wait_key(void)
{
    u32 seen = input.prod;
    while (input.ring != 0 && input.n_sources > 0 && input.prod == seen) {
        input.cons = input.prod;
        input_poll();
        pause();
    }
}
