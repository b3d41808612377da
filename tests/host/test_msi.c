// test_msi.c - MSI and MSI-X, on made-up functions that tell lies.
// SPDX-License-Identifier: MIT
#include "pci_fake.h"
#include "../../kernel/msi.c"

enum { CAPABILITY = 0x50, WORD = CAPABILITY / 4, ENTRIES = 4 };
#define TABLE 0xFE002000ul

static u32 table[ENTRIES * 4];
static u32 masked_all_while_written; // writes to the table under the big mask
static struct fake_function *function;
static int table_is_dead, apic_on = 1;

int apic_is_on(void)
{
    return apic_on;
}

u64 other_read(u64 address, u32 bytes, int is_port)
{
    (void)bytes, (void)is_port;
    return address - TABLE < sizeof(table) && !table_is_dead
               ? table[(address - TABLE) / 4]
               : ~0ul;
}

void other_write(u64 address, u64 value, u32 bytes, int is_port)
{
    (void)bytes, (void)is_port;
    CHECK(address - TABLE < sizeof(table));
    if (address - TABLE < sizeof(table)) {
        table[(address - TABLE) / 4] = (u32)value;
    }
    masked_all_while_written += (function->words[WORD] >> 30 & 1) != 0;
}

static const struct pci_device *plug(u32 capability)
{
    static const struct acpi acpi = {.n_ecams = 1,
                                     .ecams = {{FAKE_ECAM, 0, 0, 255}}};
    fake_reset();
    __builtin_memset(tables, 0, sizeof(tables));
    for (u32 i = 0; i < ENTRIES * 4; i++) {
        table[i] = i % 4 == 3 ? 0 : 0xBAD; // left unmasked by firmware
    }
    masked_all_while_written = 0;
    table_is_dead = 0;
    apic_on = 1;
    function = fake_add(0, 5, 0);
    function->words[1] = 0x00100000;
    function->words[13] = CAPABILITY;
    function->words[WORD] = capability;
    function->words[4 + 1] = 0xFE000000;
    function->bar_bytes[1] = 0x4000;
    pci_init(&acpi);
    return pci_get(0);
}

static const struct pci_device *plug_msix(void)
{
    const struct pci_device *d = plug(17 | (ENTRIES - 1) << 16);
    function->words[WORD + 1] = 0x2000 | 1;
    return d;
}

static void msix_sends_where_it_is_told(void)
{
    const struct pci_device *d = plug_msix();
    CHECK_EQ(msi_entries(d), ENTRIES);
    CHECK_EQ(msi_route(d, 2, 0x45, 7), 0);
    CHECK_EQ(table[8], 0xFEE07000);
    CHECK_EQ(table[9], 0);
    CHECK_EQ(table[10], 0x45);
    CHECK_EQ(table[11], 0);
    CHECK_EQ(table[3], 1); // the others are masked
    CHECK_EQ(table[7], 1);
    CHECK_EQ(table[15], 1);
    CHECK_EQ(masked_all_while_written, ENTRIES);
    CHECK_EQ(function->words[WORD] >> 30, 2); // on, and not masked whole
    CHECK_EQ(function->words[1] & 0xFFFF, 0x402);
}

static void a_second_entry_leaves_the_first(void)
{
    const struct pci_device *d = plug_msix();
    CHECK_EQ(msi_route(d, 2, 0x45, 7), 0);
    u64 writes = fake.reads;
    CHECK_EQ(msi_route(d, 0, 0x46, 0), 0);
    CHECK(fake.reads - writes < 30); // the BAR is not sized again
    CHECK_EQ(table[10], 0x45);
    CHECK_EQ(table[11], 0);
    CHECK_EQ(table[2], 0x46);
    msi_off(d, 2);
    CHECK_EQ(table[11], 1);
    CHECK_EQ(table[3], 0);
    msi_off(d, ENTRIES); // none of its entries
}

static void msix_that_lies(void)
{
    const u32 places[] = {0x2002, 0x3FF0 | 1, 0x4000 | 1, 0xFFFFFFF9, 0x2007};
    for (u32 i = 0; i < array_size(places); i++) {
        const struct pci_device *d = plug_msix();
        function->words[WORD + 1] = places[i];
        CHECK_EQ(msi_route(d, 0, 0x45, 7), E_UNSUPPORTED);
        CHECK_EQ(function->words[WORD] >> 31, 0);
        msi_off(d, 0);
    }
    const struct pci_device *d = plug_msix();
    function->words[4 + 1] = 0; // not assigned
    CHECK_EQ(msi_route(d, 0, 0x45, 7), E_UNSUPPORTED);
    d = plug_msix();
    fake_map_result = E_ARG; // the BAR lies in RAM
    CHECK_EQ(msi_route(d, 0, 0x45, 7), E_UNSUPPORTED);
    d = plug_msix();
    table_is_dead = 1;
    CHECK_EQ(msi_route(d, 0, 0x45, 7), E_UNSUPPORTED);
}

static void what_cannot_be_routed(void)
{
    const struct pci_device *d = plug_msix();
    CHECK_EQ(msi_route(d, ENTRIES, 0x45, 7), E_RANGE);
    CHECK_EQ(msi_route(d, ~0u, 0x45, 7), E_RANGE);
    CHECK_EQ(msi_route(d, 0, 0x45, 256), E_UNSUPPORTED);
    apic_on = 0;
    CHECK_EQ(msi_route(d, 0, 0x45, 7), E_NODEV);
    d = plug(9);
    CHECK_EQ(msi_entries(d), 0);
    CHECK_EQ(msi_route(d, 0, 0x45, 7), E_UNSUPPORTED);
    msi_off(d, 0);
}

static void msi_of_32_bits(void)
{
    const struct pci_device *d = plug(5 | 0x0070 << 16);
    CHECK_EQ(msi_entries(d), 1);
    CHECK_EQ(msi_route(d, 1, 0x45, 7), E_RANGE);
    CHECK_EQ(msi_route(d, 0, 0x45, 255), 0);
    CHECK_EQ(function->words[WORD + 1], 0xFEEFF000);
    CHECK_EQ(function->words[WORD + 2], 0x45);
    CHECK_EQ(function->words[WORD] >> 16, 1); // one message
    CHECK_EQ(function->words[1] & 0x400, 0x400);
    msi_off(d, 0);
    CHECK_EQ(function->words[WORD] >> 16, 0);
}

static void msi_of_64_bits_with_a_mask(void)
{
    const struct pci_device *d = plug(5 | 0x0180 << 16);
    function->words[WORD + 2] = ~0u;
    function->words[WORD + 4] = ~0u;
    CHECK_EQ(msi_route(d, 0, 0x45, 1), 0);
    CHECK_EQ(function->words[WORD + 1], 0xFEE01000);
    CHECK_EQ(function->words[WORD + 2], 0);
    CHECK_EQ(function->words[WORD + 3], 0x45);
    CHECK_EQ(function->words[WORD + 4], 0);
    CHECK_EQ(function->words[WORD] >> 16, 0x181);
}

int main(void)
{
    RUN(msix_sends_where_it_is_told);
    RUN(a_second_entry_leaves_the_first);
    RUN(msix_that_lies);
    RUN(what_cannot_be_routed);
    RUN(msi_of_32_bits);
    RUN(msi_of_64_bits_with_a_mask);
    fake_reset();
    return TEST_RESULT();
}
