// test_virtio_blk.c - the virtio disk driver on a device that is good, lies,
// hangs and vanishes.
// SPDX-License-Identifier: MIT
#include "virtio_rig.h"
#include "../../kernel/disk.c"
#undef LOG_TAG
#include "../../drivers/virtio_blk.c"

enum fault {
    GOOD,
    WRONG_ID,   // in the used ring
    FAR_ID,     // the same, past the ring
    SHORT,      // fewer bytes than asked for
    NO_STATUS,  // done, and the status never written
    ODD_STATUS, // one that there is not
    IO_ERROR,
    UNSUPPORTED,
    JUMP,        // the used ring's index moves by two
    SILENT,      // it never answers
    NEEDS_RESET, // it says so instead of answering
    GONE,        // removed while it works
    FAULTS
};

static enum fault fault;
static u32 fault_count; // requests that it strikes
static u8 media[1 << 16];
static u32 served, flushed;
static u8 buffer[20 * 4096];

u64 phys_run(const void *address, u64 len, int write, u64 *phys)
{
    (void)write;
    u64 run = PAGE - (u64)address % PAGE;
    *phys = (u64)address;
    return run < len ? run : len;
}

// Header, data, status. Returns the bytes it wrote.
static u32 serve(const struct card_queue *queue, u32 id, u8 status)
{
    const struct virtq_desc *desc = card_desc(queue, id);
    const struct virtio_blk_header *header = (const void *)desc->addr;
    u8 *at = media + header->sector * BLK_UNIT;
    u32 written = 0;
    card.misuses += desc->len != sizeof(*header) || desc->flags != DESC_NEXT;
    desc = card_desc(queue, desc->next);
    for (; desc->flags & DESC_NEXT; desc = card_desc(queue, desc->next)) {
        int in = header->type == BLK_T_IN;
        card.misuses += desc->next >= queue->size;
        card.misuses += in != ((desc->flags & DESC_WRITE) != 0);
        card.misuses += at + desc->len > media + sizeof(media);
        __builtin_memcpy(in ? (u8 *)desc->addr : at, in ? at : (u8 *)desc->addr,
                         desc->len);
        at += desc->len;
        written += in ? desc->len : 0;
    }
    card.misuses += desc->len != 1 || desc->flags != DESC_WRITE;
    flushed += header->type == BLK_T_FLUSH;
    if (status != BLK_S_NONE) {
        *(u8 *)desc->addr = status;
    }
    return written + 1;
}

static u8 status_of(enum fault now)
{
    return now == NO_STATUS     ? BLK_S_NONE
           : now == ODD_STATUS  ? 77
           : now == IO_ERROR    ? 1
           : now == UNSUPPORTED ? BLK_S_UNSUPP
                                : BLK_S_OK;
}

static void kicked(void)
{
    struct card_queue *queue = &card.queues[0];
    enum fault now = fault_count > 0 ? fault : GOOD;
    fault_count -= fault_count > 0;
    served++;
    card.misuses += card_waiting(queue) != 1;
    u32 id = card_take(queue);
    if (now == SILENT) {
        return;
    }
    if (now == NEEDS_RESET || now == GONE) {
        card.status = now == GONE ? STATUS_GONE : card.status | 64;
        return;
    }
    u32 bytes = serve(queue, id, status_of(now));
    id = now == WRONG_ID ? 1 : now == FAR_ID ? 0x10000 : id;
    card_use(queue, 0, id, now == SHORT ? 100 : bytes);
    card_show(queue, now == JUMP ? 2 : 1);
}

static void put32(u32 at, u32 value)
{
    __builtin_memcpy(card.config + at, &value, 4);
}

static void plug(u64 more)
{
    card_plug(1, 0);
    disk_n = 0;
    disk_segments = 0;
    card.function->words[0] = (u32)VIRTIO_BLK_ID << 16 | VIRTIO_VENDOR;
    card.offered = VIRTIO_F_VERSION_1 | VIRTIO_BLK_F_FLUSH | BIT(34) | more;
    card.config_bytes = BLK_CONFIG_BYTES;
    card.kicked = kicked;
    card.kicked_queue = BLK_QUEUE;
    __builtin_memset(card.config, 0, sizeof(card.config));
    put32(BLK_CONFIG_CAPACITY, sizeof(media) / BLK_UNIT);
    served = flushed = fault_count = 0;
    for (u32 i = 0; i < sizeof(media); i++) {
        media[i] = (u8)(i * 7 + i / 4096);
    }
}

static int probe(void)
{
    static struct acpi acpi;
    pci_init(&acpi);
    fake_memory_left = card_memory;
    struct pci_device *device = pci_get(0);
    return virtio_blk_match(device) ? virtio_blk_probe(device) : E_UNSUPPORTED;
}

static int same(u64 block, u64 n, u32 offset)
{
    __builtin_memset(buffer, 0, sizeof(buffer));
    return disk_read(0, block, n, buffer + offset) == (i64)n &&
           __builtin_memcmp(buffer + offset, media + block * 4096, n * 4096) ==
               0;
}

static void reads_and_writes(void)
{
    for (u32 sector = 512; sector <= 4096; sector *= 2) {
        plug(VIRTIO_BLK_F_BLK_SIZE);
        put32(BLK_CONFIG_BLK_SIZE, sector);
        CHECK_EQ(probe(), 0);
        CHECK_EQ(disk_get(0)->sector_bytes, sector);
        CHECK(same(0, 1, 0) && same(15, 1, 4) && same(0, 16, 2052));
        for (u32 i = 0; i < 600; i++) { // round and round the ring
            CHECK(same(i % 16, 1, 0));
        }
        __builtin_memset(buffer, 0x5A, 8192);
        CHECK_EQ(disk_write(0, 3, 2, buffer), 2);
        CHECK_EQ(flushed, 1);
        CHECK(media[3 * 4096] == 0x5A && media[5 * 4096 - 1] == 0x5A);
        CHECK_EQ(card.misuses, 0);
    }
}

