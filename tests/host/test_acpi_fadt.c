// test_acpi_fadt.c - the FADT of every length, and \_S5 in every form.
// SPDX-License-Identifier: MIT
#include "acpi_build.h"

static void run(u64 len)
{
    replace(FADT);
    put_fadt(len);
    init_by_copy(2, 36);
}

// ACPI 1.0: no reset register, no second addresses, no word on the 8042.
static void of_116_bytes(void)
{
    good_tables();
    fadt.header.revision = 1;
    fadt.boot_arch = 0;
    run(116);
    CHECK_EQ(acpi.has_8042, 1);
    CHECK_EQ(acpi.power.reset.address, 0);
    CHECK_EQ(acpi.power.pm1a_control.address, 0x604);
    CHECK_EQ(acpi.power.pm1a_control.space, ACPI_SPACE_IO);
    CHECK(acpi.power.s5_known);
}

static void of_every_length(void)
{
    for (u64 len = 36; len <= sizeof(fadt); len++) {
        good_tables();
        run(len);
        CHECK(acpi.present);
        CHECK_EQ(acpi.power.pm1a_control.address, len < 116 ? 0 : 0x604);
        CHECK_EQ(acpi.power.reset_value, len < 129 ? 0 : 0xf);
        CHECK_EQ(acpi.power.s5_known, len >= 116);
    }
}

static void new_addresses_win(void)
{
    good_tables();
    fadt.x_pm1a_control =
        (struct acpi_address){ACPI_SPACE_MEMORY, 16, 0, 2, 0xfed80804};
    fadt.x_pm1b_control = (struct acpi_address){ACPI_SPACE_IO, 16, 0, 2, 0x704};
    fadt.x_pm_timer = (struct acpi_address){ACPI_SPACE_IO, 32, 0, 3, 0x808};
    fadt.flags |= FADT_TIMER_32BIT;
    fadt.x_dsdt = DSDT;
    fadt.dsdt = 0;
    run(244);
    CHECK_EQ(acpi.power.pm1a_control.address, 0xfed80804);
    CHECK_EQ(acpi.power.pm1a_control.space, ACPI_SPACE_MEMORY);
    CHECK_EQ(acpi.power.pm1b_control.address, 0x704);
    CHECK_EQ(acpi.power.pm_timer.address, 0x808);
    CHECK_EQ(acpi.power.pm_timer_32bit, 1);
    CHECK(acpi.power.s5_known);
}

static void absurd_addresses_are_none(void)
{
    good_tables();
    fadt.x_pm1a_control = (struct acpi_address){77, 16, 0, 2, 0x704};
    fadt.x_pm_timer = (struct acpi_address){ACPI_SPACE_IO, 32, 0, 3, 0x10808};
    fadt.reset = (struct acpi_address){0x7f, 8, 0, 1, 0xcf9};
    fadt.pm1b_control = 0x12345;
    fadt.pm_timer_len = 4;
    fadt.smi_cmd = 0x100b2;
    fadt.century = 0x80;
    run(244);
    CHECK_EQ(acpi.power.pm1a_control.address, 0x604);
    CHECK_EQ(acpi.power.pm1b_control.address, 0);
    CHECK_EQ(acpi.power.pm_timer.address, 0x608);
    CHECK_EQ(acpi.power.reset.address, 0);
    CHECK_EQ(acpi.power.smi_port, 0);
    CHECK_EQ(acpi.cmos_century, 0);
}

static void no_timer(void)
{
    good_tables();
    fadt.pm_timer_len = 0;
    run(244);
    CHECK_EQ(acpi.power.pm_timer.address, 0);
}

static void hardware_reduced(void)
{
    good_tables();
    fadt.header.revision = 5;
    fadt.flags |= FADT_HW_REDUCED;
    fadt.boot_arch = 0;
    fadt.sleep_control = (struct acpi_address){ACPI_SPACE_IO, 8, 0, 1, 0x600};
    run(268);
    CHECK_EQ(acpi.power.hardware_reduced, 1);
    CHECK_EQ(acpi.power.sleep_control.address, 0x600);
    CHECK_EQ(acpi.power.pm1a_control.address, 0);
    CHECK_EQ(acpi.power.pm_timer.address, 0);
    CHECK_EQ(acpi.has_8042, 0);
}

static void reset_only_with_its_flag(void)
{
    good_tables();
    fadt.flags = 0;
    run(244);
    CHECK_EQ(acpi.power.reset.address, 0);
}

// ---- \_S5 ----

static int s5(const void *code, u64 len)
{
    good_tables();
    replace(DSDT);
    table(DSDT, "DSDT", 2, code, len);
    init_by_copy(2, 36);
    return acpi.power.s5_known ? acpi.power.s5_a << 4 | acpi.power.s5_b : -1;
}
#define S5(...) s5((const u8[]){__VA_ARGS__}, sizeof((const u8[]){__VA_ARGS__}))
#define NAME 0x08, '_', 'S', '5', '_'

