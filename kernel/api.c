// api.c - the call tables: one page of pointers, and the calls that are too
// small for a room of their own.
// SPDX-License-Identifier: MIT
#include "../lib/string.h"
#include "acpi.h"
#include "app.h"
#include "app_load.h"
#include "apic.h"
#include "baremetal.h"
#include "console.h"
#include "core.h"
#include "cpu.h"
#include "device.h"
#include "disk.h"
#include "hook.h"
#include "input.h"
#include "log.h"
#include "machine.h"
#include "nic.h"
#include "paging.h"
#include "power.h"
#include "screen.h"
#include "smp.h"
#include "time.h"

extern const char kernel_start[], kernel_end[];
extern u64 boot_tsc;

static u64 ready_ns; // sys_ready() was called

i64 con_write(const void *text, u64 len)
{
    console_write(text, len);
    return (i64)len;
}

static i64 api_con_read(void *text, u64 cap, i64 wait_ns)
{
    return cap == 0 ? E_ARG : (i64)input_read(text, cap, wait_ns);
}

static int api_con_info(struct con_info *info)
{
    u32 columns, rows;
    screen_text_size(&columns, &rows);
    *info = (struct con_info){.columns = columns,
                              .rows = rows,
                              .at_keyboard = (u32)input_at_keyboard()};
    return 0;
}

static int api_mem_alloc(u64 bytes, u32 flags, void **memory)
{
    u64 phys;
    TRY(memory_alloc(bytes, flags, app_owner(), &phys));
    *memory = (void *)phys;
    return 0;
}

static int api_mem_free(void *memory, u64 bytes)
{
    return memory_free((u64)memory, bytes, app_owner());
}

static int api_mem_phys(const void *address, struct mem_page *page)
{
    return paging_query((u64)address, page);
}

static int api_mem_info(struct mem_info *info)
{
    memory_get_info(info);
    info->window_free = app_window_free();
    return 0;
}

static int api_mem_region(u32 index, struct mem_region *region)
{
    const struct boot_info *info = machine_boot_info();
    if (index >= info->n_regions) {
        return E_RANGE;
    }
    *region = info->regions[index];
    return 0;
}

static int api_mmio_map(u64 phys, u64 bytes, void **address)
{
    TRY(mmio_map(phys, bytes));
    *address = (void *)phys;
    return 0;
}

static int api_time_info(struct time_info *info)
{
    time_refine();
    *info = (struct time_info){
        .tsc_hz = time_tsc_hz(), .boot_ns = ready_ns, .wall = time_wall()};
    string_copy(info->source, time_source(), sizeof(info->source));
    return 0;
}

static int api_cpu_count(void)
{
    return (int)smp_count();
}

static void api_cpu_names(struct cpu_info *info)
{
    struct cpuid id = cpuid(0, 0);
    memcpy(info->vendor, &id.ebx, 4);
    memcpy(info->vendor + 4, &id.edx, 4);
    memcpy(info->vendor + 8, &id.ecx, 4);
    if (cpuid(0x80000000, 0).eax < 0x80000004) {
        return;
    }
    for (u32 i = 0; i < 3; i++) {
        id = cpuid(0x80000002 + i, 0);
        memcpy(info->brand + 16 * i, &id, sizeof(id));
    }
}

static int api_cpu_info(struct cpu_info *info)
{
    u32 signature = cpuid(1, 0).eax;
    u32 family = signature >> 8 & 0xF, model = signature >> 4 & 0xF;
    if (family == 0xF) { // Intel SDM volume 2, CPUID leaf 1: extended fields
        family += signature >> 20 & 0xFF;
    }
    if (family >= 6) {
        model |= signature >> 12 & 0xF0;
    }
    *info = (struct cpu_info){
        .family = family,
        .model = model,
        .stepping = signature & 0xF,
        .apic_id = apic_id(),
        .cores = smp_count(),
        .present = machine_acpi()->n_cpus + machine_acpi()->n_cpus_left_out,
        .xcr0 = core_self()->xcr0,
        .interrupts = interrupt_count(),
    };
    api_cpu_names(info);
    return 0;
}

static int api_pci_info(u32 index, struct pci_info *info)
{
    const struct pci_device *device = pci_get(index);
    if (device == 0) {
        return E_RANGE;
    }
    *info = (struct pci_info){
        .segment = device->segment,
        .bus = device->bus,
        .device = device->device,
        .function = device->function,
        .class_code = device->class_code,
        .subclass = device->subclass,
        .prog_if = device->prog_if,
        .vendor = device->vendor,
        .device_id = device->device_id,
    };
    string_copy(info->driver, device->driver ? device->driver : "",
                sizeof(info->driver));
    return 0;
}

