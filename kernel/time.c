// time.c - the TSC as a clock, and waits with a limit.
// SPDX-License-Identifier: MIT
#define LOG_TAG "time"
#include "time.h"
#include "cpu.h"
#include "log.h"
#include "rtc.h"
#include "time_cpuid.h"
#include "time_reference.h"

enum {
    NS_SHIFT = 32,    // ns = ticks * ns_per_tick >> NS_SHIFT
    TICK_SHIFT = 28,  // ticks = ns * ticks_per_ns >> TICK_SHIFT: 2^35 Hz fit
    NS_PER_PASS = 50, // of a wait without a clock; surely not less
    REFINE_TRIES = 16,
};
static const u64 NS = 1000000000;
static const u64 BEHIND = 1ul << 40; // another core's counter may be, a hair
static const u64 REFINE_MIN_NS = 50000000;
static const u64 REFINE_MAX_NS = 240000000000;

struct time_clock {
    u64 hz;
    u64 tsc, ns; // at this count it was this late
    u64 ns_per_tick, ticks_per_ns;
};

// One is in use while time_refine() fills the other, so that no core ever sees
// half of a change.
static struct time_clock time_clocks[2];
static const struct time_clock *time_clock = &time_clocks[0];
static const char *time_name = "none";

static struct time_reference time_reference; // name null: nothing to refine by
static struct time_sample time_start;

static u64 time_multiply(u64 a, u64 b, u32 shift)
{
    unsigned __int128 product = (unsigned __int128)a * b >> shift;
    return product >> 64 ? ~0ul : (u64)product;
}

static void time_set(struct time_clock *clock, u64 hz, u64 tsc, u64 ns)
{
    clock->hz = hz;
    clock->tsc = tsc;
    clock->ns = ns;
    clock->ns_per_tick = (NS << NS_SHIFT) / hz;
    clock->ticks_per_ns = (hz << TICK_SHIFT) / NS;
    store_release(&time_clock, clock);
}

static u64 time_at(const struct time_clock *clock, u64 tsc)
{
    u64 ticks = tsc - clock->tsc;
    if (ticks > ~0ul - BEHIND) {
        ticks = 0;
    }
    return clock->ns + time_multiply(ticks, clock->ns_per_tick, NS_SHIFT);
}

void time_init(const struct acpi *acpi)
{
    struct time_cpuid said = time_cpuid_read();
    u64 hz = said.hz;
    rtc_init(acpi->cmos_century);
    if (hz != 0) {
        time_name = said.source;
    }
    if (!said.exact) {
        time_reference = time_reference_find(acpi);
    }
    if (time_reference.name) {
        u64 measured = time_reference_measure(&time_reference, &time_start);
        hz = hz != 0 ? hz : measured;
        time_name = said.hz != 0 ? time_name : time_reference.name;
    }
    if (!time_hz_sane(hz)) {
        time_name = "none";
        time_reference.name = 0;
        log_warn("no clock: waits are counted, time stands still");
        return;
    }
    time_set(&time_clocks[0], hz, boot_tsc, 0);
    log_info("TSC at %lu kHz by %s", hz / 1000, time_name);
}

u64 time_ns(void)
{
    const struct time_clock *clock = load_acquire(&time_clock);
    return clock->hz == 0 ? 0 : time_at(clock, rdtsc());
}

u64 time_tsc_hz(void)
{
    return load_acquire(&time_clock)->hz;
}

const char *time_source(void)
{
    return time_name;
}

i64 time_wall(void)
{
    return rtc_seconds();
}

// The longest that the reference can be left alone, with a margin for how
// badly the TSC is known, and the shortest that is worth a second measurement.
static u64 time_refine_max(void)
{
    u64 wrap_ns =
        time_reference.mask / time_reference.hz * NS +
        time_reference.mask % time_reference.hz * NS / time_reference.hz;
    u64 max = wrap_ns / 5 * 4;
    return max < REFINE_MAX_NS ? max : REFINE_MAX_NS;
}

void time_refine(void)
{
    const struct time_clock *old = time_clock;
    if (!time_reference.name) {
        return;
    }
    u64 max = time_refine_max();
    u64 min = REFINE_MIN_NS < max / 2 ? REFINE_MIN_NS : max / 2;
    u64 passed =
        time_multiply(rdtsc() - time_start.tsc, old->ns_per_tick, NS_SHIFT);
    if (passed < min) {
        return;
    }
    struct time_sample now =
        time_reference_sample(&time_reference, REFINE_TRIES);
    u64 hz = time_reference_rate(&time_reference, &time_start, &now);
    if (passed > max || !time_hz_sane(hz) || hz < old->hz / 8 * 7 ||
        hz > old->hz / 8 * 9) {
        time_start = now; // it has wrapped, or stumbled: measure from here on
        return;
    }
    u64 tsc = rdtsc();
    time_reference.name = 0;
    time_set(&time_clocks[1], hz, tsc, time_at(old, tsc));
    log_debug("TSC at %lu kHz, %lu ms later", hz / 1000, passed / 1000000);
}

u64 time_ticks(u64 ns)
{
    const struct time_clock *clock = load_acquire(&time_clock);
    u64 ticks = time_multiply(ns, clock->ticks_per_ns, TICK_SHIFT);
    return ticks + (ticks != ~0ul);
}

struct deadline deadline_ns(u64 ns)
{
    const struct time_clock *clock = load_acquire(&time_clock);
    struct deadline deadline = {0, ns / NS_PER_PASS + 1};
    if (clock->hz != 0) {
        u64 now = rdtsc();
        u64 ticks = time_multiply(ns, clock->ticks_per_ns, TICK_SHIFT);
        deadline.end = ticks < ~0ul - now ? now + ticks + 1 : ~0ul;
    }
    return deadline;
}

int deadline_passed(struct deadline *deadline)
{
    if (deadline->end != 0) {
        return rdtsc() >= deadline->end;
    }
    if (deadline->passes == 0) {
        return 1;
    }
    deadline->passes--;
    return 0;
}

void time_delay_ns(u64 ns)
{
    struct deadline deadline = deadline_ns(ns);
    while (!deadline_passed(&deadline)) {
        pause();
    }
}
