// acpi.h - what the kernel needs of ACPI's tables, checked and copied out.
// SPDX-License-Identifier: MIT
#pragma once
#include "../boot/boot_info.h"

enum {
    ACPI_CPUS = 256,
    ACPI_IO_APICS = 8,
    ACPI_OVERRIDES = 16,
    ACPI_ECAMS = 16,
};

struct acpi_io_apic {
    u64 phys;
    u32 gsi_base;
};

struct acpi_override { // legacy IRQ -> global system interrupt
    u32 gsi;
    u8 irq;
    u8 active_low, level;
};

struct acpi_ecam { // MCFG: configuration space of one segment's buses
    u64 phys;      // of bus 0 of the segment, even when bus_first > 0
    u16 segment;
    u8 bus_first, bus_last;
};

enum { ACPI_SPACE_MEMORY, ACPI_SPACE_IO, ACPI_SPACE_PCI }; // acpi_gas.space

struct acpi_gas { // generic address, ACPI 5.2.3.2
    u64 address;  // 0: none
    u8 space;     // ACPI_SPACE_*
    u8 width;     // bits
};

struct acpi_power { // FADT
    struct acpi_gas reset, pm1a_control, pm1b_control, pm_timer;
    struct acpi_gas sleep_control; // hardware-reduced machines
    u8 reset_value;
    u8 hardware_reduced;
    u8 pm_timer_32bit;
    u8 s5_known;    // \_S5 was found in the DSDT
    u8 s5_a, s5_b;  // SLP_TYP values
    u16 smi_port;   // SMI_CMD
    u8 acpi_enable; // value for it
};

struct acpi {
    u8 present;  // an RSDP and a root table were good
    u8 has_8042; // FADT boot flags, 1 when unknown
    u8 has_madt;
    u8 cmos_century; // FADT century index, 0 none
    u64 local_apic_phys;
    u32 n_cpus; // enabled ones, boot core first
    u32 cpu_apic_ids[ACPI_CPUS];
    u32 n_cpus_left_out; // for want of room
    u32 n_io_apics, n_overrides, n_ecams;
    struct acpi_io_apic io_apics[ACPI_IO_APICS];
    struct acpi_override overrides[ACPI_OVERRIDES];
    struct acpi_ecam ecams[ACPI_ECAMS];
    u64 hpet_phys; // 0: none
    struct acpi_power power;
};

// Find the RSDP (loader's copy, loader's pointer, EFI system table, BIOS areas)
// and read RSDT or XSDT, MADT, MCFG, HPET, FADT and the DSDT's \_S5. What is
// bad is skipped with a log line; *acpi is always usable. Every physical range
// is made readable through read (kernel: firmware_map) before it is touched.
void acpi_init(const struct boot_info *info, boot_read_fn *read,
               struct acpi *acpi);
