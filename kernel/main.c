// main.c - kmain: the boot as a list, one step a line.
// SPDX-License-Identifier: MIT
#include "../lib/format.h"
#include "../lib/string.h"
#include "acpi.h"
#include "apic.h"
#include "app.h"
#include "console.h"
#include "core.h"
#include "cpu.h"
#include "device.h"
#include "driver.h"
#include "input.h"
#include "machine.h"
#include "modules.h"
#include "option.h"
#include "panic.h"
#include "power.h"
#include "screen.h"
#include "smp.h"

#define LOG_TAG "boot"
#include "log.h"

enum { BOOT_MULTIBOOT2 = 1, BOOT_PVH = 2 };

static struct boot_info boot_info;
static struct acpi acpi;
static u32 stage_number;
static const char *stage_name = "start";

const struct boot_info *machine_boot_info(void)
{
    return &boot_info;
}
const struct acpi *machine_acpi(void)
{
    return &acpi;
}

const char *machine_stage(u32 *number)
{
    *number = stage_number;
    return stage_name;
}
void machine_set_running(void)
{
    stage_name = "running";
}

// Said before the step, so that a hang shows where.
static void stage(const char *name)
{
    stage_name = name;
    console_printf("[%u] %s\n", ++stage_number, name);
}

static void must(int result, const char *what)
{
    if (result < 0) {
        panic("%s failed (%d)", what, result);
    }
}

// The boot tables (entry.asm) show two pieces of 1 GiB: the first, and the one
// that the loader's information begins in. Later RAM is mapped, and the rest
// when it is asked for.
static u64 early_piece;

static const void *boot_read_early(u64 phys, u64 len)
{
    u64 piece = phys >> 30;
    int shown = phys != 0 && (piece == 0 || piece == early_piece) &&
                len <= 1ul << 30 && (phys + len - 1) >> 30 == piece;
    return shown ? (const void *)phys : 0;
}

static const void *boot_read(u64 phys, u64 len)
{
    return firmware_map(phys, len) == 0 ? (const void *)phys : 0;
}

static void grow_log(void)
{
    char *memory = memory_boot_buffer(LOG_CAP, PAGE);
    if (memory != 0) {
        log_grow(memory);
    }
}

static void start_consoles(void)
{
    for (u32 i = 0; console_drivers[i] != 0; i++) {
        console_drivers[i]->init();
    }
}

static void start_input(void)
{
    int by_interrupt = 1;
    for (u32 i = 0; console_drivers[i] != 0; i++) {
        int result = console_drivers[i]->start_input();
        if (result < 0 && result != E_NODEV) {
            log_warn("%s is polled (%d)", console_drivers[i]->name, result);
            by_interrupt = 0;
        }
    }
    if (by_interrupt) {
        input_use_interrupts();
    }
    sti();
}

static void read_boot_info(u32 loader, u64 info_phys, u64 kernel_phys)
{
    early_piece = info_phys >> 30;
    int result = loader == BOOT_PVH
                     ? pvh_read(info_phys, boot_read_early, &boot_info)
                     : multiboot2_read(info_phys, boot_read_early, &boot_info);
    boot_info.kernel_phys = kernel_phys;
    screen_init(&boot_info); // and every earlier line with the later ones
    console_printf("%s", boot_info.errors);
    must(result, "reading the memory map");
}

static void read_options(void)
{
    char value[64];
    option_read("loglevel=", value, sizeof(value));
    if (value[0] >= '0' && value[0] <= '3' && value[1] == 0) {
        log_set_level((enum log_level)(value[0] - '0'));
    } else if (value[0] != 0) {
        log_warn("loglevel=%s: want 0 (errors) to 3 (everything)", value);
    }
    option_read("console=", value, sizeof(value));
    console_choose(value);
}

_Noreturn void kmain(u32 loader, u64 info_phys, u64 kernel_phys);
void kmain(u32 loader, u64 info_phys, u64 kernel_phys)
{
    core_begin();
    start_consoles(); // every later line is seen
    console_printf("Ingot %s\n", INGOT_VERSION_TEXT);
    stage("exceptions are reported");
    interrupt_init();
    stage("what the loader told");
    read_boot_info(loader, info_phys, kernel_phys);
    read_options();
    stage("memory");
    must(memory_init(&boot_info), "memory");
    modules_settle(&boot_info); // every module readable where it lies
    must(paging_init(&boot_info), "paging"); // null faults, W^X holds
    must(core_make(0, 0), "this core"); // stacks of their own for interrupts
    core_load(core_self());
    interrupt_use_stacks();
    must(input_init(), "the input ring");
    grow_log();
    screen_grow();
    stage("firmware tables");
    acpi_init(&boot_info, boot_read, &acpi);
    power_init(&acpi); // reboot and shutdown work
    stage("clock");
    time_init(&acpi); // waits end in time
    stage("interrupts");
    apic_init(&acpi);
    start_input(); // typed bytes are kept from here on
    stage("cores");
    smp_init(&acpi); // the others idle until a program calls
    stage("PCI");
    pci_init(&acpi);
    stage("devices");
    device_probe_all(); // disks and network cards
    stage("shell");
    app_run_shell();
}
