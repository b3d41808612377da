// disk.c - disks: requests of programs, checked and split for the driver.
// SPDX-License-Identifier: MIT
#include "disk.h"
#include "memory.h"
#include "paging.h"
#include "../lib/string.h"
#define LOG_TAG "disk"
#include "log.h"

enum { DISK_SEGMENTS = 256 }; // most that one command gets

static struct disk *disk_table[DISK_MAX];
static u32 disk_n;

// One transfer at a time, whatever the core: the segments are shared.
static u32 disk_lock;
static struct disk_segment *disk_segments; // DISK_SEGMENTS, once a disk exists

struct disk_job { // what is left of a program's request, in blocks
    struct disk *disk;
    u64 block, n;
    const u8 *buf;
    int write;
};

struct disk *disk_get(u32 index)
{
    return index < disk_n ? disk_table[index] : 0;
}

u32 disk_count(void)
{
    return disk_n;
}

static u64 disk_blocks(const struct disk *disk)
{
    return disk->sectors / (INGOT_BLOCK / disk->sector_bytes);
}

// What a driver reports may come straight from a device.
static int disk_makes_sense(const struct disk *disk)
{
    u32 sector = disk->sector_bytes;
    return sector >= 512 && sector <= INGOT_BLOCK &&
           (sector & (sector - 1)) == 0 && disk->sectors > 0 &&
           disk->sectors <= ~0ul / INGOT_BLOCK &&
           disk->max_bytes >= INGOT_BLOCK && disk->max_segments >= 2 &&
           (disk->max_segment_bytes == 0 || disk->max_segment_bytes >= PAGE);
}

int disk_add(struct disk *disk)
{
    if (!disk_makes_sense(disk)) {
        log_error("%s: %lu sectors of %u bytes make no sense", disk->driver,
                  disk->sectors, disk->sector_bytes);
        return E_UNSUPPORTED;
    }
    if (disk_segments == 0) {
        disk_segments =
            memory_boot_alloc(DISK_SEGMENTS * sizeof(struct disk_segment), 16);
    }
    if (disk_segments == 0) {
        return E_NOMEM;
    }
    if (disk_n == DISK_MAX) {
        log_error("%s: more than %d disks", disk->driver, DISK_MAX);
        return E_NOMEM;
    }
    char pci[16];
    pci_name(disk->pci, pci);
    disk->index = disk_n;
    disk->error_block = ~0ul;
    disk_table[disk_n++] = disk;
    log_info("disk %u: %s %s, %lu MiB, %u-byte sectors, %s", disk->index,
             disk->driver, pci, disk_blocks(disk) / 256, disk->sector_bytes,
             disk->model);
    return 0;
}

static u64 disk_segment_limit(const struct disk *disk, u64 phys, u64 len)
{
    u64 limit = disk->max_segment_bytes;
    if (limit && disk->page_segments) { // end on a page
        limit = align_down(limit, PAGE) - phys % PAGE;
    }
    return limit && limit < len ? limit : len;
}

// Cut the command to whole blocks; returns how many segments are left.
static u32 disk_trim(u32 n, u64 excess)
{
    while (excess > 0) {
        struct disk_segment *last = &disk_segments[n - 1];
        u64 cut = excess < last->len ? excess : last->len;
        last->len -= cut;
        excess -= cut;
        n -= last->len == 0;
    }
    return n;
}

// Fill the segments with as much of the job as one command may move. Returns
// the blocks, or E_FAULT.
static i64 disk_gather(const struct disk_job *job, u32 *n_segments)
{
    const struct disk *disk = job->disk;
    u64 want = job->n * INGOT_BLOCK;
    u64 got = 0;
    u32 n = 0;
    u32 most = disk->max_segments;
    want = want < disk->max_bytes ? want : disk->max_bytes;
    most = most < DISK_SEGMENTS ? most : (u32)DISK_SEGMENTS;
    while (got < want && n < most) {
        u64 phys = 0;
        u64 len = phys_run(job->buf + got, want - got, !job->write, &phys);
        len = disk_segment_limit(disk, phys, len);
        if (len == 0) {
            return E_FAULT;
        }
        disk_segments[n++] = (struct disk_segment){phys, len};
        got += len;
    }
    *n_segments = disk_trim(n, got % INGOT_BLOCK);
    return (i64)(got / INGOT_BLOCK);
}

// One command: the first blocks of the job. Returns how many, or the error;
// *bad is then the first block known to be bad, ~0 when the device says none.
static i64 disk_command(const struct disk_job *job, u64 *bad)
{
    struct disk *disk = job->disk;
    u64 per_block = INGOT_BLOCK / disk->sector_bytes;
    u64 bad_sector = ~0ul;
    struct disk_request request = {
        .sector = job->block * per_block,
        .segments = disk_segments,
        .write = job->write != 0,
    };
    i64 blocks = disk_gather(job, &request.n_segments);
    *bad = ~0ul;
    if (blocks <= 0) {
        return blocks < 0 ? blocks : E_FAULT;
    }
    request.sectors = (u64)blocks * per_block;
    *(job->write ? &disk->writes : &disk->reads) += 1;
    int result = disk->ops->transfer(disk, &request, &bad_sector);
    if (result == 0) {
        return blocks;
    }
    disk->errors++;
    if (bad_sector - request.sector < request.sectors) {
        *bad = bad_sector / per_block;
    }
    return result;
}

