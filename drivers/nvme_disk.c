// nvme_disk.c - a namespace as a disk: what it is, read, write, flush.
// SPDX-License-Identifier: MIT
//
// NVM Express 1.4, 5.15.2.1 and 6.
#define LOG_TAG "nvme"
#include "nvme.h"

struct nvme_disk {
    struct disk disk; // first: the kernel's side
    struct nvme *nvme;
    u32 nsid;
};

static struct nvme_disk *nvme_disk_of(struct disk *disk)
{
    return (struct nvme_disk *)disk;
}

// 4.3: the first page in the command, which may begin anywhere in it; one more
// page there too, more than that in a list. max_bytes keeps the list to a page.
static void nvme_set_prps(struct nvme *nvme, const struct disk_request *request,
                          struct nvme_command *command)
{
    u64 *list = nvme->memory->prps;
    u32 n = 0;
    for (u32 i = 0; i < request->n_segments; i++) {
        u64 phys = request->segments[i].phys;
        u64 end = phys + request->segments[i].len;
        for (; phys < end; phys = align_down(phys, PAGE) + PAGE) {
            if (n == 0) {
                command->prp[0] = phys;
            } else if (n <= NVME_PRPS) {
                list[n - 1] = phys;
            }
            n++;
        }
    }
    command->prp[1] = n < 2 ? 0 : n == 2 ? list[0] : (u64)list;
}

// 5.14.1.1: when the error log's latest entry is about this command, it names
// the first bad sector.
static void nvme_bad_sector(const struct nvme_disk *disk, u32 command_id,
                            u64 *bad_sector)
{
    struct nvme *nvme = disk->nvme;
    struct nvme_command command = {
        .opcode_id = ADMIN_LOG,
        .nsid = ~0u,
        .prp = {(u64)nvme->memory->answer},
        .dword = {(ERROR_BYTES / 4 - 1) << 16 | LOG_ERRORS},
    };
    memset(nvme->memory->answer, 0, ERROR_BYTES);
    if (nvme_run(nvme, NVME_QUEUE_ADMIN, &command) == 0 &&
        nvme_answer(nvme, ERROR_COUNT, 8) != 0 &&
        nvme_answer(nvme, ERROR_SQ_ID, 2) == NVME_QUEUE_IO &&
        nvme_answer(nvme, ERROR_COMMAND_ID, 2) == command_id &&
        nvme_answer(nvme, ERROR_NSID, 4) == disk->nsid) {
        *bad_sector = nvme_answer(nvme, ERROR_LBA, 8);
    }
}

static int nvme_transfer(struct disk *base, const struct disk_request *request,
                         u64 *bad_sector)
{
    struct nvme_disk *disk = nvme_disk_of(base);
    struct nvme *nvme = disk->nvme;
    struct nvme_command command = {
        .opcode_id = request->write ? NVM_WRITE : NVM_READ,
        .nsid = disk->nsid,
        .dword = {(u32)request->sector, (u32)(request->sector >> 32),
                  (u32)request->sectors - 1},
    };
    nvme_set_prps(nvme, request, &command);
    int result = nvme_run(nvme, NVME_QUEUE_IO, &command);
    if (result == E_IO && nvme->status == STATUS_WRITE_PROTECTED) {
        return E_UNSUPPORTED;
    }
    if (result == E_IO && nvme->status) {
        log_debug("namespace %u: status %03x", disk->nsid, nvme->status);
        nvme_bad_sector(disk, command.opcode_id >> 16, bad_sector);
    }
    return result;
}

static int nvme_flush(struct disk *base)
{
    struct nvme_disk *disk = nvme_disk_of(base);
    struct nvme_command command = {.opcode_id = NVM_FLUSH, .nsid = disk->nsid};
    return disk->nvme->has_cache ? nvme_run(disk->nvme, NVME_QUEUE_IO, &command)
                                 : 0;
}

// Its memory is somebody else's soon: the command must be over. The first of
// several namespaces does it for all.
static void nvme_recover(struct disk *base)
{
    struct nvme *nvme = nvme_disk_of(base)->nvme;
    if (nvme->in_command) {
        int result = nvme_start(nvme);
        log_debug("%lx: recovered (%d)", nvme->regs, result);
    }
}

static const struct disk_ops nvme_ops = {nvme_transfer, nvme_flush,
                                         nvme_recover};

// 5.15.2.1: the format in use. Sectors carry no metadata, and four kilobytes
// hold a whole number of them.
static int nvme_read_format(const struct nvme *nvme, struct disk *disk)
{
    u32 flbas = (u32)nvme_answer(nvme, NAMESPACE_FLBAS, 1);
    u32 format = (flbas & 15) | (flbas >> 1 & 0x30);
    if (nvme_answer(nvme, NAMESPACE_NLBAF, 1) < 16) {
        format = flbas & 15;
    }
    u32 lbaf = (u32)nvme_answer(nvme, NAMESPACE_LBAF + 4 * format, 4);
    u32 metadata = lbaf & 0xFFFF, log2 = lbaf >> 16 & 0xFF;
    if (metadata || log2 < 9 || log2 > 12) {
        log_error("sectors of 2^%u bytes with %u of metadata: not driven", log2,
                  metadata);
        return E_UNSUPPORTED;
    }
    disk->sector_bytes = 1u << log2;
    return 0;
}

int nvme_disk_add(struct nvme *nvme, u32 nsid)
{
    TRY(nvme_identify(nvme, nsid, IDENTIFY_NAMESPACE));
    u64 sectors = nvme_answer(nvme, NAMESPACE_NSZE, 8);
    if (sectors == 0) { // not in use
        return E_NODEV;
    }
    struct nvme_disk *disk = memory_boot_alloc(sizeof(*disk), 8);
    if (!disk) {
        return E_NOMEM;
    }
    disk->nvme = nvme;
    disk->nsid = nsid;
    disk->disk = (struct disk){
        .ops = &nvme_ops,
        .pci = nvme->pci,
        .driver = "nvme",
        .sectors = sectors,
        .max_bytes = nvme->max_bytes,
        .max_segments = NVME_PRPS,
        .page_segments = 1,
    };
    string_copy(disk->disk.model, nvme->model, sizeof(disk->disk.model));
    TRY(nvme_read_format(nvme, &disk->disk));
    return disk_add(&disk->disk);
}
