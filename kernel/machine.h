// machine.h - what kmain() learned, for the calls that show it to programs.
// SPDX-License-Identifier: MIT
#pragma once
#include "acpi.h"

const struct boot_info *machine_boot_info(void);
const struct acpi *machine_acpi(void);
// The step of the boot; "running" once the shell has said that it is up.
const char *machine_stage(u32 *number);
void machine_set_running(void);