// The device failed a command without saying where: halve it until one block
// is left. Returns that block, or ~0 when now all of it works.
static u64 disk_narrow(const struct disk_job *failed, u64 n)
{
    struct disk_job job = *failed;
    u64 bad;
    while (n > 1) {
        job.n = n / 2;
        i64 result = disk_command(&job, &bad);
        if (result >= 0) {
            job.block += (u64)result;
            job.buf += (u64)result * INGOT_BLOCK;
            n -= (u64)result;
        } else if (bad != ~0ul || result != E_IO) {
            return bad != ~0ul ? bad : job.block;
        } else {
            n = job.n;
        }
    }
    job.n = 1;
    return disk_command(&job, &bad) < 0 ? job.block : ~0ul;
}

static i64 disk_failed(struct disk_job *job, u64 block, int error)
{
    job->disk->error_block = block;
    log_error("disk %u: %s of block %lu failed (%d)", job->disk->index,
              job->write ? "write" : "read", block, error);
    return error;
}

// As disk_command, but an error is final: looked into, recorded and logged.
static i64 disk_step(struct disk_job *job)
{
    u64 bad;
    i64 result = disk_command(job, &bad);
    if (result == E_IO && bad == ~0ul) {
        u32 unused;
        i64 blocks = disk_gather(job, &unused);
        bad = blocks > 0 ? disk_narrow(job, (u64)blocks) : job->block;
        if (bad == ~0ul) { // it passed: once more, as it was
            result = disk_command(job, &bad);
        }
    }
    if (result >= 0) {
        return result;
    }
    return disk_failed(job, bad != ~0ul ? bad : job->block, (int)result);
}

static i64 disk_run(struct disk_job *job)
{
    const struct disk_ops *ops = job->disk->ops;
    u64 n = job->n;
    while (job->n > 0) {
        i64 done = disk_step(job);
        if (done < 0) {
            return done;
        }
        job->block += (u64)done;
        job->buf += (u64)done * INGOT_BLOCK;
        job->n -= (u64)done;
    }
    if (job->write && ops->flush) {
        int result = ops->flush(job->disk);
        if (result < 0) {
            job->disk->errors++;
            return disk_failed(job, job->block - n, result);
        }
    }
    return (i64)n;
}

// The whole buffer, before anything is moved: an E_FAULT leaves no half.
static int disk_check_buffer(const u8 *buf, u64 len, int write)
{
    if (len > ~0ul - (u64)buf) {
        return E_FAULT;
    }
    for (u64 done = 0; done < len;) {
        u64 phys;
        u64 run = phys_run(buf + done, len - done, !write, &phys);
        if (run == 0) {
            return E_FAULT;
        }
        done += run;
    }
    return 0;
}

static int disk_check(struct disk_job *job)
{
    if (!job->disk) {
        return E_NODEV;
    }
    if (job->n == 0 || (u64)job->buf % 4 != 0) {
        return E_ARG;
    }
    u64 blocks = disk_blocks(job->disk);
    if (job->n > blocks || job->block > blocks - job->n) {
        job->disk->error_block = job->block > blocks ? job->block : blocks;
        log_warn("disk %u: block %lu is past the end, there are %lu",
                 job->disk->index, job->disk->error_block, blocks);
        return E_RANGE;
    }
    return disk_check_buffer(job->buf, job->n * INGOT_BLOCK, job->write);
}

static i64 disk_transfer(struct disk_job job)
{
    TRY(disk_check(&job));
    while (__atomic_exchange_n(&disk_lock, 1, __ATOMIC_ACQUIRE)) {
        pause();
    }
    i64 result = disk_run(&job);
    store_release(&disk_lock, 0);
    return result;
}

i64 disk_read(u32 disk, u64 block, u64 n, void *buf)
{
    return disk_transfer((struct disk_job){disk_get(disk), block, n, buf, 0});
}

i64 disk_write(u32 disk, u64 block, u64 n, const void *buf)
{
    return disk_transfer((struct disk_job){disk_get(disk), block, n, buf, 1});
}

int disk_info(u32 index, struct disk_info *info)
{
    const struct disk *disk = disk_get(index);
    if (!disk) {
        return E_NODEV;
    }
    u64 most = disk->max_bytes / INGOT_BLOCK;
    struct disk_info out = {
        .blocks = disk_blocks(disk),
        .sector_bytes = disk->sector_bytes,
        .max_blocks = most < ~0u ? (u32)most : ~0u,
        .error_block = disk->error_block,
        .reads = disk->reads,
        .writes = disk->writes,
        .errors = disk->errors,
    };
    string_copy(out.driver, disk->driver, sizeof(out.driver));
    string_copy(out.model, disk->model, sizeof(out.model));
    pci_name(disk->pci, out.pci);
    *info = out;
    return 0;
}

void disk_recover_all(void)
{
    for (u32 i = 0; i < disk_n; i++) {
        if (disk_table[i]->ops->recover) {
            disk_table[i]->ops->recover(disk_table[i]);
        }
    }
    store_release(&disk_lock, 0);
}
