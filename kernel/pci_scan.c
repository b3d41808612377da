// pci_scan.c - which PCI functions there are.
// SPDX-License-Identifier: MIT
//
// Every bus number is tried, not only those that a bridge names: buses behind
// bridges and further root buses (which only AML would name) are found by the
// same short loop, already in the order of their addresses, and no bus number
// that firmware left in a bridge can lead in circles.
#include "pci.h"
#include "memory.h"
#include "mmio.h"
#include "paging.h"

#define LOG_TAG "pci"
#include "log.h"

enum { BUSES = 256, DEVICES = 32, FUNCTIONS = 8 };
enum { HEADER_BRIDGE = 1, TYPE_ROOT_PORT = 4, TYPE_DOWNSTREAM_PORT = 6 };
#define HEADER_TYPE BITS(22, 16)
#define HEADER_MULTIFUNCTION BIT(23)
#define NOTHING ~0u
#define ECAM_BUS_BYTES (1ul << 20)
#define ECAM_DEVICE_BYTES (1ul << 15)
#define ECAM_FUNCTION_BYTES (1ul << 12)

static struct {
    struct pci_device *functions[PCI_FUNCTIONS]; // sorted by address
    u32 n, not_kept;
    u32 single[BUSES / 32]; // buses that are one link: device 0 alone
} pci;

u32 pci_count(void)
{
    return pci.n;
}

struct pci_device *pci_get(u32 index)
{
    return index < pci.n ? pci.functions[index] : 0;
}

static u64 pci_scan_address(const struct pci_device *device)
{
    return (u64)device->segment << 16 | (u64)device->bus << 8 |
           (u64)device->device << 3 | device->function;
}

// A link of PCI Express has one device. Some answer to every device number, so
// the bus below a root port or a switch's port is not asked for others.
static void pci_scan_bridge(const struct pci_device *bridge)
{
    u8 secondary = (u8)(pci_read32(bridge, PCI_BUSES) >> 8);
    u32 capability = pci_find_capability(bridge, PCI_CAP_PCIE, 0);
    if (capability == 0) {
        return;
    }
    u32 type = pci_read16(bridge, capability + 2) >> 4 & 15;
    if (type == TYPE_ROOT_PORT || type == TYPE_DOWNSTREAM_PORT) {
        pci.single[secondary / 32] |= 1u << secondary % 32;
    }
}

// Put it into the table, in order. Firmware may name the same buses twice: one
// address has one entry.
static struct pci_device *pci_scan_insert(const struct pci_device *found)
{
    u64 address = pci_scan_address(found);
    u32 at = pci.n;
    while (at > 0 && pci_scan_address(pci.functions[at - 1]) > address) {
        at--;
    }
    if (at > 0 && pci_scan_address(pci.functions[at - 1]) == address) {
        return 0;
    }
    struct pci_device *device =
        pci.n < PCI_FUNCTIONS ? memory_boot_alloc(sizeof(*device), 8) : 0;
    if (device == 0) {
        pci.not_kept++;
        return 0;
    }
    for (u32 i = pci.n; i > at; i--) {
        pci.functions[i] = pci.functions[i - 1];
    }
    *device = *found;
    pci.functions[at] = device;
    pci.n++;
    return device;
}

// Read one function's identity (PCI 3.0 6.2.1). Returns 1 when it says that its
// device has more functions.
static int pci_scan_function(struct pci_device device, u32 id)
{
    u32 class_word = pci_read32(&device, PCI_CLASS);
    u32 header = pci_read32(&device, PCI_HEADER);
    device.vendor = (u16)id;
    device.device_id = (u16)(id >> 16);
    device.revision = (u8)class_word;
    device.prog_if = (u8)(class_word >> 8);
    device.subclass = (u8)(class_word >> 16);
    device.class_code = (u8)(class_word >> 24);
    device.header_type = (u8)field_get(HEADER_TYPE, header);
    if (device.header_type == 0) {
        u32 subsystem = pci_read32(&device, PCI_SUBSYSTEM);
        device.subsystem_vendor = (u16)subsystem;
        device.subsystem_id = (u16)(subsystem >> 16);
    }
    struct pci_device *kept = pci_scan_insert(&device);
    if (kept != 0 && kept->header_type == HEADER_BRIDGE) {
        pci_scan_bridge(kept);
    }
    return (header & HEADER_MULTIFUNCTION) != 0;
}