static void sizes_that_make_no_sense(void)
{
    const u32 sizes[] = {0, 1, 511, 513, 8192, 0x80000000, ~0u};
    for (u32 i = 0; i < array_size(sizes); i++) {
        plug(VIRTIO_BLK_F_BLK_SIZE);
        put32(BLK_CONFIG_BLK_SIZE, sizes[i]);
        CHECK(probe() < 0);
        CHECK_EQ(disk_count(), 0);
        CHECK(card.status & STATUS_FAILED);
    }
    const u32 queues[] = {0, 1, 2, 3, 100};
    for (u32 i = 0; i < array_size(queues); i++) {
        plug(0);
        card.sizes[0] = (u16)queues[i];
        CHECK(probe() < 0);
    }
    plug(VIRTIO_BLK_F_SEG_MAX);
    CHECK(probe() < 0); // none at all
    plug(VIRTIO_BLK_F_SIZE_MAX);
    put32(BLK_CONFIG_SIZE_MAX, 100);
    CHECK(probe() < 0);
}

static void small_queues(void)
{
    plug(VIRTIO_BLK_F_SEG_MAX | VIRTIO_BLK_F_SIZE_MAX);
    put32(BLK_CONFIG_SEG_MAX, ~0u);
    put32(BLK_CONFIG_SIZE_MAX, 4096); // a piece a page
    card.sizes[0] = 4;                // header, two pieces, status
    CHECK_EQ(probe(), 0);
    CHECK(same(0, 16, 2052));
    CHECK(served >= 8);
    CHECK_EQ(card.misuses, 0);
}

static void an_empty_one(void)
{
    plug(0);
    put32(BLK_CONFIG_CAPACITY, 0);
    int result = probe();
    CHECK(result < 0 || disk_read(0, 0, 1, buffer) == E_RANGE);
    plug(0);
    put32(BLK_CONFIG_CAPACITY, ~0u);
    put32(BLK_CONFIG_CAPACITY + 4, ~0u);
    result = probe();
    CHECK(result < 0 || disk_read(0, ~0ul, 1, buffer) == E_RANGE);
    CHECK_EQ(served, 0);
}

static void read_only(void)
{
    plug(VIRTIO_BLK_F_RO);
    CHECK_EQ(probe(), 0);
    CHECK(disk_write(0, 0, 1, buffer) < 0);
    CHECK_EQ(media[1], 7);
    CHECK(same(0, 1, 0));
}

// Every lie: an error, never wrong data; afterwards it is good again.
static void lies(void)
{
    for (u32 i = GOOD + 1; i < GONE; i++) {
        for (u32 times = 1; times < 4; times++) {
            plug(0);
            CHECK_EQ(probe(), 0);
            CHECK(same(0, 1, 0));
            fault = (enum fault)i;
            fault_count = times * 8; // disk.c tries again
            CHECK(disk_read(0, 2, 1, buffer) <= 0);
            fault_count = times * 8;
            CHECK(disk_write(0, 2, 1, buffer) <= 0 || fault == SHORT);
            fault_count = 0;
            CHECK(same(4, 2, 0));
            CHECK_EQ(card.misuses, 0);
        }
    }
}

static void a_reset_that_fails(void)
{
    plug(0);
    CHECK_EQ(probe(), 0);
    fault = SILENT;
    fault_count = 1;
    card.stuck = 1;
    CHECK_EQ(disk_read(0, 0, 1, buffer), E_GONE);
    u32 before = served;
    CHECK_EQ(disk_read(0, 0, 1, buffer), E_GONE);
    CHECK_EQ(served, before); // nothing is started on it
    card.stuck = 0;
    CHECK(same(0, 1, 0));
    fault = SILENT;
    fault_count = 1;
    card.offered &= ~VIRTIO_BLK_F_FLUSH; // not the device that it was
    CHECK_EQ(disk_read(0, 0, 1, buffer), E_GONE);
}

static void removed(void)
{
    plug(0);
    CHECK_EQ(probe(), 0);
    fault = GONE;
    fault_count = 1;
    u64 begin = card_tsc;
    CHECK_EQ(disk_read(0, 0, 1, buffer), E_GONE);
    CHECK_EQ(disk_write(0, 0, 1, buffer), E_GONE);
    CHECK(card_tsc - begin < 5000000000); // not a command's whole 30 s
    disk_recover_all();
    CHECK_EQ(disk_read(0, 0, 1, buffer), E_GONE);
}

static void short_of_memory(void)
{
    for (u64 left = 0; left < 40000; left += 512) {
        plug(0);
        card_memory = left;
        int result = probe();
        CHECK(result == 0 || result == E_NOMEM);
        CHECK_EQ(disk_count(), result == 0);
    }
}

int main(void)
{
    RUN(reads_and_writes);
    RUN(sizes_that_make_no_sense);
    RUN(small_queues);
    RUN(an_empty_one);
    RUN(read_only);
    RUN(lies);
    RUN(a_reset_that_fails);
    RUN(removed);
    RUN(short_of_memory);
    card_unplug();
    return TEST_RESULT();
}
