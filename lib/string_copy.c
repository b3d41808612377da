// string_copy.c - the one string function a C library lacks. A file of its own,
// so that host tests can take it and leave memcpy to the host.
// SPDX-License-Identifier: MIT
#include "string.h"

u64 string_copy(char *to, const char *from, u64 cap)
{
    if (cap == 0) {
        return 0;
    }
    u64 len = strnlen(from, cap - 1);
    memcpy(to, from, len);
    to[len] = 0;
    return len;
}
