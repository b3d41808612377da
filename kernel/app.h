// app.h - a program's life: loaded into the window, run, and taken away.
// SPDX-License-Identifier: MIT
#pragma once
#include "interrupt.h"
#include "memory.h"
#include "symbols.h"

// Start the shell, and a fresh copy whenever it ends. Does not return.
_Noreturn void app_run_shell(void);
int app_run(const void *image, u64 len, u32 flags, int argc,
            const char *const *argv);
int app_exit(int status);

int app_running(void);             // 1 while a program (not the shell) runs
enum memory_owner app_owner(void); // whose memory a call now allocates
const char *app_name(void);        // of what runs: the program, or "shell"
// Offset of address in the running program's image; -1 outside.
i64 app_offset(u64 address);
// The program's own name for the place. E_FORMAT: it has none, or is flat.
int must_check app_symbol(u64 address, struct symbol *symbol);
int app_is_stack_guard(u64 address); // below the running program's stack

// An exception struck. Returns 1 when it was the program's (or the shell's): a
// report is printed and regs now lead back to whoever started it. 0: it was
// the kernel's own.
int app_fault(struct registers *regs);

// Ctrl-C was typed: end the running program (not the shell). Returns 1 when one
// runs; a call that waits asks app_stopping() and returns early.
int app_stop(void);
int app_stopping(void);
// A call that waits, and holds nothing: leave the program here and now if it is
// to be stopped.
void app_leave_if_stopping(void);
// After an interrupt or a single step: end the program if it is to be stopped
// and is in its own code; inside a call, step on until it is. Returns 1 when
// the step was ours.
// A call that a stop must not slow down to single steps, because it takes long
// and must end, begins (1) and ends (0) so.
void app_call_whole(int on);
int app_stop_step(struct registers *regs);
