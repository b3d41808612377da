// msi.h - interrupts that a PCI function sends as memory writes.
// SPDX-License-Identifier: MIT
#pragma once
#include "interrupt.h"
#include "pci.h"

// A free vector, of VECTOR_HOOKS or of VECTOR_DRIVERS, for fn(context), called
// with interrupts off on an interrupt stack. E_NOMEM: all are taken.
int must_check interrupt_take_vector(u8 first, interrupt_handler *fn,
                                     void *context);
void interrupt_give_vector(u8 vector);

// Entries a function can signal: of MSI-X, else 1 of MSI, else 0.
u32 msi_entries(const struct pci_device *device);
// Send entry (MSI-X, or 0 of MSI) to vector on the core with this APIC id, and
// switch it on. The message is a write of the function's own: it must be a bus
// master. E_UNSUPPORTED: it has neither, its table is not where it says, or the
// id has more than eight bits; E_RANGE: no such entry; E_NODEV: no local APIC.
int must_check msi_route(const struct pci_device *device, u32 entry, u8 vector,
                         u32 apic_id);
// Address of an MSI-X entry's control word, for interrupt handlers: 1 masks it,
// 0 sends what it had to say meanwhile. 0: MSI, which has none.
enum { MSI_ENTRY_MASKED = 1 };
u64 msi_mask_address(const struct pci_device *device, u32 entry);
void msi_off(const struct pci_device *device, u32 entry);
