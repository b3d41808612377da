// fault.c - what is printed when an exception struck.
// SPDX-License-Identifier: MIT
#include "fault.h"
#include "app.h"
#include "console.h"
#include "core.h"
#include "cpu.h"
#include "machine_check.h"
#include "paging.h"

enum {
    PAGE_FAULT = 14,
    MACHINE_CHECK = 18,
    FRAMES = 12,
    STACK_WORDS = 256,
    CALL_BYTES = 7
};
enum { // page-fault error code, Intel SDM volume 3, 4.7
    FAULT_PRESENT = 1,
    FAULT_WRITE = 2,
    FAULT_FETCH = 16,
};

extern const char kernel_start[], kernel_rodata[], kernel_data[], kernel_end[];

static const char *const exceptions[32] = {
    "divide error",
    "debug trap",
    "NMI",
    "breakpoint",
    "overflow",
    "bound range",
    "invalid opcode",
    "no FPU",
    "double fault",
    "vector 9",
    "invalid TSS",
    "segment not present",
    "stack fault",
    "general protection",
    "page fault",
    "vector 15",
    "x87 error",
    "alignment check",
    "machine check",
    "SIMD error",
    "virtualization",
    "control protection",
};

static const char *const calls[] = {
#define CALL_NAME(group, result, name, parameters, text) #name,
    INGOT_CALLS(CALL_NAME)
#undef CALL_NAME
};
static const char *const entries[] = {"b_input",  "b_output",   "b_net_tx",
                                      "b_net_rx", "b_nvs_read", "b_nvs_write",
                                      "b_system", "b_user"};

static int in_range(u64 address, const char *start, const char *end)
{
    return address >= (u64)start && address < (u64)end;
}

int fault_in_kernel(u64 address)
{
    return in_range(address, kernel_start, kernel_rodata);
}

// What lies at an address, in a few words.
static const char *fault_place(u64 address)
{
    struct mem_page page;
    if (address < PAGE) {
        return "null page";
    }
    if (address >> 47 != 0 && address >> 47 != 0x1FFFF) {
        return "not a canonical address";
    }
    if (core_is_stack_guard(address)) {
        return "end of an interrupt stack";
    }
    if (in_range(address, kernel_start, kernel_rodata)) {
        return "kernel text, read-only";
    }
    if (in_range(address, kernel_rodata, kernel_data)) {
        return "kernel constants, read-only";
    }
    if (in_range(address, kernel_data, kernel_end)) {
        return "kernel data, not executable";
    }
    if (address >= 0x100000 && address < 0x100000 + PAGE) {
        return "call tables, read-only";
    }
    if (app_is_stack_guard(address)) {
        return "below the stack: stack overflow";
    }
    if (paging_query(address, &page) != 0) {
        return "unmapped";
    }
    if ((page.flags & PAGE_EXEC) == 0 && page.flags & PAGE_WRITE) {
        return "data, not executable";
    }
    return "read-only";
}

static void fault_print_access(const struct registers *regs)
{
    const char *verb = regs->error & FAULT_FETCH   ? "execute"
                       : regs->error & FAULT_WRITE ? "write to"
                                                   : "read of";
    u64 address = read_cr2();
    console_printf("    %s 0x%016lx: %s\n", verb, address,
                   fault_place(address));
}

static void fault_print_code_address(const char *label, u64 address)
{
    i64 offset = app_offset(address);
    struct symbol symbol;
    if (offset < 0) {
        console_printf("    %s 0x%016lx  %s\n", label, address,
                       fault_in_kernel(address) ? "kernel" : "");
    } else if (app_symbol(address, &symbol) < 0) {
        console_printf("    %s 0x%016lx  %s+0x%lx\n", label, address,
                       app_name(), (u64)offset);
    } else {
        console_printf("    %s 0x%016lx  %s+0x%lx  %s+0x%lx\n", label, address,
                       app_name(), (u64)offset, symbol.name, symbol.offset);
    }
}

