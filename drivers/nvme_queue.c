// nvme_queue.c - a command to an NVMe controller and its completion.
// SPDX-License-Identifier: MIT
//
// NVM Express 1.4. Polled, one command at a time: programs wait for their data
// anyway.
#define LOG_TAG "nvme"
#include "nvme.h"

enum {
    NVME_COMMAND_MS = 30000,
    NVME_LOOK_PASSES = 1024, // a register costs as much as many looks at memory
};

void nvme_queues_clear(struct nvme *nvme)
{
    u64 stride = 4ul << field_get(CAP_DSTRD, nvme->cap); // 3.1: doorbells
    memset(nvme->memory->completions, 0, sizeof(nvme->memory->completions));
    for (u32 i = 0; i < NVME_QUEUES; i++) {
        u64 doorbells = nvme->regs + NVME_DOORBELLS + 2 * i * stride;
        nvme->queues[i] = (struct nvme_queue){
            .commands = nvme->memory->commands[i],
            .completions = nvme->memory->completions[i],
            .sq_doorbell = doorbells,
            .cq_doorbell = doorbells + stride,
            .id = (u16)i,
        };
    }
}

// 4.6.1: the phase is 1 on the first way round, 0 on the second.
static u32 nvme_phase(const struct nvme *nvme, const struct nvme_queue *queue)
{
    return ~(queue->n / nvme->entries) & 1;
}

// Wait for the entry that is next. The phase is what hands it over to us.
static int nvme_wait(struct nvme *nvme, const struct nvme_queue *queue)
{
    u32 at = queue->n & (nvme->entries - 1);
    const u16 *status = &queue->completions[at].status;
    struct deadline deadline = deadline_ms(NVME_COMMAND_MS);
    for (u32 pass = 1;; pass++) {
        int late = deadline_passed(&deadline);
        if ((load_acquire(status) & 1) == nvme_phase(nvme, queue)) {
            return 0;
        }
        if (late || pass % NVME_LOOK_PASSES == 0) {
            u32 csts = mmio_read32(nvme->regs + NVME_CSTS);
            if (csts == ~0u || csts & CSTS_CFS) {
                return csts == ~0u ? E_GONE : E_IO;
            }
        }
        if (late) {
            return E_TIMEOUT;
        }
        pause();
    }
}

// 4.6: an entry for another command, or from another queue, is a controller
// that has lost its way.
static int nvme_take(struct nvme *nvme, struct nvme_queue *queue)
{
    u32 at = queue->n & (nvme->entries - 1);
    struct nvme_completion entry = queue->completions[at];
    if (entry.id != (u16)queue->n || entry.sq_id != queue->id ||
        entry.sq_head >= nvme->entries) {
        log_error("completion %u of queue %u, place %u, for command %u",
                  entry.id, entry.sq_id, entry.sq_head, (u16)queue->n);
        return E_IO;
    }
    queue->n++;
    mmio_write32(queue->cq_doorbell, queue->n & (nvme->entries - 1));
    nvme->status = entry.status >> 1 & STATUS_CODE;
    nvme->in_command = 0;
    return nvme->status ? E_IO : 0;
}

int nvme_issue(struct nvme *nvme, u32 number, struct nvme_command *command)
{
    struct nvme_queue *queue = &nvme->queues[number];
    u32 mask = nvme->entries - 1;
    nvme->in_command = 1;
    nvme->status = 0;
    command->opcode_id |= queue->n << 16;
    queue->commands[queue->n & mask] = *command;
    fence(); // the command is in memory before the controller hears of it
    mmio_write32(queue->sq_doorbell, (queue->n + 1) & mask);
    TRY(nvme_wait(nvme, queue));
    return nvme_take(nvme, queue);
}

int nvme_run(struct nvme *nvme, u32 queue, struct nvme_command *command)
{
    if (nvme->in_command) {
        TRY(nvme_start(nvme));
    }
    int result = nvme_issue(nvme, queue, command);
    if (result == 0 || !nvme->in_command) {
        return result;
    }
    log_warn("%lx: command %02x failed (%d): reset", nvme->regs,
             command->opcode_id & 0xFF, result);
    int started = nvme_start(nvme);
    return started == E_GONE ? E_GONE : result;
}
