// paging.h - the address space: who may touch which virtual page, and how.
// SPDX-License-Identifier: MIT
#pragma once
#include "../boot/boot_info.h"
#include "memory.h"

// Leave the boot tables for the real ones (docs/memory.md).
// E_NOMEM: no room for the tables.
int must_check paging_init(const struct boot_info *info);

void paging_load(void); // CR3, if a program changed it
// Beside the PAGE_* of programs: stores are gathered, loads are slow.
enum { PAGE_COMBINED = 8 };

// The framebuffer is seen at one place from before paging_init() on: in the
// region below, as far behind a 2 MiB boundary as it is in fact.
#define SCREEN_REGION 0xFFFFFFFF90000000ul
enum { SCREEN_MOST = 256 << 20 }; // bytes
u64 paging_screen(const struct boot_framebuffer *screen);
// Write-combined, in the boot tables; only in SCREEN_REGION.
void paging_map_early(u64 virt, u64 phys, u64 bytes);

// Map pages. flags: PAGE_WRITE, PAGE_EXEC, PAGE_UNCACHED, PAGE_COMBINED.
// Replaces what was there. E_NOMEM when a table cannot be had.
int must_check paging_map(u64 virt, u64 phys, u64 bytes, u32 flags,
                          enum memory_owner owner);
int must_check paging_unmap(u64 virt, u64 bytes);
// Drop everything in virt's 512 GiB slot; the tables are their owner's memory.
void paging_drop_slot(u64 virt);
// E_FAULT when nothing is mapped at address.
int must_check paging_query(u64 address, struct mem_page *page);

// Physical address of one byte; ~0ul when it is not mapped. What a driver must
// ask before it hands an address to a device.
u64 phys_of(const void *address);
// Bytes from address on that are mapped, physically contiguous and, when write
// is set, writable; at most len. 0: the first byte is not.
u64 phys_run(const void *address, u64 len, int write, u64 *phys);

// Device registers, uncached, virtual = physical. E_ARG on a non-canonical or
// empty range or RAM.
int must_check mmio_map(u64 phys, u64 bytes);
// Firmware tables anywhere: readable at virtual = physical from now on. E_ARG
// as above.
int must_check firmware_map(u64 phys, u64 bytes);
