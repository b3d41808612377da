// power.h - reset and power-off, by every known way in turn.
// SPDX-License-Identifier: MIT
#pragma once
#include "acpi.h"

void power_init(const struct acpi *acpi);
// Both return only when every way failed: E_UNSUPPORTED.
int power_reboot(void);
int power_shutdown(void);
