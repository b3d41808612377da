// option.c - what the kernel's command line sets.
// SPDX-License-Identifier: MIT
#include "option.h"
#include "../lib/string.h"
#include "machine.h"

void option_read(const char *key, char *value, u64 cap)
{
    const char *line = machine_boot_info()->command_line, *at = line;
    u64 key_len = strlen(key), n = 0;
    while (*at != 0 &&
           !(strncmp(at, key, key_len) == 0 && (at == line || at[-1] == ' '))) {
        at++;
    }
    for (at += *at ? key_len : 0; *at > ' ' && n < cap - 1; at++) {
        value[n++] = *at;
    }
    value[n] = 0;
}
