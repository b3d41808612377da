// die.c - die WAY [CPU]: one way for a program to die, or to leave a mess
// behind.
// SPDX-License-Identifier: MIT
//
// tests/qemu/test_faults.py knows what must be reported for each. A way that
// returns has not died: die then says so and fails.
#include "ways.h"

#define KERNEL_TEXT 0xFFFFFFFF80200000ul
#define UNMAPPED 0xFFFF900000000000ul
#define NOT_CANONICAL 0x1234567890ABCDEFul

static const u64 constant = 1;
static u8 data_bytes[64] = {0xC3}; // ret

// The compiler must not see where these go.
static void write_to(u64 address)
{
    __asm__("" : "+r"(address));
    *(volatile u64 *)address = 1;
}
static void read_from(u64 address)
{
    __asm__("" : "+r"(address));
    (void)*(const volatile u64 *)address;
}
static void call_to(u64 address)
{
    __asm__("" : "+r"(address));
    ((void (*)(void))address)();
}

static void die_ud2(void)
{
    __asm__ volatile("ud2");
}
static void die_divide(void)
{
    __asm__ volatile("xorl %%ecx, %%ecx; movl $1, %%eax; cltd; idivl %%ecx"
                     :
                     :
                     : "rax", "rcx", "rdx");
}
static void die_breakpoint(void)
{
    __asm__ volatile("int3");
}
static void die_trap_flag(void)
{
    __asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq; nop" : : : "cc");
}
static void die_software_interrupt(void)
{
    __asm__ volatile("int $0x91"); // past the vectors there are
}
static void die_null_read(void)
{
    read_from(0);
}
static void die_null_write(void)
{
    write_to(8);
}
static void die_null_call(void)
{
    call_to(0);
}
static void die_wild_jump(void)
{
    call_to(UNMAPPED);
}
static void die_wilder_jump(void)
{
    call_to(NOT_CANONICAL);
}
static void die_wild_read(void)
{
    read_from(NOT_CANONICAL);
}
static void die_past_window(void)
{
    read_from(UNMAPPED);
}
static void die_kernel_text(void)
{
    write_to(KERNEL_TEXT);
}
static void die_call_table(void)
{
    write_to(INGOT_TABLE + 8);
}
static void die_own_constant(void)
{
    write_to((u64)&constant);
}
static void die_own_text(void)
{
    write_to((u64)die_own_text);
}
static void die_execute_data(void)
{
    call_to((u64)data_bytes);
}
static void die_execute_stack(void)
{
    volatile u8 code[16];
    code[0] = 0xC3;
    call_to((u64)code);
}
static void die_execute_heap(void)
{
    void *memory;
    if (os->mem_alloc(INGOT_BLOCK, MEM_ZERO, &memory) == 0) {
        *(u8 *)memory = 0xC3;
        call_to((u64)memory);
    }
}

__attribute__((noinline)) static u64 recurse(u64 depth)
{
    volatile u8 room[256];
    room[0] = (u8)depth;
    // The addition after the call keeps it from becoming a jump.
    return depth == 0 ? room[0] : recurse(depth + 1) + room[0];
}
static void die_stack_overflow(void)
{
    print("%lu\n", recurse(1));
}

// A stack that is 8 off makes this aligned store fault, as it would in any
// program that calls C from a misaligned place.
static void die_misaligned(void)
{
    __asm__ volatile("movq %%rsp, %%rax; andq $-16, %%rax; subq $120, %%rax;"
                     "movaps %%xmm0, (%%rax)"
                     :
                     :
                     : "rax", "memory");
}
static void die_halt_off(void) // hlt with interrupts off: only an NMI wakes it
{
    print("halted\n");
    __asm__ volatile("cli; 1: hlt; jmp 1b");
}
static void die_spin_off(void)
{
    print("spinning\n");
    __asm__ volatile("cli; 1: jmp 1b");
}
static void die_halt(void)
{
    print("halted\n");
    __asm__ volatile("1: hlt; jmp 1b");
}
static void die_spin(void)
{
    print("spinning\n");
    __asm__ volatile("1: jmp 1b");
}
static void die_wait(void) // for input, in the kernel
{
    char byte;
    print("waiting\n");
    (void)os->con_read(&byte, 1, -1);
}
static void die_print(void)
{
    for (;;) {
        print(".");
    }
}
// A call at a function's very end would become a jump, and its return address
// the caller's: the report could not name it.
static void after_call(void)
{
    __asm__ volatile("");
}

static void die_bad_text(void)
{
    (void)os->con_write((const void *)UNMAPPED, 100);
    after_call();
}
static void die_bad_text_wild(void)
{
    (void)os->con_write((const void *)NOT_CANONICAL, 100);
    after_call();
}
static void die_bad_text_null(void)
{
    (void)os->con_write(0, 1);
    after_call();
}
static void die_bad_result(void) // a call must not write for us where we cannot
{
    (void)os->sys_info((struct sys_info *)UNMAPPED);
    after_call();
}
static void die_bad_result_text(void)
{
    (void)os->mem_info((struct mem_info *)KERNEL_TEXT);
    after_call();
}
static void die_huge_text(void) // runs off the end of memory
{
    (void)os->sys_log(0, (char *)UNMAPPED, ~0ul);
    after_call();
}
static void die_exit_deep(void)
{
    if (os->mem_alloc(1, 0, &(void *){0}) == 0) {
        (void)os->app_exit(7);
    }
}
static void die_exit_negative(void)
{
    (void)os->app_exit(-3);
}
static void leave_interrupts_off(void)
{
    __asm__ volatile("cli");
    (void)os->app_exit(0);
}
static void leave_everything(void) // holds as much memory as there is
{
    void *memory;
    u64 bytes = 1ul << 40;
    while (bytes >= INGOT_BLOCK) {
        if (os->mem_alloc(bytes, 0, &memory) < 0) {
            bytes /= 2;
        }
    }
    (void)os->app_exit(0);
}

static const struct way ways[] = {
    {"ud2", die_ud2},
    {"divide", die_divide},
    {"breakpoint", die_breakpoint},
    {"trap-flag", die_trap_flag},
    {"software-interrupt", die_software_interrupt},
    {"null-read", die_null_read},
    {"null-write", die_null_write},
    {"null-call", die_null_call},
    {"wild-jump", die_wild_jump},
    {"wilder-jump", die_wilder_jump},
    {"wild-read", die_wild_read},
    {"past-window", die_past_window},
    {"kernel-text", die_kernel_text},
    {"call-table", die_call_table},
    {"own-constant", die_own_constant},
    {"own-text", die_own_text},
    {"execute-data", die_execute_data},
    {"execute-stack", die_execute_stack},
    {"execute-heap", die_execute_heap},
    {"stack-overflow", die_stack_overflow},
    {"misaligned", die_misaligned},
    {"halt-off", die_halt_off},
    {"spin-off", die_spin_off},
    {"halt", die_halt},
    {"spin", die_spin},
    {"wait", die_wait},
    {"print", die_print},
    {"bad-text", die_bad_text},
    {"bad-text-wild", die_bad_text_wild},
    {"bad-text-null", die_bad_text_null},
    {"bad-result", die_bad_result},
    {"bad-result-text", die_bad_result_text},
    {"huge-text", die_huge_text},
    {"exit-deep", die_exit_deep},
    {"exit-negative", die_exit_negative},
    {"leave-interrupts-off", leave_interrupts_off},
    {"leave-everything", leave_everything},
};

int main(int argc, char **argv)
{
    return ways_main(ways, sizeof(ways) / sizeof(ways[0]), argc, argv);
}
