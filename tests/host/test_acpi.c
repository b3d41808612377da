// test_acpi.c - finding and reading ACPI's tables, good and bad.
// SPDX-License-Identifier: MIT
#include "acpi_build.h"

static void by_copy_with_xsdt(void)
{
    good_tables();
    replace(RSDT); // must not be needed
    init_by_copy(2, 36);
    check_q35();
    CHECK_EQ(log_lines, 0);
}

static void revision_0_means_rsdt(void)
{
    good_tables();
    replace(XSDT); // must not be touched
    init_by_copy(0, 20);
    check_q35();
    init_by_copy(0, 36);
    check_q35();
    CHECK_EQ(log_lines, 0);
}

static void by_pointer(void)
{
    for (u8 revision = 0; revision < 3; revision += 2) {
        struct acpi_rsdp r = rsdp(revision, XSDT, RSDT);
        good_tables();
        piece(RSDP, &r, revision ? 36 : 20);
        memset(&info, 0, sizeof(info));
        info.rsdp_phys = RSDP;
        init();
        check_q35();
    }
}

static void by_efi(void)
{
    const u8 *guids[] = {guid_acpi1, guid_acpi2};
    struct acpi_rsdp r = rsdp(2, XSDT, RSDT);
    for (u32 i = 0; i < 2; i++) {
        u8 system[120] = "IBI SYST", tables_[72] = {0};
        u64 n = 3, at = 0x3000, rsdp_at = RSDP;
        memcpy(system + 104, &n, 8);
        memcpy(system + 112, &at, 8);
        memcpy(tables_ + 48, guids[i], 16);
        memcpy(tables_ + 64, &rsdp_at, 8);
        good_tables();
        piece(RSDP, &r, 36);
        piece(0x3000, tables_, 72);
        piece(0x2000, system, 120);
        memset(&info, 0, sizeof(info));
        info.efi_system_table = 0x2000;
        init();
        check_q35();
        n = 1025;
        memcpy(pieces[n_pieces - 1].bytes + 104, &n, 8);
        init();
        CHECK_EQ(acpi.present, 0);
        CHECK(said("EFI has 1025 configuration tables"));
    }
}

// In the extended BIOS data area (its segment at 0x40E), in the BIOS, or right
// below 640 KiB where page 0 cannot be read.
static void by_scan(void)
{
    u64 places[] = {0x9fc20, 0xf6ab0, 0x9fd00};
    for (u32 i = 0; i < 3; i++) {
        struct acpi_rsdp r = rsdp(0, 0, RSDT);
        u8 *low = calloc(0x20000, 1), *bios = calloc(0x20000, 1);
        u16 segment = 0x9fc0;
        memcpy(places[i] < 0xa0000 ? low + places[i] - 0x80000
                                   : bios + places[i] - 0xe0000,
               &r, 20);
        good_tables();
        piece(0x80000, low, 0x20000);
        piece(0xe0000, bios, 0x20000);
        if (i < 2) {
            piece(0x40e, &segment, 2);
        }
        memset(&info, 0, sizeof(info));
        init();
        check_q35();
        free(low);
        free(bios);
    }
}

static void a_bad_copy_is_passed_over(void)
{
    struct acpi_rsdp r = rsdp(2, XSDT, RSDT);
    good_tables();
    piece(RSDP, &r, 36);
    memset(&info, 0, sizeof(info));
    r.checksum++;
    memcpy(info.rsdp_copy, &r, 36);
    info.rsdp_len = 36;
    info.rsdp_phys = RSDP;
    init();
    check_q35();
    // The second checksum alone is bad: the first part still counts.
    good_tables();
    r = rsdp(2, XSDT, RSDT);
    r.extended_checksum++;
    memcpy(info.rsdp_copy, &r, 36);
    replace(XSDT);
    init();
    check_q35();
}

static void a_bad_xsdt_falls_back(void)
{
    good_tables();
    for (u32 i = 0; i < n_pieces; i++) {
        if (pieces[i].phys == XSDT) {
            pieces[i].bytes[20]++;
        }
    }
    init_by_copy(2, 36);
    check_q35();
    CHECK(said("XSDT at 0x7fe1000 has a bad checksum"));
}

static void nothing_at_all(void)
{
    forget();
    memset(&info, 0, sizeof(info));
    self_id = 7;
    init();
    CHECK_EQ(acpi.present, 0);
    CHECK_EQ(acpi.has_8042, 1);
    CHECK_EQ(acpi.n_cpus, 1);
    CHECK_EQ(acpi.cpu_apic_ids[0], 7);
    CHECK_EQ(log_lines > 0, 1);
    info.rsdp_len = 0xffffffff;
    info.rsdp_phys = ~0ul;
    info.efi_system_table = ~0ul;
    init();
    CHECK_EQ(acpi.present, 0);
    self_id = 0;
}

// Each table with one bad byte: it alone is missing.
static void a_bad_checksum_costs_one_table(void)
{
    u64 victims[] = {FADT, MADT, HPET, MCFG, DSDT};
    for (u32 v = 0; v < 5; v++) {
        good_tables();
        for (u32 i = 0; i < n_pieces; i++) {
            if (pieces[i].phys == victims[v]) {
                pieces[i].bytes[35]++;
            }
        }
        init_by_copy(2, 36);
        CHECK(acpi.present);
        CHECK_EQ(acpi.power.reset.address != 0, v != 0);
        CHECK_EQ(acpi.has_madt, v != 1);
        CHECK_EQ(acpi.hpet_phys != 0, v != 2);
        CHECK_EQ(acpi.n_ecams != 0, v != 3);
        CHECK_EQ(acpi.power.s5_known, v != 0 && v != 4);
        CHECK_EQ(log_lines, 1);
    }
}

