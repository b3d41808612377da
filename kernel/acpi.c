// acpi.c - walks ACPI's root table and copies out what the kernel needs.
// SPDX-License-Identifier: MIT
#define LOG_TAG "acpi"
#include "acpi.h"
#include "acpi_tables.h"
#include "apic.h"
#include "cpu.h"
#include "log.h"
#include "../lib/string.h"

enum {
    ROOT_MAX = 1024,    // entries that are looked at
    ECAM_BUS = 1 << 20, // bytes of configuration space per bus
};
static const u64 PHYS_END = 1ul << 52;

struct acpi_walk {
    const struct acpi_header *root;
    boot_read_fn *read;
    struct acpi *acpi;
};

static void acpi_read_madt(struct acpi_walk *walk,
                           const struct acpi_header *table)
{
    acpi_madt_read(table, walk->acpi);
}

static void acpi_read_hpet(struct acpi_walk *walk,
                           const struct acpi_header *table)
{
    const struct acpi_hpet *hpet = (const struct acpi_hpet *)table;
    if (table->length < sizeof(*hpet) ||
        hpet->base.space != ACPI_SPACE_MEMORY ||
        hpet->base.address >= PHYS_END || hpet->base.address % 8 != 0) {
        log_warn("HPET table is ignored");
        return;
    }
    if (walk->acpi->hpet_phys == 0) {
        walk->acpi->hpet_phys = hpet->base.address;
    }
}

static int acpi_ecam_ok(const struct acpi *acpi,
                        const struct acpi_mcfg_entry *entry)
{
    if (entry->first > entry->last || entry->base == 0 ||
        entry->base % ECAM_BUS != 0 || entry->base >= PHYS_END) {
        return 0;
    }
    for (u32 i = 0; i < acpi->n_ecams; i++) {
        const struct acpi_ecam *old = &acpi->ecams[i];
        if (old->segment == entry->segment && old->bus_first <= entry->last &&
            entry->first <= old->bus_last) {
            return 0;
        }
    }
    return 1;
}

static void acpi_read_mcfg(struct acpi_walk *walk,
                           const struct acpi_header *table)
{
    struct acpi *acpi = walk->acpi;
    struct acpi_mcfg_entry entry;
    for (u64 at = ACPI_MCFG_FIRST; at + sizeof(entry) <= table->length;
         at += sizeof(entry)) {
        memcpy(&entry, (const u8 *)table + at, sizeof(entry));
        if (!acpi_ecam_ok(acpi, &entry) || acpi->n_ecams == ACPI_ECAMS) {
            log_warn("MCFG: segment %u buses %u-%u at %#lx left out",
                     entry.segment, entry.first, entry.last, entry.base);
            continue;
        }
        acpi->ecams[acpi->n_ecams++] = (struct acpi_ecam){
            entry.base, entry.segment, entry.first, entry.last};
    }
}

static void acpi_read_fadt(struct acpi_walk *walk,
                           const struct acpi_header *table)
{
    u64 dsdt_phys = acpi_fadt_read(table, walk->acpi);
    const struct acpi_header *dsdt =
        acpi_find_table(dsdt_phys, walk->read, "DSDT");
    if (dsdt) {
        acpi_fadt_find_s5(dsdt, &walk->acpi->power);
    }
}

static void acpi_read_ssdt(struct acpi_walk *walk,
                           const struct acpi_header *table)
{
    if (!walk->acpi->power.s5_known) {
        acpi_fadt_find_s5(table, &walk->acpi->power);
    }
}

struct acpi_kind {
    char name[5];
    u8 many; // else only the first good one counts
    void (*read)(struct acpi_walk *walk, const struct acpi_header *table);
};

static const struct acpi_kind acpi_kinds[] = {
    {"APIC", 0, acpi_read_madt},
    {"FACP", 0, acpi_read_fadt},
    {"HPET", 0, acpi_read_hpet},
    {"MCFG", 1, acpi_read_mcfg},
};
static const struct acpi_kind acpi_kind_ssdt = {"SSDT", 1, acpi_read_ssdt};

// Entry i of the root table: 4 bytes each in an RSDT, 8 in an XSDT.
static u64 acpi_root_entry(const struct acpi_header *root, u64 i)
{
    const u8 *entries = (const u8 *)(root + 1);
    u64 phys = 0;
    if (acpi_signature_is(root, "XSDT")) {
        memcpy(&phys, entries + i * 8, 8);
    } else {
        memcpy(&phys, entries + i * 4, 4);
    }
    return phys;
}

static u64 acpi_root_n(const struct acpi_header *root)
{
    u64 n = (root->length - sizeof(*root)) /
            (acpi_signature_is(root, "XSDT") ? 8 : 4);
    if (n > ROOT_MAX) {
        log_warn("root table of %lu entries, %d are read", n, ROOT_MAX);
        n = ROOT_MAX;
    }
    return n;
}

// Read every table of this kind. Only these are summed: most are not for us.
static void acpi_read_kind(struct acpi_walk *walk, const struct acpi_kind *kind)
{
    u64 n = acpi_root_n(walk->root);
    for (u64 i = 0; i < n; i++) {
        u64 phys = acpi_root_entry(walk->root, i);
        const struct acpi_header *table =
            phys == 0 ? 0 : walk->read(phys, sizeof(*table));
        if (!table || !acpi_signature_is(table, kind->name)) {
            continue;
        }
        table = acpi_find_table(phys, walk->read, kind->name);
        if (table) {
            kind->read(walk, table);
            i = kind->many ? i : n;
        }
    }
}

void acpi_init(const struct boot_info *info, boot_read_fn *read,
               struct acpi *acpi)
{
    memset(acpi, 0, sizeof(*acpi));
    acpi->has_8042 = 1;
    acpi->cpu_apic_ids[acpi->n_cpus++] = apic_id();
    struct acpi_walk walk = {acpi_find_root(info, read), read, acpi};
    if (walk.root) {
        acpi->present = 1;
        for (u32 i = 0; i < array_size(acpi_kinds); i++) {
            acpi_read_kind(&walk, &acpi_kinds[i]);
        }
        if (!acpi->power.s5_known) {
            acpi_read_kind(&walk, &acpi_kind_ssdt);
        }
    }
    if (!walk.root) {
        log_warn("no ACPI: one core, no device interrupts");
        return;
    }
    log_info("%s, %u cores, %u I/O APICs, %u ECAMs%s%s",
             acpi_signature_is(walk.root, "XSDT") ? "XSDT" : "RSDT",
             acpi->n_cpus, acpi->n_io_apics, acpi->n_ecams,
             acpi->hpet_phys ? ", HPET" : "",
             acpi->power.s5_known ? ", S5" : "");
}
