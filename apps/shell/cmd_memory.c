// cmd_memory.c - mem, peek, poke, dump. Every page is asked for before it is
// touched, so a wrong address is an error line and never a fault.
// SPDX-License-Identifier: MIT
#include "shell.h"

enum { DUMP_ROW = 16, DUMP_LENGTH = 128, DUMP_MOST = 65536 };

// ---- mem ----

static const char *region_text(u32 type)
{
    static const char *const texts[] = {"?",    "usable", "reserved",
                                        "ACPI", "NVS",    "bad"};
    return texts[type < sizeof(texts) / sizeof(texts[0]) ? type : 0];
}

int command_mem(int argc, char **argv)
{
    (void)argc, (void)argv;
    struct mem_info info;
    struct mem_region region;
    (void)os->mem_info(&info);
    print("%-24s%12lu KiB  (%lu MiB)\n", "RAM", info.ram >> 10, info.ram >> 20);
    print("%-24s%12lu KiB\n", "Free", info.free >> 10);
    print("%-24s%12lu KiB\n", "Largest piece", info.largest >> 10);
    print("%-24s%12lu KiB\n", "For a flat program", info.window_free >> 10);
    print("%-24s%12lu KiB\n", "Kernel", info.kernel >> 10);
    print("%-24s%12lu KiB\n", "Modules", info.modules >> 10);
    print("%-18s  %-18s  %12s  %s\n", "From", "To", "KiB", "Kind");
    for (u32 i = 0; os->mem_region(i, &region) >= 0; i++) {
        print("0x%016lx  0x%016lx  %12lu  %s\n", region.start,
              region.start + region.bytes - 1, region.bytes >> 10,
              region_text(region.type));
    }
    return 0;
}

// ---- what may be touched ----

static int check_page(const char *command, u64 address, int write,
                      struct mem_page *page)
{
    if (os->mem_phys((const void *)address, page) < 0) {
        return shell_error("%s: nothing is mapped at 0x%lx", command, address);
    }
    if (write && !(page->flags & PAGE_WRITE)) {
        return shell_error("%s: 0x%lx is read-only", command, address);
    }
    return 0;
}

// Are all len (> 0) bytes there? Prints the error line when not.
static int check_range(const char *command, u64 address, u64 len, int write)
{
    u64 last = address + (len - 1);
    if (last < address) {
        return shell_error("%s: 0x%lx + %lu is past the end of memory", command,
                           address, len);
    }
    struct mem_page page;
    for (;;) {
        int error = check_page(command, address, write, &page);
        u64 page_last = address | 4095;
        if (error < 0 || page_last >= last) {
            return error;
        }
        address = page_last + 1;
    }
}

static int parse_size(const char *command, const char *text, u64 *size)
{
    u64 value;
    int error = shell_number(command, text, &value);
    if (error < 0) {
        return error;
    }
    if (value != 1 && value != 2 && value != 4 && value != 8) {
        return shell_error("%s: size '%s' is not 1, 2, 4 or 8", command, text);
    }
    *size = value;
    return 0;
}

// Device registers count accesses and their width: one, of that size.
static u64 read_sized(u64 address, u64 size)
{
    switch (size) {
    case 1:
        return *(const volatile u8 *)address;
    case 2:
        return *(const volatile u16 *)address;
    case 4:
        return *(const volatile u32 *)address;
    default:
        return *(const volatile u64 *)address;
    }
}

static void write_sized(u64 address, u64 value, u64 size)
{
    switch (size) {
    case 1:
        *(volatile u8 *)address = (u8)value;
        break;
    case 2:
        *(volatile u16 *)address = (u16)value;
        break;
    case 4:
        *(volatile u32 *)address = (u32)value;
        break;
    default:
        *(volatile u64 *)address = value;
        break;
    }
}

// ---- peek, poke ----

int command_peek(int argc, char **argv)
{
    u64 address, size = 8;
    if (shell_number("peek", argv[1], &address) < 0 ||
        (argc > 2 && parse_size("peek", argv[2], &size) < 0) ||
        check_range("peek", address, size, 0) < 0) {
        return E_ARG;
    }
    print("0x%016lx: 0x%0*lx\n", address, (int)(2 * size),
          read_sized(address, size));
    return 0;
}

int command_poke(int argc, char **argv)
{
    u64 address, value, size = 8;
    if (shell_number("poke", argv[1], &address) < 0 ||
        shell_number("poke", argv[2], &value) < 0 ||
        (argc > 3 && parse_size("poke", argv[3], &size) < 0)) {
        return E_ARG;
    }
    if (size < 8 && value >> (8 * size)) {
        return shell_error("poke: '%s' does not fit %lu bytes", argv[2], size);
    }
    if (check_range("poke", address, size, 1) < 0) {
        return E_ARG;
    }
    write_sized(address, value, size);
    return 0;
}

// ---- dump ----

static void dump_row(u64 address, u64 len)
{
    char hex[3 * DUMP_ROW + 1], text[DUMP_ROW + 1];
    for (u64 i = 0; i < len; i++) {
        u8 byte = *(const volatile u8 *)(address + i);
        format(hex + 3 * i, 4, " %02x", byte);
        text[i] = byte >= ' ' && byte < 127 ? (char)byte : '.';
    }
    text[len] = 0;
    print("%016lx %-48s  %s\n", address, hex, text);
}

int command_dump(int argc, char **argv)
{
    u64 address, len = DUMP_LENGTH;
    if (shell_number("dump", argv[1], &address) < 0 ||
        (argc > 2 && shell_number("dump", argv[2], &len) < 0)) {
        return E_ARG;
    }
    if (len == 0 || len > DUMP_MOST) {
        return shell_error("dump: length %lu is not between 1 and %u", len,
                           DUMP_MOST);
    }
    if (check_range("dump", address, len, 0) < 0) {
        return E_ARG;
    }
    for (u64 done = 0; done < len; done += DUMP_ROW) {
        u64 left = len - done;
        dump_row(address + done, left < DUMP_ROW ? left : DUMP_ROW);
    }
    return 0;
}
