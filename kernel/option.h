// option.h - what the kernel's command line sets.
// SPDX-License-Identifier: MIT
#pragma once
#include "../include/ingot.h"

// The value of `key` ("console=", with the sign) on the command line, up to the
// next blank and at most cap - 1 bytes; "" when it is not there.
void option_read(const char *key, char *value, u64 cap);
