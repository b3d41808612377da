// device.c - every PCI function meets its driver.
// SPDX-License-Identifier: MIT
#include "device.h"
#include "driver.h"

#define LOG_TAG "device"
#include "log.h"

static const struct driver *device_find_driver(const struct pci_device *device)
{
    for (u32 i = 0; drivers[i] != 0; i++) {
        if (drivers[i]->match(device)) {
            return drivers[i];
        }
    }
    return 0;
}

static void device_probe(struct pci_device *device)
{
    const struct driver *driver = device_find_driver(device);
    if (driver == 0) {
        return;
    }
    int result = driver->probe(device);
    if (result >= 0) {
        device->driver = driver->name;
        return;
    }
    char name[16];
    pci_name(device, name);
    log_error("%s at %s: %s", driver->name, name, sys_error(result));
}

void device_probe_all(void)
{
    struct pci_device *device;
    for (u32 i = 0; (device = pci_get(i)) != 0; i++) {
        device_probe(device);
    }
}