static void fault_print_registers(const struct registers *r)
{
    console_printf("    rax %016lx  rbx %016lx  rcx %016lx\n", r->rax, r->rbx,
                   r->rcx);
    console_printf("    rdx %016lx  rsi %016lx  rdi %016lx\n", r->rdx, r->rsi,
                   r->rdi);
    console_printf("    r8  %016lx  r9  %016lx  r10 %016lx\n", r->r8, r->r9,
                   r->r10);
    console_printf("    r11 %016lx  r12 %016lx  r13 %016lx\n", r->r11, r->r12,
                   r->r13);
    console_printf("    r14 %016lx  r15 %016lx  rbp %016lx\n", r->r14, r->r15,
                   r->rbp);
    console_printf("    rsp %016lx  flags %08lx  error %lx\n", r->rsp,
                   r->rflags, r->error);
}

// One word of a stack that may be nonsense. Returns 0 when it cannot be read.
static int fault_read_word(u64 address, u64 *word)
{
    struct mem_page page;
    if (address % sizeof(u64) != 0 || paging_query(address, &page) != 0 ||
        page.flags & PAGE_UNCACHED) {
        return 0;
    }
    *word = *(const u64 *)address;
    return 1;
}

// Frames by RBP, as programs built with -fno-omit-frame-pointer keep them.
static void fault_print_backtrace(const struct registers *regs)
{
    u64 frame = regs->rbp;
    for (u32 i = 0; i < FRAMES; i++) {
        u64 next, back;
        if (!fault_read_word(frame, &next) ||
            !fault_read_word(frame + sizeof(u64), &back) || back == 0) {
            return;
        }
        fault_print_code_address("from", back);
        if (next <= frame) {
            return;
        }
        frame = next;
    }
}

// Name of the call that returns to address: before it lies `call [slot]`, which
// is FF 14 25 and the slot's address. Null: nothing of that kind does.
static const char *fault_call_before(u64 address)
{
    struct mem_page page;
    u64 start = address - CALL_BYTES;
    if (app_offset(start) < 0 || app_offset(address) < 0 ||
        paging_query(start, &page) != 0 || !(page.flags & PAGE_EXEC) ||
        paging_query(address - 1, &page) != 0) {
        return 0;
    }
    const u8 *at = (const u8 *)start;
    u64 slot = (u64)at[3] | (u64)at[4] << 8 | (u64)at[5] << 16;
    if (at[0] != 0xFF || at[1] != 0x14 || at[2] != 0x25 || at[6] != 0) {
        return 0;
    }
    u64 entry = (slot - INGOT_BAREMETAL_TABLE) / sizeof(u64);
    u64 call = (slot - INGOT_TABLE) / sizeof(u64) - 1;
    return entry < array_size(entries) ? entries[entry]
           : call < array_size(calls)  ? calls[call]
                                       : 0;
}

// The kernel was called by the program: find where on the stack, and by which
// call.
static void fault_print_call(const struct registers *regs)
{
    u64 word;
    for (u32 i = 0; i < STACK_WORDS; i++) {
        if (!fault_read_word(regs->rsp + i * sizeof(u64), &word)) {
            return;
        }
        const char *name = fault_call_before(word);
        if (name) {
            console_printf("    in the call %s\n", name);
            fault_print_code_address("from", word);
            return;
        }
    }
}

void fault_report(const struct registers *regs, const char *who)
{
    const char *name = regs->vector < 32 ? exceptions[regs->vector] : 0;
    console_printf("\n*** %s: %s (vector %lu) on core %u\n", who,
                   name ? name : "exception", regs->vector, core_self()->index);
    if (regs->vector == PAGE_FAULT) {
        fault_print_access(regs);
    }
    if (regs->vector == MACHINE_CHECK) {
        machine_check_print();
    }
    fault_print_code_address("at  ", regs->rip);
    if (fault_in_kernel(regs->rip)) {
        fault_print_call(regs);
    }
    if (core_self()->hook_runs) {
        console_printf("    in a hook\n");
    }
    fault_print_registers(regs);
    fault_print_backtrace(regs);
}
