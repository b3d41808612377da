// pci_fake.h - configuration space to scan: made-up functions behind ports and
// behind an ECAM window.
// SPDX-License-Identifier: MIT
//
// Who includes it defines other_read() and other_write() for every register
// that is not configuration space.
#pragma once
#include "../../kernel/pci_config.c"
#include "../../kernel/pci_scan.c"
#undef LOG_TAG
#include "../../kernel/pci_bar.c"
#undef LOG_TAG
#include "../../kernel/mmio.h"
#include <stdarg.h>
#include "test.h"

enum { FAKE_FUNCTIONS = 300, FAKE_WORDS = 1024 };
#define FAKE_ECAM 0xB0000000ul
#define FAKE_ECAM_BYTES (256ul << 20)

struct fake_function {
    u16 segment;
    u8 bus, device, function;
    u8 every_device; // answers to each device number of its bus
    u32 words[FAKE_WORDS];
    u64 bar_bytes[6];
};

static struct {
    struct fake_function functions[FAKE_FUNCTIONS];
    u32 n;
    u32 address; // of the ports
    int has_ports, has_ecam;
    u32 moved_while_decoding; // a BAR was written with decoding on
    u64 reads;
} fake;

u64 other_read(u64 address, u32 bytes, int is_port);
void other_write(u64 address, u64 value, u32 bytes, int is_port);

static struct fake_function *fake_find(u32 segment, u32 bus, u32 device,
                                       u32 function)
{
    for (u32 i = 0; i < fake.n; i++) {
        struct fake_function *f = &fake.functions[i];
        if (f->segment == segment && f->bus == bus && f->function == function &&
            (f->device == device || f->every_device)) {
            return f;
        }
    }
    return 0;
}

// A function with an ID and a header; class and BARs are the test's.
static struct fake_function *fake_add(u32 bus, u32 device, u32 function)
{
    struct fake_function *f = &fake.functions[fake.n++];
    *f = (struct fake_function){
        .bus = (u8)bus, .device = (u8)device, .function = (u8)function};
    f->words[0] = 0x12348086;
    return f;
}

static u32 fake_config_read(const struct fake_function *f, u32 offset)
{
    fake.reads++;
    return f ? f->words[offset / 4] : ~0u;
}

// BARs keep the bits that their size leaves, the status half of the command
// word is cleared by ones, the ID is read-only.
static void fake_config_write(struct fake_function *f, u32 offset, u32 value,
                              u32 mask)
{
    if (f == 0 || offset < 4) {
        return;
    }
    u32 *word = &f->words[offset / 4];
    value = (*word & ~mask) | (value & mask);
    if (offset / 4 == PCI_COMMAND / 4) {
        u32 status = *word >> 16 & ~(mask & value) >> 16;
        *word = (value & 0xFFFF) | status << 16;
        return;
    }
    u32 bar = (offset - PCI_BAR0) / 4;
    if (offset < PCI_BAR0 || bar >= 6) {
        *word = value;
        return;
    }
    fake.moved_while_decoding +=
        (f->words[PCI_COMMAND / 4] & 3) != 0 && value != *word;
    int upper = bar > 0 && (f->words[3 + bar] & 7) == 4;
    u64 bytes = upper ? f->bar_bytes[bar - 1] : f->bar_bytes[bar];
    u32 keep = bytes ? (u32)(upper ? (0 - bytes) >> 32 : 0 - bytes) : 0;
    u32 flags = upper ? 0 : *word & (*word & 1 ? 3 : 15);
    *word = (value & keep & ~(upper ? 0u : flags & 1 ? 3u : 15u)) | flags;
}

static struct fake_function *fake_by_ports(void)
{
    u32 a = fake.address;
    return fake.has_ports && a >> 31
               ? fake_find(0, a >> 16 & 255, a >> 11 & 31, a >> 8 & 7)
               : 0;
}

static struct fake_function *fake_by_ecam(u64 address)
{
    u64 at = address - FAKE_ECAM;
    u32 segment = at >= FAKE_ECAM_BYTES; // segment 1 lies behind segment 0
    at %= FAKE_ECAM_BYTES;
    return fake.has_ecam ? fake_find(segment, (u32)(at >> 20), at >> 15 & 31,
                                     at >> 12 & 7)
                         : 0;
}

static int fake_is_ecam(u64 address)
{
    return address >= FAKE_ECAM && address < FAKE_ECAM + 2 * FAKE_ECAM_BYTES;
}

static u64 fake_read(u64 address, u32 bytes)
{
    if (!fake_is_ecam(address)) {
        return other_read(address, bytes, 0);
    }
    u32 word = fake_config_read(fake_by_ecam(address), address & 0xFFC);
    return word >> (address & 3) * 8;
}

