// ahci_plug.h - a controller with disks of one's choice, and reads that check.
// SPDX-License-Identifier: MIT
#pragma once
#include "ahci_card.h"

// ---- PCI ----

static struct pci_device device = {
    .class_code = 1, .subclass = 6, .prog_if = 1};

void pci_enable(const struct pci_device *d, u16 bits)
{
    CHECK(d == &device);
    CHECK_EQ(bits, 0x406);
}

void pci_disable_master(const struct pci_device *d)
{
    CHECK(d == &device);
    card.master_off++;
}

static u64 bar_bytes;

int pci_map_bar(const struct pci_device *d, u32 n, u64 bytes, u64 *address)
{
    CHECK(d == &device);
    CHECK_EQ(n, 5);
    if (bytes > bar_bytes) {
        return E_NODEV;
    }
    card.mapped_bytes = bytes;
    *address = HBA;
    return 0;
}

// ---- helpers ----

static void reset(void)
{
    memset(&card, 0, sizeof(card));
    card.cap = 0x80000000u | 31 << 8 | 5;
    card.pi = 0x3F;
    bar_bytes = 0x1100;
    free_arena();
    memory_left = 1 << 20;
    low_allocations = 0;
    now_ns = 0;
    disk_n = 0;
    disk_segments = 0;
    disk_lock = 0;
    last_log[0] = 0;
    for (u32 i = 0; i < 32; i++) {
        card.ports[i].tfd = 0x7F;
    }
}

static struct card_port *plug(u32 n, u32 signature, u64 sectors)
{
    struct card_port *p = &card.ports[n];
    p->present = 1;
    p->tfd = 0x50;
    p->signature = signature;
    p->sectors = sectors;
    p->sector_bytes = 512;
    static const char model[] = "FAKE \033[2JDISK";
    for (u32 i = 0; i < 40; i++) {
        char c = i < sizeof(model) - 1 ? model[i] : ' ';
        p->id[27 + i / 2] |= (u16)((u8)c << (i % 2 ? 0 : 8));
    }
    p->id[49] = 0x300;
    p->id[60] = (u16)(sectors > 0xFFFFFFF ? 0xFFFF : sectors);
    p->id[61] = (u16)(sectors > 0xFFFFFFF ? 0x0FFF : sectors >> 16);
    p->id[83] = 0x4000 | 0x3400;
    for (u32 i = 0; i < 4; i++) {
        p->id[100 + i] = (u16)(sectors >> 16 * i);
    }
    return p;
}

static struct card_port *one_disk(u64 sectors)
{
    reset();
    struct card_port *p = plug(0, SIG_ATA, sectors);
    CHECK_EQ(ahci_probe(&device), 0);
    CHECK_EQ(disk_count(), 1);
    p->commands = p->starts = p->resets = 0;
    return p;
}

static void reads(u64 block, u64 n, u32 offset)
{
    u8 *buf = malloc(n * 4096 + offset);
    i64 got = disk_read(0, block, n, buf + offset);
    CHECK_EQ(got, n);
    u64 wrong = 0;
    for (u64 i = 0; i < n * 4096 && got > 0; i++) {
        u64 byte = block * 4096 + i;
        wrong += byte >= 65536 && buf[offset + i] != pattern(byte);
    }
    CHECK_EQ(wrong, 0);
    free(buf);
}

static i64 tries(u64 block, u64 n)
{
    u8 *buf = malloc(n * 4096);
    i64 got = disk_read(0, block, n, buf);
    free(buf);
    return got;
}
