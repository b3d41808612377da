// machine.h - what kmain() learned, for the calls that show it to programs.
// SPDX-License-Identifier: MIT
#pragma once
#include "acpi.h"

const struct boot_info *machine_boot_info(void);
const struct acpi *machine_acpi(void);
