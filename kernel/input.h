// input.h - the ring of typed bytes: fed by interrupts, read by con_read.
// SPDX-License-Identifier: MIT
#pragma once
#include "../include/ingot.h"

enum { INPUT_CAP = 8192, INPUT_SOURCES = 4 }; // bytes, a power of two

// A serial port or a keyboard. Without interrupts it is polled whenever
// somebody waits for input.
struct input_source {
    const char *name;
    void (*poll)(void);   // move what has arrived into the ring
    void (*resume)(void); // there is room again; may be null
};

int must_check input_init(void); // E_NOMEM
void input_add_source(const struct input_source *source);
void input_use_interrupts(void); // every source now interrupts: HLT is safe
void input_use_polling(void);    // one came that does not
u32 input_room(void);            // bytes that fit
// By a source; a full ring drops and counts. _line: it came by a serial line.
void input_push(u8 byte);
void input_push_line(u8 byte);
int input_at_keyboard(void); // 1: the latest byte did not come by a line
u64 input_dropped(void);

// Bytes read; waits wait_ns (0: not at all, -1: for ever) for the first.
u64 input_read(void *text, u64 cap, i64 wait_ns);
void input_wait_key(void); // works without interrupts, in a panic
