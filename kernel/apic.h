// apic.h - the local APIC and the I/O APICs; the 8259s are switched off.
// SPDX-License-Identifier: MIT
#pragma once
#include "acpi.h"

// Mask the 8259s, switch the local APIC on (x2APIC mode is kept when firmware
// left it on), mask every I/O APIC input. Without a MADT: E_NODEV, no
// device interrupts, sources are polled.
int apic_init(const struct acpi *acpi);
void apic_end_of_interrupt(void);
u32 apic_id(void);
// Send legacy IRQ (0..15) to vector on this core, with the MADT's overrides.
// E_UNSUPPORTED: no interrupt controller takes it, its device is polled.
int must_check apic_route_irq(u32 irq, u8 vector);

int apic_is_on(void);
u32 apic_read(u32 reg); // SDM table 10-1: by its offset in the APIC's page
void apic_write(u32 reg, u32 value);
void apic_start_core(void); // the same as apic_init() on a further core
// Interrupt another core. E_TIMEOUT: the APIC is still busy with the last one.
int apic_send(u32 to_id, u8 vector);
int apic_send_nmi(u32 to_id);
int apic_send_init(u32 to_id);
int apic_send_startup(u32 to_id, u8 page); // it starts at page * 4096

enum { APIC_LVT_TIMER = 0x320, LVT_MASKED = 1 << 16 };
// apic_timer.c: the calling core's timer raises VECTOR_TIMER when the TSC has
// come to a moment, or somewhat before. E_NODEV: no clock, or it stands still.
int must_check apic_timer_init(void);
void apic_timer_set(u64 tsc);
void apic_timer_stop(void);
