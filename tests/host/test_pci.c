// test_pci.c - the scan, BARs and capabilities, against made-up functions.
// SPDX-License-Identifier: MIT
#include "pci_fake.h"

u64 other_read(u64 address, u32 bytes, int is_port)
{
    (void)address, (void)bytes, (void)is_port;
    return ~0ul;
}

void other_write(u64 address, u64 value, u32 bytes, int is_port)
{
    (void)address, (void)value, (void)bytes, (void)is_port;
}

static const struct acpi_ecam whole = {FAKE_ECAM, 0, 0, 255};

static void scan_ecams(u32 n, const struct acpi_ecam *ecams)
{
    static struct acpi acpi;
    acpi.n_ecams = n;
    for (u32 i = 0; i < n; i++) {
        acpi.ecams[i] = ecams[i];
    }
    pci_init(&acpi);
}

static int found(const char *names)
{
    char all[512] = "", name[16];
    u32 len = 0;
    for (u32 i = 0; i < pci_count(); i++) {
        pci_name(pci_get(i), name);
        len += (u32)snprintf(all + len, sizeof(all) - len, "%s%s", i ? " " : "",
                             name);
    }
    if (__builtin_strcmp(all, names) != 0) {
        printf("  found \"%s\"\n", all);
    }
    return __builtin_strcmp(all, names) == 0;
}

// Functions out of order, a device of several functions with a gap, and one of
// a single function whose function 1 is an echo.
static void add_some(void)
{
    fake_add(3, 0, 0);
    fake_add(0, 31, 2);
    fake_add(0, 31, 0)->words[3] = 0x00800000;
    fake_add(0, 31, 7);
    fake_add(0, 2, 0);
    fake_add(0, 2, 1);
    fake_add(0, 0, 0);
}

static const char some[] = "00:00.0 00:02.0 00:1f.0 00:1f.2 00:1f.7 03:00.0";

static void scan_by_ecam(void)
{
    fake_reset();
    add_some();
    scan_ecams(1, &whole);
    CHECK(found(some));
    CHECK_EQ(pci_config_bytes(pci_get(0)), 4096);
    CHECK_EQ(pci_get(6) != 0, 0);
    CHECK(fake.reads < 256 * 32 + 100);
}

static void scan_by_ports(void)
{
    fake_reset();
    add_some();
    fake.has_ecam = 0;
    scan_ecams(0, 0);
    CHECK(found(some));
    CHECK_EQ(pci_config_bytes(pci_get(0)), 256);
    CHECK_EQ(pci_read32(pci_get(0), 256), ~0u);
}

static void scan_reads_identity(void)
{
    fake_reset();
    struct fake_function *f = fake_add(0, 5, 0);
    f->words[0] = 0x10001AF4;
    f->words[2] = 0x02030405;
    f->words[11] = 0x00010002;
    scan_ecams(1, &whole);
    const struct pci_device *d = pci_get(0);
    CHECK_EQ(d->vendor, 0x1AF4);
    CHECK_EQ(d->device_id, 0x1000);
    CHECK_EQ(d->class_code, 2);
    CHECK_EQ(d->subclass, 3);
    CHECK_EQ(d->prog_if, 4);
    CHECK_EQ(d->revision, 5);
    CHECK_EQ(d->subsystem_vendor, 2);
    CHECK_EQ(d->subsystem_id, 1);
}

static struct fake_function *add_bridge(u32 bus, u32 device, u32 secondary,
                                        u32 pcie_type)
{
    struct fake_function *f = fake_add(bus, device, 0);
    f->words[3] = 0x00010000;
    f->words[6] = secondary << 8 | secondary << 16 | bus;
    if (pcie_type) {
        f->words[1] = 0x00100000;
        f->words[13] = 0x40;
        f->words[16] = 16 | pcie_type << 20;
    }
    return f;
}

static void link_has_one_device(void)
{
    fake_reset();
    add_bridge(0, 1, 4, 4);              // a root port
    fake_add(4, 0, 0)->every_device = 1; // answers 32 times
    add_bridge(0, 2, 5, 0);              // a conventional bridge
    fake_add(5, 9, 0);
    scan_ecams(1, &whole);
    CHECK(found("00:01.0 00:02.0 04:00.0 05:09.0"));
}

// Numbers that firmware left in a bridge lead nowhere, and never in circles;
// those that point back must not hide devices.
static void bridges_that_lie(void)
{
    fake_reset();
    add_bridge(0, 1, 0, 4);
    add_bridge(0, 2, 255, 4);
    fake_add(0, 3, 0);
    add_bridge(7, 0, 7, 4);
    fake_add(7, 9, 0);
    scan_ecams(1, &whole);
    CHECK(found("00:01.0 00:02.0 00:03.0 07:00.0 07:09.0"));
}

