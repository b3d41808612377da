// nvme_card.h - an NVMe controller for tests: it checks what it is told, and
// goes wrong on demand; and the kernel around the driver, on the host.
// SPDX-License-Identifier: MIT
#pragma once
#include "../../kernel/disk.c"
#undef LOG_TAG
#include "../../drivers/nvme_queue.c"
#undef LOG_TAG
#include "../../drivers/nvme_disk.c"
#undef LOG_TAG
#include "../../drivers/nvme.c"
#include "log_fake.h"
#include "clock_fake.h"

#define CARD 0x10000000ul
enum fault {
    GOOD,
    HANG,   // no completion
    FATAL,  // CSTS.CFS
    UNPLUG, // all ones
    BAD_ID, // completions that make no sense
    BAD_QUEUE,
    BAD_HEAD,
    BAD_PHASE, // the right words with the phase of the round before
    ERROR,     // a status
    NAMED,     // the same, with a good entry in the error log
    PROTECTED,
};

static struct {
    u64 cap, asq, acq, io_sq, io_cq, sectors;
    u32 cc, csts, aqa, vs;
    u32 head[2], seen[2], entries, log2, metadata, nn;
    u8 gone, never_ready, keeps_ready, mdts, has_cache, no_list;
    enum fault fault; // of the next fault_count I/O commands (admin: in_admin)
    u32 fault_count;
    u8 in_admin;
    u32 resets, reads, writes, flushes, admin, master_off, errors_read;
    u64 bad_sector, mapped;
    u16 last_id;
    u8 disk[1 << 16];
} card;

void pci_name(const struct pci_device *device, char *text)
{
    (void)device;
    string_copy(text, "00:04.0", 16);
}

static void *arena[64];
static u32 arena_n;
static u64 memory_left;

void *memory_boot_alloc(u64 bytes, u64 align)
{
    u64 size = align_up(bytes, align);
    if (bytes > memory_left || arena_n == array_size(arena)) {
        return 0;
    }
    memory_left -= bytes;
    arena[arena_n] = aligned_alloc(align, size);
    return memset(arena[arena_n++], 0, size);
}

u64 phys_run(const void *address, u64 len, int write, u64 *phys)
{
    (void)write;
    u64 run = PAGE - (u64)address % PAGE;
    *phys = (u64)address;
    return run < len ? run : len;
}

static struct pci_device device = {
    .class_code = 1, .subclass = 8, .prog_if = 2};

void pci_enable(const struct pci_device *d, u16 bits)
{
    CHECK(d == &device && bits & PCI_COMMAND_MEMORY);
}

void pci_disable_master(const struct pci_device *d)
{
    CHECK(d == &device);
    card.master_off++;
}

int pci_map_bar(const struct pci_device *d, u32 n, u64 bytes, u64 *address)
{
    CHECK(d == &device && n == 0);
    card.mapped = bytes > card.mapped ? bytes : card.mapped;
    *address = CARD;
    return 0;
}

// ---- what it does ----

static void card_move(const struct nvme_command *c, u64 at, u64 bytes, int in)
{
    u64 *list = (u64 *)c->prp[1];
    u64 page = c->prp[0], room = PAGE - page % PAGE;
    int two = bytes <= room + PAGE;
    CHECK_EQ(page % 4, 0);
    for (u32 i = 0; bytes > 0; i++) {
        u64 n = bytes < room ? bytes : room;
        if (at + n <= sizeof(card.disk)) {
            memcpy(in ? (u8 *)page : card.disk + at,
                   in ? card.disk + at : (u8 *)page, n);
        }
        at += n;
        bytes -= n;
        CHECK(i <= 512);
        page = bytes ? (two ? c->prp[1] : list[i]) : 0;
        CHECK_EQ(page % PAGE, 0);
        room = PAGE;
    }
}

static void card_put(u8 *to, u32 at, u64 value, u32 bytes)
{
    memcpy(to + at, &value, bytes);
}