// Function 0 is there: look at it and, when it says so, at the seven others.
static void pci_scan_device(struct pci_device at, u32 id)
{
    if (!pci_scan_function(at, id)) {
        return;
    }
    for (u32 function = 1; function < FUNCTIONS; function++) {
        struct pci_device next = at;
        next.function = (u8)function;
        next.config += at.config ? function * ECAM_FUNCTION_BYTES : 0;
        u32 next_id = pci_read32(&next, PCI_ID);
        if ((u16)next_id != (u16)NOTHING && next_id != 0) {
            pci_scan_function(next, next_id);
        }
    }
}

// First device at or after *device that answers; its ID register, or NOTHING.
// This loop runs 8,192 times at every start, so it is kept short.
static u32 pci_scan_next_in_memory(u64 bus, u32 *device, u32 end)
{
    u64 last = bus + end * ECAM_DEVICE_BYTES;
    for (u64 at = bus + *device * ECAM_DEVICE_BYTES; at < last;
         at += ECAM_DEVICE_BYTES) {
        u32 id = mmio_read32(at);
        if (id != NOTHING) {
            *device = (u32)((at - bus) / ECAM_DEVICE_BYTES);
            return id;
        }
    }
    return NOTHING;
}

static u32 pci_scan_next_by_ports(u32 bus, u32 *device, u32 end)
{
    u32 address = PCI_PORT_ENABLE | bus << 16;
    for (u32 i = *device; i < end; i++) {
        outl(PCI_PORT_ADDRESS, address | i << 11);
        u32 id = inl(PCI_PORT_DATA);
        if (id != NOTHING) {
            *device = i;
            return id;
        }
    }
    return NOTHING;
}

static void pci_scan_bus(u16 segment, u8 bus, u64 config)
{
    u32 end = pci.single[bus / 32] >> bus % 32 & 1 ? 1 : DEVICES;
    for (u32 device = 0; device < end; device++) {
        u32 id = config ? pci_scan_next_in_memory(config, &device, end)
                        : pci_scan_next_by_ports(bus, &device, end);
        if (id == NOTHING) {
            return;
        }
        struct pci_device at = {
            .segment = segment,
            .bus = bus,
            .device = (u8)device,
            .config = config ? config + device * ECAM_DEVICE_BYTES : 0,
        };
        if ((u16)id != (u16)NOTHING && id != 0) {
            pci_scan_device(at, id);
        }
    }
}

// PCI 3.0 3.2.2.3.2: the address register reads back what was written to it.
static int pci_scan_has_ports(void)
{
    outl(PCI_PORT_ADDRESS, PCI_PORT_ENABLE);
    return inl(PCI_PORT_ADDRESS) == PCI_PORT_ENABLE;
}

// Is what MCFG describes configuration space? Its first function must be the
// one that the ports show, where there are ports.
static int pci_scan_trusts(const struct acpi_ecam *ecam, int has_ports)
{
    u64 first = ecam->phys + ecam->bus_first * ECAM_BUS_BYTES;
    u64 buses = (u64)ecam->bus_last - ecam->bus_first + 1;
    if (ecam->bus_last < ecam->bus_first || first < ecam->phys ||
        ecam->phys % ECAM_BUS_BYTES != 0 ||
        mmio_map(first, buses * ECAM_BUS_BYTES) < 0) {
        log_warn("MCFG: no configuration space at %#lx", ecam->phys);
        return 0;
    }
    struct pci_device by_ports = {.bus = ecam->bus_first};
    if (has_ports && ecam->segment == 0 &&
        pci_read32(&by_ports, PCI_ID) != mmio_read32(first)) {
        log_warn("MCFG: %#lx differs from the ports, not used", ecam->phys);
        return 0;
    }
    return 1;
}

static void pci_scan_segment(u16 segment, u64 phys, u32 first, u32 last)
{
    for (u32 i = 0; i < array_size(pci.single); i++) {
        pci.single[i] = 0;
    }
    for (u32 bus = first; bus <= last; bus++) {
        pci_scan_bus(segment, (u8)bus, phys ? phys + bus * ECAM_BUS_BYTES : 0);
    }
}

void pci_init(const struct acpi *acpi)
{
    int has_ports = pci_scan_has_ports(), segment_0_done = 0;
    for (u32 i = 0; i < acpi->n_ecams && i < ACPI_ECAMS; i++) {
        const struct acpi_ecam *ecam = &acpi->ecams[i];
        if (pci_scan_trusts(ecam, has_ports)) {
            pci_scan_segment(ecam->segment, ecam->phys, ecam->bus_first,
                             ecam->bus_last);
            segment_0_done |= ecam->segment == 0;
        }
    }
    if (has_ports && !segment_0_done) {
        pci_scan_segment(0, 0, 0, BUSES - 1);
    }
    if (pci.not_kept != 0) {
        log_warn("%u functions too many, not kept", pci.not_kept);
    }
    log_info("%u functions", pci.n);
}
