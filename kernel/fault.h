// fault.h - what is printed when an exception struck.
// SPDX-License-Identifier: MIT
#pragma once
#include "interrupt.h"

// Vector by name, what was touched and what lies there, registers, backtrace.
void fault_report(const struct registers *regs, const char *who);
// 1 when address lies in the kernel's text.
int fault_in_kernel(u64 address);
