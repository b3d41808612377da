// consoles.c - the consoles, in the order in which they start.
// SPDX-License-Identifier: MIT
#include "../kernel/driver.h"

extern const struct console_driver serial_driver;

const struct console_driver *const console_drivers[] = {
    &serial_driver,
    0,
};
