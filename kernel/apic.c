// apic.c - the local APIC and the I/O APICs; the 8259s are switched off.
// SPDX-License-Identifier: MIT
//
// Intel SDM volume 3, chapter "APIC"; 82093AA datasheet; 8259A datasheet.
#define LOG_TAG "apic"
#include "apic.h"
#include "cpu.h"
#include "interrupt.h"
#include "log.h"
#include "mmio.h"
#include "paging.h"

enum {                    // CPUID
    CPUID1_APIC = 1 << 9, // EDX
    CPUID_TOPOLOGY = 0xb, // EDX is the 32-bit APIC id
};

enum { // SDM 10.4.4, 10.12.1
    MSR_APIC_BASE = 0x1b,
    APIC_BASE_X2APIC = 1 << 10,
    APIC_BASE_ENABLE = 1 << 11,
    MSR_X2APIC = 0x800, // register at offset 16 * n is MSR 0x800 + n
};
static const u64 APIC_BASE_ADDRESS = BITS(51, 12);

enum { // SDM table 10-1: offsets in the local APIC's page
    APIC_ID = 0x20,
    APIC_VERSION = 0x30,
    VERSION_MAX_LVT = 0xff0000,
    APIC_TPR = 0x80,
    APIC_EOI = 0xb0,
    APIC_SPURIOUS = 0xf0,
    SPURIOUS_ENABLE = 1 << 8,
    APIC_LVT_CMCI = 0x2f0,
    APIC_ICR = 0x300, // SDM 10.6.1; its high half is at 0x310
    APIC_ICR_HIGH = 0x310,
    ICR_NMI = 4 << 8,
    ICR_INIT = 5 << 8,
    ICR_STARTUP = 6 << 8,
    ICR_PENDING = 1 << 12,
    ICR_ASSERT = 1 << 14,
    APIC_LVT_THERMAL = 0x330,
    APIC_LVT_PERF = 0x340,
    APIC_LVT_LINT0 = 0x350,
    APIC_LVT_LINT1 = 0x360,
    APIC_LVT_ERROR = 0x370,
    LVT_NMI = 4 << 8,
};

enum { // 82093AA 3.1, 3.2
    IO_APIC_SELECT = 0,
    IO_APIC_WINDOW = 0x10,
    IO_APIC_VERSION = 1,
    IO_VERSION_MAX_INPUT = 0xff0000,
    IO_APIC_INPUT = 0x10, // two words each: low, high
    INPUT_ACTIVE_LOW = 1 << 13,
    INPUT_LEVEL = 1 << 15,
    INPUT_MASKED = 1 << 16,
    IO_APIC_INPUTS = 240, // the most the register numbers have room for
};

enum { // 8259A: command ports; data is one further
    PIC_MASTER = 0x20,
    PIC_SLAVE = 0xa0,
    ICW1_INIT = 0x11, // edge, cascaded, ICW4 follows
    ICW4_8086 = 1,
    PIC_CASCADE = 2,
};

static const struct acpi *tables;
static u64 apic_page; // 0: not in use, or through MSRs
static u8 apic_x2;
static u32 apic_inputs[ACPI_IO_APICS];

u32 apic_read(u32 reg)
{
    if (apic_x2) {
        return (u32)rdmsr(MSR_X2APIC + reg / 16);
    }
    return mmio_read32(apic_page + reg);
}

void apic_write(u32 reg, u32 value)
{
    if (apic_x2) {
        wrmsr(MSR_X2APIC + reg / 16, value);
    } else {
        mmio_write32(apic_page + reg, value);
    }
}

void apic_end_of_interrupt(void)
{
    if (apic_x2 || apic_page != 0) {
        apic_write(APIC_EOI, 0);
    }
}

// Before the APIC is set up (and where there is none) the processor says it.
u32 apic_id(void)
{
    if (apic_x2) {
        return apic_read(APIC_ID);
    }
    if (apic_page != 0) {
        return apic_read(APIC_ID) >> 24;
    }
    if (cpuid(0, 0).eax >= CPUID_TOPOLOGY) {
        struct cpuid topology = cpuid(CPUID_TOPOLOGY, 0);
        if (topology.ebx != 0) {
            return topology.edx;
        }
    }
    return cpuid(1, 0).ebx >> 24;
}

