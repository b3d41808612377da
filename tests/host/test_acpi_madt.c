// test_acpi_madt.c - cores and interrupt controllers, good and bad.
// SPDX-License-Identifier: MIT
#include "acpi_build.h"

static void start(void)
{
    good_tables();
    madt_begin();
}
static void run(void)
{
    replace(MADT);
    table(MADT, "APIC", 1, madt_body, madt_len);
    init_by_copy(2, 36);
}

static void madt_x2(u32 id, u32 flags)
{
    u32 entry[4] = {9 | 16 << 8, id, flags, 0};
    madt_add(entry, 16);
}

static void disabled_cores_are_not_counted(void)
{
    start();
    madt_core(0, 1);
    madt_core(1, 0);
    madt_core(2, 2); // could be plugged in: is not there
    madt_core(3, 3);
    madt_x2(0x100, 0);
    run();
    CHECK_EQ(acpi.n_cpus, 2);
    CHECK_EQ(acpi.cpu_apic_ids[1], 3);
}

static void ids_with_gaps_and_32_bits(void)
{
    u32 want[] = {5, 0, 1, 2, 4, 6, 0x12345};
    start();
    for (u8 id = 0; id < 7; id++) {
        if (id != 3) {
            madt_core(id, 1);
        }
    }
    madt_x2(0x12345, 1);
    madt_x2(5, 1); // known already
    madt_core(6, 1);
    madt_x2(~0u, 1); // everyone's id is nobody's
    madt_core(0xff, 1);
    self_id = 5;
    run();
    self_id = 0;
    CHECK_EQ(acpi.n_cpus, 7);
    for (u32 i = 0; i < 7; i++) {
        CHECK_EQ(acpi.cpu_apic_ids[i], want[i]);
    }
    CHECK_EQ(log_lines, 0);
}

static u32 mixed_id(u32 i) // 8 bits every other time, all with gaps
{
    return i % 2 == 0 && i < 252 ? i : i * 70001 + 300;
}

// n cores: types 0 and 9 in turn, each said twice, and those switched off
// between them.
static void mixed_cores(u32 n)
{
    start();
    for (u32 i = 0; i < n; i++) {
        u32 id = mixed_id(i);
        if (id < 255) {
            madt_core((u8)id, 1);
            madt_core((u8)(id + 1), i % 4 == 0 ? 0 : 2);
        } else {
            madt_x2(id, 1);
            madt_x2(id + 1, 0);
        }
        if (i < ACPI_CPUS) {
            madt_x2(id, 1);
        }
    }
    run();
}

static void cores_256_of_all_kinds(void)
{
    mixed_cores(256);
    CHECK_EQ(acpi.n_cpus, 256);
    CHECK_EQ(acpi.n_cpus_left_out, 0);
    CHECK_EQ(log_lines, 0);
    mixed_cores(300);
    CHECK_EQ(acpi.n_cpus, 256);
    CHECK_EQ(acpi.n_cpus_left_out, 44);
    for (u32 i = 0; i < 256; i++) {
        CHECK_EQ(acpi.cpu_apic_ids[i], mixed_id(i));
    }
    CHECK_EQ(log_lines, 1);
    CHECK(said("44 are left out, APIC ids 17920556 to 20930599"));
}

static void more_than_256_cores(void)
{
    for (u32 last = 0; last < 2; last++) {
        start();
        for (u32 id = 0; id < 250; id++) {
            madt_core((u8)id, 1);
        }
        for (u32 id = 0x1000; id < 0x1010; id++) {
            madt_x2(id, 1);
        }
        self_id = last ? 0x100f : 0; // even when it is one of those left out
        run();
        CHECK_EQ(acpi.n_cpus, 256);
        CHECK_EQ(acpi.cpu_apic_ids[0], self_id);
        CHECK_EQ(acpi.n_cpus_left_out, 10);
        CHECK(said(last ? "10 are left out, APIC ids 4101 to 4110"
                        : "10 are left out, APIC ids 4102 to 4111"));
        CHECK_EQ(log_lines, 1);
    }
    self_id = 0;
}

