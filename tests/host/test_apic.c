// test_apic.c - the local APIC in both modes, through made-up registers.
// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <stdlib.h>

// Not the processor's: ours.
#define rdmsr real_rdmsr
#define wrmsr real_wrmsr
#define cpuid real_cpuid
#define irq_save real_irq_save
#define irq_restore real_irq_restore
#include "../../kernel/cpu.h"
#undef rdmsr
#undef wrmsr
#undef cpuid
#undef irq_save
#undef irq_restore

struct cpuid {
    u32 eax, ebx, ecx, edx;
};
static u64 msr_base, msr_write, msr_value, tsc;
static u32 msr_writes, apic_in_page[0x400 / 4], page_writes;
static u32 msr_regs[64], id_32 = 0x12345, has_deadline;
static u32 icr_order[2];

static u64 rdmsr(u32 msr)
{
    if (msr == 0x1B) {
        return msr_base;
    }
    return msr == 0x802 ? id_32 : msr_regs[msr & 63];
}
static void wrmsr(u32 msr, u64 value)
{
    msr_writes++;
    msr_write = msr;
    msr_value = value;
    if (msr == 0x1B) {
        msr_base = value;
    } else {
        msr_regs[msr & 63] = (u32)value;
    }
}
static struct cpuid cpuid(u32 leaf, u32 subleaf)
{
    (void)subleaf;
    return (struct cpuid){.eax = leaf == 0 ? 0x16 : 0,
                          .ebx = leaf == 11 ? 1 : 7u << 24,
                          .ecx = has_deadline << 24,
                          .edx = leaf == 11 ? id_32 : 1 << 9};
}
static u64 irq_save(void)
{
    return 0;
}
static void irq_restore(u64 flags)
{
    (void)flags;
}

#include "../../kernel/apic.c"
#undef LOG_TAG
#include "../../kernel/apic_timer.c"
#include "test.h"

u32 mmio_read32(u64 address)
{
    u64 at = address - 0xFEE00000;
    return at == 0x390 ? (u32)(0 - tsc / 2) : apic_in_page[at / 4 & 255];
}
void mmio_write32(u64 address, u32 value)
{
    u64 at = address - 0xFEE00000;
    icr_order[page_writes++ & 1] = (u32)at;
    apic_in_page[at / 4 & 255] = value;
}
int mmio_wait32(u64 address, u32 mask, u32 want, u32 ms)
{
    (void)ms;
    return (mmio_read32(address) & mask) == want ? 0 : E_TIMEOUT;
}
int mmio_map(u64 phys, u64 bytes)
{
    (void)phys, (void)bytes;
    return 0;
}
void log_line(enum log_level level, const char *tag, const char *text, ...)
{
    (void)level, (void)tag, (void)text;
}
void outb(u16 port, u8 value)
{
    (void)port, (void)value;
}
u64 rdtsc(void)
{
    return tsc += 1000;
}
u64 time_tsc_hz(void)
{
    return 2000000000;
}
struct deadline deadline_ns(u64 ns)
{
    return (struct deadline){tsc + 2 * ns, 0};
}
int deadline_passed(struct deadline *deadline)
{
    return rdtsc() >= deadline->end;
}

static const struct acpi acpi = {.has_madt = 1};

static void start(u64 base)
{
    apic_page = 0;
    apic_x2 = 0;
    ticks_per_tsc = 0;
    msr_base = base;
    msr_writes = page_writes = 0;
    apic_in_page[0x20 / 4] = 9u << 24;
    apic_in_page[0x30 / 4] = 0x50014;
    msr_regs[3] = 0x60015;
    CHECK_EQ(apic_init(&acpi), 0);
}

static void x2apic_when_firmware_says_so(void)
{
    start(0xFEE00000 | 1 << 11 | 1 << 10 | 1 << 8);
    CHECK_EQ(page_writes, 0);     // its page is not there
    CHECK_EQ(apic_id(), 0x12345); // more than eight bits
    CHECK_EQ(msr_regs[0x0F], 0x1FF);
    CHECK_EQ(msr_regs[0x35], 1 << 16); // LINT0
    CHECK_EQ(msr_regs[0x36], 4 << 8);  // LINT1: NMI
    CHECK_EQ(msr_regs[0x32], 1 << 16);
    msr_writes = 0;
    apic_end_of_interrupt();
    CHECK_EQ(msr_write, 0x80B);
    CHECK_EQ(msr_value, 0); // anything else is #GP
    CHECK_EQ(msr_writes, 1);
}