// Nothing lies behind what a table says it has.
static void say_length(u64 phys, u32 len)
{
    u32 i = 0;
    while (pieces[i].phys != phys) {
        i++;
    }
    memcpy(pieces[i].bytes + 4, &len, 4);
    if (len >= 36 && len <= pieces[i].len) {
        seal(pieces[i].bytes, len, 9);
        pieces[i].len = len;
        pieces[i].bytes = realloc(pieces[i].bytes, len);
    }
}

// Every table says each length from 0 to a little more than it has.
static void lengths_that_lie(void)
{
    u64 victims[] = {XSDT, RSDT, FADT, MADT, HPET, MCFG, DSDT};
    for (u32 v = 0; v < 7; v++) {
        for (u32 len = 0; len < 300; len++) {
            good_tables();
            say_length(victims[v], len);
            init_by_copy(victims[v] == RSDT ? 0 : 2, 36);
            CHECK(acpi.n_cpus >= 1);
        }
    }
}

// Memory itself ends at each byte of each table.
static void memory_that_ends(void)
{
    good_tables();
    u32 n = n_pieces;
    for (u32 victim = 0; victim < n; victim++) {
        good_tables();
        u64 whole = pieces[victim].len;
        for (u64 len = 0; len < whole; len++) {
            good_tables();
            u8 *shorter = malloc(len ? len : 1);
            memcpy(shorter, pieces[victim].bytes, len);
            free(pieces[victim].bytes);
            pieces[victim].bytes = shorter;
            pieces[victim].len = len;
            init_by_copy(2, 36);
            CHECK(acpi.n_cpus >= 1);
        }
    }
}

static void roots_that_point_at_themselves(void)
{
    u64 entries[] = {XSDT, XSDT, RSDT, 0, ~0ul, MADT, MADT, FADT, FADT};
    good_tables();
    replace(XSDT);
    table(XSDT, "XSDT", 1, entries, sizeof(entries));
    fadt.dsdt = FADT;
    replace(FADT);
    put_fadt(244);
    init_by_copy(2, 36);
    CHECK(acpi.present && acpi.has_madt);
    CHECK_EQ(acpi.n_cpus, 2);
    CHECK_EQ(acpi.power.s5_known, 0);
    CHECK(said("DSDT expected at 0x7fe2000, found FACP"));
}

static void roots_of_too_many_entries(void)
{
    static u64 entries[8000];
    for (u32 i = 0; i < 8000; i++) {
        entries[i] = MCFG;
    }
    good_tables();
    replace(XSDT);
    table(XSDT, "XSDT", 1, entries, sizeof(entries));
    init_by_copy(2, 36);
    CHECK_EQ(acpi.n_ecams, 1); // the same buses, again and again
    CHECK(said("root table of 8000 entries"));
}

static void hpet_in_ports_is_none(void)
{
    good_tables();
    replace(HPET);
    put_hpet(0x400, ACPI_SPACE_IO);
    init_by_copy(2, 36);
    CHECK_EQ(acpi.hpet_phys, 0);
    CHECK(said("HPET table is ignored"));
}

static void several_ecams(void)
{
    u8 body[8 + 7 * 16] = {0};
    mcfg_entry(body + 8, 0xb0000000, 0, 0, 63);
    mcfg_entry(body + 24, 0xb0000000, 0, 64, 255);
    mcfg_entry(body + 40, 0xc0000000, 0, 32, 80); // overlaps both
    mcfg_entry(body + 56, 0x3000000000, 1, 128, 255);
    mcfg_entry(body + 72, 0, 2, 0, 255);
    mcfg_entry(body + 88, 0xd0000800, 3, 0, 255);
    mcfg_entry(body + 104, 0xd0000000, 4, 9, 8);
    good_tables();
    replace(MCFG);
    table(MCFG, "MCFG", 1, body, sizeof(body));
    init_by_copy(2, 36);
    CHECK_EQ(acpi.n_ecams, 3);
    CHECK_EQ(acpi.ecams[1].bus_first, 64);
    CHECK_EQ(acpi.ecams[2].segment, 1);
    CHECK_EQ(acpi.ecams[2].phys, 0x3000000000);
    CHECK_EQ(log_lines, 4);
}

static void sums_of_every_length(void)
{
    u8 bytes[100];
    for (u32 len = 0; len < 100; len++) {
        u8 want = 0;
        for (u32 i = 0; i < len; i++) {
            bytes[i] = (u8)(i * 151 + len * 7 + 0x80);
            want = (u8)(want + bytes[i]);
        }
        CHECK_EQ(acpi_find_sum(bytes, len), want);
    }
}

int main(void)
{
    RUN(by_copy_with_xsdt);
    RUN(revision_0_means_rsdt);
    RUN(by_pointer);
    RUN(by_efi);
    RUN(by_scan);
    RUN(a_bad_copy_is_passed_over);
    RUN(a_bad_xsdt_falls_back);
    RUN(nothing_at_all);
    RUN(a_bad_checksum_costs_one_table);
    RUN(lengths_that_lie);
    RUN(memory_that_ends);
    RUN(roots_that_point_at_themselves);
    RUN(roots_of_too_many_entries);
    RUN(hpet_in_ports_is_none);
    RUN(several_ecams);
    RUN(sums_of_every_length);
    forget();
    return TEST_RESULT();
}
