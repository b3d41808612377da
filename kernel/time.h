// time.h - the TSC as a clock, and waits with a limit.
// SPDX-License-Identifier: MIT
#pragma once
#include "acpi.h"

extern u64 boot_tsc; // the TSC at the kernel's first instruction (entry.asm)

void time_init(const struct acpi *acpi);
u64 time_ns(void); // since the kernel started; 0 when there is no clock
u64 time_tsc_hz(void);
u64 time_ticks(u64 ns); // of the TSC, not fewer; at least 1
const char *time_source(void);
i64 time_wall(void); // seconds since 1970 UTC from the RTC, -1 unknown
// Re-measure the TSC over the time since boot, once, when that is long enough
// to be finer than the boot's measurement. The clock stays monotonic.
void time_refine(void);

// A limit for a wait on hardware:
//     struct deadline d = deadline_ms(500);
//     while (!done) { if (deadline_passed(&d)) return E_TIMEOUT; pause(); }
// Without a clock it counts passes, so it still ends.
struct deadline {
    u64 end; // TSC
    u64 passes;
};
struct deadline deadline_ns(u64 ns);
static inline struct deadline deadline_ms(u64 ms)
{
    return deadline_ns(ms * 1000000);
}
int deadline_passed(struct deadline *deadline);
void time_delay_ns(u64 ns);
