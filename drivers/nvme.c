// nvme.c - NVMe controllers: reset, queues, and a disk for each namespace.
// SPDX-License-Identifier: MIT
//
// NVM Express 1.4. Tried on QEMU 7.2 (nvme: several, with several namespaces).
#define LOG_TAG "nvme"
#include "nvme.h"
#include "drivers.h"

enum { NVME_TO_MS = 500, NVME_MOST_NAMESPACES = 64 };

static int nvme_match(const struct pci_device *device)
{
    return device->class_code == 1 && device->subclass == 8 &&
           device->prog_if == 2;
}

// 3.1.5: CSTS.RDY follows CC.EN within CAP.TO.
static int nvme_wait_ready(const struct nvme *nvme, u32 ready)
{
    u64 limit = field_get(CAP_TO, nvme->cap) + 1;
    struct deadline deadline = deadline_ms(limit * NVME_TO_MS);
    for (;;) {
        int late = deadline_passed(&deadline);
        u32 csts = mmio_read32(nvme->regs + NVME_CSTS);
        if (csts == ~0u) {
            return E_GONE;
        }
        if ((csts & CSTS_RDY) == ready) {
            return 0;
        }
        if (csts & CSTS_CFS && ready) {
            return E_IO;
        }
        if (late) {
            return E_TIMEOUT;
        }
        pause();
    }
}

// 7.3.2: controller reset. EN must not fall before RDY has risen, unless the
// controller is beyond that.
static int nvme_disable(const struct nvme *nvme)
{
    u32 cc = mmio_read32(nvme->regs + NVME_CC);
    if (cc & CC_EN && nvme_wait_ready(nvme, CSTS_RDY) == E_GONE) {
        return E_GONE;
    }
    mmio_write32(nvme->regs + NVME_CC, 0);
    return nvme_wait_ready(nvme, 0);
}

static void nvme_write64(u64 address, u64 value)
{
    mmio_write32(address, (u32)value);
    mmio_write32(address + 4, (u32)(value >> 32));
}

// 7.6.1: the admin queues, then on.
static int nvme_enable(struct nvme *nvme)
{
    u32 entries = nvme->entries - 1;
    nvme_queues_clear(nvme);
    mmio_write32(nvme->regs + NVME_AQA, entries << 16 | entries);
    nvme_write64(nvme->regs + NVME_ASQ, (u64)nvme->queues[0].commands);
    nvme_write64(nvme->regs + NVME_ACQ, (u64)nvme->queues[0].completions);
    mmio_write32(nvme->regs + NVME_CC,
                 (u32)(field_put(CC_IOSQES, NVME_COMMAND_LOG2) |
                       field_put(CC_IOCQES, NVME_COMPLETION_LOG2) | CC_EN));
    return nvme_wait_ready(nvme, CSTS_RDY);
}

static int nvme_create(struct nvme *nvme, u32 opcode, const void *queue,
                       u32 options)
{
    struct nvme_command command = {
        .opcode_id = opcode,
        .prp = {(u64)queue},
        .dword = {(nvme->entries - 1) << 16 | NVME_QUEUE_IO, options},
    };
    return nvme_issue(nvme, NVME_QUEUE_ADMIN, &command);
}

// 5.21.1.7, 5.3, 5.4: ask for one pair of queues, make it. No interrupts.
static int nvme_create_queues(struct nvme *nvme)
{
    struct nvme_queue *io = &nvme->queues[NVME_QUEUE_IO];
    struct nvme_command ask = {.opcode_id = ADMIN_SET_FEATURES,
                               .dword = {FEATURE_QUEUES}};
    int result = nvme_issue(nvme, NVME_QUEUE_ADMIN, &ask);
    if (nvme->in_command) { // else it may refuse, and still have them
        return result;
    }
    TRY(nvme_create(nvme, ADMIN_CREATE_CQ, io->completions, QUEUE_CONTIGUOUS));
    return nvme_create(nvme, ADMIN_CREATE_SQ, io->commands,
                       NVME_QUEUE_IO << 16 | QUEUE_CONTIGUOUS);
}

int nvme_start(struct nvme *nvme)
{
    pci_enable(nvme->pci,
               PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_INTX_OFF);
    int result = nvme_disable(nvme);
    if (result == 0) {
        result = nvme_enable(nvme);
    }
    if (result == 0) {
        result = nvme_create_queues(nvme);
    }
    nvme->in_command = result < 0;
    if (result < 0) { // it must not write into what is somebody else's by now
        pci_disable_master(nvme->pci);
    }
    return result;
}

