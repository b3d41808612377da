// pci_config.c - one function's configuration space, in memory or by ports.
// SPDX-License-Identifier: MIT
//
// PCI 3.0 3.2.2.3.2 (ports 0xCF8/0xCFC), PCI Express 4.0 7.2.2 (ECAM). A read
// of what is not there gives all ones, so that no caller needs a branch.
#include "pci.h"
#include "../lib/format.h"
#include "mmio.h"

enum { BYTES_BY_PORTS = 256, BYTES_IN_MEMORY = 4096 };

static void pci_config_select(const struct pci_device *device, u32 offset)
{
    outl(PCI_PORT_ADDRESS, PCI_PORT_ENABLE | (u32)device->bus << 16 |
                               (u32)device->device << 11 |
                               (u32)device->function << 8 | (offset & 0xFCu));
}

u32 pci_config_bytes(const struct pci_device *device)
{
    return device->config ? BYTES_IN_MEMORY : BYTES_BY_PORTS;
}

u32 pci_read32(const struct pci_device *device, u32 offset)
{
    if (offset >= pci_config_bytes(device)) {
        return ~0u;
    }
    if (device->config) {
        return mmio_read32(device->config + (offset & ~3u));
    }
    pci_config_select(device, offset);
    return inl(PCI_PORT_DATA);
}

void pci_write32(const struct pci_device *device, u32 offset, u32 value)
{
    if (offset >= pci_config_bytes(device)) {
        return;
    }
    if (device->config) {
        mmio_write32(device->config + (offset & ~3u), value);
        return;
    }
    pci_config_select(device, offset);
    outl(PCI_PORT_DATA, value);
}

u16 pci_read16(const struct pci_device *device, u32 offset)
{
    return (u16)(pci_read32(device, offset) >> (offset & 2) * 8);
}

// Two bytes and no more: the status register beside the command register is
// cleared by writing ones.
void pci_write16(const struct pci_device *device, u32 offset, u16 value)
{
    if (offset >= pci_config_bytes(device)) {
        return;
    }
    if (device->config) {
        mmio_write16(device->config + (offset & ~1u), value);
        return;
    }
    pci_config_select(device, offset);
    outw((u16)(PCI_PORT_DATA + (offset & 2)), value);
}

u8 pci_read8(const struct pci_device *device, u32 offset)
{
    return (u8)(pci_read32(device, offset) >> (offset & 3) * 8);
}

void pci_name(const struct pci_device *device, char *text)
{
    enum { CAP = 16 };
    if (device->segment != 0) {
        format(text, CAP, "%04x:%02x:%02x.%x", device->segment, device->bus,
               device->device, device->function);
        return;
    }
    format(text, CAP, "%02x:%02x.%x", device->bus, device->device,
           device->function);
}
