// test_ahci_faults.c - the AHCI driver on controllers and disks that fail.
// SPDX-License-Identifier: MIT
#include "ahci_plug.h"

static void test_a_bad_sector_that_the_disk_names(void)
{
    struct card_port *p = one_disk(100000);
    p->fault = UNC;
    p->bad_lba = 8 * 333 + 5;
    p->fault_count = ~0u;
    CHECK_EQ(tries(300, 100), E_IO);
    CHECK_EQ(p->commands, 1);
    CHECK_EQ(disk_get(0)->error_block, 333);
    CHECK(log_says("read of block 333 "));
    CHECK_EQ(p->starts, 1); // stopped and started again
    CHECK_EQ(p->resets, 0);
    reads(300, 33, 0);
    reads(334, 100, 0);
}

static void test_a_bad_sector_above_2_to_the_32(void)
{
    u64 bad = 0x123456789ABC;
    struct card_port *p = one_disk(1ul << 47);
    p->fault = UNC;
    p->bad_lba = bad;
    p->fault_count = ~0u;
    CHECK_EQ(tries(bad / 8 - 20, 64), E_IO);
    CHECK_EQ(p->commands, 1);
    CHECK_EQ(disk_get(0)->error_block, bad / 8);
}

static void test_a_bad_sector_that_it_does_not_name(void)
{
    static const enum fault faults[] = {ABORT, FRAME_ERROR, SHORT_COUNT};
    for (u32 i = 0; i < 3; i++) {
        struct card_port *p = one_disk(100000);
        p->fault = faults[i];
        p->bad_lba = 8 * 333 + 5;
        p->fault_count = ~0u;
        CHECK_EQ(tries(300, 100), E_IO);
        CHECK_EQ(disk_get(0)->error_block, 333);
        CHECK(p->commands < 12);
        reads(334, 100, 0);
    }
}

static void test_a_command_that_never_ends(void)
{
    struct card_port *p = one_disk(100000);
    p->fault = HANG;
    p->bad_lba = 8 * 20;
    p->fault_count = 1;
    CHECK_EQ(tries(20, 5), E_TIMEOUT);
    CHECK_EQ(disk_get(0)->error_block, 20);
    CHECK_EQ(p->commands, 1);
    CHECK_EQ(p->resets, 1); // it was still busy
    CHECK(now_ns >= 30000000000 && now_ns < 40000000000);
    reads(20, 5, 0);
}

static void test_an_engine_that_never_stops(void)
{
    for (u32 hang = 1; hang < 3; hang++) { // 2: not even after a COMRESET
        struct card_port *p = one_disk(100000);
        p->engine_hangs = (u8)hang;
        p->fault = ABORT;
        p->bad_lba = 8 * 20;
        p->fault_count = ~0u;
        CHECK(tries(20, 1) < 0);
        CHECK(now_ns < 10000000000);
        CHECK_EQ(disk_lock, 0);
    }
    reset();
    struct card_port *p = plug(0, SIG_ATA, 80000);
    plug(1, SIG_ATA, 90000);
    p->engine_hangs = 2;
    p->cmd = CMD_CR | CMD_ST | CMD_FRE | CMD_FR;
    CHECK_EQ(ahci_probe(&device), 0);
    CHECK_EQ(disk_count(), 1); // the other one
    CHECK(now_ns < 2000000000);
}

static void test_firmware_left_the_engine_running(void)
{
    reset();
    struct card_port *p = plug(0, SIG_ATA, 80000);
    p->cmd = CMD_CR | CMD_ST | CMD_FRE | CMD_FR | CMD_SUD | CMD_POD;
    CHECK_EQ(ahci_probe(&device), 0);
    CHECK_EQ(disk_count(), 1);
    CHECK_EQ(now_ns, 100000);
    reads(30, 1, 0);
}

static void test_unplugged(void)
{
    struct card_port *p = one_disk(100000);
    p->fault = UNPLUG;
    p->bad_lba = 8 * 20;
    p->fault_count = 1;
    CHECK_EQ(tries(20, 5), E_GONE);
    CHECK(tries(20, 5) < 0);
    CHECK(now_ns < 5000000000);
    one_disk(100000);
    card.gone = 1;
    CHECK_EQ(tries(20, 5), E_GONE);
    CHECK(now_ns < 100000000);
    disk_recover_all();
}

