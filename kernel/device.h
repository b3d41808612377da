// device.h - every PCI function meets its driver.
// SPDX-License-Identifier: MIT
#pragma once

// After pci_init(). A device that fails costs its own time and a log line.
void device_probe_all(void);
const char *sys_error(int error); // the text of an E_* value (a call of api.c)
