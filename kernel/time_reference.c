// time_reference.c - HPET, ACPI PM timer and PIT as references for the TSC.
// SPDX-License-Identifier: MIT
//
// IA-PC HPET 1.0a; ACPI 4.8.3.3; 82C54 datasheet.
#define LOG_TAG "time"
#include "time_reference.h"
#include "cpu.h"
#include "log.h"
#include "mmio.h"
#include "paging.h"

enum { // HPET 2.3
    HPET_ID = 0,
    HPET_PERIOD = 4, // femtoseconds a tick
    HPET_CONFIG = 0x10,
    CONFIG_ENABLE = 1,
    HPET_COUNTER = 0xf0,
    HPET_BYTES = 0x400,
    HPET_PERIOD_MAX = 0x05f5e100, // 100 ns, the most the specification allows
    HPET_PERIOD_MIN = 1000000,    // 1 ns: no such part exists
};

enum { // ACPI 4.8.3.3
    PM_TIMER_HZ = 3579545,
};

enum { // 82C54; port 61h gates channel 2
    PIT_CHANNEL2 = 0x42,
    PIT_COMMAND = 0x43,
    PIT_RATE_GENERATOR = 0xb4, // channel 2, both bytes, mode 2
    PIT_LATCH2 = 0x80,
    PIT_GATE_PORT = 0x61,
    GATE_ON = 1,
    GATE_SPEAKER = 2,
    PIT_HZ = 1193182,
};

enum {
    READS_MAX = 1000, // looks before a counter is said to stand still
    BOOT_TRIES = 5,
    MEASURE_PASSES = 2000,
    GOOD_ENOUGH = 1000, // the doubt is at most one part in this many
    MEASURE_US = 150,
};
static const u64 FEMTOSECONDS = 1000000000000000;

static u64 hpet_phys, pm_timer_address;

// 32 bits of it: a wide read is not one access on every bus.
static u64 time_read_hpet(void)
{
    return mmio_read32(hpet_phys + HPET_COUNTER);
}

static u64 time_read_pm_port(void)
{
    return inl((u16)pm_timer_address);
}

static u64 time_read_pm_memory(void)
{
    return mmio_read32(pm_timer_address);
}

static u64 time_read_pit(void)
{
    outb(PIT_COMMAND, PIT_LATCH2);
    u64 low = inb(PIT_CHANNEL2);
    return ~(low | (u64)inb(PIT_CHANNEL2) << 8);
}

static struct time_reference time_find_hpet(const struct acpi *acpi)
{
    struct time_reference hpet = {0};
    if (acpi->hpet_phys == 0 || mmio_map(acpi->hpet_phys, HPET_BYTES) < 0) {
        return hpet;
    }
    u32 period = mmio_read32(acpi->hpet_phys + HPET_PERIOD);
    if (period < HPET_PERIOD_MIN || period > HPET_PERIOD_MAX) {
        log_warn("HPET has a period of %u fs, not used", period);
        return hpet;
    }
    hpet_phys = acpi->hpet_phys;
    mmio_set32(hpet_phys + HPET_CONFIG, CONFIG_ENABLE);
    hpet.name = "hpet";
    hpet.read = time_read_hpet;
    hpet.hz = (FEMTOSECONDS + period / 2) / period;
    hpet.mask = 0xffffffff;
    return hpet;
}

static struct time_reference time_find_pm(const struct acpi *acpi)
{
    struct time_reference pm = {0};
    const struct acpi_gas *timer = &acpi->power.pm_timer;
    if (timer->address == 0) {
        return pm;
    }
    pm.read = time_read_pm_port;
    if (timer->space == ACPI_SPACE_MEMORY) {
        if (mmio_map(timer->address, 4) < 0) {
            return pm;
        }
        pm.read = time_read_pm_memory;
    }
    pm_timer_address = timer->address;
    pm.name = "pmtimer";
    pm.hz = PM_TIMER_HZ;
    pm.mask = acpi->power.pm_timer_32bit ? 0xffffffff : 0xffffff;
    return pm;
}