static void test_no_link_and_always_busy(void)
{
    reset();
    plug(0, SIG_ATA, 80000)->no_link = 1;
    struct card_port *p = plug(1, SIG_ATA, 80000);
    p->busy_always = 1;
    p->tfd = 0x80;
    plug(2, SIG_ATA, 90000);
    CHECK_EQ(ahci_probe(&device), 0);
    CHECK_EQ(disk_count(), 1);
    CHECK_EQ(p->resets, 1);
    CHECK(now_ns < 30000000000);
}

static void test_a_signature_only_after_a_reset(void)
{
    reset();
    struct card_port *p = plug(0, SIG_ATA, 80000);
    p->signature_after_reset = 1;
    CHECK_EQ(ahci_probe(&device), 0);
    CHECK_EQ(p->resets, 1);
    CHECK_EQ(disk_count(), 1);
}

static void test_staggered_spin_up(void)
{
    reset();
    card.cap |= 1u << 27;
    plug(4, SIG_ATA, 80000)->sleeping = 1;
    CHECK_EQ(ahci_probe(&device), 0);
    CHECK_EQ(disk_count(), 1);
    CHECK(now_ns < 50000000);
}

static void test_handoff(void)
{
    reset();
    plug(0, SIG_ATA, 80000);
    card.cap2 = 1;
    card.bohc = 1;
    CHECK_EQ(ahci_probe(&device), 0);
    CHECK_EQ(card.bohc, 2);
    CHECK_EQ(now_ns, 100000); // IDENTIFY's
    reset();
    plug(0, SIG_ATA, 80000);
    card.cap2 = 1;
    card.bohc = 1;
    card.firmware_keeps = 1;
    CHECK_EQ(ahci_probe(&device), 0);
    CHECK_EQ(disk_count(), 1);
    CHECK(now_ns < 2200000000);
}

static void test_a_controller_of_32_bits(void)
{
    reset();
    card.cap &= 0x7FFFFFFF;
    struct card_port *p = plug(0, SIG_ATA, 80000);
    CHECK_EQ(ahci_probe(&device), 0);
    CHECK_EQ(low_allocations, 2);
    reads(100, 40, 4); // the heap lies above 4 GiB: 16 blocks at a time
    CHECK_EQ(p->commands, 4);
    u8 *buf = malloc(40 * 4096);
    for (u64 i = 0; i < 40 * 4096; i++) {
        buf[i] = pattern(i + 100 * 4096);
    }
    CHECK_EQ(disk_write(0, 100, 40, buf), 40);
    free(buf);
    u8 *low = memory_boot_alloc_low(65536, PAGE);
    CHECK_EQ(disk_read(0, 100, 16, low), 16);
    CHECK_EQ(low[0], pattern(100 * 4096));
    CHECK_EQ(p->most_segments, 16); // straight there
}

static void test_no_memory(void)
{
    reset();
    plug(0, SIG_ATA, 80000);
    memory_left = 100;
    CHECK_EQ(ahci_probe(&device), 0);
    CHECK_EQ(disk_count(), 0);
    CHECK(log_says("port 0"));
}

static void test_a_program_ended_in_mid_call(void)
{
    struct card_port *p = one_disk(100000);
    struct ahci_port *port = ahci_of(disk_get(0));
    disk_recover_all();
    CHECK_EQ(p->starts, 0); // nothing went on: nothing is touched
    port->in_command = 1;
    p->tfd = 0xD0;
    p->ci = 1;
    disk_recover_all();
    CHECK_EQ(p->starts, 1);
    CHECK_EQ(port->in_command, 0);
    reads(40, 3, 0);
}

int main(void)
{
    RUN(test_a_bad_sector_that_the_disk_names);
    RUN(test_a_bad_sector_above_2_to_the_32);
    RUN(test_a_bad_sector_that_it_does_not_name);
    RUN(test_a_command_that_never_ends);
    RUN(test_an_engine_that_never_stops);
    RUN(test_firmware_left_the_engine_running);
    RUN(test_unplugged);
    RUN(test_no_link_and_always_busy);
    RUN(test_a_signature_only_after_a_reset);
    RUN(test_staggered_spin_up);
    RUN(test_handoff);
    RUN(test_a_controller_of_32_bits);
    RUN(test_no_memory);
    RUN(test_a_program_ended_in_mid_call);
    free_arena();
    return TEST_RESULT();
}