// 8259A, "initialization command words": moved off the exceptions, in case one
// still has something to say, and masked. Machines without one ignore this.
static void apic_mask_pics(void)
{
    outb(PIC_MASTER, ICW1_INIT);
    outb(PIC_SLAVE, ICW1_INIT);
    outb(PIC_MASTER + 1, VECTOR_PIC_BASE);
    outb(PIC_SLAVE + 1, VECTOR_PIC_BASE + 8);
    outb(PIC_MASTER + 1, 1 << PIC_CASCADE);
    outb(PIC_SLAVE + 1, PIC_CASCADE);
    outb(PIC_MASTER + 1, ICW4_8086);
    outb(PIC_SLAVE + 1, ICW4_8086);
    outb(PIC_MASTER + 1, 0xff);
    outb(PIC_SLAVE + 1, 0xff);
}

// SDM 10.4.3, 10.12.1: firmware's mode is kept; x2APIC cannot be left anyway
// without switching the APIC off.
static int apic_find_local(void)
{
    if (!(cpuid(1, 0).edx & CPUID1_APIC)) {
        return E_NODEV;
    }
    u64 base = rdmsr(MSR_APIC_BASE);
    if (!(base & APIC_BASE_ENABLE)) {
        base |= APIC_BASE_ENABLE;
        wrmsr(MSR_APIC_BASE, base);
    }
    if (base & APIC_BASE_X2APIC) {
        apic_x2 = 1;
        return 0;
    }
    TRY(mmio_map(base & APIC_BASE_ADDRESS, PAGE));
    apic_page = base & APIC_BASE_ADDRESS;
    return 0;
}

// SDM 10.5.1, 10.9: nothing arrives that we did not ask for.
static void apic_start_local(void)
{
    u32 max_lvt = (u32)field_get(VERSION_MAX_LVT, apic_read(APIC_VERSION));
    apic_write(APIC_LVT_LINT0, LVT_MASKED);
    // Where NMIs come in: a server's button, or QEMU's nmi. It ends a program
    // that spins with interrupts off.
    apic_write(APIC_LVT_LINT1, LVT_NMI);
    apic_write(APIC_LVT_TIMER, LVT_MASKED);
    apic_write(APIC_LVT_ERROR, LVT_MASKED);
    if (max_lvt >= 4) {
        apic_write(APIC_LVT_PERF, LVT_MASKED);
    }
    if (max_lvt >= 5) {
        apic_write(APIC_LVT_THERMAL, LVT_MASKED);
    }
    if (max_lvt >= 6) {
        apic_write(APIC_LVT_CMCI, LVT_MASKED);
    }
    apic_write(APIC_TPR, 0);
    apic_write(APIC_SPURIOUS, SPURIOUS_ENABLE | VECTOR_SPURIOUS);
}

int apic_is_on(void)
{
    return apic_x2 || apic_page != 0;
}

// A core that firmware did not leave in x2APIC mode follows the first.
void apic_start_core(void)
{
    u64 base = rdmsr(MSR_APIC_BASE) | APIC_BASE_ENABLE;
    wrmsr(MSR_APIC_BASE, base);
    if (apic_x2 && !(base & APIC_BASE_X2APIC)) {
        wrmsr(MSR_APIC_BASE, base | APIC_BASE_X2APIC);
    }
    apic_start_local();
}

// SDM 10.6.1, 10.12.9: x2APIC sends with one write and has no pending bit.
static int apic_command(u32 to_id, u32 command)
{
    if (apic_x2) {
        wrmsr(MSR_X2APIC + APIC_ICR / 16, (u64)to_id << 32 | command);
        return 0;
    }
    if (to_id > 0xff) {
        return E_UNSUPPORTED;
    }
    u64 flags = irq_save(); // the two halves belong together
    int result = mmio_wait32(apic_page + APIC_ICR, ICR_PENDING, 0, 10);
    if (result == 0) {
        apic_write(APIC_ICR_HIGH, to_id << 24);
        apic_write(APIC_ICR, command);
    }
    irq_restore(flags);
    return result;
}

