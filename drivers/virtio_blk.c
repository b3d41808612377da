// virtio_blk.c - virtio block devices: one request at a time, polled.
// SPDX-License-Identifier: MIT
//
// VIRTIO 1.1 5.2. Tried on QEMU 7.2: transitional, modern only, legacy only.
#define LOG_TAG "virtio_blk"
#include "virtio.h"

enum {
    BLK_QUEUE = 0,
    BLK_MOST_QUEUE = 256,
    BLK_ENDS = 2, // descriptors around the data: header and status
    BLK_MOST_BYTES = 4 << 20,
    BLK_UNIT = 512,
    BLK_COMMAND_MS = 30000,
    BLK_LOOK_PASSES = 1024, // a register costs as much as many looks at memory
};

struct virtio_blk_memory { // what the device reads and writes besides data
    struct virtio_blk_header header;
    u8 status;
};

struct virtio_blk {
    struct disk disk; // first: the kernel's side
    struct virtio virtio;
    struct virtq queue;
    struct virtio_blk_memory *memory;
    u16 n;         // requests so far
    u8 in_command; // 1 from before a request until it is known to be over
};

static struct virtio_blk *virtio_blk_of(struct disk *disk)
{
    return (struct virtio_blk *)disk;
}

static int virtio_blk_has(const struct virtio_blk *blk, u64 feature)
{
    return (blk->virtio.features & feature) != 0;
}

static int virtio_blk_start(struct virtio_blk *blk)
{
    TRY(virtio_queue_start(&blk->virtio, &blk->queue));
    blk->n = 0;
    blk->in_command = 0;
    virtio_run(&blk->virtio);
    return 0;
}

// As new. One that does not come back as it was is gone.
static int virtio_blk_reset(struct virtio_blk *blk)
{
    u64 features = blk->virtio.features;
    int result = virtio_begin(&blk->virtio, features);
    if (result == 0 && blk->virtio.features == features &&
        virtio_blk_start(blk) == 0) {
        return 0;
    }
    virtio_fail(&blk->virtio);
    blk->virtio.features = features;
    blk->in_command = 1; // the next request tries again
    return E_GONE;
}

// 5.2.6: header, data, status, in descriptors 0, 1, 2, ...
static void virtio_blk_build(struct virtio_blk *blk, u32 type,
                             const struct disk_request *request)
{
    struct virtq_desc *desc = blk->queue.desc;
    u64 memory = phys_of(blk->memory);
    u16 data = type == BLK_T_IN ? DESC_NEXT | DESC_WRITE : DESC_NEXT;
    u32 n = request->n_segments;
    blk->memory->header = (struct virtio_blk_header){
        type, 0, request->sector * (blk->disk.sector_bytes / BLK_UNIT)};
    blk->memory->status = BLK_S_NONE;
    desc[0] =
        (struct virtq_desc){memory, sizeof(blk->memory->header), DESC_NEXT, 1};
    for (u32 i = 0; i < n; i++) {
        const struct disk_segment *s = &request->segments[i];
        desc[i + 1] =
            (struct virtq_desc){s->phys, (u32)s->len, data, (u16)(i + 2)};
    }
    desc[n + 1] = (struct virtq_desc){
        memory + __builtin_offsetof(struct virtio_blk_memory, status), 1,
        DESC_WRITE, 0};
}

// 2.6.8: wait until the used ring's index moves.
static int virtio_blk_wait(const struct virtio_blk *blk)
{
    struct deadline deadline = deadline_ms(BLK_COMMAND_MS);
    for (u32 pass = 1;; pass++) {
        int late = deadline_passed(&deadline);
        if (load_acquire(&blk->queue.used->idx) != blk->n) {
            return 0;
        }
        if (late || pass % BLK_LOOK_PASSES == 0) {
            u32 status = virtio_status(&blk->virtio);
            if (status == STATUS_GONE || status & STATUS_NEEDS_RESET) {
                return status == STATUS_GONE ? E_GONE : E_IO;
            }
        }
        if (late) {
            return E_TIMEOUT;
        }
        pause();
    }
}

// Is what it says about our request, and what became of that?
static int virtio_blk_take(struct virtio_blk *blk, u32 type, u64 bytes)
{
    struct virtq *queue = &blk->queue;
    struct virtq_used_elem used = queue->used->ring[blk->n & (queue->size - 1)];
    u16 idx = load_acquire(&queue->used->idx);
    blk->n++;
    if (idx != blk->n || used.id != 0) {
        log_error("request %u of %u is done, not 0 of %u", used.id, idx,
                  blk->n);
        return E_IO;
    }
    blk->in_command = 0;
    u8 status = blk->memory->status;
    if (status == BLK_S_OK && type == BLK_T_IN &&
        virtio_blk_has(blk, VIRTIO_F_VERSION_1) && used.len < bytes) {
        log_error("%u bytes came, not %lu", used.len, bytes);
        return E_IO;
    }
    return status == BLK_S_OK       ? 0
           : status == BLK_S_UNSUPP ? E_UNSUPPORTED
                                    : E_IO;
}

