// msi.c - interrupts that a PCI function sends as memory writes.
// SPDX-License-Identifier: MIT
//
// PCI 3.0 6.8.1 (MSI), 6.8.2 (MSI-X); Intel SDM volume 3, 10.11 (what is
// written where). A function that signals this way keeps its INTx line quiet.
#include "msi.h"
#include "apic.h"
#include "mmio.h"
#include "paging.h"

enum { // MSI: offsets in the capability, PCI 3.0 6.8.1
    MSI_CONTROL = 2,
    MSI_ADDRESS = 4,
    MSI_ADDRESS_HIGH = 8,
    MSI_DATA = 8,
    MSI_DATA_64 = 12, // the mask follows 4 bytes further
};
enum { // MSI_CONTROL
    CONTROL_ENABLE = 1,
    CONTROL_MULTIPLE = 7 << 4, // how many messages: one
    CONTROL_64 = 1 << 7,
    CONTROL_MASKS = 1 << 8,
};

enum { MSIX_CONTROL = 2, MSIX_TABLE = 4 }; // PCI 3.0 6.8.2
enum {                                     // MSIX_CONTROL
    MSIX_LAST = 0x7ff,
    MSIX_MASK_ALL = 1 << 14,
    MSIX_ENABLE = 1 << 15,
    MSIX_BAR = 7, // in MSIX_TABLE; the rest is an offset
};
enum { // one entry of the table
    ENTRY_ADDRESS = 0,
    ENTRY_ADDRESS_HIGH = 4,
    ENTRY_DATA = 8,
    ENTRY_CONTROL = 12,
    ENTRY_BYTES = 16,
};

enum { MESSAGE_ADDRESS = 0xFEE00000, MESSAGE_IDS = 256 }; // SDM 10.11.1
enum { TABLES = 32 };

// Where tables were found: a BAR's size is asked for once, at the first look,
// because the function answers to nothing meanwhile.
static struct {
    const struct pci_device *device;
    u64 phys;
} tables[TABLES];

u32 msi_entries(const struct pci_device *device)
{
    u32 msix = pci_find_capability(device, PCI_CAP_MSIX, 0);
    if (msix != 0) {
        return (pci_read16(device, msix + MSIX_CONTROL) & MSIX_LAST) + 1u;
    }
    return pci_find_capability(device, PCI_CAP_MSI, 0) != 0;
}

static int msi_find_table(const struct pci_device *device, u32 msix, u64 *phys)
{
    u32 i = 0;
    while (i < TABLES && tables[i].device != 0) {
        if (tables[i].device == device) {
            *phys = tables[i].phys;
            return 0;
        }
        i++;
    }
    u32 where = pci_read32(device, msix + MSIX_TABLE);
    u64 offset = where & ~(u32)MSIX_BAR;
    u64 bytes = (u64)msi_entries(device) * ENTRY_BYTES;
    struct pci_bar bar = pci_bar(device, where & MSIX_BAR);
    if (bar.is_io || bar.base == 0 || offset > bar.bytes ||
        bytes > bar.bytes - offset || mmio_map(bar.base + offset, bytes) < 0) {
        return E_UNSUPPORTED;
    }
    *phys = bar.base + offset;
    if (i < TABLES) {
        tables[i].phys = *phys;
        tables[i].device = device;
    }
    return 0;
}

// Switch MSI-X on with every entry masked, whatever firmware left there.
static void msi_start_table(const struct pci_device *device, u32 msix,
                            u64 table)
{
    u16 control = pci_read16(device, msix + MSIX_CONTROL);
    if ((control & MSIX_ENABLE) != 0 && (control & MSIX_MASK_ALL) == 0) {
        return;
    }
    control |= MSIX_ENABLE | MSIX_MASK_ALL;
    pci_write16(device, msix + MSIX_CONTROL, control);
    for (u32 i = 0; i < msi_entries(device); i++) {
        mmio_write32(table + i * ENTRY_BYTES + ENTRY_CONTROL, MSI_ENTRY_MASKED);
    }
    control &= (u16)~MSIX_MASK_ALL;
    pci_write16(device, msix + MSIX_CONTROL, control);
}