static void other_root_buses(void)
{
    fake_reset();
    fake_add(0, 0, 0);
    fake_add(128, 31, 0);
    fake_add(255, 31, 0);
    scan_ecams(1, &whole);
    CHECK(found("00:00.0 80:1f.0 ff:1f.0"));
    fake.has_ecam = 0;
    __builtin_memset(&pci, 0, sizeof(pci));
    scan_ecams(0, 0);
    CHECK(found("00:00.0 80:1f.0 ff:1f.0"));
}

static void segments_and_repeats(void)
{
    fake_reset();
    fake_add(0, 0, 0);
    fake_add(2, 0, 0);
    fake_add(0, 3, 0)->segment = 1;
    const struct acpi_ecam ecams[] = {
        {FAKE_ECAM + FAKE_ECAM_BYTES, 1, 0, 1},
        {FAKE_ECAM, 0, 0, 127},
        {FAKE_ECAM, 0, 0, 5}, // the same buses again
        {FAKE_ECAM, 0, 9, 8}, // no bus at all
    };
    scan_ecams(4, ecams);
    CHECK(found("00:00.0 02:00.0 0001:00:03.0"));
    CHECK(fake_logged("MCFG: no configuration space"));
}

static void ecam_that_lies(void)
{
    fake_reset();
    fake_add(0, 0, 0);
    fake_add(0, 4, 0);
    fake.has_ecam = 0; // the window reads all ones
    scan_ecams(1, &whole);
    CHECK(found("00:00.0 00:04.0"));
    CHECK(fake_logged("differs from the ports"));
    fake_reset();
    fake_add(0, 4, 0);
    fake_map_result = E_ARG;
    scan_ecams(1, &whole);
    CHECK(found("00:04.0"));
    const struct acpi_ecam odd = {FAKE_ECAM + 0x1000, 0, 0, 255};
    fake_map_result = 0;
    __builtin_memset(&pci, 0, sizeof(pci));
    scan_ecams(1, &odd);
    CHECK(found("00:04.0"));
}

static void no_pci_at_all(void)
{
    fake_reset();
    fake.has_ports = 0;
    scan_ecams(0, 0);
    CHECK_EQ(pci_count(), 0);
    CHECK_EQ(fake.reads, 0);
    CHECK_EQ(pci_get(0) != 0, 0);
}

static void too_many(void)
{
    fake_reset();
    for (u32 i = 0; i < 260; i++) {
        fake_add(i / 32, i % 32, 0);
    }
    scan_ecams(1, &whole);
    CHECK_EQ(pci_count(), PCI_FUNCTIONS);
    CHECK(fake_logged("4 functions too many"));
    fake_reset();
    add_some();
    fake_memory_left = 2 * sizeof(struct pci_device);
    scan_ecams(1, &whole);
    CHECK_EQ(pci_count(), 2);
    CHECK(fake_logged("4 functions too many"));
}

// ---- BARs ----

static const struct pci_device *one_device(struct fake_function **f)
{
    fake_reset();
    *f = fake_add(0, 1, 0);
    (*f)->words[1] = 0xFFFF0007; // decoding, and every status bit set
    scan_ecams(1, &whole);
    return pci_get(0);
}

static void set_bar(struct fake_function *f, u32 n, u64 value, u64 bytes)
{
    f->words[4 + n] = (u32)value;
    f->bar_bytes[n] = bytes;
    if ((value & 7) == 4) {
        f->words[5 + n] = (u32)(value >> 32);
    }
}

static void bars_of_every_kind(void)
{
    struct fake_function *f;
    const struct pci_device *d = one_device(&f);
    set_bar(f, 0, 0xFE000000, 0x1000);
    set_bar(f, 1, 0xE00000000C, 16ul << 30); // 64 bits, at 896 GiB
    f->words[5] = 0x0000000C, f->words[6] = 0xE0;
    set_bar(f, 3, 0xC001, 32);
    set_bar(f, 5, 4, 0x1000); // no room for its upper half
    u32 before[6];
    __builtin_memcpy(before, &f->words[4], sizeof(before));
    CHECK_EQ(pci_bar(d, 0).base, 0xFE000000);
    CHECK_EQ(pci_bar(d, 0).bytes, 0x1000);
    CHECK_EQ(pci_bar(d, 1).base, 0xE000000000);
    CHECK_EQ(pci_bar(d, 1).bytes, 16ul << 30);
    CHECK_EQ(pci_bar(d, 2).bytes, 0); // an upper half
    CHECK_EQ(pci_bar(d, 3).is_io, 1);
    CHECK_EQ(pci_bar(d, 3).base, 0xC000);
    CHECK_EQ(pci_bar(d, 3).bytes, 32);
    CHECK_EQ(pci_bar(d, 4).bytes, 0);
    CHECK_EQ(pci_bar(d, 5).bytes, 0);
    CHECK_EQ(pci_bar(d, 6).bytes, 0);
    CHECK_EQ(pci_bar(d, ~0u).bytes, 0);
    CHECK_EQ(__builtin_memcmp(before, &f->words[4], sizeof(before)), 0);
    CHECK_EQ(fake.moved_while_decoding, 0);
    CHECK_EQ(f->words[1], 0xFFFF0007); // status bits are not cleared
}

