// acpi_build.h - builds ACPI tables in a fake physical memory.
// SPDX-License-Identifier: MIT
#pragma once
#include "../../kernel/acpi.c"
#include "../../kernel/acpi_fadt.c"
#include "../../kernel/acpi_find.c"
#include "../../kernel/acpi_madt.c"
#include "test.h"
#include <stdarg.h>

static u32 self_id; // the core that runs this
u32 apic_id(void)
{
    return self_id;
}

static u32 log_lines;
static char log_text[8192];
void log_line(enum log_level level, const char *tag, const char *text, ...)
{
    va_list args;
    u64 used = strnlen(log_text, sizeof(log_text));
    (void)tag;
    va_start(args, text);
    if (level <= LOG_WARN) {
        log_lines++;
        vsnprintf(log_text + used, sizeof(log_text) - used, text, args);
    }
    va_end(args);
}
static inline int said(const char *text)
{
    u64 len = strlen(text);
    for (const char *at = log_text; *at; at++) {
        if (strncmp(at, text, len) == 0) {
            return 1;
        }
    }
    return 0;
}

// Physical memory: pieces, each a heap block of exactly its length, so that
// ASan sees every read outside.
enum { PIECES = 64 };
static struct {
    u64 phys, len;
    u8 *bytes;
} pieces[PIECES];
static u32 n_pieces;

static const void *fake_read(u64 phys, u64 len)
{
    for (u32 i = 0; i < n_pieces; i++) {
        u64 at = phys - pieces[i].phys;
        if (phys >= pieces[i].phys && at <= pieces[i].len &&
            len <= pieces[i].len - at) {
            return pieces[i].bytes + at;
        }
    }
    return 0;
}
static inline u8 *piece(u64 phys, const void *bytes, u64 len)
{
    u8 *copy = malloc(len ? len : 1);
    memcpy(copy, bytes, len);
    pieces[n_pieces].phys = phys;
    pieces[n_pieces].len = len;
    pieces[n_pieces].bytes = copy;
    n_pieces++;
    return copy;
}
static inline void forget(void)
{
    while (n_pieces > 0) {
        free(pieces[--n_pieces].bytes);
    }
    log_lines = 0;
    log_text[0] = 0;
}

static inline void seal(u8 *table, u64 len, u64 checksum_at)
{
    table[checksum_at] = 0;
    u8 sum = 0;
    for (u64 i = 0; i < len; i++) {
        sum = (u8)(sum + table[i]);
    }
    table[checksum_at] = (u8)-sum;
}

// A table with this body, its header filled in.
static inline u8 *table(u64 phys, const char *name, u8 revision,
                        const void *body, u64 len)
{
    u8 bytes[70000] = {0};
    struct acpi_header header = {.length = (u32)(len + 36),
                                 .revision = revision};
    memcpy(header.signature, name, 4);
    memcpy(bytes, &header, 36);
    memcpy(bytes + 36, body, len);
    seal(bytes, len + 36, 9);
    return piece(phys, bytes, len + 36);
}
static inline struct acpi_rsdp rsdp(u8 revision, u64 xsdt, u32 rsdt)
{
    struct acpi_rsdp r = {
        .revision = revision, .rsdt = rsdt, .length = 36, .xsdt = xsdt};
    memcpy(r.signature, "RSD PTR ", 8);
    seal((u8 *)&r, 20, 8);
    seal((u8 *)&r, 36, 32);
    return r;
}

enum {
    RSDP = 0xf5a20,
    RSDT = 0x7fe0000,
    XSDT = 0x7fe1000,
    FADT = 0x7fe2000,
    MADT = 0x7fe3001, // tables lie anywhere
    HPET = 0x7fe4000,
    MCFG = 0x7fe5000,
    DSDT = 0x7fe6000,
    SSDT = 0x7ff0000,
};
static u32 rsdt_entries[] = {FADT, MADT, HPET, MCFG, SSDT};
static u64 xsdt_entries[] = {FADT, MADT, HPET, MCFG, SSDT};

static const u8 s5_code[] = {0x08, '_',  'S',  '5',  '_',  0x12, 0x06,
                             0x04, 0x0a, 0x05, 0x0a, 0x07, 0x00, 0x00};
static struct acpi_fadt fadt; // what put_fadt() lays down
static u8 madt_body[32768];
static u64 madt_len;

static inline void madt_add(const void *entry, u64 len)
{
    memcpy(madt_body + madt_len, entry, len);
    madt_len += len;
}
static inline void madt_core(u8 id, u32 flags)
{
    u8 entry[8] = {0, 8, id, id, (u8)flags, 0, 0, 0};
    madt_add(entry, 8);
}
static inline void madt_begin(void)
{
    u32 head[2] = {0xfee00000, 1};
    madt_len = 0;
    madt_add(head, 8);
}