static u32 card_identify(const struct nvme_command *c)
{
    u8 *to = (u8 *)c->prp[0];
    CHECK_EQ((u64)to % PAGE, 0);
    memset(to, 0, PAGE);
    if (c->dword[0] == IDENTIFY_CONTROLLER) {
        memcpy(to + CONTROLLER_MODEL, "FAKE \033[2J NVME", 14);
        card_put(to, CONTROLLER_MDTS, card.mdts, 1);
        card_put(to, CONTROLLER_NN, card.nn, 4);
        card_put(to, CONTROLLER_VWC, card.has_cache, 1);
    } else if (c->dword[0] == IDENTIFY_LIST) {
        for (u32 i = c->nsid, n = 0; i < card.nn && n < 1024; i++) {
            card_put(to, 4 * n++, i + 1, 4);
        }
        return card.no_list ? 0x0B : 0;
    } else {
        card_put(to, NAMESPACE_NSZE, card.sectors, 8);
        card_put(to, NAMESPACE_NLBAF, 1, 1);
        card_put(to, NAMESPACE_FLBAS, 1, 1);
        card_put(to, NAMESPACE_LBAF + 4, card.log2 << 16 | card.metadata, 4);
    }
    return 0;
}

static u32 card_admin(const struct nvme_command *c)
{
    u8 *to = (u8 *)c->prp[0];
    card.admin++;
    switch (c->opcode_id & 0xFF) {
    case ADMIN_IDENTIFY:
        return card_identify(c);
    case ADMIN_CREATE_CQ:
        CHECK_EQ(c->dword[0], (card.entries - 1) << 16 | 1);
        CHECK_EQ(c->dword[1], 1);
        card.io_cq = c->prp[0];
        return 0;
    case ADMIN_CREATE_SQ:
        CHECK(card.io_cq != 0);
        CHECK_EQ(c->dword[1], 1 << 16 | 1);
        card.io_sq = c->prp[0];
        return 0;
    case ADMIN_LOG:
        CHECK_EQ(c->dword[0], 15 << 16 | 1);
        card.errors_read++;
        card_put(to, ERROR_COUNT, 1, 8);
        card_put(to, ERROR_SQ_ID, 1, 2);
        card_put(to, ERROR_COMMAND_ID, card.last_id + (card.fault != NAMED), 2);
        card_put(to, ERROR_NSID, 1, 4);
        card_put(to, ERROR_LBA, card.bad_sector, 8);
        return 0;
    case ADMIN_SET_FEATURES:
        return 0;
    }
    CHECK(0);
    return 1;
}

static u32 card_io(const struct nvme_command *c)
{
    u32 opcode = c->opcode_id & 0xFF, n = (c->dword[2] & 0xFFFF) + 1;
    u64 lba = c->dword[0] | (u64)c->dword[1] << 32;
    if (opcode == NVM_FLUSH) {
        card.flushes++;
        return 0;
    }
    *(opcode == NVM_WRITE ? &card.writes : &card.reads) += 1;
    CHECK(lba + n <= card.sectors && c->nsid >= 1 && c->nsid <= card.nn);
    CHECK(!card.mdts || (u64)n << card.log2 <= 4096ul << card.mdts);
    if ((card.fault == ERROR || card.fault == NAMED) && card.fault_count &&
        card.bad_sector - lba < n) {
        return 0x281; // unrecovered read error
    }
    card_move(c, lba << card.log2, (u64)n << card.log2, opcode == NVM_READ);
    return 0;
}

static void card_complete(u32 q, u32 status, u16 id)
{
    struct nvme_completion *cq = (void *)(q ? card.io_cq : card.acq);
    u32 phase = ~(card.seen[q] / card.entries) & 1;
    struct nvme_completion entry = {0, 0, (u16)card.head[q], (u16)q, id, 0};
    int bad = card.fault_count && q == (card.in_admin ? 0u : 1u);
    if (bad && card.fault != ERROR && card.fault != NAMED) {
        card.fault_count--;
        entry.id += card.fault == BAD_ID;
        entry.sq_id += card.fault == BAD_QUEUE;
        entry.sq_head += card.fault == BAD_HEAD ? card.entries : 0;
        phase ^= card.fault == BAD_PHASE;
        status = card.fault == PROTECTED ? 0x20 : status;
        card.gone = card.fault == UNPLUG;
        card.csts |= card.fault == FATAL ? CSTS_CFS : 0;
        if (card.fault == HANG || card.fault == UNPLUG || card.fault == FATAL) {
            return;
        }
    }
    entry.status = (u16)(status << 1 | phase);
    cq[card.seen[q] % card.entries] = entry;
    card.seen[q]++;
}

