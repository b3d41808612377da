// test_time.c - the clock against fake counters: measured, refined, missing.
// SPDX-License-Identifier: MIT
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

// ---- the tests ----
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
static void with_hpet(u32 period)
{
    acpi.hpet_phys = HPET;
    hpet_period = period;
}
static void with_pm_timer(u64 mask)
{
    acpi.power.pm_timer = (struct acpi_gas){0x608, ACPI_SPACE_IO, 32};
    acpi.power.pm_timer_32bit = mask == 0xffffffff;
    pm_hz = 3579545;
    pm_mask = mask;
}
// How far off the rate is, in parts per million.
static u64 off_ppm(void)
{
    u64 hz = time_tsc_hz();
    return (hz > tsc_hz ? hz - tsc_hz : tsc_hz - hz) / (tsc_hz / 1000000);
}
static void seconds_pass(u64 ms)
{
    picoseconds += (unsigned __int128)ms * 1000000000;
}

static const u64 rates[] = {1000000000, 2899886412, 24000000, 5700000000};

static void measured_by(const char *name)
{
    time_init(&acpi);
    CHECK(strcmp(time_source(), name) == 0);
    CHECK(off_ppm() < 10000); // 1%: a look takes 0.7 us of some 150
}

static void hpet_measures(void)
{
    u32 periods[] = {10000000, 69841279, 41666667, 0x05f5e100};
    for (u32 r = 0; r < 4; r++) {
        for (u32 p = 0; p < 4; p++) {
            machine(rates[r]);
            with_hpet(periods[p]);
            unsigned __int128 start = picoseconds;
            measured_by("hpet");
            CHECK(picoseconds - start < 400000000); // 400 us in all
            seconds_pass(100);
            time_refine();
            CHECK(off_ppm() < 30);
        }
    }
}

static void pm_timer_measures(void)
{
    for (u32 r = 0; r < 4; r++) {
        machine(rates[r]);
        with_pm_timer(r % 2 ? 0xffffffff : 0xffffff);
        measured_by("pmtimer");
        seconds_pass(1000);
        time_refine();
        CHECK(off_ppm() < 10);
    }
}

static void pit_measures(void)
{
    machine(2000000000);
    pit_hz = 1193182;
    measured_by("pit");
    seconds_pass(35);
    time_refine();
    CHECK(off_ppm() < 200);
}

static void fast_looks_need_little_time(void)
{
    machine(1000000000);
    look_ps = 1000; // as when instructions are what is counted
    with_hpet(10000000);
    unsigned __int128 start = picoseconds;
    time_init(&acpi);
    CHECK(picoseconds - start < 60000000); // 60 us
    CHECK(off_ppm() < 1500);
}

static void host_takes_the_core_away(void)
{
    for (u64 every = 20; every < 60; every++) {
        machine(2899886412);
        hiccup_every = every;
        with_hpet(10000000);
        time_init(&acpi);
        CHECK(off_ppm() < 20000);
        seconds_pass(200);
        time_refine();
        CHECK(off_ppm() < 100);
    }
}

static void a_still_counter_is_passed_over(void)
{
    machine(2000000000);
    with_hpet(10000000);
    with_pm_timer(0xffffff);
    pit_hz = 1193182;
    measured_by("hpet");
    machine(2000000000);
    with_hpet(0);
    with_pm_timer(0xffffff);
    measured_by("pmtimer");
    u32 absurd[] = {1, 999999, 0x05f5e101, 0xffffffff};
    for (u32 i = 0; i < 4; i++) {
        machine(2000000000);
        with_hpet(absurd[i]);
        with_pm_timer(0xffffff);
        measured_by("pmtimer");
    }
    machine(2000000000);
    with_pm_timer(0xffffff);
    pm_hz = 0;
    pit_hz = 1193182;
    measured_by("pit");
    machine(2000000000);
    with_hpet(10000000);
    mmio_maps_fail = 1;
    pit_hz = 1193182;
    measured_by("pit");
}

