// test_nvme.c - the NVMe driver on controllers that are good, and that fail.
// SPDX-License-Identifier: MIT
#include "nvme_card.h"

static _Alignas(4096) u8 buffer[(600 + 1) * 4096];

static int same(u64 block, u64 n, u32 offset)
{
    memset(buffer, 0, sizeof(buffer));
    return disk_read(0, block, n, buffer + offset) == (i64)n &&
           memcmp(buffer + offset, card.disk + block * 4096, n * 4096) == 0;
}

static void test_reads_and_writes(void)
{
    for (u32 log2 = 9; log2 <= 12; log2++) {
        card_plug();
        card.log2 = log2;
        card.cap |= field_put(CAP_DSTRD, log2 - 9);
        CHECK_EQ(nvme_probe(&device), 0);
        CHECK_EQ(disk_get(0)->sector_bytes, 1u << log2);
        CHECK(same(0, 1, 0) && same(1, 1, 4) && same(0, 16, 2052));
        for (u32 i = 0; i < 70; i++) { // round and round the queues
            CHECK(same(i % 16, 1, 0));
        }
        memset(buffer, 0x5A, 8192);
        CHECK_EQ(disk_write(0, 3, 2, buffer), 2);
        CHECK_EQ(card.flushes, 1);
        CHECK(card.disk[3 * 4096] == 0x5A && card.disk[5 * 4096 - 1] == 0x5A);
        CHECK_EQ(disk_read(0, 0, 600, buffer + 4), 600); // a list full of pages
    }
    CHECK(__builtin_strstr(disk_get(0)->model, "\033") == 0);
}

static void test_sizes_and_limits(void)
{
    card_plug();
    card.mdts = 1;
    card.has_cache = 0;
    card.nn = 3;
    CHECK_EQ(nvme_probe(&device), 0);
    CHECK_EQ(disk_count(), 3);
    CHECK(same(0, 16, 4));
    CHECK_EQ(card.reads, 8);
    CHECK_EQ(disk_write(2, 0, 1, buffer), 1);
    CHECK_EQ(card.flushes, 0);
    for (u32 log2 = 0; log2 < 256; log2++) {
        card_plug();
        card.log2 = log2;
        card.metadata = log2 == 10 ? 8 : 0;
        CHECK_EQ(nvme_probe(&device), 0);
        CHECK_EQ(disk_count(), log2 >= 9 && log2 <= 12 && log2 != 10);
    }
    card_plug();
    card.sectors = ~0ul; // disk_add() refuses
    CHECK_EQ(nvme_probe(&device), 0);
    CHECK_EQ(disk_count(), 0);
}

static void test_old_ones_and_lists(void)
{
    card_plug();
    card.vs = 0x10000;
    card.nn = 2;
    card.cap &= ~0xFFFFul;
    card.cap |= 1; // queues of two entries
    CHECK_EQ(nvme_probe(&device), 0);
    CHECK_EQ(disk_count(), 2);
    CHECK(same(0, 3, 0) && same(1, 3, 0));
    card_plug();
    card.no_list = 1;
    card.nn = ~0u; // as many as it likes: there is an end
    CHECK_EQ(nvme_probe(&device), 0);
    CHECK_EQ(disk_count(), DISK_MAX);
}

static void test_controllers_that_cannot(void)
{
    static const u64 caps[] = {0xFF, CAP_CSS_NVM,
                               0xFF | CAP_CSS_NVM | 1ul << 48};
    for (u32 i = 0; i < array_size(caps); i++) {
        card_plug();
        card.cap = caps[i];
        CHECK_EQ(nvme_probe(&device), E_UNSUPPORTED);
        CHECK_EQ(card.master_off, 1);
    }
    card_plug();
    card.gone = 1;
    CHECK_EQ(nvme_probe(&device), E_GONE);
    card_plug();
    memory_left = 9000;
    CHECK_EQ(nvme_probe(&device), E_NOMEM);
}

static void test_ready_within_what_it_says(void)
{
    card_plug();
    card.never_ready = 1;
    CHECK_EQ(nvme_probe(&device), E_TIMEOUT);
    CHECK(now_ns >= 10000000000 && now_ns < 12000000000);
    CHECK(card.master_off >= 1);
    card_plug();
    card.cc = CC_EN; // left running by firmware, and it does not stop
    card.csts = CSTS_RDY;
    card.keeps_ready = 1;
    CHECK_EQ(nvme_probe(&device), E_TIMEOUT);
    card_plug();
    card.cc = CC_EN; // left running: reset first
    card.csts = CSTS_RDY;
    CHECK_EQ(nvme_probe(&device), 0);
    CHECK_EQ(card.resets, 1);
}

