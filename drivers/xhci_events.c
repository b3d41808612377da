// xhci_events.c - what a controller tells us, by interrupt or when asked.
// SPDX-License-Identifier: MIT
//
// xHCI 1.2, 4.9.4 (the event ring), 4.17 (interrupts).
#include "xhci.h"

#define LOG_TAG "xhci"

static struct xhci *controllers[XHCI_CONTROLLERS];

void xhci_add(struct xhci *hc)
{
    for (u32 i = 0; i < XHCI_CONTROLLERS; i++) {
        if (controllers[i] == 0) {
            controllers[i] = hc;
            return;
        }
    }
}

// Said once; from then on it is left alone, and it reaches no memory.
void xhci_die(struct xhci *hc, const char *why)
{
    if (hc->dead) {
        return;
    }
    hc->dead = 1;
    log_error("%s %s: its keyboards are gone", hc->name, why);
    pci_disable_master(hc->pci);
    for (u32 i = 0; i < XHCI_DEVICES; i++) {
        if (hc->devices[i].state == USB_RUNNING) {
            usb_keyboard_gone(&hc->devices[i]);
        }
        hc->devices[i].state = USB_LOST;
    }
    hc->job = (struct usb_job){0};
}

static void xhci_take_event(struct xhci *hc, const struct xhci_trb *event)
{
    switch (field_get(TRB_TYPE, event->control)) {
    case TRB_TRANSFER_EVENT:
        xhci_transfer_ended(hc, event);
        break;
    case TRB_COMMAND_EVENT:
        xhci_command_ended(hc, event);
        break;
    case TRB_PORT_EVENT:
        xhci_port_event(hc, (u32)field_get(EVENT_PORT, event->parameter));
        break;
    default:
        break;
    }
}

// At most a ring full at a time.
static void xhci_take_events(struct xhci *hc)
{
    struct xhci_trb event;
    u32 first = hc->events_taken;
    while (!hc->dead && hc->events_taken - first < XHCI_EVENTS &&
           xhci_next_event(hc, &event)) {
        xhci_take_event(hc, &event);
    }
    if (hc->events_taken != first && !hc->dead) {
        u64 next = (u64)&hc->events[hc->events_taken % XHCI_EVENTS];
        xhci_write64(hc->runtime + XHCI_ERDP, next | ERDP_EHB);
    }
}

static void xhci_check(struct xhci *hc)
{
    u32 status = mmio_read32(hc->op + XHCI_USBSTS);
    if (status == ~0u) {
        xhci_die(hc, "was removed");
    } else if (status & (STS_HSE | STS_HCE)) {
        xhci_die(hc, "reports an error");
    } else {
        xhci_check_commands(hc);
    }
    for (u32 i = 0; i < XHCI_DEVICES && !hc->dead; i++) {
        xhci_check_request(&hc->devices[i]);
    }
}

static void xhci_ticked(struct usb_device *none, int result)
{
    (void)none;
    (void)result;
}

// While a device is being started somebody must come back when the time has
// passed, also when a program spins. The controller's own clock does: a No Op
// ends with an interrupt, at most one in an interval of IMOD. With no device to
// start, nothing ticks.
static void xhci_tick(struct xhci *hc)
{
    if (hc->dead || hc->settling || !hc->by_interrupt || !usb_is_busy(hc) ||
        ring_used(&hc->commands.at) > 0) {
        return;
    }
    xhci_command(hc, xhci_trb(TRB_NO_OP, 0, 0, 0), 0, xhci_ticked);
}

static int xhci_has_work(struct xhci *hc)
{
    struct xhci_trb event;
    u32 taken = hc->events_taken;
    int has = xhci_next_event(hc, &event);
    hc->events_taken = taken;
    return has || usb_is_busy(hc);
}

// Whoever comes while another is at it (an interrupt inside a poll, another
// core) leaves a note.
void xhci_run(struct xhci *hc)
{
    do {
        if (__atomic_exchange_n(&hc->running, 1, __ATOMIC_ACQUIRE)) {
            store_release(&hc->again, 1);
            return;
        }
        store_release(&hc->again, 0);
        if (!hc->dead) {
            xhci_take_events(hc);
            xhci_check(hc);
            usb_work(hc);
            xhci_tick(hc);
        }
        store_release(&hc->running, 0);
    } while (load_acquire(&hc->again));
}

void xhci_poll_all(void)
{
    for (u32 i = 0; i < XHCI_CONTROLLERS && controllers[i] != 0; i++) {
        if (!controllers[i]->dead && xhci_has_work(controllers[i])) {
            xhci_run(controllers[i]);
        }
    }
}

void xhci_run_all(void)
{
    for (u32 i = 0; i < XHCI_CONTROLLERS && controllers[i] != 0; i++) {
        xhci_run(controllers[i]);
    }
}
