// cpu.h - one inline function per processor instruction, named after it.
// SPDX-License-Identifier: MIT
#pragma once
#include "../include/ingot.h"

#define BIT(n) (1ul << (n))
#define BITS(hi, lo) ((~0ul >> (63 - (hi))) & ~(BIT(lo) - 1))
// A field is its mask: field_get(CAP_TO, cap), field_put(CC_IOSQES, 6).
#define field_get(mask, value) (((value) & (mask)) / ((mask) & ~((mask)-1)))
#define field_put(mask, value) (((value) * ((mask) & ~((mask)-1))) & (mask))

#define array_size(a) (sizeof(a) / sizeof((a)[0]))

// Pass an error up: TRY(expr) returns from the caller when expr < 0.
#define TRY(expr)                                                              \
    do {                                                                       \
        int try_result = (int)(expr);                                          \
        if (try_result < 0) {                                                  \
            return try_result;                                                 \
        }                                                                      \
    } while (0)

enum { PAGE = 4096 };
static inline u64 align_down(u64 value, u64 to)
{
    return value & ~(to - 1);
}
static inline u64 align_up(u64 value, u64 to)
{
    return (value + to - 1) & ~(to - 1);
}

// Host tests define MMIO_FAKE and give ports and the counter of their own.
#ifdef MMIO_FAKE
void outb(u16 port, u8 value);
void outw(u16 port, u16 value);
void outl(u16 port, u32 value);
u8 inb(u16 port);
u16 inw(u16 port);
u32 inl(u16 port);
u64 rdtsc(void);
#else
static inline void outb(u16 port, u8 value)
{
    __asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}
static inline void outw(u16 port, u16 value)
{
    __asm__ volatile("outw %0, %1" : : "a"(value), "Nd"(port));
}
static inline void outl(u16 port, u32 value)
{
    __asm__ volatile("outl %0, %1" : : "a"(value), "Nd"(port));
}
static inline u8 inb(u16 port)
{
    u8 value;
    __asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
    return value;
}
static inline u16 inw(u16 port)
{
    u16 value;
    __asm__ volatile("inw %1, %0" : "=a"(value) : "Nd"(port));
    return value;
}
static inline u32 inl(u16 port)
{
    u32 value;
    __asm__ volatile("inl %1, %0" : "=a"(value) : "Nd"(port));
    return value;
}

static inline u64 rdtsc(void)
{
    u32 low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (u64)high << 32 | low;
}
#endif

static inline u64 rdmsr(u32 msr)
{
    u32 low, high;
    __asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr));
    return (u64)high << 32 | low;
}
static inline void wrmsr(u32 msr, u64 value)
{
    __asm__ volatile("wrmsr"
                     :
                     : "c"(msr), "a"((u32)value), "d"((u32)(value >> 32))
                     : "memory");
}

struct cpuid {
    u32 eax, ebx, ecx, edx;
};
static inline struct cpuid cpuid(u32 leaf, u32 subleaf)
{
    struct cpuid r;
    __asm__ volatile("cpuid"
                     : "=a"(r.eax), "=b"(r.ebx), "=c"(r.ecx), "=d"(r.edx)
                     : "a"(leaf), "c"(subleaf));
    return r;
}

static inline void pause(void)
{
    __asm__ volatile("pause");
}
static inline void hlt(void)
{
    __asm__ volatile("hlt");
}
static inline void cli(void)
{
    __asm__ volatile("cli" : : : "memory");
}
static inline void sti(void)
{
    __asm__ volatile("sti" : : : "memory");
}
// Sleep until the next interrupt, with no gap in which one could be missed.
static inline void sti_hlt(void)
{
    __asm__ volatile("sti; hlt" : : : "memory");
}

// Watch the line at address; then sleep until it is written to, or the next
// interrupt, with no gap either.
static inline void monitor(const void *address)
{
    __asm__ volatile("monitor" : : "a"(address), "c"(0), "d"(0));
}
static inline void sti_mwait(void)
{
    __asm__ volatile("sti; mwait" : : "a"(0), "c"(0) : "memory");
}

static inline void int3(void)
{
    __asm__ volatile("int3");
}
static inline void lidt(u64 base, u16 limit)
{
    struct __attribute__((packed)) {
        u16 limit;
        u64 base;
    } pointer = {limit, base};
    __asm__ volatile("lidt %0" : : "m"(pointer));
}

static inline u64 irq_save(void)
{
    u64 flags;
    __asm__ volatile("pushfq; popq %0; cli" : "=r"(flags) : : "memory");
    return flags;
}
static inline void irq_restore(u64 flags)
{
    __asm__ volatile("pushq %0; popfq" : : "r"(flags) : "memory", "cc");
}

// x87 and SSE as the ABI promises them to a function.
static inline void clear_vectors(void)
{
    const u32 mxcsr = 0x1F80; // all exceptions masked, round to nearest
    __asm__ volatile("fninit; ldmxcsr %0" : : "m"(mxcsr));
}

static inline u64 read_cr0(void)
{
    u64 value;
    __asm__ volatile("movq %%cr0, %0" : "=r"(value));
    return value;
}
static inline void write_cr0(u64 value)
{
    __asm__ volatile("movq %0, %%cr0" : : "r"(value) : "memory");
}
static inline u64 read_cr4(void)
{
    u64 value;
    __asm__ volatile("movq %%cr4, %0" : "=r"(value));
    return value;
}
static inline void write_cr4(u64 value)
{
    __asm__ volatile("movq %0, %%cr4" : : "r"(value) : "memory");
}
// Interrupts of this class of vectors (their upper four bits) and of those
// below wait: Intel SDM volume 3, 10.8.6.
static inline void write_cr8(u64 class)
{
    __asm__ volatile("movq %0, %%cr8" : : "r"(class) : "memory");
}
// Breakpoints off, none was hit.
static inline void clear_debug(void)
{
    __asm__ volatile("movq %0, %%dr7; movq %0, %%dr6" : : "r"(0ul));
}

static inline u64 read_cr2(void)
{
    u64 value;
    __asm__ volatile("movq %%cr2, %0" : "=r"(value));
    return value;
}
static inline u64 read_cr3(void)
{
    u64 value;
    __asm__ volatile("movq %%cr3, %0" : "=r"(value));
    return value;
}
static inline void write_cr3(u64 value)
{
    __asm__ volatile("movq %0, %%cr3" : : "r"(value) : "memory");
}
static inline void invlpg(u64 address)
{
    __asm__ volatile("invlpg (%0)" : : "r"(address) : "memory");
}

// A store that must be seen before a later load (x86 keeps every other order).
static inline void fence(void)
{
    __asm__ volatile("mfence" : : : "memory");
}
// Write-combined stores go out before any later store.
static inline void sfence(void)
{
    __asm__ volatile("sfence" : : : "memory");
}
// Ownership words shared with a device or another core.
#define load_acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