static int api_pci_check(u32 index, u32 offset)
{
    const struct pci_device *device = pci_get(index);
    if (device == 0) {
        return E_RANGE;
    }
    return offset % 4 != 0 || offset >= pci_config_bytes(device) ? E_ARG : 0;
}

static int api_pci_read(u32 index, u32 offset, u32 *value)
{
    TRY(api_pci_check(index, offset));
    *value = pci_read32(pci_get(index), offset);
    return 0;
}

static int api_pci_write(u32 index, u32 offset, u32 value)
{
    TRY(api_pci_check(index, offset));
    struct pci_device *device = pci_get(index);
    device->lent |= device->driver == 0 && device->header_type == 0;
    pci_write32(device, offset, value);
    return 0;
}

static int api_app_module(u32 index, struct module_info *info)
{
    const struct boot_info *boot = machine_boot_info();
    if (index >= boot->n_modules) {
        return E_RANGE;
    }
    const struct boot_module *module = &boot->modules[index];
    *info = (struct module_info){.data = (const void *)module->phys,
                                 .len = module->len};
    string_copy(info->name, module->name, sizeof(info->name));
    return 0;
}

static int api_sys_info(struct sys_info *info)
{
    const struct boot_info *boot = machine_boot_info();
    *info = (struct sys_info){
        .kernel_phys = boot->kernel_phys,
        .kernel_bytes = (u64)(kernel_end - kernel_start),
        .log_lost = log_lost(),
        .modules = boot->n_modules,
    };
    string_copy(info->version, INGOT_VERSION_TEXT, sizeof(info->version));
    string_copy(info->loader, boot->loader, sizeof(info->loader));
    string_copy(info->command_line, boot->command_line,
                sizeof(info->command_line));
    return 0;
}

static i64 api_sys_log(u64 position, char *text, u64 cap)
{
    return cap == 0 ? E_ARG : (i64)log_read(position, text, cap);
}

const char *sys_error(int error)
{
    switch (error) {
#define ERROR_TEXT(name, value, text)                                          \
    case name:                                                                 \
        return text;
        INGOT_ERRORS(ERROR_TEXT)
#undef ERROR_TEXT
    default:
        return "unknown error";
    }
}

static int api_sys_null(void)
{
    return 0;
}

static int api_sys_ready(void)
{
    if (ready_ns == 0) {
        ready_ns = time_ns();
        machine_set_running();
    }
    return 0;
}

// Calls that the kernel itself uses, or a room implements under their own name.
#define api_con_write con_write
#define api_sys_error sys_error
#define api_net_rx net_rx
#define api_net_rx_burst net_rx_burst
#define api_net_tx net_tx
#define api_net_tx_burst net_tx_burst
#define api_net_poll net_poll
#define api_net_info net_info
#define api_net_set net_set
#define api_disk_read disk_read
#define api_disk_write disk_write
#define api_disk_info disk_info
#define api_time_ns time_ns
#define api_screen_info screen_info
#define api_screen_claim screen_claim
#define api_cpu_start cpu_start
#define api_cpu_wait cpu_wait
#define api_cpu_busy cpu_busy
#define api_cpu_id cpu_id
#define api_hook_timer hook_timer
#define api_hook_net hook_net
#define api_hook_irq hook_irq
#define api_hook_remove hook_remove
#define api_app_run app_run
#define api_app_exit app_exit
#define api_sys_reboot power_reboot
#define api_sys_shutdown power_shutdown

#define TABLE_ENTRY(group, result, name, parameters, text) .name = api_##name,
#define TABLE_COUNT(group, result, name, parameters, text) +1

// Shown read-only at virtual 0x100000 (paging.c). BareMetal's eight entries lie
// where its programs look for them.
struct call_tables {
    u64 reserved[2];
    void (*baremetal[8])(void);
    u64 gap[6];
    struct ingot ingot;
};

extern const struct call_tables call_tables;
__attribute__((section(".table"))) const struct call_tables call_tables = {
    .baremetal = {bm_input, bm_output, bm_net_tx, bm_net_rx, bm_nvs_read,
                  bm_nvs_write, bm_system, bm_user},
    .ingot = {.version = INGOT_VERSION,
              .count = 0 INGOT_CALLS(TABLE_COUNT),
              INGOT_CALLS(TABLE_ENTRY)},
};
_Static_assert(__builtin_offsetof(struct call_tables, baremetal) == 0x10 &&
                   __builtin_offsetof(struct call_tables, ingot) == 0x80,
               "the tables lie where programs look");
