// core.c - what belongs to one core: descriptor tables, stacks.
// SPDX-License-Identifier: MIT
//
// Intel SDM volume 3: 3.4.5 (descriptors), 7.7 (64-bit TSS), 13.3 (XSAVE).
#include "core.h"
#include "../lib/string.h"
#include "machine_check.h"
#include "paging.h"

// The stacks live in a region of their own, each with room below it that is
// never mapped.
#define STACK_REGION 0xFFFFFFFFC0000000ul
enum { STACK_BYTES = 8192, HOOK_BYTES = 20480, WORK_BYTES = 65536 };
enum { STACK_SPACING = 0x10000, CORE_SPACING = 0x100000 };
// Above an interrupt's frame, which interrupt.c may have to move by a word.
enum { STACK_SPARE = 16 };
enum { CPUID1_MCE = 1 << 7, CR4_MCE = 1 << 6 };
#define CR4_OSXSAVE BIT(18)
enum {
    MSR_PAT = 0x277,
    MSR_EFER = 0xC0000080,
    MSR_FS_BASE = 0xC0000100,
    MSR_GS_BASE = 0xC0000101
};
// Intel SDM volume 3, 11.12: as after reset, but entry 1 is write-combining
// where it was write-through.
#define PAT 0x0007040600070106ul

static struct core first = {.self = &first};
static struct core *cores[CORES] = {&first};

struct core *core_get(u32 index)
{
    return index < CORES ? cores[index] : 0;
}

u64 core_stack_top(u32 index, enum core_stack stack)
{
    u64 slot =
        stack == STACK_WORK ? CORE_SPACING / STACK_SPACING - 1 : (u64)stack;
    return STACK_REGION + (u64)index * CORE_SPACING + slot * STACK_SPACING;
}

static int core_map_stack(u32 index, enum core_stack stack)
{
    u64 bytes = stack == STACK_WORK   ? WORK_BYTES - PAGE
                : stack == STACK_HOOK ? HOOK_BYTES
                                      : STACK_BYTES;
    void *memory = memory_boot_buffer(bytes, PAGE);
    if (memory == 0) {
        return E_NOMEM;
    }
    u64 top = core_stack_top(index, stack);
    return paging_map(top - bytes, (u64)memory, bytes, PAGE_WRITE,
                      MEMORY_KERNEL);
}

int core_is_interrupt_stack(u64 rsp)
{
    u64 at = rsp - 1 - STACK_REGION;
    return at < (u64)CORES * CORE_SPACING &&
           at % CORE_SPACING / STACK_SPACING < IST_STACKS;
}

int core_is_stack_guard(u64 address)
{
    struct mem_page page;
    return address >= STACK_REGION &&
           address < STACK_REGION + (u64)CORES * CORE_SPACING &&
           paging_query(address, &page) != 0;
}

static void core_fill_tables(struct core *core)
{
    u64 tss = (u64)&core->tss;
    for (u32 stack = 1; stack <= IST_STACKS; stack++) {
        u64 top = core_stack_top(core->index, stack) - STACK_SPARE;
        core->tss.ist[(stack - 1) * 2] = (u32)top;
        core->tss.ist[(stack - 1) * 2 + 1] = (u32)(top >> 32);
    }
    core->tss.io_map = sizeof(struct tss);
    core->gdt[1] = 0x00AF9A000000FFFF; // 64-bit code
    core->gdt[2] = 0x00CF92000000FFFF; // data
    core->gdt[3] = (sizeof(struct tss) - 1) | (tss & 0xFFFFFF) << 16 |
                   0x89ul << 40 | (tss >> 24 & 0xFF) << 56;
    core->gdt[4] = tss >> 32;
}

int core_make(u32 index, u32 apic_id)
{
    struct core *core =
        index == 0 ? &first : memory_boot_alloc(sizeof(*core), 64);
    if (core == 0) {
        return E_NOMEM;
    }
    for (u32 stack = 1; stack <= (index == 0 ? STACK_HOOK : STACK_WORK);
         stack++) { // the first core runs the shell, on the shell's stack
        TRY(core_map_stack(index, stack));
    }
    core->self = core;
    core->index = index;
    core->apic_id = apic_id;
    core_fill_tables(core);
    cores[index] = core;
    return 0;
}

// Everything the processor can save, but nothing beyond AVX-512: x87 and SSE
// (always), AVX (bit 2), opmask and ZMM (5 to 7).
static void core_enable_vectors(struct core *core)
{
    if ((core->cr4 & CR4_OSXSAVE) == 0) {
        return;
    }
    u32 wanted = cpuid(0xD, 0).eax & 0xE7;
    if ((wanted & 0xE4) != 0xE4) {
        wanted &= 0x7;
    }
    __asm__ volatile("xsetbv" : : "c"(0), "a"(wanted), "d"(0));
    core->xcr0 = wanted;
}

// Entry code switched on what C needs; the rest is the same on every core.
static void core_set_control(struct core *core)
{
    if (core->cr0 == 0) {
        struct cpuid features = cpuid(1, 0);
        core->cr0 = read_cr0();
        core->cr4 = read_cr4();
        core->cr4 |= features.ecx & BIT(26) ? CR4_OSXSAVE : 0;
        core->cr4 |= features.edx & CPUID1_MCE ? CR4_MCE : 0;
        core->efer = rdmsr(MSR_EFER);
    }
    wrmsr(MSR_EFER, core->efer);
    write_cr0(core->cr0);
    write_cr4(core->cr4);
}

void core_begin(void)
{
    wrmsr(MSR_GS_BASE, (u64)&first);
    wrmsr(MSR_PAT, PAT);
}

void core_load(struct core *core)
{
    struct __attribute__((packed)) {
        u16 limit;
        u64 base;
    } pointer = {sizeof(core->gdt) - 1, (u64)core->gdt};
    __asm__ volatile("lgdt %0\n\t"
                     "pushq $8\n\t"
                     "leaq 1f(%%rip), %%rax\n\t"
                     "pushq %%rax\n\t"
                     "lretq\n"
                     "1:\n\t"
                     "movw %w2, %%ss\n\t"
                     "movw %w2, %%ds\n\t"
                     "movw %w2, %%es\n\t"
                     "ltr %w1"
                     :
                     : "m"(pointer), "r"(0x18), "r"(0x10)
                     : "rax", "memory");
    wrmsr(MSR_GS_BASE, (u64)core);
    wrmsr(MSR_FS_BASE, 0); // a program's to use
    core_set_control(core);
    wrmsr(MSR_PAT, PAT); // the same on every core
    core_enable_vectors(core);
    if (core->cr4 & CR4_MCE) {
        machine_check_enable();
    }
}

void core_restore(struct core *core)
{
    core_fill_tables(core);
    core_load(core);
    clear_debug();
}

// The first moments have no stacks of their own, and no program either.
void core_find_self(const void *on_stack)
{
    u64 index = ((u64)on_stack - STACK_REGION) / CORE_SPACING;
    if ((u64)on_stack >= STACK_REGION && index < CORES && cores[index] != 0) {
        wrmsr(MSR_GS_BASE, (u64)cores[index]);
    }
}