static inline void put_fadt(u64 len)
{
    table(FADT, "FACP", fadt.header.revision, (u8 *)&fadt + 36, len - 36);
}
static inline void put_hpet(u64 base, u8 space)
{
    u8 body[20] = {0x01, 0xa2, 0x86, 0x80, space, 64};
    memcpy(body + 8, &base, 8);
    table(HPET, "HPET", 1, body, 20);
}
static inline void mcfg_entry(u8 *to, u64 base, u16 segment, u8 first, u8 last)
{
    struct acpi_mcfg_entry entry = {base, segment, first, last, 0};
    memcpy(to, &entry, 16);
}
static inline void put_mcfg(u64 base)
{
    u8 body[24] = {0};
    mcfg_entry(body + 8, base, 0, 0, 255);
    table(MCFG, "MCFG", 1, body, 24);
}

// A machine like q35. The roots and the tables can be replaced afterwards.
static inline void good_tables(void)
{
    forget();
    table(RSDT, "RSDT", 1, rsdt_entries, sizeof(rsdt_entries));
    table(XSDT, "XSDT", 1, xsdt_entries, sizeof(xsdt_entries));
    fadt = (struct acpi_fadt){
        .header.revision = 3,
        .dsdt = DSDT,
        .smi_cmd = 0xb2,
        .acpi_enable = 2,
        .pm1a_control = 0x604,
        .pm_timer = 0x608,
        .pm_timer_len = 4,
        .century = 0x32,
        .boot_arch = FADT_8042,
        .flags = FADT_RESET,
        .reset = {ACPI_SPACE_IO, 8, 0, 1, 0xcf9},
        .reset_value = 0xf,
    };
    put_fadt(244);
    table(DSDT, "DSDT", 1, s5_code, sizeof(s5_code));
    madt_begin();
    madt_core(0, 1);
    madt_core(1, 1);
    u8 io[12] = {1, 12, 2, 0, 0, 0, 0xc0, 0xfe};
    madt_add(io, 12);
    u8 override[10] = {2, 10, 0, 9, 9, 0, 0, 0, 0xf, 0};
    madt_add(override, 10);
    table(MADT, "APIC", 1, madt_body, madt_len);
    put_hpet(0xfed00000, ACPI_SPACE_MEMORY);
    put_mcfg(0xb0000000);
}

static struct boot_info info;
static struct acpi acpi;
static inline void init(void)
{
    acpi_init(&info, fake_read, &acpi);
}
static inline void init_by_copy(u8 revision, u32 len)
{
    struct acpi_rsdp r = rsdp(revision, XSDT, RSDT);
    memset(&info, 0, sizeof(info));
    memcpy(info.rsdp_copy, &r, len);
    info.rsdp_len = len;
    init();
}
// Another table where one lies already: found first from now on.
static inline void replace(u64 phys)
{
    for (u32 i = 0; i < n_pieces; i++) {
        pieces[i].phys = pieces[i].phys == phys ? 0 : pieces[i].phys;
    }
}
static inline void check_q35(void)
{
    CHECK(acpi.present && acpi.has_madt && acpi.has_8042);
    CHECK_EQ(acpi.n_cpus, 2);
    CHECK_EQ(acpi.local_apic_phys, 0xfee00000);
    CHECK_EQ(acpi.n_io_apics, 1);
    CHECK_EQ(acpi.io_apics[0].phys, 0xfec00000);
    CHECK_EQ(acpi.n_overrides, 1);
    CHECK_EQ(acpi.overrides[0].irq, 9);
    CHECK(acpi.overrides[0].active_low && acpi.overrides[0].level);
    CHECK_EQ(acpi.n_ecams, 1);
    CHECK_EQ(acpi.ecams[0].phys, 0xb0000000);
    CHECK_EQ(acpi.hpet_phys, 0xfed00000);
    CHECK_EQ(acpi.cmos_century, 0x32);
    CHECK_EQ(acpi.power.reset.address, 0xcf9);
    CHECK_EQ(acpi.power.reset_value, 0xf);
    CHECK_EQ(acpi.power.pm1a_control.address, 0x604);
    CHECK_EQ(acpi.power.pm1b_control.address, 0);
    CHECK_EQ(acpi.power.pm_timer.address, 0x608);
    CHECK_EQ(acpi.power.smi_port, 0xb2);
    CHECK(acpi.power.s5_known);
    CHECK_EQ(acpi.power.s5_a, 5);
    CHECK_EQ(acpi.power.s5_b, 7);
}
