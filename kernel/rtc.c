// rtc.c - the battery-backed clock: what day it is.
// SPDX-License-Identifier: MIT
//
// MC146818A datasheet.
#include "rtc.h"
#include "cpu.h"
#include "time.h"
#include "../lib/string.h"

enum {
    CMOS_INDEX = 0x70,
    CMOS_DATA = 0x71,
    RTC_STATUS_A = 0xa,
    A_UPDATING = 0x80,
    RTC_STATUS_B = 0xb,
    B_24_HOURS = 2,
    B_BINARY = 4,
    HOURS_PM = 0x80,
};

enum {
    UPDATE_MS = 5,       // an update takes 2.2 ms (table 3)
    UPDATE_READS = 5000, // the same limit where there is no clock
    READ_TRIES = 4,
};

enum { SECOND, MINUTE, HOUR, DAY, MONTH, YEAR, CENTURY, N_FIELDS };

static u8 rtc_century;

static u8 rtc_read(u8 index)
{
    outb(CMOS_INDEX, index);
    return inb(CMOS_DATA);
}

// 0 while an update runs, for too long.
static int rtc_settled(void)
{
    struct deadline deadline = deadline_ms(UPDATE_MS);
    for (u32 i = 0; i < UPDATE_READS; i++) {
        if (!(rtc_read(RTC_STATUS_A) & A_UPDATING)) {
            return 1;
        }
        if (deadline_passed(&deadline)) {
            return 0;
        }
    }
    return 0;
}

static void rtc_read_fields(u8 *fields)
{
    static const u8 index[] = {0, 2, 4, 7, 8, 9};
    for (u32 i = 0; i < array_size(index); i++) {
        fields[i] = rtc_read(index[i]);
    }
    fields[CENTURY] = rtc_century ? rtc_read(rtc_century) : 0;
}

// Two reads that agree: no update fell between the bytes.
static int rtc_read_steady(u8 *fields)
{
    u8 again[N_FIELDS];
    for (u32 i = 0; i < READ_TRIES; i++) {
        if (!rtc_settled()) {
            return 0;
        }
        rtc_read_fields(fields);
        rtc_read_fields(again);
        if (memcmp(fields, again, N_FIELDS) == 0) {
            return 1;
        }
    }
    return 0;
}

// -1: not a BCD number.
static int rtc_number(u8 value, u8 status)
{
    if (status & B_BINARY) {
        return value;
    }
    int high = value >> 4, low = value & 15;
    return high > 9 || low > 9 ? -1 : high * 10 + low;
}

static int rtc_hour(u8 value, u8 status)
{
    if (status & B_24_HOURS) {
        return rtc_number(value, status);
    }
    int hour = rtc_number(value & (u8)~HOURS_PM, status);
    if (hour < 1 || hour > 12) {
        return -1;
    }
    return hour % 12 + (value & HOURS_PM ? 12 : 0);
}

// Four digits: the century register is believed when it holds 19, 20 or 21.
static int rtc_year(const u8 *fields, u8 status)
{
    int year = rtc_number(fields[YEAR], status);
    int century = rtc_number(fields[CENTURY], status);
    if (year < 0 || year > 99) {
        return -1;
    }
    return (century >= 19 && century <= 21 ? century : 20) * 100 + year;
}

static int rtc_is_leap(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

// Days from 1970 to that date; -1: no such date.
static i64 rtc_days(int year, int month, int day)
{
    static const u16 before[] = {0,   31,  59,  90,  120, 151, 181,
                                 212, 243, 273, 304, 334, 365};
    if (year < 1970 || month < 1 || month > 12 || day < 1) {
        return -1;
    }
    int leap = rtc_is_leap(year);
    int days = before[month] - before[month - 1] + (month == 2 ? leap : 0);
    if (day > days) {
        return -1;
    }
    int last = year - 1;
    int leaps = last / 4 - last / 100 + last / 400 - 477; // 477 until 1969
    return (i64)(year - 1970) * 365 + leaps + before[month - 1] +
           (month > 2 ? leap : 0) + day - 1;
}

void rtc_init(u8 century_index)
{
    rtc_century = century_index;
}

i64 rtc_seconds(void)
{
    u8 fields[N_FIELDS];
    if (!rtc_read_steady(fields)) {
        return -1;
    }
    u8 status = rtc_read(RTC_STATUS_B);
    int second = rtc_number(fields[SECOND], status);
    int minute = rtc_number(fields[MINUTE], status);
    int hour = rtc_hour(fields[HOUR], status);
    i64 days =
        rtc_days(rtc_year(fields, status), rtc_number(fields[MONTH], status),
                 rtc_number(fields[DAY], status));
    if (second < 0 || second > 60 || minute < 0 || minute > 59 || hour < 0 ||
        hour > 23 || days < 0) {
        return -1;
    }
    return days * 86400 + hour * 3600 + minute * 60 + second;
}
