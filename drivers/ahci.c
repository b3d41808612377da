// ahci.c - SATA controllers: take one over from the firmware, try its ports.
// SPDX-License-Identifier: MIT
//
// AHCI 1.3.1. Tried on QEMU 7.2 (ich9-ahci, one and two of them).
#define LOG_TAG "ahci"
#include "ahci.h"
#include "drivers.h"

enum {
    AHCI_HANDOFF_MS = 25,   // 10.6.3: for BOS to fall
    AHCI_CLEANUP_MS = 2000, // the same while BB is set
    AHCI_DETECT_MS = 20,    // 10.1.1: a device shows within 10 ms
};

static int ahci_match(const struct pci_device *device)
{
    return device->class_code == 1 && device->subclass == 6 &&
           device->prog_if == 1;
}

// 10.6.3: ask the firmware to let go. One that will not is told no more.
static void ahci_take_over(u64 hba)
{
    if ((mmio_read32(hba + AHCI_CAP2) & CAP2_BOH) == 0 ||
        (mmio_read32(hba + AHCI_BOHC) & BOHC_BOS) == 0) {
        return;
    }
    mmio_set32(hba + AHCI_BOHC, BOHC_OOS);
    int result =
        mmio_wait32(hba + AHCI_BOHC, BOHC_BOS | BOHC_BB, 0, AHCI_HANDOFF_MS);
    if (result == E_TIMEOUT && mmio_read32(hba + AHCI_BOHC) & BOHC_BB) {
        result = mmio_wait32(hba + AHCI_BOHC, BOHC_BOS | BOHC_BB, 0,
                             AHCI_CLEANUP_MS);
    }
    if (result < 0) {
        log_warn("%lx: the firmware does not let go (%d)", hba, result);
    }
}

// 10.1.1: with staggered spin-up, ports sleep until they are told. Only then
// is there anything to wait for, and for all of them at once.
static void ahci_wake_ports(u64 hba, u32 ports)
{
    u32 woken = 0;
    if ((mmio_read32(hba + AHCI_CAP) & CAP_SSS) == 0) {
        return;
    }
    for (u32 i = 0; i < AHCI_PORTS; i++) {
        u64 cmd = hba + AHCI_PORT_BASE + i * AHCI_PORT_BYTES + PORT_CMD;
        if (ports >> i & 1 && (mmio_read32(cmd) & CMD_SUD) == 0) {
            mmio_set32(cmd, CMD_SUD | CMD_POD);
            woken++;
        }
    }
    if (woken) {
        time_delay_ns(AHCI_DETECT_MS * 1000000ul);
    }
}

static struct ahci_port *ahci_new_port(u64 hba, u64 regs)
{
    struct ahci_port *port = memory_boot_alloc(sizeof(*port), 8);
    int wide = (mmio_read32(hba + AHCI_CAP) & CAP_S64A) != 0;
    if (!port) {
        return 0;
    }
    port->regs = regs;
    port->memory =
        wide ? memory_boot_alloc(sizeof(struct ahci_memory), PAGE)
             : memory_boot_alloc_low(sizeof(struct ahci_memory), PAGE);
    port->bounce = wide ? 0 : memory_boot_alloc_low(AHCI_BOUNCE_BYTES, PAGE);
    return port->memory && (wide || port->bounce) ? port : 0;
}

// One implemented port: a disk, or nothing for us. E_* concern this port only.
static int ahci_try_port(struct pci_device *device, u64 hba, u64 regs)
{
    u32 detected = mmio_read32(regs + PORT_SSTS) & SSTS_DET;
    if (detected == DET_NONE || detected == DET_OFF) {
        return 0;
    }
    struct ahci_port *port = ahci_new_port(hba, regs);
    if (!port) {
        return E_NOMEM;
    }
    port->disk.pci = device;
    int result = ahci_port_start(port);
    if (result > 0) {
        result = ahci_disk_add(port);
        if (result == 0) {
            return 0;
        }
    }
    int stopped = ahci_port_stop(port); // nobody writes to our memory now
    return result < 0 ? result : stopped;
}

static void ahci_try_ports(struct pci_device *device, u64 hba, u32 ports)
{
    for (u32 i = 0; i < AHCI_PORTS; i++) {
        if ((ports >> i & 1) == 0) {
            continue;
        }
        u64 regs = hba + AHCI_PORT_BASE + i * AHCI_PORT_BYTES;
        int result = ahci_try_port(device, hba, regs);
        if (result < 0) {
            log_error("port %u: no disk (%d)", i, result);
        }
    }
}

static u64 ahci_bytes(u32 ports)
{
    u32 n = AHCI_PORTS - (u32)__builtin_clz(ports | 1);
    return AHCI_PORT_BASE + (u64)n * AHCI_PORT_BYTES;
}

static int ahci_probe(struct pci_device *device)
{
    u64 hba;
    pci_enable(device,
               PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_INTX_OFF);
    int result = pci_map_bar(device, AHCI_BAR, AHCI_BAR_LEAST, &hba);
    u32 ports = result < 0 ? 0 : mmio_read32(hba + AHCI_PI);
    if (result == 0 && ports == ~0u && mmio_read32(hba + AHCI_CAP) == ~0u) {
        result = E_GONE;
    }
    if (result == 0) {
        result = pci_map_bar(device, AHCI_BAR, ahci_bytes(ports), &hba);
    }
    if (result < 0) {
        pci_disable_master(device);
        return result;
    }
    ahci_take_over(hba);
    mmio_set32(hba + AHCI_GHC, GHC_AE); // before any other register, 10.1.2
    mmio_clear32(hba + AHCI_GHC, GHC_IE);
    ahci_wake_ports(hba, ports);
    ahci_try_ports(device, hba, ports);
    return 0;
}

const struct driver ahci_driver = {"ahci", ahci_match, ahci_probe};