static void test_commands_that_go_wrong(void)
{
    static const struct {
        enum fault fault;
        int error;
    } cases[] = {
        {HANG, E_TIMEOUT},         {FATAL, E_IO},    {BAD_ID, E_IO},
        {BAD_QUEUE, E_IO},         {BAD_HEAD, E_IO}, {BAD_PHASE, E_TIMEOUT},
        {PROTECTED, E_UNSUPPORTED}};
    for (u32 i = 0; i < array_size(cases); i++) {
        card_good();
        struct nvme *nvme = ((struct nvme_disk *)disk_get(0))->nvme;
        u64 unused, n = 0;
        struct disk_segment segment = {(u64)buffer, 4096};
        struct disk_request request = {0, 8, &segment, 1, 0};
        for (u32 k = 0; k < 20; k++) { // not in the first round
            CHECK(same(0, 1, 0));
        }
        card.fault = cases[i].fault;
        card.fault_count = 1;
        n = card.resets;
        CHECK_EQ(nvme_transfer(disk_get(0), &request, &unused), cases[i].error);
        CHECK_EQ(card.resets - n, cases[i].fault != PROTECTED);
        CHECK(now_ns < 35000000000);
        CHECK_EQ(nvme->in_command, 0);
        CHECK(same(0, 16, 0)); // as good as new
    }
}

static void test_it_is_pulled_out(void)
{
    card_good();
    card.fault = UNPLUG;
    card.fault_count = 1;
    CHECK_EQ(disk_read(0, 1, 1, buffer), E_GONE);
    CHECK(now_ns < 1000000000);
    CHECK(card.master_off >= 1);
    CHECK_EQ(disk_read(0, 1, 1, buffer), E_GONE);
    card.gone = 0; // and in again
    card.cc = card.csts = 0;
    CHECK(same(0, 2, 0));
}

static void test_bad_sectors(void)
{
    static const enum fault faults[] = {ERROR, NAMED};
    for (u32 i = 0; i < 2; i++) { // found by halving, or told
        card_good();
        card.fault = faults[i];
        card.fault_count = 1;
        card.bad_sector = 8 * 333 + 5;
        CHECK_EQ(disk_read(0, 300, 100, buffer), E_IO);
        CHECK_EQ(disk_get(0)->error_block, 333);
        CHECK(i == 0 ? card.reads > 2 : card.reads == 1);
        CHECK_EQ(card.resets, 0);
        CHECK_EQ(disk_read(0, 334, 100, buffer), 100);
    }
}

static void test_a_program_that_ended_in_a_call(void)
{
    card_good();
    struct nvme *nvme = ((struct nvme_disk *)disk_get(0))->nvme;
    disk_recover_all();
    CHECK_EQ(card.resets, 0);
    nvme->in_command = 1;
    disk_recover_all();
    CHECK_EQ(card.resets, 1);
    CHECK_EQ(nvme->in_command, 0);
    CHECK(same(0, 16, 0));
    nvme->in_command = 1;
    card.never_ready = 1;
    disk_recover_all();
    CHECK(card.master_off >= 1 && nvme->in_command);
    card.never_ready = 0;
    CHECK(same(0, 16, 0));
}

static void test_trouble_while_it_starts(void)
{
    static const enum fault faults[] = {HANG,      FATAL,    UNPLUG,   BAD_ID,
                                        BAD_QUEUE, BAD_HEAD, BAD_PHASE};
    for (u32 i = 0; i < array_size(faults); i++) {
        card_plug();
        card.fault = faults[i];
        card.fault_count = 3;
        card.in_admin = 1;
        CHECK(nvme_probe(&device) < 0);
        CHECK_EQ(disk_count(), 0);
        CHECK(card.master_off >= 1);
    }
}

int main(void)
{
    RUN(test_reads_and_writes);
    RUN(test_sizes_and_limits);
    RUN(test_old_ones_and_lists);
    RUN(test_controllers_that_cannot);
    RUN(test_ready_within_what_it_says);
    RUN(test_commands_that_go_wrong);
    RUN(test_it_is_pulled_out);
    RUN(test_bad_sectors);
    RUN(test_a_program_that_ended_in_a_call);
    RUN(test_trouble_while_it_starts);
    return TEST_RESULT();
}
