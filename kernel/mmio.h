// mmio.h - device registers: the only volatile casts in the system.
// SPDX-License-Identifier: MIT
//
// Host tests define MMIO_FAKE and give these functions a card of their own.
#pragma once
#include "cpu.h"

#ifdef MMIO_FAKE
u8 mmio_read8(u64 address);
u16 mmio_read16(u64 address);
u32 mmio_read32(u64 address);
u64 mmio_read64(u64 address);
void mmio_write8(u64 address, u8 value);
void mmio_write16(u64 address, u16 value);
void mmio_write32(u64 address, u32 value);
void mmio_write64(u64 address, u64 value);
#else
static inline u8 mmio_read8(u64 address)
{
    return *(const volatile u8 *)address;
}
static inline u16 mmio_read16(u64 address)
{
    return *(const volatile u16 *)address;
}
static inline u32 mmio_read32(u64 address)
{
    return *(const volatile u32 *)address;
}
static inline u64 mmio_read64(u64 address)
{
    return *(const volatile u64 *)address;
}
static inline void mmio_write8(u64 address, u8 value)
{
    *(volatile u8 *)address = value;
}
static inline void mmio_write16(u64 address, u16 value)
{
    *(volatile u16 *)address = value;
}
static inline void mmio_write32(u64 address, u32 value)
{
    *(volatile u32 *)address = value;
}
static inline void mmio_write64(u64 address, u64 value)
{
    *(volatile u64 *)address = value;
}
#endif

static inline void mmio_set32(u64 address, u32 bits)
{
    mmio_write32(address, mmio_read32(address) | bits);
}
static inline void mmio_clear32(u64 address, u32 bits)
{
    mmio_write32(address, mmio_read32(address) & ~bits);
}

// Wait until (register & mask) == want. Returns 0, E_TIMEOUT after ms
// milliseconds, or E_GONE when the register reads all ones and want does not.
int must_check mmio_wait32(u64 address, u32 mask, u32 want, u32 ms);