static int msi_route_entry(const struct pci_device *device, u32 msix, u32 entry,
                           u32 address, u32 data)
{
    u64 table;
    TRY(msi_find_table(device, msix, &table));
    pci_enable(device, PCI_COMMAND_INTX_OFF | PCI_COMMAND_MEMORY);
    msi_start_table(device, msix, table);
    u64 at = table + (u64)entry * ENTRY_BYTES;
    mmio_write32(at + ENTRY_CONTROL, MSI_ENTRY_MASKED);
    mmio_write32(at + ENTRY_ADDRESS, address);
    mmio_write32(at + ENTRY_ADDRESS_HIGH, 0);
    mmio_write32(at + ENTRY_DATA, data);
    mmio_write32(at + ENTRY_CONTROL, 0);
    return mmio_read32(at + ENTRY_DATA) == data ? 0 : E_UNSUPPORTED;
}

static int msi_route_single(const struct pci_device *device, u32 msi,
                            u32 address, u32 data)
{
    u16 control = pci_read16(device, msi + MSI_CONTROL);
    pci_enable(device, PCI_COMMAND_INTX_OFF);
    control &= (u16) ~(CONTROL_ENABLE | CONTROL_MULTIPLE);
    pci_write16(device, msi + MSI_CONTROL, control);
    u32 data_at = msi + MSI_DATA;
    pci_write32(device, msi + MSI_ADDRESS, address);
    if (control & CONTROL_64) {
        pci_write32(device, msi + MSI_ADDRESS_HIGH, 0);
        data_at = msi + MSI_DATA_64;
    }
    pci_write16(device, data_at, (u16)data);
    if (control & CONTROL_MASKS) {
        pci_write32(device, data_at + 4, 0);
    }
    pci_write16(device, msi + MSI_CONTROL, control | CONTROL_ENABLE);
    return pci_read16(device, data_at) == data ? 0 : E_UNSUPPORTED;
}

int msi_route(const struct pci_device *device, u32 entry, u8 vector,
              u32 apic_id)
{
    u32 n = msi_entries(device);
    if (n == 0) {
        return E_UNSUPPORTED;
    }
    if (entry >= n) {
        return E_RANGE;
    }
    if (!apic_is_on()) {
        return E_NODEV;
    }
    if (apic_id >= MESSAGE_IDS) {
        return E_UNSUPPORTED; // eight bits without interrupt remapping
    }
    u32 address = MESSAGE_ADDRESS | apic_id << 12;
    u32 msix = pci_find_capability(device, PCI_CAP_MSIX, 0);
    if (msix != 0) {
        return msi_route_entry(device, msix, entry, address, vector);
    }
    u32 msi = pci_find_capability(device, PCI_CAP_MSI, 0);
    return msi_route_single(device, msi, address, vector);
}

u64 msi_mask_address(const struct pci_device *device, u32 entry)
{
    u64 table;
    u32 msix = pci_find_capability(device, PCI_CAP_MSIX, 0);
    return msix != 0 && msi_find_table(device, msix, &table) == 0
               ? table + (u64)entry * ENTRY_BYTES + ENTRY_CONTROL
               : 0;
}

void msi_off(const struct pci_device *device, u32 entry)
{
    u64 table;
    u32 msix = pci_find_capability(device, PCI_CAP_MSIX, 0);
    u32 msi = pci_find_capability(device, PCI_CAP_MSI, 0);
    if (msix != 0) {
        if (entry < msi_entries(device) &&
            msi_find_table(device, msix, &table) == 0) {
            mmio_write32(table + (u64)entry * ENTRY_BYTES + ENTRY_CONTROL,
                         MSI_ENTRY_MASKED);
        }
    } else if (msi != 0 && entry == 0) {
        u16 control = pci_read16(device, msi + MSI_CONTROL);
        pci_write16(device, msi + MSI_CONTROL,
                    (u16)(control & ~CONTROL_ENABLE));
    }
}
