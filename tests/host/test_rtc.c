// test_rtc.c - the battery-backed clock, in every format and out of order.
// SPDX-License-Identifier: MIT
#include "../../kernel/rtc.c"
#include "test.h"

static u8 cmos[256], cmos_at, absent;
static u32 reads, updating_reads, tear_at;

void outb(u16 port, u8 value)
{
    CHECK_EQ(port, 0x70);
    CHECK(value < 0x80); // the NMI gate stays open
    cmos_at = value;
}
u8 inb(u16 port)
{
    CHECK_EQ(port, 0x71);
    reads++;
    if (absent) {
        return 0xff;
    }
    if (reads == tear_at) { // 59 -> 00 between two bytes
        cmos[0] = 0;
        cmos[2]++;
    }
    if (cmos_at == 0xa) {
        return reads <= updating_reads ? 0xa6 : 0x26;
    }
    return cmos[cmos_at];
}
struct deadline deadline_ns(u64 ns)
{
    CHECK(ns <= 10000000);
    return (struct deadline){0, 100000};
}
int deadline_passed(struct deadline *deadline)
{
    return deadline->passes-- == 0;
}

static void set(u8 century, u8 year, u8 month, u8 day, u8 hour, u8 minute,
                u8 second, u8 status)
{
    memset(cmos, 0, sizeof(cmos));
    cmos[0] = second;
    cmos[2] = minute;
    cmos[4] = hour;
    cmos[7] = day;
    cmos[8] = month;
    cmos[9] = year;
    cmos[0xb] = status;
    cmos[0x32] = century;
    reads = updating_reads = tear_at = absent = 0;
    rtc_init(0x32);
}

static void bcd_and_binary(void)
{
    set(0x20, 0x24, 0x02, 0x29, 0x23, 0x59, 0x58, 2);
    CHECK_EQ(rtc_seconds(), 1709251198);
    set(20, 24, 2, 29, 23, 59, 58, 6);
    CHECK_EQ(rtc_seconds(), 1709251198);
}

static void known_days(void)
{
    set(0x19, 0x70, 1, 1, 0, 0, 0, 2);
    CHECK_EQ(rtc_seconds(), 0);
    set(0x20, 0x00, 3, 1, 0, 0, 0, 2);
    CHECK_EQ(rtc_seconds(), 951868800);
    set(0x20, 0x38, 1, 0x19, 3, 0x14, 8, 2);
    CHECK_EQ(rtc_seconds(), 2147483648);
    set(0x21, 0x00, 3, 1, 0, 0, 0, 2); // 2100 is no leap year
    CHECK_EQ(rtc_seconds(), 4107542400);
    set(0x21, 0x00, 2, 0x29, 0, 0, 0, 2);
    CHECK_EQ(rtc_seconds(), -1);
}

// Each day from 1970 to 2199 is one after the day before.
static void every_day(void)
{
    static const u8 days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    i64 want = 0;
    for (u32 year = 1970; year < 2200; year++) {
        u32 leap = year % 4 == 0 && year != 2100;
        for (u32 month = 1; month <= 12; month++) {
            for (u32 day = 1; day <= days[month - 1] + (month == 2) * leap;
                 day++, want += 86400) {
                set((u8)(year / 100), (u8)(year % 100), (u8)month, (u8)day, 0,
                    0, 0, 6);
                CHECK_EQ(rtc_seconds(), want);
            }
        }
    }
}

static void twelve_hours(void)
{
    u8 bcd[] = {0x12, 0x01, 0x11, 0x92, 0x81, 0x91};
    u8 binary[] = {12, 1, 11, 0x8c, 0x81, 0x8b};
    i64 hours[] = {0, 1, 11, 12, 13, 23};
    for (u32 i = 0; i < 6; i++) {
        set(0x19, 0x70, 1, 1, bcd[i], 0, 0, 0);
        CHECK_EQ(rtc_seconds(), hours[i] * 3600);
        set(19, 70, 1, 1, binary[i], 0, 0, 4);
        CHECK_EQ(rtc_seconds(), hours[i] * 3600);
    }
    set(0x19, 0x70, 1, 1, 0x13, 0, 0, 0);
    CHECK_EQ(rtc_seconds(), -1);
    set(0x19, 0x70, 1, 1, 0, 0, 0, 0);
    CHECK_EQ(rtc_seconds(), -1);
}

static void century_unknown_or_absurd(void)
{
    set(0x20, 0x24, 1, 1, 0, 0, 0, 2);
    rtc_init(0);
    CHECK_EQ(rtc_seconds(), 1704067200);
    set(0x00, 0x24, 1, 1, 0, 0, 0, 2);
    CHECK_EQ(rtc_seconds(), 1704067200);
    set(0xff, 0x24, 1, 1, 0, 0, 0, 2);
    CHECK_EQ(rtc_seconds(), 1704067200);
    set(0x19, 0x69, 1, 1, 0, 0, 0, 2);
    CHECK_EQ(rtc_seconds(), -1);
}

static void nonsense(void)
{
    set(0x20, 0x24, 0, 1, 0, 0, 0, 2);
    CHECK_EQ(rtc_seconds(), -1);
    set(0x20, 0x24, 0x13, 1, 0, 0, 0, 2);
    CHECK_EQ(rtc_seconds(), -1);
    set(0x20, 0x24, 1, 0x32, 0, 0, 0, 2);
    CHECK_EQ(rtc_seconds(), -1);
    set(0x20, 0x24, 4, 0x31, 0, 0, 0, 2);
    CHECK_EQ(rtc_seconds(), -1);
    set(0x20, 0x24, 1, 1, 0x24, 0, 0, 2);
    CHECK_EQ(rtc_seconds(), -1);
    set(0x20, 0x24, 1, 1, 0, 0x60, 0, 2);
    CHECK_EQ(rtc_seconds(), -1);
    set(0x20, 0x24, 1, 1, 0, 0, 0x0a, 2);
    CHECK_EQ(rtc_seconds(), -1);
    set(0x20, 0xff, 1, 1, 0, 0, 0, 6);
    CHECK_EQ(rtc_seconds(), -1);
    for (u32 value = 0; value < 256; value++) { // whatever stands everywhere
        memset(cmos, (int)value, sizeof(cmos));
        CHECK(rtc_seconds() >= -1);
    }
}

static void none_there(void)
{
    set(0x20, 0x24, 1, 1, 0, 0, 0, 2);
    absent = 1;
    CHECK_EQ(rtc_seconds(), -1);
    CHECK(reads <= 5000);
}

static void an_update_runs(void)
{
    set(0x20, 0x24, 1, 1, 0, 0, 0, 2);
    updating_reads = 300;
    CHECK_EQ(rtc_seconds(), 1704067200);
    updating_reads = ~0u;
    CHECK_EQ(rtc_seconds(), -1);
}

// The second changes at each moment of the reading.
static void never_torn(void)
{
    for (u32 at = 1; at < 40; at++) {
        set(0x20, 0x24, 1, 1, 0, 0x29, 0x59, 2);
        tear_at = at;
        cmos[2] = 0x28;
        i64 seconds = rtc_seconds();
        CHECK(seconds == 1704067200 + 28 * 60 + 59 ||
              seconds == 1704067200 + 29 * 60);
    }
}

int main(void)
{
    RUN(bcd_and_binary);
    RUN(known_days);
    RUN(every_day);
    RUN(twelve_hours);
    RUN(century_unknown_or_absurd);
    RUN(nonsense);
    RUN(none_there);
    RUN(an_update_runs);
    RUN(never_torn);
    return TEST_RESULT();
}
