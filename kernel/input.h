// input.h - the ring of typed bytes, fed by interrupts, read by con_read.
// SPDX-License-Identifier: MIT
#pragma once
#include "../include/ingot.h"

enum { INPUT_CAP = 8192 }; // bytes; a power of two

// A source (serial port, keyboard) that is not driven by interrupts is polled
// whenever somebody waits for input.
struct input_source {
    const char *name;
    void (*poll)(void);   // null: interrupts do it
    void (*resume)(void); // room again after input_room() said 0; may be null
};

void input_add_source(const struct input_source *source);
u32 input_room(void);     // bytes that fit
void input_push(u8 byte); // from an interrupt handler; full: dropped
// Put text where typed bytes go, ahead of nothing: run= uses it.
void input_push_text(const char *text, u64 len);
// Bytes read; waits wait_ns (-1 for ever) for the first.
u64 input_read(void *text, u64 cap, i64 wait_ns);
u64 input_dropped(void);
