// hostile.c - hostile WAY [CPU]: what a program in ring 0 can do to the
// processor itself. `end-...` ends in an exception; `leave-...` returns with
// the processor in disorder, which the next program must not notice.
// SPDX-License-Identifier: MIT
#include "ways.h"

#define KERNEL_TEXT 0xFFFFFFFF80200000ul
#define UNMAPPED 0xFFFF900000000000ul
#define NOT_CANONICAL 0x1234567890ABCDEFul
#define BIT(n) (1ul << (n))
#define FRAME_LOOPS 64

static u64 watched[2];

#define READ(reg)                                                              \
    ({                                                                         \
        u64 read_value;                                                        \
        __asm__ volatile("movq %%" reg ", %0" : "=r"(read_value));             \
        read_value;                                                            \
    })
#define WRITE(reg, value)                                                      \
    __asm__ volatile("movq %0, %%" reg : : "r"((u64)(value)) : "memory")

static void write_msr(u32 msr, u64 value)
{
    __asm__ volatile("wrmsr"
                     :
                     : "c"(msr), "a"((u32)value), "d"((u32)(value >> 32))
                     : "memory");
}
static u64 read_msr(u32 msr)
{
    u32 low, high;
    __asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr));
    return (u64)high << 32 | low;
}

// ---- refused by the processor ----
static void end_xsetbv(void)
{
    __asm__ volatile("xsetbv" : : "c"(99), "a"(1), "d"(0));
}
static void end_sysret(void)
{
    __asm__ volatile("xorl %%ecx, %%ecx; sysretq" : : : "rcx");
}
static void end_iretq(void)
{
    __asm__ volatile("pushq $0x33; pushq $0; pushq $2; pushq $0x33; pushq $0;"
                     "iretq");
}
static void end_stack(void)
{
    __asm__ volatile("movq %0, %%rsp; pushq %%rax" : : "r"(NOT_CANONICAL));
}
static void end_segment(void)
{
    __asm__ volatile("movw %w0, %%ss" : : "r"(0x1234));
}

// ---- in the kernel's text, where no call leads ----
static const u8 *find_in_kernel(u8 first, u8 second)
{
    const u8 *at = (const u8 *)KERNEL_TEXT;
    while (at[0] != first || at[1] != second) {
        at++;
    }
    return at;
}
static void end_kernel_middle(void) // between two functions' instructions
{
    const u8 *at = find_in_kernel(0, 0); // addb %al, (%rax)
    __asm__ volatile("xorl %%eax, %%eax; jmp *%0" : : "r"(at) : "rax");
}
static void end_kernel_divide(void)
{
    const u8 *at = find_in_kernel(0xF7, 0xF1); // divl %ecx
    __asm__ volatile("xorl %%ecx, %%ecx; jmp *%0" : : "a"(at) : "rcx");
}
static void end_kernel_data(void)
{
    u64 base;
    __asm__ volatile("movq %%gs:0, %0" : "=r"(base)); // the core's own struct
    ((void (*)(void))base)();
}

// ---- what the backtrace finds ----
static void end_frame_loop(void)
{
    static u64 frames[FRAME_LOOPS][2];
    for (u32 i = 0; i < FRAME_LOOPS; i++) {
        frames[i][0] = (u64)frames[(i + 1) % FRAME_LOOPS];
        frames[i][1] = (u64)end_frame_loop;
    }
    __asm__ volatile("movq %0, %%rbp; ud2" : : "r"(frames));
}
static void end_frame_wild(void)
{
    __asm__ volatile("movq %0, %%rbp; ud2" : : "r"(NOT_CANONICAL));
}
static void end_frame_last(void) // the last word there is
{
    __asm__ volatile("movq $-8, %%rbp; ud2" : :);
}
static void end_frame_device(void) // reading it may change a device
{
    __asm__ volatile("movq %0, %%rbp; ud2" : : "r"(0xFEE00000ul));
}