// Channel 2 counts from 65536 down to 1, over and over; nobody hears it.
static struct time_reference time_find_pit(const struct acpi *acpi)
{
    struct time_reference pit = {"pit", time_read_pit, PIT_HZ, 0xffff};
    (void)acpi;
    outb(PIT_GATE_PORT, (u8)((inb(PIT_GATE_PORT) & ~GATE_SPEAKER) | GATE_ON));
    outb(PIT_COMMAND, PIT_RATE_GENERATOR);
    outb(PIT_CHANNEL2, 0);
    outb(PIT_CHANNEL2, 0);
    return pit;
}

struct time_reference time_reference_find(const struct acpi *acpi)
{
    static struct time_reference (*const find[])(const struct acpi *acpi) = {
        time_find_hpet, time_find_pm, time_find_pit};
    for (u32 i = 0; i < array_size(find); i++) {
        struct time_reference reference = find[i](acpi);
        if (!reference.name) {
            continue;
        }
        if (time_reference_sample(&reference, 1).width != ~0ul) {
            return reference;
        }
        log_warn("%s does not count", reference.name);
    }
    return (struct time_reference){0};
}

// The counter's next tick. Where it ticks faster than it can be read, the read
// that saw it move; else the tick lies between that read and the one before.
static struct time_sample
time_reference_edge(const struct time_reference *reference)
{
    u64 from = rdtsc();
    u64 last = reference->read() & reference->mask;
    for (u32 i = 0; i < READS_MAX; i++) {
        u64 middle = rdtsc();
        u64 ticks = reference->read() & reference->mask;
        u64 end = rdtsc();
        u64 moved = (ticks - last) & reference->mask;
        if (moved > 1) {
            from = middle;
        }
        if (moved > 0) {
            return (struct time_sample){from + (end - from) / 2, ticks,
                                        end - from};
        }
        from = middle;
    }
    return (struct time_sample){from, last, ~0ul};
}

struct time_sample time_reference_sample(const struct time_reference *reference,
                                         u32 tries)
{
    struct time_sample best = time_reference_edge(reference);
    for (u32 i = 1; i < tries && best.width != ~0ul; i++) {
        struct time_sample next = time_reference_edge(reference);
        if (next.width < best.width) {
            best = next;
        }
    }
    return best;
}

u64 time_reference_rate(const struct time_reference *reference,
                        const struct time_sample *from,
                        const struct time_sample *to)
{
    u64 tsc = to->tsc - from->tsc;
    u64 ticks = (to->ticks - from->ticks) & reference->mask;
    if (ticks == 0 || to->width == ~0ul) {
        return 0;
    }
    // tsc * hz / ticks; ticks < 2^32 and hz <= 2^30 keep this below 2^64.
    return tsc / ticks * reference->hz + tsc % ticks * reference->hz / ticks;
}

// 1 when the time between the samples is long against the doubt about them.
static int time_reference_enough(const struct time_reference *reference,
                                 const struct time_sample *from,
                                 const struct time_sample *to)
{
    u64 ticks = (to->ticks - from->ticks) & reference->mask;
    if (ticks * (1000000 / MEASURE_US) >= reference->hz) {
        return 1;
    }
    return ticks >= GOOD_ENOUGH &&
           (to->tsc - from->tsc) / GOOD_ENOUGH >= from->width + to->width;
}

u64 time_reference_measure(const struct time_reference *reference,
                           struct time_sample *start)
{
    *start = time_reference_sample(reference, BOOT_TRIES);
    for (u32 i = 0; i < MEASURE_PASSES && start->width != ~0ul; i++) {
        struct time_sample end = time_reference_sample(reference, 1);
        if (end.width == ~0ul) {
            return 0;
        }
        if (time_reference_enough(reference, start, &end)) {
            end = time_reference_sample(reference, BOOT_TRIES);
            return time_reference_rate(reference, start, &end);
        }
    }
    return 0;
}
