// core.h - what belongs to one core: descriptor tables and interrupt stacks.
// SPDX-License-Identifier: MIT
#pragma once
#include "../include/ingot.h"

// Interrupt stacks, by IST number. Separate ones for what may strike inside
// another handler. Each ends in an unmapped page.
enum core_stack {
    STACK_INTERRUPT = 1,
    STACK_EXCEPTION,
    STACK_PAGE_FAULT,
    STACK_DOUBLE_FAULT,
    STACK_NMI,
    STACK_MACHINE_CHECK,
    STACKS = STACK_MACHINE_CHECK,
};

// Descriptor tables and stacks of this core; SSE, AVX and x87 switched on.
// E_NOMEM.
int must_check core_init(u32 core);
u64 core_xcr0(void); // state components on, 0 without XSAVE
// 1 when address lies in the unmapped page below an interrupt stack.
int core_is_stack_guard(u64 address);