static void forms_of_the_package(void)
{
    CHECK_EQ(S5(NAME, 0x12, 6, 4, 0x0a, 5, 0x0a, 7, 0, 0), 0x57);
    CHECK_EQ(S5(NAME, 0x12, 7, 4, 0, 0, 0, 0), -1); // longer than the table
    CHECK_EQ(S5(NAME, 0x12, 6, 4, 0, 0, 0, 0, 0), 0x00);
    CHECK_EQ(S5(NAME, 0x12, 4, 2, 1, 0, 0), 0x10);
    CHECK_EQ(S5(NAME, 0x12, 3, 1, 0x01, 0), 0x11); // one element
    CHECK_EQ(S5(NAME, 0x12, 4, 1, 0x0a, 6), 0x66);
    CHECK_EQ(S5(NAME, 0x12, 8, 2, 0x0b, 5, 0, 0x0b, 4, 0), 0x54);
    CHECK_EQ(S5(NAME, 0x12, 12, 2, 0x0c, 3, 0, 0, 0, 0x0c, 2, 0, 0, 0), 0x32);
    CHECK_EQ(S5(NAME, 0x12, 0x47, 0, 4, 0x0a, 5, 0x0a, 5, 0, 0), 0x55);
    CHECK_EQ(S5(0x08, '\\', '_', 'S', '5', '_', 0x12, 4, 2, 1, 1, 0), 0x11);
    CHECK_EQ(S5(1, 2, 3, '_', 'S', NAME, 0x12, 4, 2, 1, 1, 0), 0x11);
    CHECK_EQ(S5('_', '_', NAME, 0x12, 4, 2, 1, 1, 0), 0x11);
    CHECK_EQ(S5('S', '5', '_', NAME, 0x12, 4, 2, 1, 1, 0), 0x11);
}

static void what_is_no_package(void)
{
    CHECK_EQ(S5(0), -1);
    CHECK_EQ(S5(NAME), -1);
    CHECK_EQ(S5(NAME, 0x12), -1);
    CHECK_EQ(S5(NAME, 0x12, 0xc0, 0, 0), -1);
    CHECK_EQ(S5(NAME, 0x12, 0xcf, 0xff, 0xff, 0xff, 2, 1, 1), -1);
    CHECK_EQ(S5(NAME, 0x12, 3, 1, 0x0a), -1);       // no byte there
    CHECK_EQ(S5(NAME, 0x13, 4, 2, 1, 1), -1);       // not a package
    CHECK_EQ(S5(NAME, 0x12, 2, 0, 1, 1), -1);       // no element
    CHECK_EQ(S5(NAME, 0x12, 4, 2, 0x0a, 9, 1), -1); // three bits hold no 9
    CHECK_EQ(S5(NAME, 0x12, 4, 2, 0xff, 1, 1), -1);
    CHECK_EQ(S5(NAME, 0x12, 3, 2, 1, 1, 1), -1);            // cut by its length
    CHECK_EQ(S5('_', 'S', '5', '_', 0x12, 4, 2, 1, 1), -1); // a use of it
}

// The skipping search finds it at every place.
static void at_every_offset(void)
{
    static u8 code[400];
    const u8 name[] = {NAME, 0x12, 4, 2, 3, 1, 0};
    for (u32 at = 0; at + sizeof(name) <= sizeof(code); at++) {
        for (u32 i = 0; i < sizeof(code); i++) {
            code[i] = (u8) "_S5_S55__xSS_"[(i * 7 + i / 5) % 13];
        }
        memcpy(code + at, name, sizeof(name));
        code[at + 8] = 1;
        CHECK_EQ(s5(code, sizeof(code)), 0x11);
    }
}

static void in_an_ssdt(void)
{
    const u8 none[] = {0x08, '_', 'S', '3', '_', 0x12, 4, 2, 1, 1};
    good_tables();
    replace(DSDT);
    table(DSDT, "DSDT", 2, none, sizeof(none));
    table(SSDT, "SSDT", 2, s5_code, sizeof(s5_code));
    init_by_copy(2, 36);
    CHECK(acpi.power.s5_known);
    CHECK_EQ(acpi.power.s5_a, 5);
}

int main(void)
{
    RUN(of_116_bytes);
    RUN(of_every_length);
    RUN(new_addresses_win);
    RUN(absurd_addresses_are_none);
    RUN(no_timer);
    RUN(hardware_reduced);
    RUN(reset_only_with_its_flag);
    RUN(forms_of_the_package);
    RUN(what_is_no_package);
    RUN(at_every_offset);
    RUN(in_an_ssdt);
    forget();
    return TEST_RESULT();
}