// ---- arithmetic ----
static void end_x87(void)
{
    static const unsigned short unmasked = 0x0300;
    __asm__ volatile("fninit; fldcw %0; fld1; fldz; fdivrp; fwait"
                     :
                     : "m"(unmasked));
}
static void end_no_fpu(void) // CR0.TS
{
    WRITE("cr0", READ("cr0") | BIT(3));
    __asm__ volatile("xorps %%xmm0, %%xmm0" : : : "xmm0");
}
static void end_no_sse(void) // CR4.OSFXSR
{
    WRITE("cr4", READ("cr4") & ~BIT(9));
    __asm__ volatile("xorps %%xmm0, %%xmm0" : : : "xmm0");
}

// ---- exceptions by INT n: those with an error code get none ----
static void end_int_nmi(void)
{
    __asm__ volatile("int $2");
}
static void end_int_double(void)
{
    __asm__ volatile("int $8");
}
static void end_int_protection(void)
{
    __asm__ volatile("int $13");
}
static void end_int_page(void)
{
    __asm__ volatile("int $14");
}
static void end_int_machine(void)
{
    __asm__ volatile("int $18");
}

// ---- what the kernel stands on ----
static void end_gs(void)
{
    write_msr(0xC0000101, 0);
    (void)os->con_write("not seen\n", 9);
}
static void end_watchpoint(void)
{
    WRITE("dr0", watched);
    WRITE("dr7", BIT(0) | BIT(9) | 1ul << 16 | 3ul << 18); // 8 bytes, writes
    *(volatile u64 *)watched = 1;
}

// The core's TSS, by way of its descriptor (Intel SDM volume 3, 7.2.3).
static u8 *find_tss(void)
{
    struct __attribute__((packed)) {
        u16 limit;
        u64 base;
    } gdt;
    u64 selector;
    __asm__ volatile("sgdt %0; str %1" : "=m"(gdt), "=r"(selector));
    const u64 *entry = (const u64 *)(gdt.base + selector);
    return (u8 *)((entry[0] >> 16 & 0xFFFFFF) | (entry[0] >> 56) << 24 |
                  entry[1] << 32);
}
// The page fault's stack is no memory: a page fault becomes a double fault.
static void break_page_fault_stack(void)
{
    memset(find_tss() + 36 + 2 * 8, 0, 8);
}
static void end_double_fault(void)
{
    break_page_fault_stack();
    *(volatile u64 *)UNMAPPED = 1;
}
static void panic_double_fault(void) // the same in a call
{
    break_page_fault_stack();
    (void)os->con_write((const void *)UNMAPPED, 1);
}

