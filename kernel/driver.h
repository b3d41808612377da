// driver.h - the one door of a driver to the kernel: types, registers, memory,
// PCI, time, log and errors.
// SPDX-License-Identifier: MIT
#pragma once
#include "cpu.h"
#include "device.h"
#include "disk.h"
#include "interrupt.h"
#include "log.h"
#include "memory.h"
#include "mmio.h"
#include "nic.h"
#include "paging.h"
#include "pci.h"
#include "time.h"
#include "../lib/string.h"

struct driver {
    const char *name;
    // 1 when this driver drives that function.
    int (*match)(const struct pci_device *device);
    // Bring it up and hand it to nic_add()/disk_add(). On an error it is left
    // quiet (bus mastering off) and the code says why. What was allocated
    // stays.
    int (*probe)(struct pci_device *device);
};

extern const struct driver *const drivers[]; // drivers/drivers.c, null-ended

// A console: started before anything else, so that every later line is seen.
struct console_driver {
    const char *name;
    int (*init)(void);        // start output; E_NODEV when it is not there
    int (*start_input)(void); // interrupts work now; an error: it is polled
};

extern const struct console_driver *const console_drivers[]; // null-ended
