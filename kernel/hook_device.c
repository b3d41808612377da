// hook_device.c - hooks of devices: the interrupt of a NIC, or of any function.
// SPDX-License-Identifier: MIT
//
// The interrupt masks its source, and the source is unmasked when the program's
// function has returned: so a flood never keeps a core in interrupts alone. A
// NIC's ring is looked at after it was unmasked, and an MSI-X entry remembers
// what it had to say while it was masked: nothing is lost in between.
#include "hook_device.h"
#include "apic.h"
#include "core.h"
#include "interrupt.h"
#include "mmio.h"
#include "msi.h"
#include "time.h"

enum { NOTIFY_MS = 1000 }; // a reset in another core's call may take half of it

// MSI has no mask: a device that speaks again before its hook was called would
// go on to, and the core do nothing but listen. So all devices of the program
// wait, and are heard when hooks are called.
static void hook_device_hush(struct core *core)
{
    core->hook_hushed = 1;
    write_cr8((VECTOR_DRIVERS - 1) >> 4);
}

void hook_device_listen(struct core *core)
{
    if (core->hook_hushed) {
        core->hook_hushed = 0;
        write_cr8(0);
    }
}

static void hook_device_interrupt(void *context)
{
    struct hook *hook = context;
    u32 kind = load_acquire(&hook->kind);
    if (hook->core != core_self()->index) {
        return;
    }
    if (kind == HOOK_NET) {
        (void)hook->nic->ops->notify(hook->nic, NIC_NOTIFY_MASK);
        (void)hook_note(hook);
    } else if (kind == HOOK_IRQ) {
        if (hook->mask != 0) {
            mmio_write32(hook->mask, MSI_ENTRY_MASKED);
        }
        if (hook_note(hook) && hook->mask == 0) {
            hook_device_hush(core_self());
        }
    }
}

// As if it had sent its message.
static int hook_device_raise(const struct hook *hook)
{
    return apic_send(core_self()->apic_id, hook->vector);
}

static int hook_device_is_same(const struct hook *a, const struct hook *b)
{
    return a->pci == b->pci && a->entry == b->entry;
}

static int hook_device_check(const struct hook *hook, enum hook_kind kind)
{
    if (hook_is_taken(hook_device_is_same, hook)) {
        return E_BUSY;
    }
    if (kind == HOOK_IRQ) {
        return hook->pci->driver != 0 ? E_BUSY : 0;
    }
    if (hook->nic->gone) {
        return E_NODEV;
    }
    return hook->nic->ops->notify == 0 ? E_UNSUPPORTED : 0;
}

static int hook_device_notify(struct nic *nic, enum nic_notify what)
{
    if (!nic_enter(nic)) {
        return E_BUSY;
    }
    int result = nic->ops->notify(nic, what);
    nic_leave(nic);
    return result;
}

// The vector is known before the hook is what its interrupt looks for.
static int hook_device_connect(struct hook *hook, enum hook_kind kind)
{
    TRY(msi_route(hook->pci, hook->entry, hook->vector, core_self()->apic_id));
    hook->mask = msi_mask_address(hook->pci, hook->entry);
    store_release(&hook->kind, kind);
    if (kind == HOOK_IRQ) {
        return 0;
    }
    int waiting = hook_device_notify(hook->nic, NIC_NOTIFY_ON);
    return waiting > 0 ? hook_device_raise(hook) : waiting;
}

int hook_device_start(struct hook *hook, enum hook_kind kind)
{
    TRY(hook_device_check(hook, kind));
    hook_device_listen(core_self()); // the program before may have ended hushed
    int vector =
        interrupt_take_vector(VECTOR_HOOKS, hook_device_interrupt, hook);
    if (vector < 0) {
        return vector;
    }
    hook->vector = (u8)vector;
    int result = hook_device_connect(hook, kind);
    if (result < 0) {
        hook_device_stop(hook);
    }
    return result;
}

// Another core's call is waited for.
static void hook_device_quiet(struct nic *nic)
{
    struct deadline limit = deadline_ms(NOTIFY_MS);
    while (hook_device_notify(nic, NIC_NOTIFY_OFF) == E_BUSY &&
           !deadline_passed(&limit)) {
        pause();
    }
}

void hook_device_stop(struct hook *hook)
{
    if (hook->nic != 0) {
        hook_device_quiet(hook->nic);
    }
    msi_off(hook->pci, hook->entry);
    interrupt_give_vector(hook->vector);
}

void hook_device_again(struct hook *hook)
{
    if (hook->nic == 0) {
        if (hook->mask != 0) {
            mmio_write32(hook->mask, 0);
        }
        return;
    }
    int waiting = hook_device_notify(hook->nic, NIC_NOTIFY_UNMASK);
    if (waiting > 0 || waiting == E_BUSY) { // or try again
        (void)hook_note(hook);
    }
}
