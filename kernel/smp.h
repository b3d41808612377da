// smp.h - the other cores: started at boot, idle until a program calls.
// SPDX-License-Identifier: MIT
#pragma once
#include "acpi.h"
#include "interrupt.h"

// Start every enabled core of the MADT. One that does not answer is reported
// and left out.
void smp_init(const struct acpi *acpi);
u32 smp_count(void); // cores that run, the first included

// The calls of the table; their contracts are in ingot.h.
int cpu_start(u32 cpu, void (*fn)(void *), void *arg);
int cpu_wait(u32 cpu);
int cpu_busy(u32 cpu);
int cpu_id(void);

// End what the program runs on other cores. Bounded: a core that cannot be
// stopped is reported and never used again.
void smp_stop_all(void);
// A panic: all others stop for good, as far as they can be reached.
void smp_halt_others(void);
// The same for the program itself, from another core: the first core leaves it.
void smp_interrupt_first(void);
