// usb_old.c - USB controllers from before xHCI: say that nothing drives them.
// SPDX-License-Identifier: MIT
//
// Class 0C.03; the programming interface names the kind (PCI Code and ID
// Assignment Specification 1.11, 1.13). Tried on QEMU 7.2.
#define LOG_TAG "usb"
#include "drivers.h"

static const char *usb_old_kind(const struct pci_device *device)
{
    switch (device->prog_if) {
    case 0x00:
        return "UHCI";
    case 0x10:
        return "OHCI";
    case 0x20:
        return "EHCI";
    default:
        return 0;
    }
}

static int usb_old_match(const struct pci_device *device)
{
    return device->class_code == 12 && device->subclass == 3 &&
           usb_old_kind(device) != 0;
}

static int usb_old_probe(struct pci_device *device)
{
    char name[16];
    pci_name(device, name);
    log_info("%s (%04x:%04x) is %s, not driven: a keyboard there types only "
             "as the firmware's PS/2",
             name, device->vendor, device->device_id, usb_old_kind(device));
    return 0;
}

const struct driver usb_old_driver = {"usb", usb_old_match, usb_old_probe};
