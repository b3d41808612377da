// acpi_find.c - from the RSDP, wherever it is, to the root table.
// SPDX-License-Identifier: MIT
#define LOG_TAG "acpi"
#include "acpi_tables.h"
#include "log.h"
#include "../lib/string.h"

enum {
    TABLE_MAX = 16 << 20, // a longer table is nonsense
    RSDP_MAX = 4096,
    RSDP_STEP = 16, // 5.2.5.1: it lies on a 16-byte boundary
    EFI_TABLES_MAX = 1024,
};

// UEFI 2.9, 4.3: the system table.
enum {
    EFI_SYSTEM_TABLE_SIZE = 120,
    EFI_N_TABLES = 104,
    EFI_TABLES = 112,
    EFI_ENTRY = 24, // GUID, address
};
static const u64 EFI_SIGNATURE = 0x5453595320494249; // "IBI SYST"

static const u8 guid_acpi2[16] = {0x71, 0xe8, 0x68, 0x88, 0xf1, 0xe4,
                                  0xd3, 0x11, 0xbc, 0x22, 0x00, 0x80,
                                  0xc7, 0x3c, 0x88, 0x81};
static const u8 guid_acpi1[16] = {0x30, 0x2d, 0x9d, 0xeb, 0x88, 0x2d,
                                  0xd3, 0x11, 0x9a, 0x16, 0x00, 0x90,
                                  0x27, 0x3f, 0xc1, 0x4d};

static u64 acpi_find_u64(const u8 *at)
{
    u64 value;
    __builtin_memcpy(&value, at, sizeof(value)); // one load, not a call
    return value;
}

// The sum of all bytes, modulo 256. Eight at a time, because a DSDT is long:
// each byte of the word is a sum of its own that never carries over.
static u8 acpi_find_sum(const void *data, u64 len)
{
    const u64 low7 = 0x7f7f7f7f7f7f7f7f;
    const u8 *bytes = data;
    u64 sums = 0, at = 0;
    for (; len - at >= 8; at += 8) {
        u64 word = acpi_find_u64(bytes + at);
        sums = ((sums & low7) + (word & low7)) ^ ((sums ^ word) & ~low7);
    }
    u32 sum = 0;
    for (; at < len; at++) {
        sum += bytes[at];
    }
    for (; sums != 0; sums >>= 8) {
        sum += sums & 0xff;
    }
    return (u8)sum;
}

int acpi_signature_is(const struct acpi_header *table, const char *name)
{
    return memcmp(table->signature, name, 4) == 0;
}

// A signature as text: whatever stands there, printable.
static const char *acpi_find_name(const struct acpi_header *table, char *name)
{
    for (int i = 0; i < 4; i++) {
        char c = table->signature[i];
        name[i] = c >= ' ' && c <= '~' ? c : '?';
    }
    name[4] = 0;
    return name;
}

const struct acpi_header *acpi_find_table(u64 phys, boot_read_fn *read,
                                          const char *name)
{
    char text[5];
    const struct acpi_header *table =
        phys == 0 ? 0 : read(phys, sizeof(struct acpi_header));
    if (!table) {
        log_warn("no table can be read at %#lx", phys);
        return 0;
    }
    acpi_find_name(table, text);
    if (name && !acpi_signature_is(table, name)) {
        log_warn("%s expected at %#lx, found %s", name, phys, text);
        return 0;
    }
    u32 length = table->length;
    if (length < sizeof(struct acpi_header) || length > TABLE_MAX) {
        log_warn("%s at %#lx says it has %u bytes", text, phys, length);
        return 0;
    }
    table = read(phys, length);
    if (!table) {
        log_warn("%s at %#lx cannot be read", text, phys);
        return 0;
    }
    if (table->length != length || acpi_find_sum(table, length) != 0) {
        log_warn("%s at %#lx has a bad checksum", text, phys);
        return 0;
    }
    return table;
}

// A good RSDP among len bytes: *rsdp is a copy, without an XSDT address when
// the part that holds it is missing or wrong.
static int acpi_find_check(const void *bytes, u64 len, struct acpi_rsdp *rsdp)
{
    if (len < ACPI_RSDP_V1 || memcmp(bytes, "RSD PTR ", 8) != 0 ||
        acpi_find_sum(bytes, ACPI_RSDP_V1) != 0) {
        return 0;
    }
    memset(rsdp, 0, sizeof(*rsdp));
    memcpy(rsdp, bytes, ACPI_RSDP_V1);
    if (rsdp->revision < 2 || len < sizeof(*rsdp)) {
        return 1;
    }
    memcpy(rsdp, bytes, sizeof(*rsdp));
    if (rsdp->length < sizeof(*rsdp) || rsdp->length > len ||
        acpi_find_sum(bytes, rsdp->length) != 0) {
        log_warn("the RSDP's second checksum is bad, RSDT only");
        rsdp->xsdt = 0;
    }
    return 1;
}