// ---- the processor left in disorder ----
static void leave_int_device(void) // interrupts that no device has sent
{
    __asm__ volatile("int $0x71; int $0x74; int $0x35; int $0x40; int $0x7E;"
                     "int $0x7F");
    (void)os->app_exit(0);
}
static void leave_alignment(void) // EFLAGS.AC, CR0.AM: only ring 3 has it
{
    WRITE("cr0", READ("cr0") | BIT(18));
    __asm__ volatile("pushfq; orq $0x40000, (%%rsp); popfq" : : : "cc");
    (void)*(const volatile u64 *)((const u8 *)watched + 1);
    (void)os->app_exit(0);
}
static void leave_write_protect(void)
{
    WRITE("cr0", READ("cr0") & ~BIT(16));
    (void)os->app_exit(0);
}
static void leave_no_fpu(void)
{
    WRITE("cr0", READ("cr0") | BIT(2) | BIT(3));
    (void)os->app_exit(0);
}
static void leave_cr4(void)
{
    WRITE("cr4", BIT(5)); // all off but PAE
    (void)os->app_exit(0);
}
static void leave_nested_task(void) // an IRETQ with EFLAGS.NT is refused
{
    __asm__ volatile("pushfq; orq $0x4000, (%%rsp); popfq" : : : "cc");
    (void)os->app_exit(0);
}
static void leave_watchpoint(void) // on the kernel's and the shell's memory
{
    WRITE("dr0", READ("rsp") & ~7ul);
    WRITE("dr1", os->con_write);
    WRITE("dr7", BIT(0) | BIT(2) | BIT(9) | 3ul << 16 | 2ul << 18);
    (void)os->con_write("watched\n", 8);
    (void)os->app_exit(0);
}
static void leave_gs(void)
{
    write_msr(0xC0000101, UNMAPPED);
}
static void leave_task_priority(void) // no interrupt gets through
{
    WRITE("cr8", 15);
    (void)os->app_exit(0);
}
static void leave_apic(void) // its software switch, and timer set going
{
    *(volatile u32 *)0xFEE00320ul = 0x20 | BIT(17);
    *(volatile u32 *)0xFEE00380ul = 100000000;
    *(volatile u32 *)0xFEE000F0ul = 0xFF;
    (void)os->app_exit(0);
}
static void leave_idt(void)
{
    static const u8 none[10];
    __asm__ volatile("cli; lidt %0" : : "m"(none));
    (void)os->app_exit(0);
}
static void leave_gdt(void)
{
    static const u8 none[10];
    __asm__ volatile("cli; lgdt %0" : : "m"(none));
    (void)os->app_exit(0);
}
static void leave_root(void) // a page table of its own
{
    void *copy;
    if (os->mem_alloc(4096, 0, &copy) == 0) {
        memcpy(copy, (const void *)(READ("cr3") & ~0xFFFul), 4096);
        WRITE("cr3", copy);
    }
    (void)os->app_exit(0);
}
static void leave_xcr0(void)
{
    if (READ("cr4") & BIT(18)) {
        __asm__ volatile("xsetbv" : : "c"(0), "a"(1), "d"(0));
    }
    (void)os->app_exit(0);
}
static void leave_syscall(void) // EFER.SCE, and a ring 3 that has no memory
{
    write_msr(0xC0000080, read_msr(0xC0000080) | 1);
    write_msr(0xC0000081, 0);
    (void)os->app_exit(0);
}

static const struct way ways[] = {
    {"end-xsetbv", end_xsetbv},
    {"end-sysret", end_sysret},
    {"end-iretq", end_iretq},
    {"end-stack", end_stack},
    {"end-segment", end_segment},
    {"end-kernel-middle", end_kernel_middle},
    {"end-kernel-divide", end_kernel_divide},
    {"end-kernel-data", end_kernel_data},
    {"end-frame-loop", end_frame_loop},
    {"end-frame-wild", end_frame_wild},
    {"end-frame-last", end_frame_last},
    {"end-frame-device", end_frame_device},
    {"end-x87", end_x87},
    {"end-no-fpu", end_no_fpu},
    {"end-no-sse", end_no_sse},
    {"end-int-nmi", end_int_nmi},
    {"end-int-double", end_int_double},
    {"end-int-protection", end_int_protection},
    {"end-int-page", end_int_page},
    {"end-int-machine", end_int_machine},
    {"end-gs", end_gs},
    {"end-watchpoint", end_watchpoint},
    {"end-double-fault", end_double_fault},
    {"panic-double-fault", panic_double_fault},
    {"leave-int-device", leave_int_device},
    {"leave-alignment", leave_alignment},
    {"leave-write-protect", leave_write_protect},
    {"leave-no-fpu", leave_no_fpu},
    {"leave-cr4", leave_cr4},
    {"leave-nested-task", leave_nested_task},
    {"leave-watchpoint", leave_watchpoint},
    {"leave-gs", leave_gs},
    {"leave-task-priority", leave_task_priority},
    {"leave-apic", leave_apic},
    {"leave-idt", leave_idt},
    {"leave-gdt", leave_gdt},
    {"leave-root", leave_root},
    {"leave-xcr0", leave_xcr0},
    {"leave-syscall", leave_syscall},
};

int main(int argc, char **argv)
{
    return ways_main(ways, sizeof(ways) / sizeof(ways[0]), argc, argv);
}
