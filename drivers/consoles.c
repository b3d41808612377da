// consoles.c - the consoles, in the order in which they start.
// SPDX-License-Identifier: MIT
#include "../kernel/driver.h"

extern const struct console_driver serial_driver;
extern const struct console_driver ps2_driver;

const struct console_driver *const console_drivers[] = {
    &serial_driver,
    &ps2_driver,
    0,
};