static void the_boot_core_is_always_there(void)
{
    start();
    madt_core(4, 1);
    madt_x2(4, 1);
    self_id = 9;
    run();
    self_id = 0;
    CHECK_EQ(acpi.n_cpus, 2);
    CHECK_EQ(acpi.cpu_apic_ids[0], 9);
    CHECK_EQ(acpi.cpu_apic_ids[1], 4);
    CHECK(said("the boot core's APIC id 9 is not in the MADT"));
}

static void local_address_override(void)
{
    u8 entry[12] = {5, 12, 0, 0, 0, 0, 0, 0xe0, 0x0f};
    start();
    madt_add(entry, 12);
    run();
    CHECK_EQ(acpi.local_apic_phys, 0xfe0000000);
}

static void io_apics(void)
{
    start();
    for (u8 i = 0; i < 10; i++) {
        u8 entry[12] = {1, 12, i, 0, 0, i, 0xc0, 0xfe, (u8)(i * 24)};
        madt_add(entry, 12);
        madt_add(entry, 12);
    }
    u8 odd[12] = {1, 12, 9, 0, 1, 0, 0xc1, 0xfe, 0xfe};
    madt_add(odd, 12);
    run();
    CHECK_EQ(acpi.n_io_apics, ACPI_IO_APICS);
    CHECK_EQ(acpi.io_apics[7].gsi_base, 168);
    CHECK_EQ(acpi.io_apics[7].phys, 0xfec00700);
    CHECK(said("I/O APIC at 0xfec10001 is left out"));
}

static void overrides(void)
{
    u8 flags[] = {0x0, 0x5, 0xf, 0xd, 0x3};
    start();
    madt_core(0, 1);
    for (u8 i = 0; i < 5; i++) {
        u8 entry[10] = {2, 10, 0, i, (u8)(i + 16), 0, 0, 0, flags[i], 0};
        madt_add(entry, 10);
    }
    u8 again[10] = {2, 10, 0, 0, 99, 0, 0, 0, 0, 0};
    madt_add(again, 10);
    again[3] = 16; // no such IRQ
    madt_add(again, 10);
    run();
    CHECK_EQ(acpi.n_overrides, 5);
    CHECK_EQ(acpi.overrides[0].gsi, 16);
    u8 low[] = {0, 0, 1, 0, 1}, level[] = {0, 0, 1, 1, 0};
    for (u32 i = 0; i < 5; i++) {
        CHECK_EQ(acpi.overrides[i].active_low, low[i]);
        CHECK_EQ(acpi.overrides[i].level, level[i]);
    }
    CHECK_EQ(log_lines, 1);
}

// An entry of length 0 or 1 must not hold the walk up, one too short for its
// kind must not be read, one too long must not lead outside.
static void entries_that_lie(void)
{
    u8 kinds[] = {0, 1, 2, 5, 9, 77};
    for (u32 k = 0; k < 6; k++) {
        for (u32 len = 0; len < 256; len++) {
            u8 entry[32] = {kinds[k], (u8)len, 0, 3};
            start();
            madt_core(0, 1);
            madt_add(entry, len > 2 && len < 20 ? len : 20);
            run();
            CHECK(acpi.n_cpus >= 1 && acpi.n_cpus <= 2);
        }
    }
    start();
    madt_core(0, 1);
    u8 zero[2] = {0, 0};
    madt_add(zero, 2);
    madt_core(1, 1);
    run();
    CHECK_EQ(acpi.n_cpus, 1);
    CHECK(said("MADT entry at 52 has 0 bytes"));
}

static void only_a_header(void)
{
    start();
    madt_len = 0;
    run();
    CHECK_EQ(acpi.has_madt, 0);
    CHECK(said("MADT of 36 bytes is ignored"));
    start();
    run();
    CHECK_EQ(acpi.has_madt, 1);
    CHECK_EQ(acpi.n_cpus, 1);
}

int main(void)
{
    RUN(disabled_cores_are_not_counted);
    RUN(ids_with_gaps_and_32_bits);
    RUN(cores_256_of_all_kinds);
    RUN(more_than_256_cores);
    RUN(the_boot_core_is_always_there);
    RUN(local_address_override);
    RUN(io_apics);
    RUN(overrides);
    RUN(entries_that_lie);
    RUN(only_a_header);
    forget();
    return TEST_RESULT();
}