static void no_clock_at_all(void)
{
    machine(2000000000);
    time_init(&acpi);
    CHECK(strcmp(time_source(), "none") == 0);
    CHECK_EQ(time_tsc_hz(), 0);
    CHECK_EQ(time_ns(), 0);
    time_refine();
    time_delay_ns(1000);
    struct deadline deadline = deadline_ms(1);
    u32 passes = 0;
    while (!deadline_passed(&deadline)) {
        passes++;
    }
    CHECK(passes >= 10000 && passes <= 100000);
    CHECK(deadline_passed(&deadline));
    deadline = deadline_ns(0);
    passes = 0;
    while (!deadline_passed(&deadline)) {
        passes++;
    }
    CHECK(passes <= 1);
}

static void the_processor_says_it(void)
{
    machine(2100000000);
    leaf_0.eax = 0x16;
    leaf_15 = (struct cpuid){2, 168, 25000000, 0};
    time_init(&acpi);
    CHECK_EQ(time_tsc_hz(), 2100000000);
    CHECK(strcmp(time_source(), "cpuid") == 0);
    machine(4008000000); // crystal not told: 4000 MHz and 2/334 mean 24 MHz
    leaf_0.eax = 0x16;
    leaf_15 = (struct cpuid){2, 334, 0, 0};
    leaf_16.eax = 4000;
    time_init(&acpi);
    CHECK_EQ(time_tsc_hz(), 4008000000);
    machine(2600000000);
    leaf_0.eax = 0x16;
    leaf_16.eax = 2600;
    time_init(&acpi);
    CHECK_EQ(time_tsc_hz(), 2600000000);
    machine(2599998000); // a nominal rate is refined
    leaf_0.eax = 0x16;
    leaf_16.eax = 2700;
    with_hpet(69841279);
    time_init(&acpi);
    CHECK_EQ(time_tsc_hz(), 2700000000);
    seconds_pass(1000);
    time_refine();
    CHECK(off_ppm() < 10);
    CHECK(strcmp(time_source(), "cpuid") == 0);
}

static void the_hypervisor_says_it(void)
{
    machine(2899886000);
    leaf_h0.eax = 0x40000010;
    leaf_h10.eax = 2899886;
    time_init(&acpi);
    CHECK_EQ(time_tsc_hz(), 0); // not without the hypervisor bit
    leaf_1.ecx = 1u << 31;
    time_init(&acpi);
    CHECK_EQ(time_tsc_hz(), 2899886000);
    CHECK(strcmp(time_source(), "hypervisor") == 0);
    machine(2899886000);
    leaf_1.ecx = 1u << 31;
    leaf_h0.eax = 0x40000001;
    leaf_h10.eax = 2899886;
    time_init(&acpi);
    CHECK_EQ(time_tsc_hz(), 0);
}

static void absurd_cpuids(void)
{
    struct cpuid bad[] = {
        {0, 0, 0, 0}, {1, ~0u, ~0u, 0}, {~0u, 1, 1, 0}, {~0u, ~0u, 0, 0}};
    for (u32 i = 0; i < 4; i++) {
        machine(2000000000);
        leaf_0.eax = ~0u;
        leaf_15 = bad[i];
        with_hpet(10000000);
        measured_by("hpet");
    }
}

static void starts_at_zero_and_never_goes_back(void)
{
    machine(3000000000);
    with_hpet(69841279);
    CHECK_EQ(time_ns(), 0);
    seconds_pass(5);
    time_init(&acpi);
    u64 last = time_ns();
    CHECK(last > 4900000 && last < 5800000);
    for (u32 i = 0; i < 2000; i++) {
        seconds_pass(i % 7);
        if (i % 50 == 0) {
            time_refine();
        }
        u64 now = time_ns();
        CHECK(now >= last && now - last < 8000000);
        last = now;
    }
    // A core whose counter is a hair behind.
    tsc_base -= 100000;
    time_clocks[1].tsc = rdtsc() + 1000;
    CHECK_EQ(time_ns(), time_clock->ns);
}

