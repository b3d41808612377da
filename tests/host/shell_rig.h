// shell_rig.h - the whole shell on a table of fakes: keys in, transcript out.
// The machine is a disk image in memory, two modules and one page.
// SPDX-License-Identifier: MIT
#pragma once
#include "test.h"
#include <setjmp.h>
#include "../../include/ingot.h"
static struct ingot table;
#define os (&table)
#include "../../lib/format.c"
#include "../../lib/string_copy.c"
#include "../../lib/utf8.c"
#include "../../apps/lib/print.c"
#include "../../apps/lib/args.c"
#include "../../apps/lib/bmfs.c"
#include "../../apps/shell/autostart.c"
#include "../../apps/shell/cmd_diag.c"
#include "../../apps/shell/cmd_devices.c"
#include "../../apps/shell/cmd_files.c"
#include "../../apps/shell/cmd_memory.c"
#include "../../apps/shell/cmd_system.c"
#include "../../apps/shell/commands.c"
#include "../../apps/shell/complete.c"
#include "../../apps/shell/date.c"
#include "../../apps/shell/errors.c"
#include "../../apps/shell/files.c"
#include "../../apps/shell/line.c"
#include "../../apps/shell/line_history.c"
#include "../../apps/shell/pager.c"
#include "../../apps/shell/parse.c"
#define main shell_main
#include "../../apps/shell/main.c"
#undef main

// ---- the machine ----

static char transcript[1 << 20];
static u64 transcript_len;
static const char *keys;
static jmp_buf no_more_keys;
static u8 disk[8 << 20];
static int disk_fails, mem_left, allocated, ready;
static char command_line[256];
static u64 page[512] __attribute__((aligned(4096)));
static u64 fixed[512] __attribute__((aligned(4096)));

static int run_status;
static char run_words[1024];
static u32 run_flags;
static u64 run_len, run_sum;

static i64 fake_con_write(const void *text, u64 len)
{
    CHECK(transcript_len + len < sizeof(transcript));
    memcpy(transcript + transcript_len, text, len);
    transcript_len += len;
    transcript[transcript_len] = 0;
    return (i64)len;
}

static i64 fake_con_read(void *text, u64 cap, i64 wait_ns)
{
    CHECK(cap == 1 && wait_ns == -1);
    if (!*keys) {
        longjmp(no_more_keys, 1);
    }
    memcpy(text, keys++, 1);
    return 1;
}

static struct con_info con; // what con_info() says

static int fake_con_info(struct con_info *info)
{
    *info = con;
    return 0;
}

static i64 fake_disk_read(u32 index, u64 block, u64 n, void *buf)
{
    CHECK(index == 0 && (block + n) * 4096 <= sizeof(disk));
    if (disk_fails) {
        return E_IO;
    }
    memcpy(buf, disk + block * 4096, n * 4096);
    return (i64)n;
}

static int fake_disk_info(u32 index, struct disk_info *info)
{
    if (index > 0) {
        return E_NODEV;
    }
    memset(info, 0, sizeof(*info));
    info->sector_bytes = 512;
    info->blocks = sizeof(disk) / 4096;
    info->error_block = ~0ul;
    return 0;
}

static int fake_mem_alloc(u64 bytes, u32 flags, void **memory)
{
    CHECK(bytes > 0 && flags == 0);
    if (bytes > (u64)mem_left) {
        return E_NOMEM;
    }
    *memory = malloc(bytes);
    allocated++;
    return 0;
}

static int fake_mem_free(void *memory, u64 bytes)
{
    CHECK(bytes > 0);
    free(memory);
    allocated--;
    return 0;
}

// Everything below 64 KiB of our two pages; the second is read-only.
static int fake_mem_phys(const void *address, struct mem_page *found)
{
    const u8 *byte = address;
    memset(found, 0, sizeof(*found));
    if (byte >= (u8 *)page && byte < (u8 *)page + sizeof(page)) {
        found->flags = PAGE_WRITE;
        return 0;
    }
    return byte >= (u8 *)fixed && byte < (u8 *)fixed + sizeof(fixed) ? 0
                                                                     : E_FAULT;
}