static int virtio_blk_run(struct virtio_blk *blk, u32 type,
                          const struct disk_request *request)
{
    struct virtq *queue = &blk->queue;
    if (blk->in_command) {
        TRY(virtio_blk_reset(blk));
    }
    blk->in_command = 1;
    virtio_blk_build(blk, type, request);
    queue->avail->ring[blk->n & (queue->size - 1)] = 0;
    virtio_publish(queue, (u16)(blk->n + 1));
    int result = virtio_blk_wait(blk);
    if (result == 0) {
        result = virtio_blk_take(blk, type,
                                 request->sectors * blk->disk.sector_bytes);
    }
    if (!blk->in_command) {
        return result;
    }
    log_warn("disk %u: request failed (%d): reset", blk->disk.index, result);
    int reset = virtio_blk_reset(blk);
    return reset == E_GONE ? E_GONE : result;
}

static int virtio_blk_transfer(struct disk *disk,
                               const struct disk_request *request,
                               u64 *bad_sector)
{
    struct virtio_blk *blk = virtio_blk_of(disk);
    (void)bad_sector; // it never tells
    if (request->write && virtio_blk_has(blk, VIRTIO_BLK_F_RO)) {
        return E_UNSUPPORTED;
    }
    return virtio_blk_run(blk, request->write ? BLK_T_OUT : BLK_T_IN, request);
}

static int virtio_blk_flush(struct disk *disk)
{
    struct virtio_blk *blk = virtio_blk_of(disk);
    struct disk_request nothing = {0};
    return virtio_blk_has(blk, VIRTIO_BLK_F_FLUSH)
               ? virtio_blk_run(blk, BLK_T_FLUSH, &nothing)
               : 0;
}

// Its memory is somebody else's soon: the request must be over.
static void virtio_blk_recover(struct disk *disk)
{
    struct virtio_blk *blk = virtio_blk_of(disk);
    if (blk->in_command) {
        int result = virtio_blk_reset(blk);
        log_debug("disk %u: recovered (%d)", disk->index, result);
    }
}

static const struct disk_ops virtio_blk_ops = {
    virtio_blk_transfer, virtio_blk_flush, virtio_blk_recover};

// 5.2.4. What the queue cannot hold no request may have; disk_add() has the
// last word on the sizes.
static void virtio_blk_read_config(struct virtio_blk *blk)
{
    const struct virtio *virtio = &blk->virtio;
    struct disk *disk = &blk->disk;
    u64 capacity = virtio_config32(virtio, BLK_CONFIG_CAPACITY) |
                   (u64)virtio_config32(virtio, BLK_CONFIG_CAPACITY + 4) << 32;
    disk->sector_bytes = BLK_UNIT;
    if (virtio_blk_has(blk, VIRTIO_BLK_F_BLK_SIZE)) {
        disk->sector_bytes = virtio_config32(virtio, BLK_CONFIG_BLK_SIZE);
    }
    u32 units = disk->sector_bytes / BLK_UNIT;
    disk->sectors = units ? capacity / units : 0;
    disk->max_segments = blk->queue.size - BLK_ENDS;
    if (virtio_blk_has(blk, VIRTIO_BLK_F_SEG_MAX)) {
        u32 most = virtio_config32(virtio, BLK_CONFIG_SEG_MAX);
        disk->max_segments =
            most < disk->max_segments ? most : disk->max_segments;
    }
    if (virtio_blk_has(blk, VIRTIO_BLK_F_SIZE_MAX)) {
        disk->max_segment_bytes = virtio_config32(virtio, BLK_CONFIG_SIZE_MAX);
    }
    disk->max_bytes = BLK_MOST_BYTES;
}

static int virtio_blk_bring_up(struct virtio_blk *blk)
{
    u64 wanted = VIRTIO_F_VERSION_1 | VIRTIO_BLK_F_SIZE_MAX |
                 VIRTIO_BLK_F_SEG_MAX | VIRTIO_BLK_F_RO |
                 VIRTIO_BLK_F_BLK_SIZE | VIRTIO_BLK_F_FLUSH;
    TRY(virtio_begin(&blk->virtio, wanted));
    TRY(virtio_queue_alloc(&blk->virtio, &blk->queue, BLK_QUEUE,
                           BLK_MOST_QUEUE));
    blk->memory = memory_boot_alloc(sizeof(*blk->memory), 64);
    if (!blk->memory) {
        return E_NOMEM;
    }
    virtio_blk_read_config(blk);
    TRY(virtio_blk_start(blk));
    string_copy(blk->disk.model,
                virtio_blk_has(blk, VIRTIO_BLK_F_RO) ? "virtio, read-only"
                                                     : "virtio",
                sizeof(blk->disk.model));
    return disk_add(&blk->disk);
}

static int virtio_blk_match(const struct pci_device *device)
{
    return device->vendor == VIRTIO_VENDOR &&
           (device->device_id == VIRTIO_BLK_LEGACY_ID ||
            device->device_id == VIRTIO_BLK_ID);
}

static int virtio_blk_probe(struct pci_device *device)
{
    struct virtio_blk *blk = memory_boot_alloc(sizeof(*blk), 8);
    if (!blk) {
        return E_NOMEM;
    }
    blk->disk.ops = &virtio_blk_ops;
    blk->disk.pci = device;
    blk->disk.driver = "virtio_blk";
    TRY(virtio_find(&blk->virtio, device, BLK_CONFIG_BYTES));
    int result = virtio_blk_bring_up(blk);
    if (result < 0) {
        virtio_fail(&blk->virtio);
    }
    return result;
}

const struct driver virtio_blk_driver = {"virtio_blk", virtio_blk_match,
                                         virtio_blk_probe};
