// ahci_rig.h - the AHCI driver, the disk layer above it, and what the kernel
// gives them, on the host.
// SPDX-License-Identifier: MIT
#pragma once
#include "../../kernel/mmio.c"
#include "../../kernel/disk.c"
#undef LOG_TAG
#include "../../drivers/ahci_port.c"
#undef LOG_TAG
#include "../../drivers/ahci_disk.c"
#undef LOG_TAG
#include "../../drivers/ahci.c"
#include <sys/mman.h>
#include "log_fake.h"
#include "clock_fake.h"

void pci_name(const struct pci_device *device, char *text)
{
    (void)device;
    string_copy(text, "00:1f.2", 16);
}

static u64 memory_left; // bytes that memory_boot_alloc still gives

static void *arena[64];
static u32 arena_n;

static void free_arena(void)
{
    while (arena_n > 0) {
        free(arena[--arena_n]);
    }
}

void *memory_boot_alloc(u64 bytes, u64 align)
{
    if (bytes > memory_left) {
        return 0;
    }
    memory_left -= bytes;
    u64 size = align_up(bytes, align);
    void *memory = aligned_alloc(align, size);
    arena[arena_n++] = memory;
    return memset(memory, 0, size);
}

static u64 low_allocations;

void *memory_boot_alloc_low(u64 bytes, u64 align)
{
    (void)align;
    low_allocations++;
    void *p = mmap(0, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    return p == MAP_FAILED ? 0 : p;
}

u64 phys_run(const void *address, u64 len, int write, u64 *phys)
{
    (void)write;
    u64 run = PAGE - (u64)address % PAGE;
    *phys = (u64)address;
    return run < len ? run : len;
}
