// test_power.c - every way to reset and to switch off, in its order.
// SPDX-License-Identifier: MIT
#include "../../kernel/cpu.h"
static void event(const char *text, ...);
#define cli() event("cli ")
#define irq_save() 0ul
#define irq_restore(flags) ((void)(flags))
#define lidt(base, limit) event("lidt ")
#define int3() event("int3 ")
#define pause() ((void)0)
#include "../../kernel/power.c"
#include "../../lib/string.h"
#include "test.h"
#include <stdarg.h>

static char events[2048];
static u64 waited_ns;
static void event(const char *text, ...)
{
    va_list args;
    u64 used = strnlen(events, sizeof(events));
    va_start(args, text);
    vsnprintf(events + used, sizeof(events) - used, text, args);
    va_end(args);
}
static u8 keyboard_status;
static u32 pm1_value, enable_after;
void outb(u16 port, u8 value)
{
    event("b%x=%x ", port, value);
}
void outw(u16 port, u16 value)
{
    event("w%x=%x ", port, value);
}
void outl(u16 port, u32 value)
{
    event("l%x=%x ", port, value);
}
u8 inb(u16 port)
{
    CHECK_EQ(port, 0x64);
    return keyboard_status;
}
u16 inw(u16 port)
{
    CHECK(port == 0x604 || port == 0x704);
    if (enable_after != 0 && --enable_after == 0) {
        pm1_value |= 1;
    }
    return (u16)pm1_value;
}
u16 mmio_read16(u64 address)
{
    CHECK_EQ(address, 0xfed80804);
    return (u16)pm1_value;
}
void mmio_write8(u64 address, u8 value)
{
    event("m%lx=%x ", address, value);
}
void mmio_write16(u64 address, u16 value)
{
    event("m%lx=%x ", address, value);
}
int mmio_map(u64 phys, u64 bytes)
{
    (void)bytes;
    return phys == 0xbad000 ? E_ARG : 0;
}
struct deadline deadline_ns(u64 ns)
{
    return (struct deadline){0, ns / 50};
}
int deadline_passed(struct deadline *deadline)
{
    waited_ns += 50;
    return deadline->passes-- == 0;
}
void time_delay_ns(u64 ns)
{
    waited_ns += ns;
}
void log_line(enum log_level level, const char *tag, const char *text, ...)
{
    (void)level, (void)tag, (void)text;
}

static struct acpi acpi;
static void machine(void)
{
    memset(&acpi, 0, sizeof(acpi));
    acpi.has_8042 = 1;
    acpi.power.reset = (struct acpi_gas){0xcf9, ACPI_SPACE_IO, 8};
    acpi.power.reset_value = 0xf;
    acpi.power.pm1a_control = (struct acpi_gas){0x604, ACPI_SPACE_IO, 16};
    acpi.power.s5_known = 1;
    acpi.power.smi_port = 0xb2;
    acpi.power.acpi_enable = 2;
    keyboard_status = 0x1c;
    pm1_value = 1;
    enable_after = 0;
    power_acpi = 0;
}
static void reboot(const char *want)
{
    events[0] = 0;
    waited_ns = 0;
    CHECK_EQ(power_reboot(), E_UNSUPPORTED);
    CHECK(strcmp(events, want) == 0);
    CHECK(waited_ns < 300000000);
    if (strcmp(events, want) != 0) {
        printf("  did: %s\n", events);
    }
}
static void shutdown(const char *want)
{
    static const char *ports = "w604=2000 wb004=2000 w4004=3400 w600=34 ";
    char whole[2048];
    snprintf(whole, sizeof(whole), "%s%s", want, ports);
    events[0] = 0;
    waited_ns = 0;
    CHECK_EQ(power_shutdown(), E_UNSUPPORTED);
    CHECK(strcmp(events, whole) == 0);
    CHECK(waited_ns < 600000000);
    if (strcmp(events, whole) != 0) {
        printf("  did: %s\n", events);
    }
}

static void reset_by_each_way(void)
{
    machine();
    reboot("cli bcf9=2 bcf9=6 b64=fe lidt int3 "); // no tables yet
    power_init(&acpi);
    reboot("cli bcf9=f bcf9=2 bcf9=6 b64=fe lidt int3 ");
    acpi.power.reset = (struct acpi_gas){0xfed00100, ACPI_SPACE_MEMORY, 8};
    reboot("cli mfed00100=f bcf9=2 bcf9=6 b64=fe lidt int3 ");
    acpi.power.reset = (struct acpi_gas){0x1f00030045, ACPI_SPACE_PCI, 8};
    reboot("cli lcf8=8000fb44 bcfd=f bcf9=2 bcf9=6 b64=fe lidt int3 ");
    acpi.power.reset = (struct acpi_gas){0xbad000, ACPI_SPACE_MEMORY, 8};
    reboot("cli bcf9=2 bcf9=6 b64=fe lidt int3 ");
    acpi.power.reset.address = 0;
    acpi.has_8042 = 0;
    reboot("cli bcf9=2 bcf9=6 lidt int3 ");
    acpi.has_8042 = 1;
    keyboard_status = 0xff; // not there: always busy
    reboot("cli bcf9=2 bcf9=6 lidt int3 ");
}

static void off_by_pm1(void)
{
    machine();
    shutdown(""); // no tables yet
    power_init(&acpi);
    shutdown("w604=1 w604=2001 ");
    acpi.power.s5_a = 5;
    acpi.power.s5_b = 7;
    acpi.power.pm1b_control = (struct acpi_gas){0x704, ACPI_SPACE_IO, 16};
    pm1_value = 0x3d03; // other bits stay, an old type goes
    shutdown("w604=1503 w604=3503 w704=1d03 w704=3d03 ");
    acpi.power.pm1b_control.address = 0;
    acpi.power.pm1a_control =
        (struct acpi_gas){0xfed80804, ACPI_SPACE_MEMORY, 16};
    pm1_value = 1;
    shutdown("mfed80804=1401 mfed80804=3401 ");
    acpi.power.s5_known = 0;
    shutdown("");
}

static void firmware_must_hand_over_first(void)
{
    machine();
    power_init(&acpi);
    pm1_value = 0;
    enable_after = 20;
    shutdown("bb2=2 w604=1 w604=2001 ");
    pm1_value = 0; // it never does: tried all the same
    enable_after = 0;
    shutdown("bb2=2 w604=0 w604=2000 ");
    acpi.power.smi_port = 0;
    shutdown("w604=0 w604=2000 ");
}

static void hardware_reduced(void)
{
    machine();
    power_init(&acpi);
    acpi.power.hardware_reduced = 1;
    acpi.power.sleep_control = (struct acpi_gas){0x602, ACPI_SPACE_IO, 8};
    acpi.power.s5_a = 5;
    shutdown("b602=34 ");
    acpi.power.sleep_control =
        (struct acpi_gas){0xfea00000, ACPI_SPACE_MEMORY, 8};
    shutdown("mfea00000=34 ");
    acpi.power.sleep_control.address = 0;
    shutdown("");
}

int main(void)
{
    RUN(reset_by_each_way);
    RUN(off_by_pm1);
    RUN(firmware_must_hand_over_first);
    RUN(hardware_reduced);
    return TEST_RESULT();
}
