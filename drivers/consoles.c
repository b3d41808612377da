// consoles.c - the consoles, in the order in which they start.
// SPDX-License-Identifier: MIT
#include "../kernel/driver.h"
#include "../kernel/screen.h"

extern const struct console_driver serial_driver;
extern const struct console_driver ps2_driver;

const struct console_driver *const console_drivers[] = {
    &serial_driver,
    &ps2_driver,
    0,
};

// What shows text on the framebuffer, once that is known.
extern const struct screen_driver framebuffer_driver;
const struct screen_driver *const screen_driver = &framebuffer_driver;