static int fake_app_module(u32 index, struct module_info *info)
{
    static const char *const names[] = {"ramdisk.app", "hello.app"};
    if (index > 1) {
        return E_RANGE;
    }
    string_copy(info->name, names[index], sizeof(info->name));
    info->data = index ? "\177ELF in RAM" : "flat";
    info->len = index ? 11 : 4;
    return 0;
}

static int fake_app_run(const void *image, u64 len, u32 flags, int argc,
                        const char *const *argv)
{
    u64 at = 0;
    for (int i = 0; i < argc; i++) {
        at += format(run_words + at, sizeof(run_words) - at, "[%s]", argv[i]);
    }
    CHECK(!argv[argc]);
    run_flags = flags;
    run_len = len;
    run_sum = 0;
    for (u64 i = 0; i < len; i++) {
        run_sum += ((const u8 *)image)[i];
    }
    return run_status;
}

static int fake_sys_info(struct sys_info *info)
{
    memset(info, 0, sizeof(*info));
    memcpy(info->command_line, command_line, sizeof(command_line));
    return 0;
}

static int fake_sys_ready(void)
{
    ready++;
    return 0;
}

static int fake_time_info(struct time_info *info)
{
    memset(info, 0, sizeof(*info));
    info->boot_ns = 812345;
    info->wall = -1;
    return 0;
}

static const char *fake_sys_error(int error)
{
    return error == E_NOMEM     ? "not enough memory"
           : error == E_CRASHED ? "program was ended by an exception"
           : error == E_IO      ? "device error"
                                : "other";
}

// ---- the disk ----

static void disk_file(int slot, const char *name, u64 first, const char *text,
                      u64 size)
{
    u8 *entry = disk + 4096 + 64 * slot;
    u64 fields[3] = {first, 1, size};
    memset(entry, 0, 64);
    memcpy(entry, name, strlen(name));
    memcpy(entry + 32, fields, sizeof(fields));
    memcpy(disk + (first << 21), text, strlen(text));
}

static void fresh(void)
{
    table = (struct ingot){.con_write = fake_con_write,
                           .con_read = fake_con_read,
                           .con_info = fake_con_info,
                           .disk_read = fake_disk_read,
                           .disk_info = fake_disk_info,
                           .mem_alloc = fake_mem_alloc,
                           .mem_free = fake_mem_free,
                           .mem_phys = fake_mem_phys,
                           .app_module = fake_app_module,
                           .app_run = fake_app_run,
                           .sys_info = fake_sys_info,
                           .sys_ready = fake_sys_ready,
                           .time_info = fake_time_info,
                           .sys_error = fake_sys_error};
    con = (struct con_info){.rows = 0};
    unload();
    memset(&line, 0, sizeof(line));
    memset(disk, 0, 4096 + 64 * 64);
    memcpy(disk + 1024, "BMFS", 4);
    disk_file(0, "hello.app", 1, "\177ELF hello", 10);
    disk_file(1, "flat", 2, "\x90\xC3", 2);
    memset(command_line, 0, sizeof(command_line));
    memset(run_words, 0, sizeof(run_words));
    disk_fails = run_status = ready = 0;
    mem_left = 1 << 20;
}

// Type text and see what the console showed from the first prompt on.
static const char *session(const char *text)
{
    static char name[] = "shell";
    static char *argv[] = {name, 0};
    keys = text;
    transcript_len = 0;
    if (!setjmp(no_more_keys)) {
        shell_main(1, argv);
    }
    char *first = transcript;
    while (*first && strncmp(first, "ingot> ", 7) != 0) {
        first++;
    }
    return first;
}

static int same(const char *got, const char *want)
{
    if (strcmp(got, want) != 0) {
        printf("  got:\n%s\n  want:\n%s\n", got, want);
    }
    return strcmp(got, want) == 0;
}

static int has(const char *text, const char *part)
{
    for (; *text; text++) {
        if (strncmp(text, part, strlen(part)) == 0) {
            return 1;
        }
    }
    printf("  no '%s'\n", part);
    return 0;
}

#define P "ingot> "
