// raid.c - controllers that hide their disks: say what to switch off.
// SPDX-License-Identifier: MIT
//
// A controller of class 01.04 shows no disk that could be driven: Intel VMD
// (8086:9a0b, a77f, 467f, 28c0, 201d, ...) keeps NVMe disks on a PCI bus of its
// own, RST and AMD RAID are SATA or NVMe by another name. Tried on QEMU 7.2
// with a controller that is none of them.
#define LOG_TAG "raid"
#include "drivers.h"

enum { RAID_INTEL = 0x8086, RAID_AMD = 0x1022 };

static int raid_match(const struct pci_device *device)
{
    return device->class_code == 1 && device->subclass == 4;
}

static int raid_probe(struct pci_device *device)
{
    char name[16];
    const char *what = "switch RAID off, or set its mode to AHCI or HBA";
    if (device->vendor == RAID_INTEL) {
        what =
            "switch Intel VMD off, set SATA mode to AHCI instead of RAID/RST";
    } else if (device->vendor == RAID_AMD) {
        what = "set SATA mode to AHCI, switch NVMe RAID off";
    }
    pci_name(device, name);
    log_warn("%s (%04x:%04x) hides its disks; in the firmware's setup, %s",
             name, device->vendor, device->device_id, what);
    return 0;
}

const struct driver raid_driver = {"raid", raid_match, raid_probe};
