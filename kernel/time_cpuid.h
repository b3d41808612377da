// time_cpuid.h - the TSC's rate where the processor says it.
// SPDX-License-Identifier: MIT
#pragma once
#include "../include/ingot.h"

// A rate that a TSC can have: 10 MHz to 20 GHz.
static inline int time_hz_sane(u64 hz)
{
    return hz >= 10000000 && hz <= 20000000000;
}

struct time_cpuid {
    u64 hz;             // 0: it does not
    const char *source; // "cpuid", "hypervisor"
    int exact;          // 0: a nominal rate, better measured again later
};

struct time_cpuid time_cpuid_read(void);
