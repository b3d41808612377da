// core.c - what belongs to one core: descriptor tables and interrupt stacks.
// SPDX-License-Identifier: MIT
//
// Intel SDM volume 3: 3.4.5 (descriptors), 7.7 (64-bit TSS), 13.3 (XSAVE).
#include "core.h"
#include "../lib/string.h"
#include "paging.h"

// Interrupt stacks live in a region of their own, each with room below it that
// is never mapped.
#define STACK_REGION 0xFFFFFFFFC0000000ul
enum { STACK_BYTES = 8192, STACK_SPACING = 65536, CORE_SPACING = 1 << 20 };
enum { CORES = 1 };

struct tss {
    u32 reserved0;
    u32 rsp[6];
    u32 reserved1[2];
    u32 ist[14]; // seven addresses, low half first
    u32 reserved2[2];
    u16 reserved3;
    u16 io_map;
};
_Static_assert(sizeof(struct tss) == 104, "the processor's TSS");

static struct core {
    u64 gdt[5]; // null, code, data, TSS (two entries)
    struct tss tss;
    u64 xcr0;
} cores[CORES];

static u64 core_stack_top(u32 core, u32 stack)
{
    return STACK_REGION + (u64)core * CORE_SPACING + stack * STACK_SPACING;
}

static int core_map_stacks(u32 index)
{
    for (u32 stack = 1; stack <= STACKS; stack++) {
        void *memory = memory_boot_buffer(STACK_BYTES, PAGE);
        if (memory == 0) {
            return E_NOMEM;
        }
        u64 top = core_stack_top(index, stack);
        TRY(paging_map(top - STACK_BYTES, (u64)memory, STACK_BYTES, PAGE_WRITE,
                       MEMORY_KERNEL));
        cores[index].tss.ist[(stack - 1) * 2] = (u32)top;
        cores[index].tss.ist[(stack - 1) * 2 + 1] = (u32)(top >> 32);
    }
    return 0;
}

int core_is_stack_guard(u64 address)
{
    u64 last = core_stack_top(CORES - 1, STACKS);
    return address >= STACK_REGION && address < last;
}

static void core_load_tables(struct core *core)
{
    u64 tss = (u64)&core->tss;
    core->tss.io_map = sizeof(struct tss);
    core->gdt[1] = 0x00AF9A000000FFFF; // 64-bit code
    core->gdt[2] = 0x00CF92000000FFFF; // data
    core->gdt[3] = (sizeof(struct tss) - 1) | (tss & 0xFFFFFF) << 16 |
                   0x89ul << 40 | (tss >> 24 & 0xFF) << 56;
    core->gdt[4] = tss >> 32;
    struct __attribute__((packed)) {
        u16 limit;
        u64 base;
    } pointer = {sizeof(core->gdt) - 1, (u64)core->gdt};
    __asm__ volatile("lgdt %0\n\t"
                     "ltr %w1"
                     :
                     : "m"(pointer), "r"(0x18)
                     : "memory");
}

// Everything the processor can save, but nothing beyond AVX-512: x87 and SSE
// (always), AVX (bit 2), opmask and ZMM (5 to 7).
static void core_enable_vectors(struct core *core)
{
    struct cpuid features = cpuid(1, 0);
    if ((features.ecx & BIT(26)) == 0) {
        return;
    }
    u64 cr4;
    __asm__ volatile("movq %%cr4, %0" : "=r"(cr4));
    __asm__ volatile("movq %0, %%cr4" : : "r"(cr4 | BIT(18)));
    u32 wanted = cpuid(0xD, 0).eax & 0xE7;
    if ((wanted & 0xE4) != 0xE4) {
        wanted &= 0x7;
    }
    __asm__ volatile("xsetbv" : : "c"(0), "a"(wanted), "d"(0));
    core->xcr0 = wanted;
}

u64 core_xcr0(void)
{
    return cores[0].xcr0;
}

int core_init(u32 index)
{
    TRY(core_map_stacks(index));
    core_load_tables(&cores[index]);
    core_enable_vectors(&cores[index]);
    return 0;
}
