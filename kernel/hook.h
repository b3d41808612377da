// hook.h - a program's functions that are called by interrupt.
// SPDX-License-Identifier: MIT
#pragma once
#include "core.h"
#include "cpu.h"
#include "interrupt.h"

// The calls of the table; their contracts are in ingot.h.
int hook_timer(u64 first_ns, u64 period_ns, void (*fn)(void *), void *arg);
int hook_net(u32 nic, void (*fn)(void *), void *arg);
int hook_irq(u32 index, u32 entry, void (*fn)(void *), void *arg);
int hook_remove(u32 hook);

// 1 when hooks are due on this core and none runs.
static inline int hook_is_due(const struct core *core)
{
    return __builtin_expect(load_acquire(&core->hooks) != 0, 0) &&
           !core->hook_runs;
}

// After an interrupt or a step: a hook that is due runs when the program is in
// its own code; inside a call, step on until it is. Returns 1 when regs were
// changed, or the step was ours.
int hook_step(struct registers *regs);
// regs now lead to the hooks that are due, and from there back.
void hook_deliver(struct registers *regs);
// A call that waits, and holds nothing: let hooks run that are due.
void hook_let_run(void);
// On a core that has nothing else to do.
void hook_run_idle(struct core *core);

// The program ended: no hook is called from now on; then, when its cores have
// stopped, the devices are quiet again.
void hook_forbid_all(void);
void hook_take_back_all(void);
