// cmd_diag.c - diag: what a bug report needs, on one screen of 80 x 25.
// SPDX-License-Identifier: MIT
#include "shell.h"

enum { DIAG_COLUMNS = 79, DIAG_DEVICES = 4, DIAG_WARNINGS = 4 };
enum { CLASS_SERIAL_BUS = 0x0C, SUBCLASS_USB = 0x03 };

// One row, cut where the screen ends: a row of two is one too many.
static __attribute__((format(printf, 2, 3))) void
diag_row(const char *what, const char *text, ...)
{
    char row[DIAG_COLUMNS + 1];
    u64 len = format(row, sizeof(row), "%-10s", what);
    va_list args;
    va_start(args, text);
    len += format_args(row + len, sizeof(row) - len, text, args);
    va_end(args);
    print_bytes(row, len < DIAG_COLUMNS ? len : DIAG_COLUMNS);
    print_text("\n");
}

// ---- the log ----

struct diag_log { // lines of the log, one at a time
    u64 position;
    char text[256], line[256];
    u64 n, at;
};

// The next line, without its end; null after the last.
static const char *diag_line(struct diag_log *log)
{
    u64 len = 0;
    for (;;) {
        if (log->at == log->n) {
            i64 got = os->sys_log(log->position, log->text, sizeof(log->text));
            if (got <= 0) {
                return 0;
            }
            log->n = (u64)got;
            log->at = 0;
            log->position += log->n;
        }
        char byte = log->text[log->at++];
        if (byte == '\n') {
            log->line[len] = 0;
            return log->line;
        }
        if (len < sizeof(log->line) - 1) {
            log->line[len++] = byte;
        }
    }
}

static void diag_firmware(void)
{
    static struct diag_log log;
    const char *line;
    log = (struct diag_log){0};
    while ((line = diag_line(&log)) != 0) {
        if (memcmp(line, "acpi: ", 6) == 0) {
            diag_row("Firmware", "%s", line + 6);
            return;
        }
    }
    diag_row("Firmware", "no ACPI in the log");
}

// The latest lines that are warnings or errors, which begin with '!'.
static void diag_warnings(void)
{
    static struct diag_log log;
    static char kept[DIAG_WARNINGS][DIAG_COLUMNS];
    const char *line;
    u32 n = 0;
    log = (struct diag_log){0};
    while ((line = diag_line(&log)) != 0) {
        if (line[0] == '!') {
            string_copy(kept[n++ % DIAG_WARNINGS], line + 1, DIAG_COLUMNS);
        }
    }
    diag_row("Warnings", n ? "%u in the log" : "none", n);
    for (u32 i = n > DIAG_WARNINGS ? n - DIAG_WARNINGS : 0; i < n; i++) {
        diag_row("", "%s", kept[i % DIAG_WARNINGS]);
    }
}

// ---- the machine ----

static void diag_system(void)
{
    struct sys_info info;
    (void)os->sys_info(&info);
    diag_row("Ingot", "%s, %lu KiB at 0x%lx", info.version,
             (info.kernel_bytes + 1023) / 1024, info.kernel_phys);
    diag_row("Loader", "%s, %u modules", info.loader, info.modules);
    diag_row("Command", "%s", info.command_line);
    diag_firmware();
}

static void diag_processor(void)
{
    struct cpu_info cpu;
    struct mem_info mem;
    struct time_info clock;
    u64 now = os->time_ns();
    (void)os->cpu_info(&cpu);
    (void)os->mem_info(&mem);
    (void)os->time_info(&clock);
    diag_row("Processor", "%s", cpu.brand);
    diag_row("", "%s %u/%u/%u, %u cores of %u, XCR0 0x%lx, %lu interrupts",
             cpu.vendor, cpu.family, cpu.model, cpu.stepping, cpu.cores,
             cpu.present, cpu.xcr0, cpu.interrupts);
    diag_row("Memory", "%lu MiB, %lu free, largest piece %lu", mem.ram >> 20,
             mem.free >> 20, mem.largest >> 20);
    if (clock.tsc_hz == 0) {
        diag_row("Clock", "none");
        return;
    }
    diag_row("Clock", "TSC " FIXED " MHz by %s, up %lu s, booted in %lu ms",
             FIXED_ARGS(clock.tsc_hz / 10000), clock.source, now / 1000000000,
             clock.boot_ns / 1000000);
}

static void diag_screen(void)
{
    struct screen_info info;
    if (os->screen_info(&info) < 0) {
        diag_row("Screen", "none");
        return;
    }
    diag_row("Screen", "%ux%u, %u bits, pitch %u, at 0x%lx", info.width,
             info.height, info.bits, info.pitch, (u64)info.pixels);
}

static void diag_pci(void)
{
    struct pci_info info;
    u32 n = 0, driven = 0, usb = 0;
    for (; os->pci_info(n, &info) >= 0; n++) {
        driven += *info.driver != 0;
        usb += info.class_code == CLASS_SERIAL_BUS &&
               info.subclass == SUBCLASS_USB;
    }
    diag_row("PCI", "%u functions, %u with a driver, %u USB controllers", n,
             driven, usb);
}

static void diag_net(void)
{
    struct net_info info;
    u32 n = 0;
    for (; os->net_info(n, &info) >= 0; n++) {
        const u8 *mac = info.mac;
        if (n < DIAG_DEVICES) {
            diag_row(n ? "" : "Network",
                     "%u %s %s %02x:%02x:%02x:%02x:%02x:%02x %s, %u Mbit/s", n,
                     info.driver, info.pci, mac[0], mac[1], mac[2], mac[3],
                     mac[4], mac[5], info.link ? "up" : "down",
                     info.speed_mbps);
        }
    }
    if (n == 0 || n > DIAG_DEVICES) {
        diag_row(n ? "" : "Network", n ? "%u in all" : "none", n);
    }
}

static void diag_disks(void)
{
    struct disk_info info;
    u32 n = 0;
    for (; os->disk_info(n, &info) >= 0; n++) {
        if (n < DIAG_DEVICES) {
            diag_row(n ? "" : "Disks", "%u %s %s %lu MiB of %u, %lu errors, %s",
                     n, info.driver, info.pci, info.blocks / 256,
                     info.sector_bytes, info.errors, info.model);
        }
    }
    if (n == 0 || n > DIAG_DEVICES) {
        diag_row(n ? "" : "Disks", n ? "%u in all" : "none", n);
    }
}

int command_diag(int argc, char **argv)
{
    (void)argc, (void)argv;
    diag_system();
    diag_processor();
    diag_screen();
    diag_pci();
    diag_net();
    diag_disks();
    diag_warnings();
    return 0;
}
