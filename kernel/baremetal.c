// baremetal.c - what b_system and b_input do for programs built for BareMetal.
// SPDX-License-Identifier: MIT
#include "baremetal.h"
#include "app.h"
#include "app_load.h"
#include "apic.h"
#include "console.h"
#include "input.h"
#include "nic.h"
#include "power.h"
#include "screen.h"
#include "time.h"

enum { // RCX; the names are in include/ingot.inc
    BM_TIMECOUNTER = 0x00,
    BM_FREE_MEMORY = 0x01,
    BM_SMP_ID = 0x10,
    BM_SMP_NUMCORES = 0x11,
    BM_TSC = 0x1F,
    BM_SCREEN_LFB = 0x20, // the frame buffer's address
    BM_SCREEN_X,
    BM_SCREEN_Y,
    BM_SCREEN_PPSL, // pixels from one row to the next
    BM_SCREEN_BPP,
    BM_MAC_GET = 0x30,
    BM_BUS_READ = 0x50,
    BM_BUS_WRITE = 0x51,
    BM_DUMP_MEM = 0x70,
    BM_DUMP_RAX = 0x71,
    BM_DELAY = 0x72,
    BM_REBOOT = 0x7E,
    BM_SHUTDOWN = 0x7F,
};

// BareMetal's key codes, which it gives serial input too.
enum { BM_KEY_BACKSPACE = 0x0E, BM_KEY_ENTER = 0x1C };

u8 baremetal_key(void)
{
    u8 byte;
    if (input_read(&byte, 1, 0) == 0) {
        return 0;
    }
    if (byte == '\r' || byte == '\n') {
        return BM_KEY_ENTER;
    }
    return byte == '\b' || byte == 0x7F ? BM_KEY_BACKSPACE : byte;
}

// The first byte of the address ends up in bits 40 to 47.
static u64 baremetal_mac(u8 index)
{
    const struct nic *nic = nic_get(index);
    u64 mac = 0;
    for (u32 i = 0; nic && i < sizeof(nic->mac); i++) {
        mac = mac << 8 | nic->mac[i];
    }
    return mac;
}

// RDX: segment in bits 32-47, bus 24-31, device 19-23, function 16-18, number
// of the 32-bit register 0-15. Null: no such function or register.
static const struct pci_device *baremetal_pci(u64 place, u32 *offset)
{
    for (u32 i = 0; i < pci_count(); i++) {
        const struct pci_device *device = pci_get(i);
        u64 id = (u64)device->segment << 16 | (u64)device->bus << 8 |
                 (u64)device->device << 3 | device->function;
        if (id == place >> 16) {
            *offset = (u32)field_get(BITS(15, 0), place) * 4;
            return *offset < pci_config_bytes(device) ? device : 0;
        }
    }
    return 0;
}

static u64 baremetal_bus_read(u64 place)
{
    u32 offset;
    const struct pci_device *device = baremetal_pci(place, &offset);
    return device ? pci_read32(device, offset) : 0xFFFFFFFF;
}

static void baremetal_bus_write(u64 place, u32 value)
{
    u32 offset;
    const struct pci_device *device = baremetal_pci(place, &offset);
    if (device) {
        pci_write32(device, offset, value);
    }
}

static void baremetal_dump(const u8 *bytes, u64 len)
{
    for (u64 i = 0; i < len; i++) {
        if (i % 16 == 0) {
            console_printf("%s%016lx:", i ? "\n" : "", (u64)(bytes + i));
        }
        console_printf(" %02x", bytes[i]);
    }
    console_printf("\n");
}

// Ctrl-C ends a wait too: kernel code is never cut off in the middle.
static void baremetal_delay(u64 us)
{
    const u64 longest = 1000000000000; // 11 days: the product fits
    struct deadline end = deadline_ns((us < longest ? us : longest) * 1000);
    while (!deadline_passed(&end) && !app_stopping()) {
        pause();
    }
}

// Those that only have an effect.
static void baremetal_act(u64 function, u64 a, u64 d)
{
    switch (function) {
    case BM_BUS_WRITE:
        baremetal_bus_write(d, (u32)a);
        break;
    case BM_DUMP_MEM:
        baremetal_dump((const u8 *)a, d);
        break;
    case BM_DUMP_RAX:
        console_printf("%016lx", a);
        break;
    case BM_DELAY:
        baremetal_delay(a);
        break;
    case BM_REBOOT:
        (void)power_reboot();
        break;
    case BM_SHUTDOWN:
        (void)power_shutdown();
        break;
    default:
        break;
    }
}

// All 0 without a screen. Who asks for the address is going to draw.
static u64 baremetal_screen(u64 function)
{
    struct screen_info screen;
    if (screen_info(&screen) < 0) {
        return 0;
    }
    switch (function) {
    case BM_SCREEN_LFB:
        (void)screen_claim(1);
        return (u64)screen.pixels;
    case BM_SCREEN_X:
        return screen.width;
    case BM_SCREEN_Y:
        return screen.height;
    case BM_SCREEN_PPSL:
        return screen.pitch / (screen.bits / 8);
    default:
        return screen.bits;
    }
}

u64 baremetal_system(u64 function, u64 a, u64 d)
{
    if (function >= BM_SCREEN_LFB && function <= BM_SCREEN_BPP) {
        return baremetal_screen(function);
    }
    switch (function) {
    case BM_TIMECOUNTER:
        return time_ns();
    case BM_FREE_MEMORY:
        return app_window_free() >> 20;
    case BM_SMP_ID:
        return apic_id();
    case BM_SMP_NUMCORES:
        return 1;
    case BM_TSC:
        return rdtsc();
    case BM_MAC_GET:
        return baremetal_mac((u8)d);
    case BM_BUS_READ:
        return baremetal_bus_read(d);
    default:
        baremetal_act(function, a, d);
        return a;
    }
}
