// test_ahci.c - the AHCI driver finds its disks and moves their data.
// SPDX-License-Identifier: MIT
#include "ahci_plug.h"

static void test_a_disk(void)
{
    struct card_port *p = one_disk(100000);
    struct disk_info info;
    CHECK_EQ(disk_info(0, &info), 0);
    CHECK_EQ(info.blocks, 12500);
    CHECK_EQ(info.sector_bytes, 512);
    CHECK_EQ(info.max_blocks, 8192);
    CHECK(strcmp(info.model, "FAKE  [2JDISK") == 0);
    CHECK_EQ(now_ns, 100000); // one look at the clock, for IDENTIFY
    CHECK_EQ(p->resets, 0);
    CHECK_EQ(card.ghc, 0x80000000u);
    reads(100, 1, 0);
    CHECK_EQ(p->commands, 1);
    CHECK_EQ(now_ns, 200000);
}

static void test_a_mebibyte_is_few_commands(void)
{
    struct card_port *p = one_disk(100000);
    reads(16, 256, 0);
    CHECK(p->commands <= 2);
    p->commands = 0;
    reads(16, 256, 4);
    CHECK(p->commands <= 2);
    CHECK(p->most_segments <= 248);
}

static void test_write_and_flush(void)
{
    struct card_port *p = one_disk(100000);
    u8 *buf = malloc(8192), *back = malloc(8192);
    for (u32 i = 0; i < 8192; i++) {
        buf[i] = (u8)(i * 3);
    }
    CHECK_EQ(disk_write(0, 3, 2, buf), 2);
    CHECK_EQ(p->flushes, 1);
    CHECK_EQ(p->last_code, 0xEA);
    CHECK_EQ(disk_read(0, 3, 2, back), 2);
    CHECK(memcmp(buf, back, 8192) == 0);
    free(buf);
    free(back);
}

static void test_48_bits(void)
{
    struct card_port *p = one_disk(1ul << 47);
    reads((1ul << 44) - 1, 1, 0);
    CHECK_EQ(p->last_lba, (1ul << 47) - 8);
    CHECK_EQ(tries(1ul << 44, 1), E_RANGE);
}

static void test_28_bits(void)
{
    reset();
    struct card_port *p = plug(0, SIG_ATA, 1ul << 28);
    p->id[83] = 0x4000 | 0x1000;
    p->id[60] = 0;
    p->id[61] = 0x1000;
    CHECK_EQ(ahci_probe(&device), 0);
    reads((1 << 25) - 40, 40, 0); // 320 sectors
    CHECK_EQ(p->last_code, 0xC8);
    CHECK_EQ(p->last_lba, (1 << 28) - 64);
    CHECK_EQ(p->commands, 3); // IDENTIFY, 256, 64
    u8 *buf = calloc(1, 4096);
    CHECK_EQ(disk_write(0, 1, 1, buf), 1);
    CHECK_EQ(p->last_code, 0xE7);
    free(buf);
}

static void test_no_valid_word_83_means_28_bits(void)
{
    reset();
    struct card_port *p = plug(0, SIG_ATA, 1000000);
    p->id[83] = 0xFFFF;
    CHECK_EQ(ahci_probe(&device), 0);
    reads(100, 1, 0);
    CHECK_EQ(p->last_code, 0xC8);
}

static void test_4096_byte_sectors(void)
{
    reset();
    struct card_port *p = plug(0, SIG_ATA, 5000);
    p->sector_bytes = 4096;
    p->id[106] = 0x5000;
    p->id[117] = 2048;
    CHECK_EQ(ahci_probe(&device), 0);
    struct disk_info info;
    CHECK_EQ(disk_info(0, &info), 0);
    CHECK_EQ(info.blocks, 5000);
    CHECK_EQ(info.sector_bytes, 4096);
    reads(4900, 100, 0);
    CHECK_EQ(p->last_lba, 4900);
    CHECK_EQ(p->last_count, 100);
}

