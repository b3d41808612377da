// acpi_fadt.c - the FADT: how to reset, power off and tell the time; and the
// \_S5 package in the AML tables.
// SPDX-License-Identifier: MIT
#define LOG_TAG "acpi"
#include "acpi_tables.h"
#include "log.h"
#include "../lib/string.h"

enum {
    CMOS_SIZE = 128,
    FADT_V1_SIZE = 116,
};

static struct acpi_gas acpi_fadt_gas(const struct acpi_address *from)
{
    struct acpi_gas gas = {0, 0, 0};
    if (from->space > ACPI_SPACE_PCI ||
        (from->space == ACPI_SPACE_IO && from->address > 0xffff)) {
        return gas;
    }
    gas.address = from->address;
    gas.space = from->space;
    gas.width = from->width;
    return gas;
}

// A register that has an old 32-bit port field and a new generic address: the
// new one wins when it is there (5.2.9).
static struct acpi_gas
acpi_fadt_register(u32 port, const struct acpi_address *from, u8 width)
{
    struct acpi_gas gas = acpi_fadt_gas(from);
    if (gas.address == 0 || gas.space == ACPI_SPACE_PCI) {
        gas.address = port <= 0xffff ? port : 0;
        gas.space = ACPI_SPACE_IO;
    }
    gas.width = width;
    return gas;
}

static void acpi_fadt_pm(const struct acpi_fadt *fadt, struct acpi_power *power)
{
    power->pm1a_control =
        acpi_fadt_register(fadt->pm1a_control, &fadt->x_pm1a_control, 16);
    power->pm1b_control =
        acpi_fadt_register(fadt->pm1b_control, &fadt->x_pm1b_control, 16);
    if (fadt->pm_timer_len == 4) {
        power->pm_timer =
            acpi_fadt_register(fadt->pm_timer, &fadt->x_pm_timer, 32);
        power->pm_timer_32bit = (fadt->flags & FADT_TIMER_32BIT) != 0;
    }
    if (fadt->smi_cmd <= 0xffff) {
        power->smi_port = (u16)fadt->smi_cmd;
        power->acpi_enable = fadt->acpi_enable;
    }
}

u64 acpi_fadt_read(const struct acpi_header *table, struct acpi *acpi)
{
    struct acpi_fadt fadt;
    struct acpi_power *power = &acpi->power;
    u64 len = table->length;
    if (len < FADT_V1_SIZE) {
        log_warn("FADT of %lu bytes is ignored", len);
        return 0;
    }
    // Fields that an older, shorter table lacks are 0 here.
    memset(&fadt, 0, sizeof(fadt));
    memcpy(&fadt, table, len < sizeof(fadt) ? len : sizeof(fadt));
    if (fadt.header.revision >= 3) {
        acpi->has_8042 = (fadt.boot_arch & FADT_8042) != 0;
    }
    acpi->cmos_century = fadt.century < CMOS_SIZE ? fadt.century : 0;
    power->hardware_reduced = (fadt.flags & FADT_HW_REDUCED) != 0;
    if (fadt.flags & FADT_RESET) {
        power->reset = acpi_fadt_gas(&fadt.reset);
        power->reset_value = fadt.reset_value;
    }
    if (power->hardware_reduced) {
        power->sleep_control = acpi_fadt_gas(&fadt.sleep_control);
    } else {
        acpi_fadt_pm(&fadt, power);
    }
    return fadt.x_dsdt != 0 ? fadt.x_dsdt : fadt.dsdt;
}

// ---- \_S5 (7.4.2), found by its bytes: no AML is run ----

enum {
    AML_ZERO = 0x00,
    AML_ONE = 0x01,
    AML_NAME = 0x08,
    AML_BYTE = 0x0a,
    AML_WORD = 0x0b,
    AML_DWORD = 0x0c,
    AML_PACKAGE = 0x12,
    AML_ONES = 0xff,
    SLP_TYP_MAX = 7, // three bits
};

