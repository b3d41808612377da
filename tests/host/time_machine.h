// time_machine.h - the clock's code on a machine of fake counters.
// SPDX-License-Identifier: MIT
#pragma once
#include "../../kernel/cpu.h"
#define cpuid(leaf, subleaf) fake_cpuid(leaf, subleaf)
static struct cpuid fake_cpuid(u32 leaf, u32 subleaf);
#define pause() ((void)0)
#include "../../lib/string.h"
#include "../../kernel/mmio.c"
#include "../../kernel/time.c"
#include "../../kernel/time_cpuid.c"
#include "../../kernel/time_reference.c"
#include "test.h"

// ---- a machine: true time passes with every look at anything ----
static unsigned __int128 picoseconds;
static u64 tsc_hz, tsc_base;
static u64 look_ps;      // what one look at a counter takes
static u64 hiccup_every; // now and then the host takes the core away
static u64 looks;
u64 boot_tsc;

static void pass(u64 ps)
{
    picoseconds += ps;
    if (hiccup_every != 0 && ++looks % hiccup_every == 0) {
        picoseconds += 3000000000; // 3 ms
    }
}
static u64 count(u64 hz)
{
    return (u64)(picoseconds * hz / 1000000000000);
}
u64 rdtsc(void)
{
    pass(5000);
    return tsc_base + count(tsc_hz);
}

enum { HPET = 0xfed00000, REGISTER = 0xfe000000 };
static u32 hpet_period, hpet_enabled, reg_value, reg_reads, reg_ready_after;
static u64 pm_hz, pit_hz, pm_mask = 0xffffff;
static u32 mmio_maps_fail;
int mmio_map(u64 phys, u64 bytes)
{
    (void)phys, (void)bytes;
    return mmio_maps_fail ? E_ARG : 0;
}
u32 mmio_read32(u64 address)
{
    pass(look_ps);
    if (address == REGISTER) {
        return ++reg_reads > reg_ready_after ? 0x80000000 : reg_value;
    }
    if (address == HPET + HPET_PERIOD) {
        return hpet_period;
    }
    if (address == HPET + HPET_COUNTER) {
        u64 hz = hpet_period ? 1000000000000000 / hpet_period : 0;
        return hpet_enabled ? (u32)count(hz) : 1234;
    }
    return address == HPET + HPET_CONFIG ? hpet_enabled : 0xffffffff;
}
void mmio_write32(u64 address, u32 value)
{
    CHECK_EQ(address, HPET + HPET_CONFIG);
    hpet_enabled = value & 1;
}
u32 inl(u16 port)
{
    CHECK_EQ(port, 0x608);
    pass(look_ps);
    return (u32)((count(pm_hz) & pm_mask) | (~pm_mask & 0xff000000));
}
static u32 pit_latched, pit_high;
void outb(u16 port, u8 value)
{
    pass(look_ps);
    if (port == 0x43 && value == 0x80) {
        pit_latched = (u16)-count(pit_hz);
        pit_high = 0;
    }
}
u8 inb(u16 port)
{
    pass(look_ps);
    if (port != 0x42 || pit_hz == 0) {
        return 0xff;
    }
    return (u8)(pit_high++ ? pit_latched >> 8 : pit_latched);
}

static struct cpuid leaf_0, leaf_1, leaf_15, leaf_16, leaf_h0, leaf_h10;
static struct cpuid fake_cpuid(u32 leaf, u32 subleaf)
{
    static const struct cpuid none;
    (void)subleaf;
    switch (leaf) {
    case 0:
        return leaf_0;
    case 1:
        return leaf_1;
    case 0x15:
        return leaf_15;
    case 0x16:
        return leaf_16;
    case 0x40000000:
        return leaf_h0;
    case 0x40000010:
        return leaf_h10;
    default:
        return none;
    }
}
static u32 log_lines;
void log_line(enum log_level level, const char *tag, const char *text, ...)
{
    (void)level, (void)tag, (void)text;
    log_lines++;
}
void rtc_init(u8 century)
{
    (void)century;
}
i64 rtc_seconds(void)
{
    return -1;
}

static struct acpi acpi;
static void machine(u64 hz)
{
    picoseconds = (unsigned __int128)77777777 * 1000;
    tsc_hz = hz;
    tsc_base = 0x123456789;
    look_ps = 700000; // 0.7 us: a register behind a bus
    hiccup_every = hpet_enabled = mmio_maps_fail = looks = 0;
    hpet_period = 0;
    pm_hz = pit_hz = 0;
    pm_mask = 0xffffff;
    struct cpuid none = {0, 0, 0, 0};
    leaf_0 = leaf_1 = leaf_15 = leaf_16 = leaf_h0 = leaf_h10 = none;
    memset(time_clocks, 0, sizeof(time_clocks));
    time_clock = &time_clocks[0];
    time_name = "none";
    memset(&time_reference, 0, sizeof(time_reference));
    memset(&acpi, 0, sizeof(acpi));
    boot_tsc = rdtsc();
}
static inline void with_hpet(u32 period)
{
    acpi.hpet_phys = HPET;
    hpet_period = period;
}
static inline void with_pm_timer(u64 mask)
{
    acpi.power.pm_timer = (struct acpi_gas){0x608, ACPI_SPACE_IO, 32};
    acpi.power.pm_timer_32bit = mask == 0xffffffff;
    pm_hz = 3579545;
    pm_mask = mask;
}
// How far off the rate is, in parts per million.
static inline u64 off_ppm(void)
{
    u64 hz = time_tsc_hz();
    return (hz > tsc_hz ? hz - tsc_hz : tsc_hz - hz) / (tsc_hz / 1000000);
}
static inline void seconds_pass(u64 ms)
{
    picoseconds += (unsigned __int128)ms * 1000000000;
}

static inline void measured_by(const char *name)
{
    time_init(&acpi);
    CHECK(strcmp(time_source(), name) == 0);
    CHECK(off_ppm() < 10000); // 1%: a look takes 0.7 us of some 150
}
