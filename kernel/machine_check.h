// machine_check.h - what the processor says of its own errors.
// SPDX-License-Identifier: MIT
#pragma once
#include "../include/ingot.h"

void machine_check_enable(void); // on the calling core, CR4.MCE first
int machine_check_is_real(void); // 0: a program's INT 18
void machine_check_print(void);  // every bank that has something to say
