// drivers.h - the drivers, by name, for the table.
// SPDX-License-Identifier: MIT
#pragma once
#include "../kernel/driver.h"

extern const struct driver virtio_net_driver;
extern const struct driver e1000_driver;
extern const struct driver e1000e_driver;
extern const struct driver x540_driver;
extern const struct driver ahci_driver;
extern const struct driver xhci_driver;
extern const struct driver nvme_driver;
extern const struct driver virtio_blk_driver;
extern const struct driver raid_driver;
extern const struct driver usb_old_driver;