static void x2apic_sends_with_one_write(void)
{
    start(0xFEE00000 | 1 << 11 | 1 << 10);
    msr_writes = 0;
    CHECK_EQ(apic_send(0x10001, 0x7F), 0);
    CHECK_EQ(msr_writes, 1);
    CHECK_EQ(msr_write, 0x830);
    CHECK_EQ(msr_value, 0x100010000407Ful);
    CHECK_EQ(apic_send_startup(256, 0x9F), 0);
    CHECK_EQ(msr_value, 0x1000000469Ful);
    CHECK_EQ(apic_send_nmi(1), 0);
    CHECK_EQ(msr_value, 0x100004400ul);
    CHECK_EQ(apic_send_init(~0u - 1), 0);
    CHECK_EQ(msr_value, 0xFFFFFFFE00004500ul);
    CHECK_EQ(page_writes, 0);
}

static void other_cores_follow(void)
{
    start(0xFEE00000 | 1 << 11 | 1 << 10);
    msr_base = 0xFEE00000; // off, as after INIT
    apic_start_core();
    CHECK_EQ(msr_base & (3 << 10), 3 << 10);
    start(0xFEE00000 | 1 << 11);
    msr_base = 0xFEE00000;
    apic_start_core();
    CHECK_EQ(msr_base & (3 << 10), 1 << 11);
}

static void xapic_in_two_writes(void)
{
    start(0xFEE00000); // switched off: switched on
    CHECK_EQ(msr_base & (1 << 11), 1 << 11);
    CHECK_EQ(apic_id(), 9);
    page_writes = 0;
    CHECK_EQ(apic_send(255, 0x7F), 0);
    CHECK_EQ(icr_order[0], 0x310); // sent by the second
    CHECK_EQ(icr_order[1], 0x300);
    CHECK_EQ(apic_in_page[0x310 / 4], 0xFF000000);
    CHECK_EQ(apic_in_page[0x300 / 4], 0x407F);
    page_writes = 0;
    CHECK_EQ(apic_send(256, 0x7F), E_UNSUPPORTED);
    CHECK_EQ(apic_send_init(0x10000), E_UNSUPPORTED);
    apic_in_page[0x300 / 4] |= 1 << 12; // the last one never leaves
    CHECK_EQ(apic_send(1, 0x7F), E_TIMEOUT);
    CHECK_EQ(page_writes, 0);
    apic_in_page[0x300 / 4] = 0;
}

static void timer_counts_down(void)
{
    has_deadline = 0;
    start(0xFEE00000 | 1 << 11);
    CHECK_EQ(apic_timer_init(), 0); // two TSC ticks are one of its own
    CHECK(ticks_per_tsc > (1 << 24) * 48ul / 100 &&
          ticks_per_tsc < (1 << 24) * 52ul / 100);
    apic_timer_set(tsc + 1001000);
    CHECK(apic_in_page[0x380 / 4] > 480000 && apic_in_page[0x380 / 4] < 520000);
    CHECK_EQ(apic_in_page[0x320 / 4], 0x7E); // one-shot
    apic_timer_set(0);
    CHECK_EQ(apic_in_page[0x380 / 4], 1); // at once
    apic_timer_set(~0ul);
    CHECK_EQ(apic_in_page[0x380 / 4], 1u << 31); // in several
    apic_timer_stop();
    CHECK_EQ(apic_in_page[0x380 / 4], 0);
    CHECK_EQ(apic_in_page[0x320 / 4], 1 << 16);
}

static void timer_by_deadline(void)
{
    has_deadline = 1;
    start(0xFEE00000 | 1 << 11 | 1 << 10);
    CHECK_EQ(apic_timer_init(), 0);
    CHECK_EQ(ticks_per_tsc, 0); // nothing is measured
    apic_timer_set(0x123456789A);
    CHECK_EQ(msr_write, 0x6E0);
    CHECK_EQ(msr_value, 0x123456789A);
    CHECK_EQ(msr_regs[0x32], 2 << 17 | 0x7E);
    apic_timer_set(0);
    CHECK_EQ(msr_value, 1); // 0 would disarm it
    apic_timer_stop();
    CHECK_EQ(msr_regs[0x32], 1 << 16);
}

int main(void)
{
    RUN(x2apic_when_firmware_says_so);
    RUN(x2apic_sends_with_one_write);
    RUN(other_cores_follow);
    RUN(xapic_in_two_writes);
    RUN(timer_counts_down);
    RUN(timer_by_deadline);
    return TEST_RESULT();
}