static void card_doorbell(u32 q, u32 tail)
{
    struct nvme_command *sq = (void *)(q ? card.io_sq : card.asq);
    CHECK(card.csts & CSTS_RDY && sq != 0 && tail < card.entries);
    CHECK_EQ(tail, (card.head[q] + 1) % card.entries);
    const struct nvme_command *c = &sq[card.head[q]];
    card.head[q] = tail;
    card.last_id = q ? (u16)(c->opcode_id >> 16) : card.last_id;
    u16 id = (u16)(c->opcode_id >> 16);
    card_complete(q, q ? card_io(c) : card_admin(c), id);
}

static void card_set_cc(u32 value)
{
    if (value & ~card.cc & CC_EN) {
        CHECK_EQ(value, 0x460001); // 64- and 16-byte entries, 4 KiB pages
        CHECK_EQ(card.aqa & 0xFFF, card.aqa >> 16);
        CHECK(card.asq % PAGE == 0 && card.acq % PAGE == 0 && card.asq);
        card.entries = (card.aqa & 0xFFF) + 1;
        card.csts = card.never_ready ? 0 : CSTS_RDY;
        memset(card.head, 0, sizeof(card.head));
        memset(card.seen, 0, sizeof(card.seen));
    } else if (card.cc & ~value & CC_EN) {
        card.resets++;
        card.csts = card.keeps_ready ? CSTS_RDY : 0;
        card.io_sq = card.io_cq = 0;
    }
    card.cc = value;
}

u32 mmio_read32(u64 address)
{
    CHECK(address - CARD < card.mapped);
    if (card.gone) {
        return ~0u;
    }
    switch (address - CARD) {
    case NVME_CAP:
        return (u32)card.cap;
    case NVME_CAP + 4:
        return (u32)(card.cap >> 32);
    case NVME_VS:
        return card.vs;
    case NVME_CC:
        return card.cc;
    case NVME_CSTS:
        return card.csts;
    }
    CHECK(0);
    return 0;
}

void mmio_write32(u64 address, u32 value)
{
    u64 at = address - CARD, stride = 4ul << field_get(CAP_DSTRD, card.cap);
    CHECK(at < card.mapped);
    if (card.gone) {
        return;
    }
    if (at >= NVME_DOORBELLS) {
        u64 n = (at - NVME_DOORBELLS) / stride;
        CHECK((at - NVME_DOORBELLS) % stride == 0 && n < 4);
        if (n % 2 == 0) {
            card_doorbell((u32)n / 2, value);
        }
        return;
    }
    u64 *wide = at < NVME_ACQ ? &card.asq : &card.acq;
    if (at >= NVME_ASQ) {
        card_put((u8 *)wide, at & 4, value, 4);
    } else if (at == NVME_CC) {
        card_set_cc(value);
    } else {
        CHECK_EQ(at, NVME_AQA);
        card.aqa = value;
    }
}

// ---- plugging it in ----

static void card_plug(void)
{
    while (arena_n > 0) {
        free(arena[--arena_n]);
    }
    memset(&card, 0, sizeof(card));
    card.cap = 0xFF | 20ul << 24 | CAP_CSS_NVM; // 256 entries, 10 s
    card.vs = 0x10400;
    card.sectors = 1 << 20;
    card.log2 = 9;
    card.nn = 1;
    card.has_cache = 1;
    for (u32 i = 0; i < sizeof(card.disk); i++) {
        card.disk[i] = (u8)(i * 7 + (i >> 9) * 13);
    }
    memory_left = 1 << 20;
    now_ns = 0;
    disk_n = 0;
    disk_segments = 0;
    disk_lock = 0;
    last_log[0] = 0;
}

static void card_good(void)
{
    card_plug();
    CHECK_EQ(nvme_probe(&device), 0);
    CHECK_EQ(disk_count(), 1);
}
