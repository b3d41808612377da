// acpi_tables.h - ACPI's tables as firmware lays them out, and what the
// acpi*.c files share. ACPI 6.4; fields packed as the hardware has them.
// SPDX-License-Identifier: MIT
#pragma once
#include "acpi.h"

#define ACPI_PACKED __attribute__((packed))

struct acpi_rsdp { // 5.2.5.3
    char signature[8];
    u8 checksum;
    char oem[6];
    u8 revision;
    u32 rsdt;
    u32 length; // from here on: revision 2 and up
    u64 xsdt;
    u8 extended_checksum;
    u8 reserved[3];
} ACPI_PACKED;
enum { ACPI_RSDP_V1 = 20 };
_Static_assert(sizeof(struct acpi_rsdp) == 36, "RSDP");

struct acpi_header { // 5.2.6
    char signature[4];
    u32 length;
    u8 revision;
    u8 checksum;
    char oem[6];
    char oem_table[8];
    u32 oem_revision;
    u32 creator, creator_revision;
} ACPI_PACKED;
_Static_assert(sizeof(struct acpi_header) == 36, "table header");

struct acpi_address { // 5.2.3.2
    u8 space;
    u8 width;
    u8 offset;
    u8 access;
    u64 address;
} ACPI_PACKED;
_Static_assert(sizeof(struct acpi_address) == 12, "generic address");

struct acpi_fadt { // 5.2.9
    struct acpi_header header;
    u32 facs, dsdt;
    u8 model, profile;
    u16 sci_irq;
    u32 smi_cmd;
    u8 acpi_enable, acpi_disable, s4bios, pstate;
    u32 pm1a_event, pm1b_event, pm1a_control, pm1b_control, pm2_control;
    u32 pm_timer, gpe0, gpe1;
    u8 pm1_event_len, pm1_control_len, pm2_control_len, pm_timer_len;
    u8 gpe0_len, gpe1_len, gpe1_base, cst;
    u16 c2_latency, c3_latency, flush_size, flush_stride;
    u8 duty_offset, duty_width, day_alarm, month_alarm, century;
    u16 boot_arch;
    u8 reserved;
    u32 flags;
    struct acpi_address reset; // from here on: 2.0 and up
    u8 reset_value;
    u16 arm_boot_arch;
    u8 minor;
    u64 x_facs, x_dsdt;
    struct acpi_address x_pm1a_event, x_pm1b_event;
    struct acpi_address x_pm1a_control, x_pm1b_control, x_pm2_control;
    struct acpi_address x_pm_timer, x_gpe0, x_gpe1;
    struct acpi_address sleep_control, sleep_status;
} ACPI_PACKED;
_Static_assert(__builtin_offsetof(struct acpi_fadt, reset) == 116, "FADT");
_Static_assert(sizeof(struct acpi_fadt) == 268, "FADT 5.0");

enum {
    FADT_8042 = 1 << 1,        // boot_arch
    FADT_TIMER_32BIT = 1 << 8, // flags
    FADT_RESET = 1 << 10,      // flags
    FADT_HW_REDUCED = 1 << 20, // flags
};

struct acpi_madt { // 5.2.12
    struct acpi_header header;
    u32 local_apic;
    u32 flags;
} ACPI_PACKED;
_Static_assert(sizeof(struct acpi_madt) == 44, "MADT");

struct acpi_hpet { // IA-PC HPET 1.0a, 3.2.4
    struct acpi_header header;
    u32 block_id;
    struct acpi_address base;
    u8 number;
    u16 min_tick;
    u8 flags;
} ACPI_PACKED;
_Static_assert(sizeof(struct acpi_hpet) == 56, "HPET");

struct acpi_mcfg_entry { // PCI Firmware 3.2, 4.1.2
    u64 base;
    u16 segment;
    u8 first, last;
    u32 reserved;
} ACPI_PACKED;
_Static_assert(sizeof(struct acpi_mcfg_entry) == 16, "MCFG entry");
enum { ACPI_MCFG_FIRST = 44 };

// ---- acpi_find.c ----
// A table whose length and checksum are good, or null with a log line. Its
// signature must be name when that is not null.
const struct acpi_header *acpi_find_table(u64 phys, boot_read_fn *read,
                                          const char *name);
// The root table of the first RSDP that leads to a good one: XSDT or RSDT.
// Null: there is none.
const struct acpi_header *acpi_find_root(const struct boot_info *info,
                                         boot_read_fn *read);
int acpi_signature_is(const struct acpi_header *table, const char *name);

// ---- acpi_madt.c ----
void acpi_madt_read(const struct acpi_header *table, struct acpi *acpi);
// ---- acpi_fadt.c ----
// Fill acpi->power and find the DSDT: its address, 0 when there is none.
u64 acpi_fadt_read(const struct acpi_header *table, struct acpi *acpi);
// Look for \_S5 in a DSDT or SSDT, unless it is known.
void acpi_fadt_find_s5(const struct acpi_header *table,
                       struct acpi_power *power);