// Refining waits until it is worth it, and measures anew when the reference
// may have wrapped.
static void refining_in_its_window(void)
{
    machine(3000000000);
    with_pm_timer(0xffffff); // wraps after 4.7 s
    time_init(&acpi);
    u64 first = time_tsc_hz();
    seconds_pass(20);
    time_refine();
    CHECK_EQ(time_tsc_hz(), first);
    seconds_pass(60000);
    time_refine();
    CHECK_EQ(time_tsc_hz(), first);
    seconds_pass(3000);
    time_refine();
    CHECK(off_ppm() < 10);
    u64 second = time_tsc_hz();
    seconds_pass(3000);
    time_refine(); // once
    CHECK_EQ(time_tsc_hz(), second);
}

static void a_hundred_years(void)
{
    machine(5000000000);
    leaf_0.eax = 0x16;
    leaf_15 = (struct cpuid){1, 200, 25000000, 0};
    time_init(&acpi);
    u64 years_ns = 100ul * 366 * 86400 * 1000000000;
    picoseconds += (unsigned __int128)years_ns * 1000;
    u64 now = time_ns();
    CHECK(now > years_ns - years_ns / 1000000000);
    CHECK(now < years_ns + years_ns / 1000000000 + 1000000000);
}

static void deadlines(void)
{
    machine(3000000000);
    leaf_0.eax = 0x16;
    leaf_15 = (struct cpuid){1, 120, 25000000, 0};
    time_init(&acpi);
    struct deadline deadline = deadline_ms(500);
    seconds_pass(499);
    CHECK(!deadline_passed(&deadline));
    seconds_pass(1);
    CHECK(deadline_passed(&deadline));
    deadline = deadline_ns(~0ul);
    seconds_pass(1000000);
    CHECK(!deadline_passed(&deadline));
    unsigned __int128 start = picoseconds;
    time_delay_ns(1000000);
    CHECK(picoseconds - start >= 1000000000);
    CHECK(picoseconds - start < 1001000000);
}

static void waiting_for_a_register(void)
{
    machine(3000000000);
    leaf_0.eax = 0x16;
    leaf_15 = (struct cpuid){1, 120, 25000000, 0};
    time_init(&acpi);
    reg_value = 1;
    reg_reads = reg_ready_after = 0;
    unsigned __int128 start = picoseconds;
    CHECK_EQ(mmio_wait32(REGISTER, 0x80000000, 0x80000000, 10), 0);
    CHECK_EQ((u64)(picoseconds - start), look_ps); // no clock was read
    reg_reads = 0;
    reg_ready_after = 100;
    CHECK_EQ(mmio_wait32(REGISTER, 0x80000000, 0x80000000, 10), 0);
    CHECK_EQ(reg_reads, 101);
    reg_reads = 0;
    reg_ready_after = ~0u;
    start = picoseconds;
    CHECK_EQ(mmio_wait32(REGISTER, 0x80000000, 0x80000000, 10), E_TIMEOUT);
    CHECK(picoseconds - start >= 10000000000);
    CHECK(picoseconds - start < 11000000000);
    reg_value = ~0u;
    CHECK_EQ(mmio_wait32(REGISTER, 1, 0, 10), E_GONE);
    CHECK_EQ(mmio_wait32(REGISTER, 1, 1, 10), 0); // all ones can be right
}

int main(void)
{
    RUN(hpet_measures);
    RUN(pm_timer_measures);
    RUN(pit_measures);
    RUN(fast_looks_need_little_time);
    RUN(host_takes_the_core_away);
    RUN(a_still_counter_is_passed_over);
    RUN(no_clock_at_all);
    RUN(the_processor_says_it);
    RUN(the_hypervisor_says_it);
    RUN(absurd_cpuids);
    RUN(starts_at_zero_and_never_goes_back);
    RUN(refining_in_its_window);
    RUN(a_hundred_years);
    RUN(deadlines);
    RUN(waiting_for_a_register);
    return TEST_RESULT();
}