int nvme_identify(struct nvme *nvme, u32 nsid, u32 what)
{
    struct nvme_command command = {
        .opcode_id = ADMIN_IDENTIFY,
        .nsid = nsid,
        .prp = {(u64)nvme->memory->answer},
        .dword = {what},
    };
    return nvme_run(nvme, NVME_QUEUE_ADMIN, &command);
}

// The model, without what a console may not like.
static void nvme_read_model(struct nvme *nvme)
{
    u32 end = 0;
    for (u32 i = 0; i < CONTROLLER_MODEL_BYTES; i++) {
        char c = (char)nvme->memory->answer[CONTROLLER_MODEL + i];
        nvme->model[i] = c >= ' ' && c <= '~' ? c : ' ';
        end = nvme->model[i] != ' ' ? i + 1 : end;
    }
    nvme->model[end] = 0;
}

// 5.15.2.2. One list of PRPs is a page, and MDTS says what a command may move.
static int nvme_read_controller(struct nvme *nvme, u32 *last_nsid)
{
    TRY(nvme_identify(nvme, 0, IDENTIFY_CONTROLLER));
    u64 mdts = nvme_answer(nvme, CONTROLLER_MDTS, 1);
    nvme->max_bytes = (u64)NVME_PRPS * PAGE;
    if (mdts > 0 && mdts < 9) {
        nvme->max_bytes = (u64)PAGE << mdts;
    }
    nvme->has_cache = nvme_answer(nvme, CONTROLLER_VWC, 1) & 1;
    *last_nsid = (u32)nvme_answer(nvme, CONTROLLER_NN, 4);
    nvme_read_model(nvme);
    return 0;
}

// The namespace after this one, 0: none. Before 1.1 they cannot be listed.
static u32 nvme_next_namespace(struct nvme *nvme, u32 nsid, u32 last)
{
    u32 next = nsid + 1;
    if (mmio_read32(nvme->regs + NVME_VS) >= VS_1_1 &&
        nvme_identify(nvme, nsid, IDENTIFY_LIST) == 0) {
        next = (u32)nvme_answer(nvme, 0, 4);
    }
    return next > nsid && next <= last ? next : 0;
}

static void nvme_add_namespaces(struct nvme *nvme, u32 last)
{
    u32 nsid = 0;
    for (u32 i = 0; i < NVME_MOST_NAMESPACES; i++) {
        nsid = nvme_next_namespace(nvme, nsid, last);
        if (nsid == 0) {
            return;
        }
        int result = nvme_disk_add(nvme, nsid);
        if (result < 0 && result != E_NODEV) {
            log_error("namespace %u: no disk (%d)", nsid, result);
        }
    }
}

// 3.1.1: can it do what we need?
static int nvme_read_capabilities(struct nvme *nvme)
{
    nvme->cap = mmio_read32(nvme->regs + NVME_CAP) |
                (u64)mmio_read32(nvme->regs + NVME_CAP + 4) << 32;
    if (nvme->cap == ~0ul) {
        return E_GONE;
    }
    nvme->entries = NVME_ENTRIES;
    while (nvme->entries > field_get(CAP_MQES, nvme->cap) + 1) {
        nvme->entries /= 2;
    }
    if (nvme->entries < 2 || field_get(CAP_MPSMIN, nvme->cap) > 0 ||
        !(nvme->cap & CAP_CSS_NVM)) {
        log_error("capabilities %lx: no queues, no 4 KiB pages or no disk",
                  nvme->cap);
        return E_UNSUPPORTED;
    }
    u64 stride = 4ul << field_get(CAP_DSTRD, nvme->cap);
    return pci_map_bar(nvme->pci, 0, NVME_DOORBELLS + 2 * NVME_QUEUES * stride,
                       &nvme->regs);
}

static int nvme_bring_up(struct nvme *nvme)
{
    u32 last = 0;
    TRY(pci_map_bar(nvme->pci, 0, NVME_DOORBELLS, &nvme->regs));
    TRY(nvme_read_capabilities(nvme));
    nvme->memory = memory_boot_alloc(sizeof(*nvme->memory), PAGE);
    if (!nvme->memory) {
        return E_NOMEM;
    }
    TRY(nvme_start(nvme));
    TRY(nvme_read_controller(nvme, &last));
    nvme_add_namespaces(nvme, last);
    return 0;
}

static int nvme_probe(struct pci_device *device)
{
    struct nvme *nvme = memory_boot_alloc(sizeof(*nvme), 8);
    if (!nvme) {
        return E_NOMEM;
    }
    nvme->pci = device;
    pci_enable(device, PCI_COMMAND_MEMORY | PCI_COMMAND_INTX_OFF);
    int result = nvme_bring_up(nvme);
    if (result < 0) {
        pci_disable_master(device);
    }
    return result;
}

const struct driver nvme_driver = {"nvme", nvme_match, nvme_probe};
