// date.h - seconds since 1970 as a date.
// SPDX-License-Identifier: MIT
#pragma once
#include "../../include/ingot.h"

struct date { // Gregorian calendar, UTC
    u64 year;
    u32 month, day, hour, minute, second;
};

struct date date_from_seconds(u64 seconds);
