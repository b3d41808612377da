// pci_bar.c - what a function asks for and offers: BARs, capabilities, its
// command register.
// SPDX-License-Identifier: MIT
//
// PCI 3.0 6.2.5 (base addresses), 6.7 (capabilities).
#include "pci.h"
#include "paging.h"

#define LOG_TAG "pci"
#include "log.h"

enum { STATUS = 0x06, FIRST_CAPABILITY = 0x40 };
#define STATUS_CAPABILITIES BIT(4)
#define BAR_IO BIT(0)
#define BAR_TYPE BITS(2, 1)
#define BAR_FLAGS 15u
#define BAR_IO_FLAGS 3u
#define IO_PORTS 0xFFFFu
enum { BAR_TYPE_64 = 2 };

static u32 pci_bar_slots(const struct pci_device *device)
{
    return device->header_type == 0 ? 6 : device->header_type == 1 ? 2 : 0;
}

static u32 pci_bar_offset(u32 n)
{
    return PCI_BAR0 + 4 * n;
}

static int pci_bar_is_64(u32 value)
{
    return (value & BAR_IO) == 0 && field_get(BAR_TYPE, value) == BAR_TYPE_64;
}

// Slot n begins a BAR: it is not the upper half of the one before.
static int pci_bar_begins(const struct pci_device *device, u32 n)
{
    u32 i = 0;
    while (i < n) {
        i += pci_bar_is_64(pci_read32(device, pci_bar_offset(i))) ? 2 : 1;
    }
    return i == n;
}

// What the slot keeps of all ones; its value is put back.
static u32 pci_bar_probe(const struct pci_device *device, u32 n, u32 value)
{
    pci_write32(device, pci_bar_offset(n), ~0u);
    u32 kept = pci_read32(device, pci_bar_offset(n));
    pci_write32(device, pci_bar_offset(n), value);
    return kept;
}

// Size of the BAR in slot n whose low half reads low and high half reads high.
// Decoding is off meanwhile: all ones would be an address.
static u64 pci_bar_bytes(const struct pci_device *device, u32 n, u32 low,
                         u32 high)
{
    u16 command = pci_read16(device, PCI_COMMAND);
    u16 decode = PCI_COMMAND_IO | PCI_COMMAND_MEMORY;
    pci_write16(device, PCI_COMMAND, (u16)(command & ~decode));
    u64 kept = pci_bar_probe(device, n, low);
    if (pci_bar_is_64(low)) {
        kept |= (u64)pci_bar_probe(device, n + 1, high) << 32;
    } else if (kept != 0) {
        kept |= ~0ul << 32;
    }
    pci_write16(device, PCI_COMMAND, command);
    u64 mask = kept & ~(u64)(low & BAR_IO ? BAR_IO_FLAGS : BAR_FLAGS);
    return mask & (0 - mask); // the lowest address bit that can be set
}

struct pci_bar pci_bar(const struct pci_device *device, u32 n)
{
    u32 slots = pci_bar_slots(device);
    if (n >= slots || !pci_bar_begins(device, n)) {
        return (struct pci_bar){0};
    }
    u32 low = pci_read32(device, pci_bar_offset(n)), high = 0;
    if (pci_bar_is_64(low)) {
        if (n + 1 >= slots) {
            return (struct pci_bar){0};
        }
        high = pci_read32(device, pci_bar_offset(n + 1));
    }
    struct pci_bar bar = {.is_io = (u8)(low & BAR_IO)};
    bar.bytes = pci_bar_bytes(device, n, low, high);
    bar.base = bar.is_io ? low & IO_PORTS & ~BAR_IO_FLAGS
                         : (u64)high << 32 | (low & ~BAR_FLAGS);
    if (bar.bytes == 0 || bar.base + bar.bytes < bar.base) {
        return (struct pci_bar){0};
    }
    return bar;
}

int pci_map_bar(const struct pci_device *device, u32 n, u64 bytes, u64 *address)
{
    char name[16];
    struct pci_bar bar = pci_bar(device, n);
    pci_name(device, name);
    if (bar.is_io || bar.bytes == 0 || bar.bytes < bytes) {
        log_warn("%s: BAR %u has no %lu bytes of registers", name, n, bytes);
        return E_NODEV;
    }
    if (bar.base == 0) {
        log_warn("%s: BAR %u is not assigned", name, n);
        return E_NODEV;
    }
    if (mmio_map(bar.base, bytes) < 0) {
        log_warn("%s: BAR %u at %#lx cannot be mapped", name, n, bar.base);
        return E_NODEV;
    }
    *address = bar.base;
    return 0;
}

u32 pci_find_capability(const struct pci_device *device, u8 id, u32 after)
{
    if (device->header_type > 1 ||
        (pci_read16(device, STATUS) & STATUS_CAPABILITIES) == 0) {
        return 0;
    }
    // From the start each time, and each place once: whoever asks for one after
    // the other comes to an end, also in a list that runs in a circle.
    u64 seen = 0;
    u32 at = PCI_CAPABILITIES;
    int is_past = after == 0;
    for (;;) {
        u32 next = pci_read8(device, at) & ~3u;
        if (next < FIRST_CAPABILITY || (seen & BIT(next / 4)) != 0) {
            return 0;
        }
        seen |= BIT(next / 4);
        if (is_past && pci_read8(device, next) == id) {
            return next;
        }
        is_past |= next == after;
        at = next + 1;
    }
}

void pci_enable(const struct pci_device *device, u16 command_bits)
{
    u16 command = pci_read16(device, PCI_COMMAND);
    pci_write16(device, PCI_COMMAND, command | command_bits);
}

void pci_disable_master(const struct pci_device *device)
{
    u16 command = pci_read16(device, PCI_COMMAND);
    pci_write16(device, PCI_COMMAND, (u16)(command & ~PCI_COMMAND_MASTER));
}

void pci_take_back_all(void)
{
    struct pci_device *device;
    for (u32 i = 0; (device = pci_get(i)) != 0; i++) {
        if (device->lent) {
            device->lent = 0;
            pci_disable_master(device);
        }
    }
}
