// rtc.h - the battery-backed clock: what day it is.
// SPDX-License-Identifier: MIT
#pragma once
#include "../include/ingot.h"

void rtc_init(u8 century_index); // CMOS index of the century, 0: none
// Seconds since 1970-01-01 UTC, taking the clock to be UTC; -1 when there is
// none or it says nonsense. Never waits longer than some milliseconds.
i64 rtc_seconds(void);
