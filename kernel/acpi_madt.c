// acpi_madt.c - the MADT: which cores and interrupt controllers there are.
// SPDX-License-Identifier: MIT
#define LOG_TAG "acpi"
#include "acpi_tables.h"
#include "cpu.h"
#include "log.h"
#include "../lib/string.h"

// 5.2.12: entry types and their sizes.
enum {
    MADT_LOCAL_APIC = 0,
    MADT_IO_APIC = 1,
    MADT_OVERRIDE = 2,
    MADT_LOCAL_ADDRESS = 5,
    MADT_X2APIC = 9,
};

// clang-format off
static const u8 madt_sizes[] = {
    [MADT_LOCAL_APIC] = 8, [MADT_IO_APIC] = 12, [MADT_OVERRIDE] = 10,
    [MADT_LOCAL_ADDRESS] = 12, [MADT_X2APIC] = 16,
};
// clang-format on

enum {
    CORE_ENABLED = 1,
    APIC_EVERYONE = 0xff, // broadcast ids: no core's own
    POLARITY_LOW = 3,     // override flags, bits 1:0
    TRIGGER_LEVEL = 3,    // bits 3:2
};
static const u32 X2APIC_EVERYONE = ~0u;

static u32 acpi_madt_u32(const u8 *at)
{
    u32 value;
    memcpy(&value, at, sizeof(value));
    return value;
}

// What is said once, when all entries have been read.
static struct {
    u8 boot_core;    // is among them
    u32 first, last; // APIC ids of those left out
} acpi_madt_seen;

// Disabled cores, also those that could be plugged in, are not there for us.
static void acpi_madt_core(struct acpi *acpi, u32 id, u32 flags)
{
    if (!(flags & CORE_ENABLED)) {
        return;
    }
    for (u32 i = 0; i < acpi->n_cpus; i++) {
        if (acpi->cpu_apic_ids[i] == id) {
            acpi_madt_seen.boot_core |= i == 0;
            return;
        }
    }
    if (acpi->n_cpus < ACPI_CPUS) {
        acpi->cpu_apic_ids[acpi->n_cpus++] = id;
        return;
    }
    acpi_madt_seen.first =
        acpi->n_cpus_left_out++ == 0 ? id : acpi_madt_seen.first;
    acpi_madt_seen.last = id;
}

static void acpi_madt_tell(const struct acpi *acpi)
{
    if (acpi->n_cpus_left_out > 0) {
        log_warn("more than %u cores: %u are left out, APIC ids %u to %u",
                 ACPI_CPUS, acpi->n_cpus_left_out, acpi_madt_seen.first,
                 acpi_madt_seen.last);
    }
    if (!acpi_madt_seen.boot_core) {
        log_warn("the boot core's APIC id %u is not in the MADT",
                 acpi->cpu_apic_ids[0]);
    }
}

static void acpi_madt_io_apic(struct acpi *acpi, const u8 *entry)
{
    struct acpi_io_apic io = {acpi_madt_u32(entry + 4),
                              acpi_madt_u32(entry + 8)};
    for (u32 i = 0; i < acpi->n_io_apics; i++) {
        if (acpi->io_apics[i].phys == io.phys ||
            acpi->io_apics[i].gsi_base == io.gsi_base) {
            return;
        }
    }
    if (io.phys == 0 || io.phys % 16 != 0 ||
        acpi->n_io_apics == ACPI_IO_APICS) {
        log_warn("I/O APIC at %#lx is left out", io.phys);
        return;
    }
    acpi->io_apics[acpi->n_io_apics++] = io;
}

// ISA interrupts are edge-triggered, active high where nothing is said.
static void acpi_madt_override(struct acpi *acpi, const u8 *entry)
{
    u8 bus = entry[2], irq = entry[3], flags = entry[8];
    if (bus != 0 || irq > 15 || acpi->n_overrides == ACPI_OVERRIDES) {
        log_warn("interrupt override of bus %u irq %u is left out", bus, irq);
        return;
    }
    for (u32 i = 0; i < acpi->n_overrides; i++) {
        if (acpi->overrides[i].irq == irq) {
            return;
        }
    }
    acpi->overrides[acpi->n_overrides++] = (struct acpi_override){
        .gsi = acpi_madt_u32(entry + 4),
        .irq = irq,
        .active_low = (flags & 3) == POLARITY_LOW,
        .level = (flags >> 2 & 3) == TRIGGER_LEVEL,
    };
}

static void acpi_madt_entry(struct acpi *acpi, const u8 *entry)
{
    switch (entry[0]) {
    case MADT_LOCAL_APIC:
        if (entry[3] != APIC_EVERYONE) {
            acpi_madt_core(acpi, entry[3], acpi_madt_u32(entry + 4));
        }
        break;
    case MADT_X2APIC:
        if (acpi_madt_u32(entry + 4) != X2APIC_EVERYONE) {
            acpi_madt_core(acpi, acpi_madt_u32(entry + 4),
                           acpi_madt_u32(entry + 8));
        }
        break;
    case MADT_IO_APIC:
        acpi_madt_io_apic(acpi, entry);
        break;
    case MADT_OVERRIDE:
        acpi_madt_override(acpi, entry);
        break;
    case MADT_LOCAL_ADDRESS:
        memcpy(&acpi->local_apic_phys, entry + 4, 8);
        break;
    default:
        break;
    }
}

static void acpi_madt_walk(const struct acpi_header *table, u64 at,
                           struct acpi *acpi)
{
    while (table->length - at >= 2) {
        const u8 *entry = (const u8 *)table + at;
        u64 size = entry[1];
        if (size < 2 || size > table->length - at) {
            log_warn("MADT entry at %lu has %lu bytes, the rest is ignored", at,
                     size);
            return;
        }
        if (entry[0] < array_size(madt_sizes) && size < madt_sizes[entry[0]]) {
            log_warn("MADT entry at %lu of type %u is too small", at, entry[0]);
        } else {
            acpi_madt_entry(acpi, entry);
        }
        at += size;
    }
}

void acpi_madt_read(const struct acpi_header *table, struct acpi *acpi)
{
    const struct acpi_madt *madt = (const struct acpi_madt *)table;
    if (acpi->has_madt || table->length < sizeof(*madt)) {
        log_warn("MADT of %u bytes is ignored", table->length);
        return;
    }
    acpi->has_madt = 1;
    acpi->local_apic_phys = madt->local_apic;
    acpi_madt_seen.boot_core = 0;
    acpi_madt_walk(table, sizeof(*madt), acpi);
    acpi_madt_tell(acpi);
}
