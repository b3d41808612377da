// test_time_measure.c - the TSC measured against counters fast, slow and still.
// SPDX-License-Identifier: MIT
#include "time_machine.h"

static const u64 rates[] = {1000000000, 2899886412, 24000000, 5700000000};

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

int main(void)
{
    RUN(hpet_measures);
    RUN(pm_timer_measures);
    RUN(pit_measures);
    RUN(fast_looks_need_little_time);
    RUN(host_takes_the_core_away);
    RUN(a_still_counter_is_passed_over);
    return TEST_RESULT();
}
