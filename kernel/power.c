// power.c - reset and power-off, by every known way in turn.
// SPDX-License-Identifier: MIT
#define LOG_TAG "power"
#include "power.h"
#include "cpu.h"
#include "log.h"
#include "mmio.h"
#include "paging.h"
#include "time.h"

enum {
    WAY_MS = 50,      // for the machine to go, before the next way is tried
    ENABLE_MS = 300,  // for firmware to hand ACPI over
    KEYBOARD_MS = 20, // for the 8042 to take a byte
};

enum { // ACPI 4.8.3.2.1, 4.8.3.7
    PM1_SCI_ENABLE = 1,
    PM1_SLEEP_TYPE = 7 << 10,
    PM1_SLEEP_NOW = 1 << 13,
    SLEEP_TYPE = 7 << 2,
    SLEEP_NOW = 1 << 5,
};

enum {
    PCI_ADDRESS_PORT = 0xcf8,
    PCI_DATA_PORT = 0xcfc,
    RESET_PORT = 0xcf9, // Intel chip sets: RST_CNT
    RESET_HARD = 2,
    RESET_NOW = 4,
    KEYBOARD_STATUS = 0x64, // also its command port
    KEYBOARD_BUSY = 2,
    KEYBOARD_PULSE_RESET = 0xfe,
};
static const u32 PCI_ADDRESS_ENABLE = 1u << 31;

// Where virtual machines listen when nobody told us (no ACPI tables).
static const struct {
    u16 port, value;
} power_known_ports[] = {
    {0x604, 0x2000},  // QEMU q35 and pc
    {0xb004, 0x2000}, // Bochs, old QEMU
    {0x4004, 0x3400}, // VirtualBox
    {0x600, 0x34},    // Cloud Hypervisor
};

static const struct acpi *power_acpi;

void power_init(const struct acpi *acpi)
{
    power_acpi = acpi;
}

// Write a byte (width 8) or a word. E_ARG: there is no such register.
static int power_write(const struct acpi_gas *gas, u8 width, u16 value)
{
    if (gas->address == 0) {
        return E_ARG;
    }
    if (gas->space == ACPI_SPACE_MEMORY) {
        TRY(mmio_map(gas->address, width / 8));
        if (width == 8) {
            mmio_write8(gas->address, (u8)value);
        } else {
            mmio_write16(gas->address, value);
        }
        return 0;
    }
    if (gas->space != ACPI_SPACE_IO) {
        return E_ARG;
    }
    if (width == 8) {
        outb((u16)gas->address, (u8)value);
    } else {
        outw((u16)gas->address, value);
    }
    return 0;
}

static u16 power_read(const struct acpi_gas *gas)
{
    if (gas->space == ACPI_SPACE_MEMORY) {
        return mmio_map(gas->address, 2) < 0 ? 0 : mmio_read16(gas->address);
    }
    return inw((u16)gas->address);
}

static void power_give_time(void)
{
    time_delay_ns(WAY_MS * 1000000ul);
}

// ---- reset ----

// ACPI 5.2.3.2: a PCI register of bus 0 is named by device, function, offset.
static void power_reset_pci(u64 address, u8 value)
{
    u32 device = (u32)(address >> 32 & 0x1f);
    u32 function = (u32)(address >> 16 & 7), offset = (u32)(address & 0xff);
    outl(PCI_ADDRESS_PORT,
         PCI_ADDRESS_ENABLE | device << 11 | function << 8 | (offset & 0xfcu));
    outb((u16)(PCI_DATA_PORT + (offset & 3)), value);
}

static void power_reset_acpi(void)
{
    const struct acpi_power *power = &power_acpi->power;
    if (power->reset.address != 0 && power->reset.space == ACPI_SPACE_PCI) {
        power_reset_pci(power->reset.address, power->reset_value);
    } else if (power_write(&power->reset, 8, power->reset_value) < 0) {
        return;
    }
    power_give_time();
}

static void power_reset_chipset(void)
{
    outb(RESET_PORT, RESET_HARD);
    outb(RESET_PORT, RESET_HARD | RESET_NOW);
    power_give_time();
}

static void power_reset_keyboard(void)
{
    struct deadline deadline = deadline_ms(KEYBOARD_MS);
    while (inb(KEYBOARD_STATUS) & KEYBOARD_BUSY) {
        if (deadline_passed(&deadline)) {
            return;
        }
        pause();
    }
    outb(KEYBOARD_STATUS, KEYBOARD_PULSE_RESET);
    power_give_time();
}

int power_reboot(void)
{
    cli();
    if (power_acpi) {
        power_reset_acpi();
    }
    power_reset_chipset();
    if (!power_acpi || power_acpi->has_8042) {
        power_reset_keyboard();
    }
    // An exception that nothing can handle shuts the processor down, which
    // every board takes for a reset.
    lidt(0, 0);
    int3();
    return E_UNSUPPORTED;
}

// ---- power-off ----

// ACPI 4.8.2.5: until firmware has handed over, the PM1 registers are its own.
static void power_enable_acpi(const struct acpi_power *power)
{
    if (power->smi_port == 0 || power->acpi_enable == 0 ||
        power_read(&power->pm1a_control) & PM1_SCI_ENABLE) {
        return;
    }
    outb(power->smi_port, power->acpi_enable);
    struct deadline deadline = deadline_ms(ENABLE_MS);
    while (!(power_read(&power->pm1a_control) & PM1_SCI_ENABLE)) {
        if (deadline_passed(&deadline)) {
            log_warn("firmware does not hand ACPI over");
            return;
        }
        pause();
    }
}

// ACPI 7.4.2: the other bits of the register stay as they are.
static void power_sleep(const struct acpi_gas *control, u8 type)
{
    if (control->address == 0) {
        return;
    }
    u32 value = power_read(control);
    value &= ~(u32)(PM1_SLEEP_TYPE | PM1_SLEEP_NOW);
    value |= field_put(PM1_SLEEP_TYPE, (u32)type);
    (void)power_write(control, 16, (u16)value);
    (void)power_write(control, 16, (u16)(value | PM1_SLEEP_NOW));
}

static void power_off_acpi(const struct acpi_power *power)
{
    if (!power->s5_known) {
        return;
    }
    if (power->hardware_reduced) {
        u32 value = field_put(SLEEP_TYPE, (u32)power->s5_a) | SLEEP_NOW;
        (void)power_write(&power->sleep_control, 8, (u16)value);
    } else if (power->pm1a_control.address != 0) {
        power_enable_acpi(power);
        power_sleep(&power->pm1a_control, power->s5_a);
        power_sleep(&power->pm1b_control, power->s5_b);
    }
    power_give_time();
}

int power_shutdown(void)
{
    u64 flags = irq_save();
    if (power_acpi) {
        power_off_acpi(&power_acpi->power);
    }
    for (u32 i = 0; i < array_size(power_known_ports); i++) {
        outw(power_known_ports[i].port, power_known_ports[i].value);
    }
    power_give_time();
    irq_restore(flags);
    log_warn("nothing switches this machine off");
    return E_UNSUPPORTED;
}
