// cmd_system.c - ver, cls, cpu, time, log, reboot, shutdown.
// SPDX-License-Identifier: MIT
#include "date.h"
#include "shell.h"

int command_ver(int argc, char **argv)
{
    (void)argc, (void)argv;
    struct sys_info info;
    (void)os->sys_info(&info);
    print("Ingot %s\n", info.version);
    print("Kernel:       %lu KiB at 0x%lx\n", (info.kernel_bytes + 1023) / 1024,
          info.kernel_phys);
    print("Loaded by:    %s, with %u modules\n", info.loader, info.modules);
    print("Command line: %s\n", info.command_line);
    return 0;
}

int command_cls(int argc, char **argv)
{
    (void)argc, (void)argv;
    print_text("\033[2J\033[H"); // ECMA-48 8.3.39, 8.3.21
    return 0;
}

int command_cpu(int argc, char **argv)
{
    (void)argc, (void)argv;
    struct cpu_info info;
    struct time_info clock;
    (void)os->cpu_info(&info);
    (void)os->time_info(&clock);
    print("Processor:  %s\n", info.brand);
    print("Vendor:     %s, family %u, model %u, stepping %u\n", info.vendor,
          info.family, info.model, info.stepping);
    print("Cores:      %u started, %u present; this one has APIC id %u\n",
          info.cores, info.present, info.apic_id);
    print("TSC:        " FIXED " MHz\n", FIXED_ARGS(clock.tsc_hz / 10000));
    print("XCR0:       0x%lx\n", info.xcr0);
    print("Interrupts: %lu\n", info.interrupts);
    return 0;
}

int command_time(int argc, char **argv)
{
    (void)argc, (void)argv;
    struct time_info info;
    (void)os->time_info(&info);
    u64 now = os->time_ns();
    if (info.tsc_hz == 0) {
        print_text("Clock:  this machine has none\n");
    } else {
        print("Clock:  TSC at " FIXED " MHz, by %s\n",
              FIXED_ARGS(info.tsc_hz / 10000), info.source);
        print("Uptime: %lu.%09lu s\n", now / 1000000000, now % 1000000000);
    }
    if (info.wall < 0) {
        print_text("Date:   unknown\n");
        return 0;
    }
    struct date date = date_from_seconds((u64)info.wall);
    print("Date:   %04lu-%02u-%02u %02u:%02u:%02u UTC\n", date.year, date.month,
          date.day, date.hour, date.minute, date.second);
    return 0;
}

int command_log(int argc, char **argv)
{
    (void)argc, (void)argv;
    char text[512];
    struct sys_info info;
    u64 position = 0;
    (void)os->sys_info(&info);
    if (info.log_lost > 0) {
        print("(%u lines before these are lost)\n", info.log_lost);
    }
    for (;;) {
        i64 len = os->sys_log(position, text, sizeof(text));
        if (len <= 0) {
            return 0;
        }
        print_bytes(text, (u64)len);
        position += (u64)len;
    }
}

int command_reboot(int argc, char **argv)
{
    (void)argc, (void)argv;
    return shell_failed("reboot", os->sys_reboot());
}

int command_shutdown(int argc, char **argv)
{
    (void)argc, (void)argv;
    return shell_failed("shutdown", os->sys_shutdown());
}
