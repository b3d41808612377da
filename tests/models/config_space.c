// config_space.c - the PCI side: configuration space, BARs, the MSI-X table.
// SPDX-License-Identifier: MIT
//
// QEMU keeps a shadow of what is written and decides by it where the BARs are,
// but every read comes here, and accesses carry absolute guest addresses.
#include "x540.h"
#include <string.h>

enum {
    COMMAND = 0x04,
    COMMAND_MEMORY = 2,
    COMMAND_MASTER = 4,
    BAR0 = 0x10,
    BAR4 = 0x20,
    CAP_PM = 0x40,
    CAP_MSI = 0x50,
    CAP_MSIX = 0x70,
    CAP_PCIE = 0xA0,
    DEVICE_CONTROL = CAP_PCIE + 8,
};

static void config_put(struct x540 *m, u32 at, u32 len, u32 value, u32 mask)
{
    for (u32 i = 0; i < len; i++) {
        m->config[at + i] = (u8)(value >> 8 * i);
        m->config_mask[at + i] = (u8)(mask >> 8 * i);
    }
}

static void config_fill_header(struct x540 *m)
{
    config_put(m, 0x00, 4, (u32)m->device_id << 16 | 0x8086, 0);
    config_put(m, COMMAND, 4, 0x00100000, 0x0547); // capability list
    config_put(m, 0x08, 4, 0x02000001, 0);         // Ethernet, revision 1
    config_put(m, 0x0C, 4, 0, 0xFF);               // cache line size
    config_put(m, BAR0, 4, 0, (u32)-BAR0_SIZE);
    config_put(m, BAR4, 4, 0, (u32)-BAR4_SIZE);
    config_put(m, 0x2C, 4, 0x00018086, 0);
    config_put(m, 0x34, 4, CAP_PM, 0);
    config_put(m, 0x3C, 4, 0x0100, 0xFF); // pin A; the line is the firmware's
}

static void config_fill_capabilities(struct x540 *m)
{
    config_put(m, CAP_PM, 4, 0x00030001 | CAP_MSI << 8, 0);
    config_put(m, CAP_PM + 4, 4, 0x00000008, 0x8003); // D0, no soft reset
    config_put(m, CAP_MSI, 4, 0x00800005 | CAP_MSIX << 8, 0x00010000);
    config_put(m, CAP_MSI + 4, 4, 0, ~3u);
    config_put(m, CAP_MSI + 8, 4, 0, ~0u);
    config_put(m, CAP_MSI + 12, 4, 0, 0xFFFF);
    config_put(m, CAP_MSIX, 4,
               0x0011 | CAP_PCIE << 8 | (MSIX_VECTORS - 1) << 16, 0xC0000000);
    config_put(m, CAP_MSIX + 4, 4, 4, 0);            // table: BAR4 + 0
    config_put(m, CAP_MSIX + 8, 4, MSIX_PBA | 4, 0); // pending: BAR4 + 2000
    config_put(m, CAP_PCIE, 4, 0x00020010, 0);       // endpoint, version 2
    config_put(m, CAP_PCIE + 4, 4, 0x10008CC2, 0);   // 512 bytes, FLR
    config_put(m, DEVICE_CONTROL, 4, 0x2810, 0xFFFF);
    config_put(m, CAP_PCIE + 12, 4, 0x00000482, 0); // 5 GT/s, x8
    config_put(m, CAP_PCIE + 16, 4, 0x00820000, 0x01FF);
}

void config_power_on(struct x540 *m)
{
    memset(m->config, 0, sizeof(m->config));
    memset(m->config_mask, 0, sizeof(m->config_mask));
    memset(m->msix, 0, sizeof(m->msix));
    for (u32 i = 0; i < MSIX_VECTORS; i++)
        m->msix[16 * i + 12] = 1; // masked
    config_fill_header(m);
    config_fill_capabilities(m);
}

static u32 config_get(struct x540 *m, u32 at, u32 len)
{
    u32 value = 0;
    for (u32 i = 0; i < len && at + i < 256; i++)
        value |= (u32)m->config[at + i] << 8 * i;
    return value;
}

u32 config_read(struct x540 *m, u32 addr, u32 len)
{
    m->total.config++;
    if (m->fault.removed || addr >= 256)
        return ~0u;
    return config_get(m, addr, len > 4 ? 4 : len);
}

// A function level reset takes the configuration along, and QEMU's shadow does
// not notice: accesses go nowhere until the BARs are written again.
void config_write(struct x540 *m, u32 addr, u32 value, u32 len)
{
    m->total.config++;
    if (m->fault.removed)
        return;
    for (u32 i = 0; i < len && i < 4 && addr + i < 256; i++) {
        u8 mask = m->config_mask[addr + i];
        u8 byte = (u8)(value >> 8 * i);
        m->config[addr + i] =
            (u8)((m->config[addr + i] & ~mask) | (byte & mask));
    }
    if (config_get(m, DEVICE_CONTROL, 2) & 0x8000) {
        config_power_on(m);
        model_reset(m);
    }
}

bool config_is_master(struct x540 *m)
{
    return config_get(m, COMMAND, 2) & COMMAND_MASTER;
}

static bool bar_holds(struct x540 *m, u32 bar, u64 gpa, u32 size, u64 *offset)
{
    u64 base = config_get(m, bar, 4) & ~15u;
    u32 span = bar == BAR0 ? BAR0_SIZE : BAR4_SIZE;
    *offset = gpa - base;
    return base && config_get(m, COMMAND, 2) & COMMAND_MEMORY && gpa >= base &&
           *offset < span && size <= span - *offset;
}

u64 bar_read(struct x540 *m, u64 gpa, u32 size)
{
    u64 offset, value = ~0ull;
    if (m->fault.removed || size > 8)
        return value;
    if (bar_holds(m, BAR0, gpa, size, &offset))
        return bar0_read(m, offset, size);
    if (bar_holds(m, BAR4, gpa, size, &offset)) {
        value = 0;
        memcpy(&value, m->msix + offset, size);
    }
    return value;
}

void bar_write(struct x540 *m, u64 gpa, u64 value, u32 size)
{
    u64 offset;
    if (m->fault.removed || size > 8)
        return;
    if (bar_holds(m, BAR0, gpa, size, &offset))
        bar0_write(m, offset, value, size);
    else if (bar_holds(m, BAR4, gpa, size, &offset) && offset < MSIX_PBA)
        memcpy(m->msix + offset, &value, size);
}
