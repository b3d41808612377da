// drivers.c - the table of all drivers: the kernel's only way to them.
// SPDX-License-Identifier: MIT
#include "drivers.h"

const struct driver *const drivers[] = {
    &virtio_net_driver,
    &e1000_driver,
    &e1000e_driver,
    &x540_driver,
    &ahci_driver,
    &xhci_driver,
    &nvme_driver,
    &virtio_blk_driver,
    &raid_driver,
    &usb_old_driver,
    0,
};
