// test_time.c - the clock: said by the processor, refined, missing; waits.
// SPDX-License-Identifier: MIT
#include "time_machine.h"

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
