// disk_device.h - kernel/disk.c on the host, with memory in pieces and a device
// that checks what it is asked for.
// SPDX-License-Identifier: MIT
#pragma once
#include "../../kernel/disk.c"
#include "log_fake.h"

void pci_name(const struct pci_device *device, char *text)
{
    (void)device;
    string_copy(text, "00:1f.2", 16);
}

// Memory as a program sees it: `run_bytes` says how fragmented it is, pages
// from `hole` on are not mapped, pages from `read_only` on cannot be written.
static u64 run_bytes, hole, read_only;

void *memory_boot_alloc(u64 bytes, u64 align)
{
    return align > 4096 ? 0 : calloc(1, bytes);
}

u64 phys_run(const void *address, u64 len, int write, u64 *phys)
{
    u64 at = (u64)address;
    u64 end = hole < at ? at : hole;
    if (write && read_only < end) {
        end = read_only < at ? at : read_only;
    }
    u64 run = run_bytes - at % run_bytes;
    run = run < len ? run : len;
    run = run < end - at ? run : end - at;
    // Neighbours are never neighbours physically; the low bits are kept.
    *phys = at ^ 1ul << 62 ^ (at / run_bytes) << 50;
    return run;
}

static const u8 *virtual_of(u64 phys)
{
    return (const u8 *)(phys & 0x3FFFFFFFFFFFFul); // all else was added above
}

// The device: remembers what it was told, fails where it should.
static struct disk disk;
static u64 commands, flushes, next_byte, bad_block, fail_count, most_segments;
static u64 named_sector; // what the device says, ~0: the truth
static int fail_with, then_fail_with, names_sector, flush_result, recoveries;
static const u8 *next_memory;

static void check_segments(const struct disk_request *request)
{
    u64 bytes = 0;
    for (u32 i = 0; i < request->n_segments; i++) {
        const struct disk_segment *s = &request->segments[i];
        CHECK(s->len > 0 && s->len % 4 == 0);
        CHECK(!disk.max_segment_bytes || s->len <= disk.max_segment_bytes);
        if (disk.page_segments && i > 0) {
            CHECK_EQ(s->phys % PAGE, 0);
        }
        if (disk.page_segments && i + 1 < request->n_segments) {
            CHECK_EQ((s->phys + s->len) % PAGE, 0);
        }
        if (next_memory) {
            CHECK(virtual_of(s->phys) == next_memory + bytes);
        }
        bytes += s->len;
    }
    CHECK_EQ(bytes, request->sectors * disk.sector_bytes);
    CHECK(bytes <= disk.max_bytes);
    CHECK(request->n_segments <= disk.max_segments);
    CHECK(request->sectors > 0);
    CHECK(request->sector + request->sectors <= disk.sectors);
    if (request->n_segments > most_segments) {
        most_segments = request->n_segments;
    }
}

static int fake_transfer(struct disk *d, const struct disk_request *request,
                         u64 *bad_sector)
{
    CHECK(d == &disk);
    commands++;
    check_segments(request);
    u64 first = request->sector * disk.sector_bytes;
    u64 bytes = request->sectors * disk.sector_bytes;
    u64 bad = bad_block * INGOT_BLOCK;
    if (fail_count > 0 && bad >= first && bad < first + bytes) {
        fail_count--;
        if (names_sector) {
            *bad_sector =
                named_sector != ~0ul ? named_sector : bad / disk.sector_bytes;
        }
        int result = fail_with;
        fail_with = then_fail_with ? then_fail_with : fail_with;
        return result;
    }
    if (next_memory) {
        CHECK_EQ(first, next_byte);
        next_byte += bytes;
        next_memory += bytes;
    }
    return 0;
}

static int fake_flush(struct disk *d)
{
    (void)d;
    flushes++;
    return flush_result;
}

static void fake_recover(struct disk *d)
{
    (void)d;
    recoveries++;
}

static const struct disk_ops fake_ops = {fake_transfer, fake_flush,
                                         fake_recover};

static void reset(u32 sector_bytes, u64 sectors)
{
    disk_n = 0;
    disk_lock = 0;
    run_bytes = 4096;
    hole = read_only = ~0ul;
    commands = flushes = fail_count = most_segments = log_lines = 0;
    fail_with = E_IO;
    then_fail_with = 0;
    named_sector = ~0ul;
    names_sector = flush_result = recoveries = 0;
    next_memory = 0;
    disk = (struct disk){.ops = &fake_ops,
                         .driver = "fake",
                         .model = "MODEL",
                         .sector_bytes = sector_bytes,
                         .sectors = sectors,
                         .max_bytes = 32 << 20,
                         .max_segments = 248,
                         .max_segment_bytes = 4 << 20};
    CHECK_EQ(disk_add(&disk), 0);
}
