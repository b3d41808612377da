// nvme.h - an NVMe controller: what its bring-up (nvme.c), its queues
// (nvme_queue.c) and its disks (nvme_disk.c) know of each other.
// SPDX-License-Identifier: MIT
#pragma once
#include "nvme_regs.h"

enum { NVME_ENTRIES = 16, NVME_PRPS = PAGE / sizeof(u64) };
enum { NVME_QUEUE_ADMIN = 0, NVME_QUEUE_IO = 1, NVME_QUEUES = 2 };

struct nvme_memory { // what the controller reads and writes; whole pages
    _Alignas(PAGE) struct nvme_command commands[NVME_QUEUES][64];
    _Alignas(PAGE) struct nvme_completion completions[NVME_QUEUES][256];
    _Alignas(PAGE) u8 answer[PAGE]; // of identify and the error log
    u64 prps[NVME_PRPS];
};

// A submission queue and its completion queue. One command is on its way at a
// time, so one free-running number tells the place in both and the phase.
struct nvme_queue {
    struct nvme_command *commands;
    struct nvme_completion *completions;
    u64 sq_doorbell, cq_doorbell;
    u32 n;  // commands so far
    u16 id; // 0: admin
};

struct nvme {
    const struct pci_device *pci;
    u64 regs, cap;
    struct nvme_memory *memory;
    struct nvme_queue queues[NVME_QUEUES];
    u32 entries; // of each queue
    u64 max_bytes;
    u32 status;    // of the latest command
    u8 has_cache;  // writes are to be flushed
    u8 in_command; // 1 from before a command until it is known to be over
    char model[CONTROLLER_MODEL_BYTES + 1];
};

// From any state to one that takes commands. E_GONE, E_TIMEOUT, E_IO; then the
// controller reaches memory no longer.
int must_check nvme_start(struct nvme *nvme);
// Place the queues afresh, empty.
void nvme_queues_clear(struct nvme *nvme);
// One command to its end: 0, E_IO (nvme->status says why), or E_TIMEOUT,
// E_GONE; in_command stays set when the controller is not to be trusted.
int must_check nvme_issue(struct nvme *nvme, u32 queue,
                          struct nvme_command *command);
// The same, and a controller in trouble has been started anew.
int must_check nvme_run(struct nvme *nvme, u32 queue,
                        struct nvme_command *command);
// Fill memory->answer.
int must_check nvme_identify(struct nvme *nvme, u32 nsid, u32 what);

// Identify a namespace, then disk_add(). E_NODEV: there is nothing.
int must_check nvme_disk_add(struct nvme *nvme, u32 nsid);

// A number inside an answer, little-endian as we are.
static inline u64 nvme_answer(const struct nvme *nvme, u32 at, u32 bytes)
{
    u64 value = 0;
    memcpy(&value, nvme->memory->answer + at, bytes);
    return value;
}
