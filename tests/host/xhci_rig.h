// xhci_rig.h - the USB driver on the host, and what the kernel gives it.
// SPDX-License-Identifier: MIT
#pragma once
#include "keyboard_rig.h"
#include "../../kernel/mmio.c"
#include "../../drivers/xhci_ring.c"
#include "../../drivers/xhci_port.c"
#include "../../drivers/xhci_transfer.c"
#include "../../drivers/usb_descriptors.c"
#include "../../drivers/xhci_command.c"
#undef LOG_TAG
#include "../../drivers/xhci_events.c"
#undef LOG_TAG
#include "../../drivers/usb_keyboard.c"
#undef LOG_TAG
#define DEBOUNCE_MS HUB_DEBOUNCE_MS
#define RESET_MS HUB_RESET_MS
#define RECOVERY_MS HUB_RECOVERY_MS
#include "../../drivers/usb_hub.c"
#undef LOG_TAG
#undef DEBOUNCE_MS
#undef RESET_MS
#undef RECOVERY_MS
#define CONFIGURATION DESCRIPTOR_CONFIGURATION
#define CONFIGURATION_BYTES DESCRIPTOR_CONFIGURATION_BYTES
#include "../../drivers/usb.c"
#undef LOG_TAG
#undef CONFIGURATION
#undef CONFIGURATION_BYTES
#include "../../drivers/usb_port.c"
#undef LOG_TAG
#define RESET_MS CONTROLLER_RESET_MS
#include "../../drivers/xhci.c"
#include "clock_fake.h"
#include <stdlib.h>

void pci_name(const struct pci_device *device, char *text)
{
    (void)device;
    string_copy(text, "00:04.0", 16);
}

static void *arena[256];
static u32 arena_n;

static void free_arena(void)
{
    while (arena_n > 0) {
        free(arena[--arena_n]);
    }
}

void *memory_boot_alloc(u64 bytes, u64 align)
{
    u64 size = align_up(bytes, align);
    void *memory = aligned_alloc(align, size);
    CHECK(arena_n < array_size(arena));
    arena[arena_n++] = memory;
    return memset(memory, 0, size);
}

static u32 low_allocations, master_off, polled;

void *memory_boot_alloc_low(u64 bytes, u64 align)
{
    low_allocations++;
    return memory_boot_alloc(bytes, align);
}

void pci_enable(const struct pci_device *device, u16 bits)
{
    (void)device;
    (void)bits;
}

void pci_disable_master(const struct pci_device *device)
{
    (void)device;
    master_off++;
}

u32 pci_read32(const struct pci_device *device, u32 offset)
{
    (void)device;
    return offset;
}

void pci_write32(const struct pci_device *device, u32 offset, u32 value)
{
    (void)device;
    (void)offset;
    (void)value;
}

u32 apic_id(void)
{
    return 0;
}

static interrupt_handler *handler;
static void *handler_context;
static int vectors = 0x40; // what interrupt_take_vector answers

int interrupt_take_vector(u8 first, interrupt_handler *fn, void *context)
{
    (void)first;
    handler = fn;
    handler_context = context;
    return vectors;
}

int msi_route(const struct pci_device *device, u32 entry, u8 vector, u32 id)
{
    (void)device;
    (void)entry;
    (void)vector;
    (void)id;
    return 0;
}

void input_add_source(const struct input_source *source)
{
    (void)source;
}

void input_use_polling(void)
{
    polled = 1;
}