static void bars_by_ports(void)
{
    struct fake_function *f;
    one_device(&f);
    set_bar(f, 0, 0xFE000000, 0x1000);
    __builtin_memset(&pci, 0, sizeof(pci));
    scan_ecams(0, 0);
    CHECK_EQ(pci_bar(pci_get(0), 0).bytes, 0x1000);
    CHECK_EQ(fake.moved_while_decoding, 0);
    CHECK_EQ(f->words[1], 0xFFFF0007);
}

static void a_bridge_has_two_bars(void)
{
    struct fake_function *f;
    const struct pci_device *d = one_device(&f);
    set_bar(f, 2, 0xFE000000, 0x1000);
    CHECK_EQ(pci_bar(d, 2).bytes, 0x1000);
    pci_get(0)->header_type = 1;
    CHECK_EQ(pci_bar(d, 2).bytes, 0);
    pci_get(0)->header_type = 2;
    CHECK_EQ(pci_bar(d, 0).bytes, 0);
}

static void mapping_bars(void)
{
    struct fake_function *f;
    u64 address = 0;
    const struct pci_device *d = one_device(&f);
    set_bar(f, 0, 0xFE000000, 0x1000);
    set_bar(f, 1, 0xC001, 32);
    set_bar(f, 2, 0, 0x1000);
    CHECK_EQ(pci_map_bar(d, 0, 0x1000, &address), 0);
    CHECK_EQ(address, 0xFE000000);
    CHECK_EQ(pci_map_bar(d, 0, 0x1001, &address), E_NODEV);
    CHECK_EQ(pci_map_bar(d, 1, 1, &address), E_NODEV);
    CHECK_EQ(pci_map_bar(d, 3, 1, &address), E_NODEV);
    CHECK_EQ(pci_map_bar(d, 2, 1, &address), E_NODEV);
    CHECK(fake_logged("BAR 2 is not assigned"));
    fake_map_result = E_ARG;
    CHECK_EQ(pci_map_bar(d, 0, 0x1000, &address), E_NODEV);
}

static void commands(void)
{
    struct fake_function *f;
    const struct pci_device *d = one_device(&f);
    pci_enable(d, PCI_COMMAND_INTX_OFF);
    CHECK_EQ(f->words[1], 0xFFFF0407);
    pci_disable_master(d);
    CHECK_EQ(f->words[1], 0xFFFF0403);
}

static void capabilities(void)
{
    struct fake_function *f;
    const struct pci_device *d = one_device(&f);
    f->words[13] = 0x40;
    f->words[16] = 0x5009; // at 0x40: vendor
    f->words[20] = 0x6005; // at 0x50: MSI
    f->words[24] = 0x0009; // at 0x60: vendor, the last
    CHECK_EQ(pci_find_capability(d, PCI_CAP_VENDOR, 0), 0x40);
    CHECK_EQ(pci_find_capability(d, PCI_CAP_VENDOR, 0x40), 0x60);
    CHECK_EQ(pci_find_capability(d, PCI_CAP_VENDOR, 0x60), 0);
    CHECK_EQ(pci_find_capability(d, PCI_CAP_MSI, 0), 0x50);
    f->words[24] = 0x4003; // in a circle
    CHECK_EQ(pci_find_capability(d, PCI_CAP_MSIX, 0), 0);
    f->words[24] = 0x4009;
    CHECK_EQ(pci_find_capability(d, PCI_CAP_VENDOR, 0x60), 0);
    CHECK_EQ(pci_find_capability(d, PCI_CAP_VENDOR, 0x44), 0); // not in it
    f->words[24] = 0x2003; // into the header
    f->words[8] = 17;
    CHECK_EQ(pci_find_capability(d, PCI_CAP_MSIX, 0), 0);
    f->words[1] = 0xFFEF0007; // no list
    CHECK_EQ(pci_find_capability(d, PCI_CAP_VENDOR, 0), 0);
}

int main(void)
{
    RUN(scan_by_ecam);
    RUN(scan_by_ports);
    RUN(scan_reads_identity);
    RUN(link_has_one_device);
    RUN(bridges_that_lie);
    RUN(other_root_buses);
    RUN(segments_and_repeats);
    RUN(ecam_that_lies);
    RUN(no_pci_at_all);
    RUN(too_many);
    RUN(bars_of_every_kind);
    RUN(bars_by_ports);
    RUN(a_bridge_has_two_bars);
    RUN(mapping_bars);
    RUN(commands);
    RUN(capabilities);
    fake_reset();
    return TEST_RESULT();
}