int apic_send(u32 to_id, u8 vector)
{
    return apic_command(to_id, ICR_ASSERT | vector);
}

int apic_send_nmi(u32 to_id)
{
    return apic_command(to_id, ICR_ASSERT | ICR_NMI);
}

int apic_send_init(u32 to_id)
{
    return apic_command(to_id, ICR_ASSERT | ICR_INIT);
}

int apic_send_startup(u32 to_id, u8 page)
{
    return apic_command(to_id, ICR_ASSERT | ICR_STARTUP | page);
}

static u32 apic_io_read(u64 io, u32 reg)
{
    mmio_write32(io + IO_APIC_SELECT, reg);
    return mmio_read32(io + IO_APIC_WINDOW);
}

static void apic_io_write(u64 io, u32 reg, u32 value)
{
    mmio_write32(io + IO_APIC_SELECT, reg);
    mmio_write32(io + IO_APIC_WINDOW, value);
}

static void apic_mask_io(u32 index)
{
    u64 io = tables->io_apics[index].phys;
    if (mmio_map(io, IO_APIC_WINDOW + 4) < 0) {
        log_warn("I/O APIC at %#lx cannot be mapped", io);
        return;
    }
    u32 version = apic_io_read(io, IO_APIC_VERSION);
    u32 inputs = (u32)field_get(IO_VERSION_MAX_INPUT, version) + 1;
    if (inputs > IO_APIC_INPUTS) {
        log_warn("no I/O APIC answers at %#lx", io);
        return;
    }
    apic_inputs[index] = inputs;
    for (u32 i = 0; i < inputs; i++) {
        apic_io_write(io, IO_APIC_INPUT + 2 * i, INPUT_MASKED);
    }
}

int apic_init(const struct acpi *acpi)
{
    apic_mask_pics();
    if (!acpi->has_madt) {
        log_warn("no MADT: no device interrupts");
        return E_NODEV;
    }
    int result = apic_find_local();
    if (result < 0) {
        log_warn("no local APIC: no device interrupts");
        return result;
    }
    apic_start_local();
    tables = acpi;
    for (u32 i = 0; i < acpi->n_io_apics; i++) {
        apic_mask_io(i);
    }
    log_debug("id %u, %s", apic_id(), apic_x2 ? "x2APIC" : "xAPIC");
    return 0;
}

// Program the input that gsi ends at.
static int apic_route_gsi(u32 gsi, u32 low)
{
    u32 id = apic_id();
    if (id > 0xff) {
        return E_UNSUPPORTED; // eight bits of destination, 82093AA 3.2.4
    }
    for (u32 i = 0; i < tables->n_io_apics; i++) {
        u32 input = gsi - tables->io_apics[i].gsi_base;
        if (input < apic_inputs[i]) {
            u64 io = tables->io_apics[i].phys;
            u32 reg = IO_APIC_INPUT + 2 * input;
            apic_io_write(io, reg + 1, id << 24);
            apic_io_write(io, reg, low);
            return 0;
        }
    }
    return E_UNSUPPORTED;
}

int apic_route_irq(u32 irq, u8 vector)
{
    if (irq > 15 || vector < 16) {
        return E_ARG;
    }
    if (!tables) {
        return E_UNSUPPORTED;
    }
    for (u32 i = 0; i < tables->n_overrides; i++) {
        const struct acpi_override *override = &tables->overrides[i];
        if (override->irq == irq) {
            u32 low = vector;
            low |= override->active_low ? INPUT_ACTIVE_LOW : 0;
            low |= override->level ? INPUT_LEVEL : 0;
            return apic_route_gsi(override->gsi, low);
        }
    }
    return apic_route_gsi(irq, vector);
}