static void fake_write(u64 address, u64 value, u32 bytes)
{
    if (!fake_is_ecam(address)) {
        other_write(address, value, bytes, 0);
        return;
    }
    u32 shift = (address & 3) * 8;
    u32 mask = (bytes == 4 ? ~0u : (1u << bytes * 8) - 1) << shift;
    fake_config_write(fake_by_ecam(address), address & 0xFFC,
                      (u32)value << shift, mask);
}

u8 mmio_read8(u64 address)
{
    return (u8)fake_read(address, 1);
}
u16 mmio_read16(u64 address)
{
    return (u16)fake_read(address, 2);
}
u32 mmio_read32(u64 address)
{
    return (u32)fake_read(address, 4);
}
void mmio_write8(u64 address, u8 value)
{
    fake_write(address, value, 1);
}
void mmio_write16(u64 address, u16 value)
{
    fake_write(address, value, 2);
}
void mmio_write32(u64 address, u32 value)
{
    fake_write(address, value, 4);
}

static int fake_is_config_port(u16 port)
{
    return port >= 0xCF8 && port < 0xD00;
}

static u64 fake_in(u16 port, u32 bytes)
{
    if (!fake_is_config_port(port)) {
        return other_read(port, bytes, 1);
    }
    if (port < 0xCFC) {
        return fake.has_ports ? fake.address : ~0u;
    }
    u32 word = fake_config_read(fake_by_ports(), fake.address & 0xFC);
    return word >> (port & 3) * 8;
}

static void fake_out(u16 port, u64 value, u32 bytes)
{
    if (!fake_is_config_port(port)) {
        other_write(port, value, bytes, 1);
    } else if (port < 0xCFC) {
        fake.address = (u32)value;
    } else {
        u32 shift = (port & 3) * 8;
        u32 mask = (bytes == 4 ? ~0u : (1u << bytes * 8) - 1) << shift;
        fake_config_write(fake_by_ports(), fake.address & 0xFC,
                          (u32)value << shift, mask);
    }
}

u8 inb(u16 port)
{
    return (u8)fake_in(port, 1);
}
u16 inw(u16 port)
{
    return (u16)fake_in(port, 2);
}
u32 inl(u16 port)
{
    return (u32)fake_in(port, 4);
}
void outb(u16 port, u8 value)
{
    fake_out(port, value, 1);
}
void outw(u16 port, u16 value)
{
    fake_out(port, value, 2);
}
void outl(u16 port, u32 value)
{
    fake_out(port, value, 4);
}

// ---- the kernel below ----
static char fake_log[4096]; // every line since fake_reset()
static u32 fake_log_len;
static int fake_map_result;
static u64 fake_memory_left = ~0ul;
static void *fake_arena[1024];
static u32 fake_arena_n;

void log_line(enum log_level level, const char *tag, const char *text, ...)
{
    (void)level, (void)tag;
    va_list args;
    va_start(args, text);
    u32 left = sizeof(fake_log) - fake_log_len;
    u32 len = (u32)vsnprintf(fake_log + fake_log_len, left, text, args);
    fake_log_len += len < left ? len : left - 1;
    va_end(args);
}

static inline int fake_logged(const char *part)
{
    return __builtin_strstr(fake_log, part) != 0;
}

u64 format(char *to, u64 cap, const char *text, ...)
{
    va_list args;
    va_start(args, text);
    int len = vsnprintf(to, cap, text, args);
    va_end(args);
    return (u64)len;
}

int mmio_map(u64 phys, u64 bytes)
{
    (void)phys, (void)bytes;
    return fake_map_result;
}

// Nothing the kernel allocates at boot is freed; a test's memory is.
void *memory_boot_alloc(u64 bytes, u64 align)
{
    if (bytes > fake_memory_left || fake_arena_n == array_size(fake_arena)) {
        return 0;
    }
    fake_memory_left -= bytes;
    void *memory = aligned_alloc(align, align_up(bytes, align));
    fake_arena[fake_arena_n++] = memory;
    return __builtin_memset(memory, 0, align_up(bytes, align));
}

static void fake_reset(void)
{
    fake.n = 0; // fake_add() clears what it hands out
    fake.address = fake.moved_while_decoding = 0;
    fake.reads = 0;
    __builtin_memset(&pci, 0, sizeof(pci));
    fake.has_ports = fake.has_ecam = 1;
    fake_log[fake_log_len = 0] = 0;
    fake_map_result = 0;
    fake_memory_left = ~0ul;
    while (fake_arena_n > 0) {
        free(fake_arena[--fake_arena_n]);
    }
}
