// apic_timer.c - the local APIC's timer of the core that calls, set to one
// moment of the TSC.
// SPDX-License-Identifier: MIT
//
// Intel SDM volume 3, 10.5.4. With TSC-deadline the processor compares; else a
// count runs down, at a rate that is measured when the first one is wanted.
#include "apic.h"
#include "cpu.h"
#include "interrupt.h"
#include "time.h"

enum {
    LVT_TSC_DEADLINE = 2 << 17,
    APIC_INITIAL = 0x380,
    APIC_CURRENT = 0x390,
    APIC_DIVIDE = 0x3E0,
    DIVIDE_BY_1 = 11,
    MSR_TSC_DEADLINE = 0x6E0,
};
#define CPUID1_TSC_DEADLINE BIT(24) // ECX
// The longest count: further moments are reached in several.
#define COUNT_MOST (1u << 31)
enum { RATE_SHIFT = 24, MEASURE_NS = 200000 };

static u64 ticks_per_tsc; // << RATE_SHIFT; 0: not measured

static int apic_timer_has_deadline(void)
{
    return (cpuid(1, 0).ecx & CPUID1_TSC_DEADLINE) != 0;
}

static int apic_timer_measure(void)
{
    u64 flags = irq_save();
    struct deadline limit = deadline_ns(MEASURE_NS);
    apic_write(APIC_LVT_TIMER, LVT_MASKED);
    apic_write(APIC_DIVIDE, DIVIDE_BY_1);
    apic_write(APIC_INITIAL, ~0u);
    u64 start = rdtsc();
    while (!deadline_passed(&limit)) {
        pause();
    }
    u32 left = apic_read(APIC_CURRENT);
    u64 took = rdtsc() - start;
    apic_write(APIC_INITIAL, 0);
    irq_restore(flags);
    if (left == 0 || left == ~0u || took == 0) {
        return E_NODEV;
    }
    ticks_per_tsc = ((u64)(~0u - left) << RATE_SHIFT) / took;
    return ticks_per_tsc != 0 ? 0 : E_NODEV;
}

int apic_timer_init(void)
{
    if (!apic_is_on() || time_tsc_hz() == 0) {
        return E_NODEV;
    }
    return apic_timer_has_deadline() || ticks_per_tsc != 0
               ? 0
               : apic_timer_measure();
}

static u32 apic_timer_count(u64 tsc)
{
    u64 now = rdtsc();
    if (tsc <= now) {
        return 1;
    }
    unsigned __int128 ticks =
        ((unsigned __int128)(tsc - now) * ticks_per_tsc >> RATE_SHIFT) + 1;
    return ticks < COUNT_MOST ? (u32)ticks : COUNT_MOST;
}

void apic_timer_set(u64 tsc)
{
    if (apic_timer_has_deadline()) {
        apic_write(APIC_LVT_TIMER, LVT_TSC_DEADLINE | VECTOR_TIMER);
        fence(); // 10.5.4.1: the mode is there before the moment
        wrmsr(MSR_TSC_DEADLINE, tsc != 0 ? tsc : 1);
        return;
    }
    apic_write(APIC_DIVIDE, DIVIDE_BY_1);
    apic_write(APIC_LVT_TIMER, VECTOR_TIMER);
    apic_write(APIC_INITIAL, apic_timer_count(tsc));
}

void apic_timer_stop(void)
{
    apic_write(APIC_LVT_TIMER, LVT_MASKED); // 10.5.4.1: disarms a deadline too
    if (!apic_timer_has_deadline()) {
        apic_write(APIC_INITIAL, 0);
    }
}
