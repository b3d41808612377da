// date.c - seconds since 1970 as a date.
// SPDX-License-Identifier: MIT
#include "date.h"

static int is_leap(u64 year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static u32 month_days(u64 year, u32 month)
{
    static const u8 days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return month == 2 && is_leap(year) ? 29 : days[month - 1];
}

struct date date_from_seconds(u64 seconds)
{
    u64 days = seconds / 86400;
    u32 rest = (u32)(seconds % 86400);
    struct date date = {.year = 1970 + days / 146097 * 400, .month = 1};
    days %= 146097; // days in 400 years, after which the calendar repeats
    while (days >= 365u + (u64)is_leap(date.year)) {
        days -= 365u + (u64)is_leap(date.year);
        date.year++;
    }
    while (days >= month_days(date.year, date.month)) {
        days -= month_days(date.year, date.month);
        date.month++;
    }
    date.day = (u32)days + 1;
    date.hour = rest / 3600;
    date.minute = rest / 60 % 60;
    date.second = rest % 60;
    return date;
}