static const struct acpi_header *acpi_find_open(const void *bytes, u64 len,
                                                boot_read_fn *read)
{
    struct acpi_rsdp rsdp;
    const struct acpi_header *root = 0;
    if (!acpi_find_check(bytes, len, &rsdp)) {
        return 0;
    }
    if (rsdp.xsdt != 0) {
        root = acpi_find_table(rsdp.xsdt, read, "XSDT");
    }
    if (!root && rsdp.rsdt != 0) {
        root = acpi_find_table(rsdp.rsdt, read, "RSDT");
    }
    return root;
}

// An RSDP at an address somebody named.
static const struct acpi_header *acpi_find_at(u64 phys, boot_read_fn *read)
{
    const struct acpi_rsdp *rsdp = phys == 0 ? 0 : read(phys, ACPI_RSDP_V1);
    if (!rsdp) {
        return 0;
    }
    u64 len = ACPI_RSDP_V1;
    if (rsdp->revision >= 2) {
        rsdp = read(phys, sizeof(*rsdp));
        len = sizeof(*rsdp);
        if (rsdp && rsdp->length > len && rsdp->length <= RSDP_MAX) {
            len = rsdp->length;
            rsdp = read(phys, len);
        }
    }
    if (!rsdp) {
        rsdp = read(phys, ACPI_RSDP_V1);
        len = ACPI_RSDP_V1;
    }
    return rsdp ? acpi_find_open(rsdp, len, read) : 0;
}

static const struct acpi_header *
acpi_find_guid(const u8 *tables, u64 n, const u8 *guid, boot_read_fn *read)
{
    for (u64 i = 0; i < n; i++) {
        const u8 *entry = tables + i * EFI_ENTRY;
        if (memcmp(entry, guid, 16) == 0) {
            return acpi_find_at(acpi_find_u64(entry + 16), read);
        }
    }
    return 0;
}

static const struct acpi_header *acpi_find_efi(u64 phys, boot_read_fn *read)
{
    const u8 *system = phys == 0 ? 0 : read(phys, EFI_SYSTEM_TABLE_SIZE);
    if (!system || acpi_find_u64(system) != EFI_SIGNATURE) {
        return 0;
    }
    u64 n = acpi_find_u64(system + EFI_N_TABLES);
    if (n == 0 || n > EFI_TABLES_MAX) {
        log_warn("EFI has %lu configuration tables", n);
        return 0;
    }
    const u8 *tables = read(acpi_find_u64(system + EFI_TABLES), n * EFI_ENTRY);
    if (!tables) {
        log_warn("EFI's configuration tables cannot be read");
        return 0;
    }
    const struct acpi_header *root =
        acpi_find_guid(tables, n, guid_acpi2, read);
    return root ? root : acpi_find_guid(tables, n, guid_acpi1, read);
}

static const struct acpi_header *acpi_find_scan(u64 phys, u64 len,
                                                boot_read_fn *read)
{
    const u8 *area = read(phys, len);
    for (u64 at = 0; area && at + ACPI_RSDP_V1 <= len; at += RSDP_STEP) {
        const struct acpi_header *root =
            acpi_find_open(area + at, len - at, read);
        if (root) {
            return root;
        }
    }
    return 0;
}

// 5.2.5.1: the first KiB of the extended BIOS data area, then 0xE0000 on. The
// area's segment is in physical page 0; where that cannot be read, anything
// right below 640 KiB is looked at.
static const struct acpi_header *acpi_find_bios(boot_read_fn *read)
{
    const struct acpi_header *root = 0;
    const u8 *word = read(0x40e, 2);
    u64 ebda = word ? (u64)(word[0] | word[1] << 8) << 4 : 0;
    if (ebda >= 0x400 && ebda < 0xa0000) {
        u64 room = 0xa0000 - ebda;
        root = acpi_find_scan(ebda, room < 1024 ? room : 1024, read);
    } else if (!word) {
        root = acpi_find_scan(0x80000, 0x20000, read);
    }
    return root ? root : acpi_find_scan(0xe0000, 0x20000, read);
}

const struct acpi_header *acpi_find_root(const struct boot_info *info,
                                         boot_read_fn *read)
{
    u64 len = info->rsdp_len;
    const struct acpi_header *root =
        acpi_find_open(info->rsdp_copy, len < 36 ? len : 36, read);
    if (!root) {
        root = acpi_find_at(info->rsdp_phys, read);
    }
    if (!root) {
        root = acpi_find_efi(info->efi_system_table, read);
    }
    return root ? root : acpi_find_bios(read);
}
