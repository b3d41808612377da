// device.h - a device that a program drives itself: found, mapped, switched on.
// SPDX-License-Identifier: MIT
#pragma once
#include "../../include/ingot.h"

enum { // PCI 3.0 6.1
    CONFIG_COMMAND = 0x04,
    CONFIG_BAR0 = 0x10,
    CONFIG_CAPABILITIES = 0x34,
    COMMAND_MEMORY = 2,
    COMMAND_MASTER = 4,
};

static inline u32 device_read32(u64 address)
{
    return *(volatile u32 *)address;
}
static inline void device_write32(u64 address, u32 value)
{
    *(volatile u32 *)address = value;
}

// Number of the first function with these ids, from `from` on. E_RANGE: none.
static inline int device_find(u32 vendor, u32 id, u32 from)
{
    struct pci_info info;
    for (u32 i = from; os->pci_info(i, &info) == 0; i++) {
        if (info.vendor == vendor && info.device_id == id) {
            return (int)i;
        }
    }
    return E_RANGE;
}

static inline u32 device_config(u32 index, u32 offset)
{
    u32 value = 0;
    (void)os->pci_read(index, offset, &value);
    return value;
}

// It answers to its registers, and may write to memory and send messages. The
// upper half of the word is status that ones would clear.
static inline void device_switch_on(u32 index)
{
    u32 command = device_config(index, CONFIG_COMMAND) & 0xFFFF;
    (void)os->pci_write(index, CONFIG_COMMAND,
                        command | COMMAND_MEMORY | COMMAND_MASTER);
}

// Registers of a memory BAR, mapped. E_NODEV: none, or not assigned.
static inline int device_map(u32 index, u32 bar, u64 bytes, u64 *address)
{
    u32 low = device_config(index, CONFIG_BAR0 + 4 * bar);
    u64 phys = low & ~15u;
    if (low & 1) {
        return E_NODEV; // ports
    }
    if ((low & 6) == 4) { // 64 bits
        phys |= (u64)device_config(index, CONFIG_BAR0 + 4 * bar + 4) << 32;
    }
    *address = phys;
    return phys == 0 ? E_NODEV : os->mmio_map(phys, bytes, (void **)address);
}
