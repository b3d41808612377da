// memory.h - physical memory: who owns each 4 KiB page.
// SPDX-License-Identifier: MIT
#pragma once
#include "../boot/boot_info.h"
#include "cpu.h"

// Take over the loader's map (sorted, no overlap). Everything in reserved
// regions, the first megabyte, the kernel image and the modules stays out of
// reach. E_NOMEM: no room even for the page map.
int must_check memory_init(const struct boot_info *info);

// Boot arena: memory for drivers and tables that is never freed. Cleared,
// physically contiguous, virtual = physical. align: a power of two >= 8. Null
// when there is none: a driver then returns E_NOMEM from its probe.
void *memory_boot_alloc(u64 bytes, u64 align);
// The same below 4 GiB, for devices that cannot reach further.
void *memory_boot_alloc_low(u64 bytes, u64 align);
// The same in whole pages, not cleared: packet buffers and the like.
void *memory_boot_buffer(u64 bytes, u64 align);

enum memory_owner { MEMORY_KERNEL, MEMORY_FREE, MEMORY_SHELL, MEMORY_APP };

// Pages for programs: owner says whose. Contiguous, page-aligned.
int must_check memory_alloc(u64 bytes, u32 flags, enum memory_owner owner,
                            u64 *phys);
int must_check memory_free(u64 phys, u64 bytes, enum memory_owner owner);
// Everything that this owner still holds is free again.
void memory_free_owner(enum memory_owner owner);
void memory_get_info(struct mem_info *info);
int memory_is_ram(u64 phys, u64 bytes); // 1 when it touches usable RAM
// Usable RAM, whole pages, piece by piece. E_RANGE: no such piece.
int memory_ram_piece(u32 index, u64 *phys, u64 *bytes);
void memory_give(u64 phys, u64 bytes); // kernel pages join free memory