struct aml {
    const u8 *at;
    const u8 *end;
};

// The next byte, or -1 past the end.
static int acpi_fadt_aml_byte(struct aml *aml)
{
    return aml->at < aml->end ? *aml->at++ : -1;
}

// One small integer constant. -1: something else.
static int acpi_fadt_aml_integer(struct aml *aml)
{
    u64 bytes;
    switch (acpi_fadt_aml_byte(aml)) {
    case AML_ZERO:
        return 0;
    case AML_ONE:
        return 1;
    case AML_BYTE:
        bytes = 1;
        break;
    case AML_WORD:
        bytes = 2;
        break;
    case AML_DWORD:
        bytes = 4;
        break;
    default:
        return -1;
    }
    if ((u64)(aml->end - aml->at) < bytes) {
        return -1;
    }
    int value = aml->at[0];
    aml->at += bytes;
    return value;
}

// What follows "_S5_": PackageOp, its length (20.2.4: the top two bits of the
// first byte say how many more there are), the number of elements, elements.
static int acpi_fadt_s5_package(struct aml aml, struct acpi_power *power)
{
    if (acpi_fadt_aml_byte(&aml) != AML_PACKAGE) {
        return 0;
    }
    const u8 *start = aml.at;
    int lead = acpi_fadt_aml_byte(&aml);
    if (lead < 0) {
        return 0;
    }
    int more = lead >> 6;
    u64 len = more ? (u64)lead & 0xf : (u64)lead & 0x3f;
    for (int i = 0; i < more; i++) {
        int byte = acpi_fadt_aml_byte(&aml);
        if (byte < 0) {
            return 0;
        }
        len |= (u64)byte << (4 + 8 * i);
    }
    if (len > (u64)(aml.end - start)) {
        return 0;
    }
    aml.end = start + len;
    int n = acpi_fadt_aml_byte(&aml);
    int a = n >= 1 ? acpi_fadt_aml_integer(&aml) : -1;
    int b = n >= 2 ? acpi_fadt_aml_integer(&aml) : a;
    if (a < 0 || a > SLP_TYP_MAX || b < 0 || b > SLP_TYP_MAX) {
        return 0;
    }
    power->s5_a = (u8)a;
    power->s5_b = (u8)b;
    return 1;
}

// five is where the name's '5' would be. Its bytes can also be a use of it: a
// definition is preceded by NameOp, with or without a root prefix.
static int acpi_fadt_s5_here(const u8 *body, u64 five, u64 len,
                             struct acpi_power *power)
{
    if (five < 3 || len - five < 2 || memcmp(body + five - 2, "_S5_", 4) != 0) {
        return 0;
    }
    u8 before = body[five - 3];
    if (before != AML_NAME &&
        !(before == '\\' && five >= 4 && body[five - 4] == AML_NAME)) {
        return 0;
    }
    struct aml aml = {body + five + 2, body + len};
    return acpi_fadt_s5_package(aml, power);
}

// 1 when one of eight bytes is a '5': the exclusive or makes it 0, and only a 0
// is below 1 and has its top bit clear.
static int acpi_fadt_has_five(const u8 *bytes)
{
    u64 word;
    __builtin_memcpy(&word, bytes, sizeof(word));
    word ^= '5' * 0x0101010101010101;
    return ((word - 0x0101010101010101) & ~word & 0x8080808080808080) != 0;
}

// The name's rarest byte is its '5'; a DSDT is long, so eight at a time.
void acpi_fadt_find_s5(const struct acpi_header *table,
                       struct acpi_power *power)
{
    const u8 *body = (const u8 *)(table + 1);
    u64 len = table->length - sizeof(*table), at = 0;
    while (at < len && !power->s5_known) {
        if (len - at >= 8 && !acpi_fadt_has_five(body + at)) {
            at += 8;
            continue;
        }
        if (body[at] == '5') {
            power->s5_known = (u8)acpi_fadt_s5_here(body, at, len, power);
        }
        at++;
    }
}
