// app.h - a program's life: loaded into the window, run, and taken away.
// SPDX-License-Identifier: MIT
#pragma once
#include "interrupt.h"
#include "memory.h"

void app_start_shell(void); // start the shell, and again whenever it ends
int app_run(const void *image, u64 len, u32 flags, int argc,
            const char *const *argv);
int app_exit(int status);
int app_running(void);             // 1 while a program (not the shell) runs
enum memory_owner app_owner(void); // whose memory a call now allocates

// An exception struck. Returns 1 when it was the program's (or the shell's): a
// report is printed and regs now lead back to whoever started it. 0: the
// kernel's own.
int app_fault(struct registers *regs);
// Ctrl-C was typed: end the running program as soon as it is in its own code.
void app_interrupt(void);
