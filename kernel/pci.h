// pci.h - PCI functions, their configuration space, BARs and capabilities.
// SPDX-License-Identifier: MIT
#pragma once
#include "acpi.h"
#include "cpu.h"

enum { PCI_FUNCTIONS = 256 };

enum { // configuration space offsets, PCI 3.0 6.1
    PCI_ID = 0x00,
    PCI_COMMAND = 0x04,
    PCI_CLASS = 0x08,
    PCI_HEADER = 0x0C,
    PCI_BAR0 = 0x10,
    PCI_BUSES = 0x18,
    PCI_SUBSYSTEM = 0x2C,
    PCI_CAPABILITIES = 0x34,
    PCI_INTERRUPT = 0x3C,
};
// PCI 3.0 3.2.2.3.2: configuration space by ports.
enum { PCI_PORT_ADDRESS = 0xCF8, PCI_PORT_DATA = 0xCFC };
#define PCI_PORT_ENABLE 0x80000000u
enum { // PCI_COMMAND
    PCI_COMMAND_IO = 1,
    PCI_COMMAND_MEMORY = 2,
    PCI_COMMAND_MASTER = 4,
    PCI_COMMAND_INTX_OFF = 0x400,
};
enum {
    PCI_CAP_MSI = 5,
    PCI_CAP_VENDOR = 9,
    PCI_CAP_PCIE = 16,
    PCI_CAP_MSIX = 17,
};

struct pci_device {
    u16 segment;
    u8 bus, device, function;
    u8 class_code, subclass, prog_if, revision;
    u8 header_type; // without the multifunction bit
    u16 vendor, device_id, subsystem_vendor, subsystem_id;
    u64 config;         // its configuration space in memory; 0: by ports
    const char *driver; // name of the driver that took it, or null
    u8 lent;            // a program drives it
};

struct pci_bar {
    u64 base;  // physical address or port; 0: not there or not assigned
    u64 bytes; // size
    u8 is_io;
};

// Find every function: ECAM where MCFG gives it, else ports 0xCF8/0xCFC;
// through bridges, and on every root bus. The table is sorted by address.
void pci_init(const struct acpi *acpi);
u32 pci_count(void);
struct pci_device *pci_get(u32 index); // null past the end

u32 pci_read32(const struct pci_device *device, u32 offset);
void pci_write32(const struct pci_device *device, u32 offset, u32 value);
u16 pci_read16(const struct pci_device *device, u32 offset);
void pci_write16(const struct pci_device *device, u32 offset, u16 value);
u8 pci_read8(const struct pci_device *device, u32 offset);
// Bytes of configuration space that can be read: 256 or 4096.
u32 pci_config_bytes(const struct pci_device *device);

// Size and place of BAR n (0..5); sizing switches decode off for a moment.
struct pci_bar pci_bar(const struct pci_device *device, u32 n);
// The same, mapped as uncached registers. E_NODEV: not a memory BAR, not
// assigned, or smaller than bytes.
int must_check pci_map_bar(const struct pci_device *device, u32 n, u64 bytes,
                           u64 *address);
// Offset of the next capability with this id after `after` (0: the first), 0
// none.
u32 pci_find_capability(const struct pci_device *device, u8 id, u32 after);
void pci_enable(const struct pci_device *device, u16 command_bits);
void pci_disable_master(const struct pci_device *device);
// The program ended: what it drove writes to memory no more.
void pci_take_back_all(void);
// "00:1f.2" or "0001:00:1f.2" into text (16 bytes).
void pci_name(const struct pci_device *device, char *text);