static void test_other_devices_come_first(void)
{
    reset();
    struct card_port *cd = plug(0, SIG_ATAPI, 1);
    plug(1, 0x96690101, 1);
    plug(2, 0xC33C0101, 1);
    struct card_port *p = plug(5, SIG_ATA, 80000);
    CHECK_EQ(ahci_probe(&device), 0);
    CHECK_EQ(disk_count(), 1);
    CHECK_EQ(cd->commands, 0);
    CHECK_EQ(cd->cmd & (CMD_ST | CMD_FRE), 0); // nothing writes to our memory
    reads(100, 5, 0);
    CHECK_EQ(p->commands, 2);
    CHECK_EQ(now_ns, 200000);
}

static void test_32_ports(void)
{
    reset();
    card.pi = ~0u;
    plug(31, SIG_ATA, 80000);
    CHECK_EQ(ahci_probe(&device), 0);
    CHECK_EQ(disk_count(), 1);
    CHECK_EQ(card.mapped_bytes, 0x1100);
    reads(100, 5, 0);
    reset();
    card.pi = ~0u; // more ports than the BAR has room for
    bar_bytes = 0x400;
    CHECK_EQ(ahci_probe(&device), E_NODEV);
    CHECK_EQ(card.master_off, 1);
}

static void test_no_ports_and_no_registers(void)
{
    reset();
    card.pi = 0;
    CHECK_EQ(ahci_probe(&device), 0);
    CHECK_EQ(disk_count(), 0);
    bar_bytes = 0;
    CHECK_EQ(ahci_probe(&device), E_NODEV);
    reset();
    card.gone = 1;
    CHECK_EQ(ahci_probe(&device), E_GONE);
}

static void test_match(void)
{
    struct pci_device d = {.class_code = 1, .subclass = 6, .prog_if = 1};
    CHECK(ahci_match(&d));
    d.prog_if = 0;
    CHECK(!ahci_match(&d));
}

static void test_bad_identify(void)
{
    for (u32 i = 0; i < 9; i++) {
        reset();
        struct card_port *p = plug(2, SIG_ATA, 80000);
        struct card_port *good = plug(3, SIG_ATA, 90000);
        u32 size = (const u32[]){0, 3, 128, 4096, 0x80000000u, ~0u}[i % 6];
        if (i < 6) { // logical sectors of so many words
            p->id[106] = 0x5000;
            p->id[117] = (u16)size;
            p->id[118] = (u16)(size >> 16);
        } else if (i == 6) {
            memset(&p->id[60], 0, 4);
            memset(&p->id[100], 0, 8);
        } else if (i == 7) {
            p->id[49] = 0;
        } else {
            memset(p->id, 0, 512);
        }
        CHECK_EQ(ahci_probe(&device), 0);
        CHECK_EQ(disk_count(), 1);
        CHECK_EQ(p->cmd & (CMD_ST | CMD_FRE), 0);
        reads(9000, 1, 0);
        CHECK_EQ(good->last_lba, 72000);
    }
}

static void test_identify_fails(void)
{
    for (u32 i = UNC; i <= FRAME_ERROR; i++) {
        reset();
        struct card_port *p = plug(0, SIG_ATA, 80000);
        plug(1, SIG_ATA, 90000);
        p->fault = (enum fault)i;
        p->fault_count = ~0u;
        CHECK_EQ(ahci_probe(&device), 0);
        CHECK_EQ(disk_count(), i == SHORT_COUNT ? 1 : 1);
        CHECK(now_ns < 20000000000);
    }
}

int main(void)
{
    RUN(test_a_disk);
    RUN(test_a_mebibyte_is_few_commands);
    RUN(test_write_and_flush);
    RUN(test_48_bits);
    RUN(test_28_bits);
    RUN(test_no_valid_word_83_means_28_bits);
    RUN(test_4096_byte_sectors);
    RUN(test_other_devices_come_first);
    RUN(test_32_ports);
    RUN(test_no_ports_and_no_registers);
    RUN(test_match);
    RUN(test_bad_identify);
    RUN(test_identify_fails);
    free_arena();
    return TEST_RESULT();
}
