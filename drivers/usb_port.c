// usb_port.c - the controller's own ports, and what is to be done next.
// SPDX-License-Identifier: MIT
//
// xHCI 1.2 4.3, USB 2.0 7.1.7.3 and 9.1.2 (how long a port takes).
#include "xhci.h"

#define LOG_TAG "usb"

enum { DEBOUNCE_MS = 100, RESET_MS = 500, RECOVERY_MS = 10 };

void usb_wait(struct xhci *hc, u32 ms, void (*step)(struct xhci *hc))
{
    hc->job.after = deadline_ms(ms);
    hc->job.waits = 1;
    hc->job.step = step;
}

void usb_end_job(struct xhci *hc)
{
    hc->job = (struct usb_job){0};
}

int usb_is_there(const struct usb_device *device)
{
    return device->state == USB_STARTING || device->state == USB_RUNNING;
}

static struct usb_device *usb_root_device(struct xhci *hc, u32 port)
{
    for (u32 i = 0; i < XHCI_DEVICES; i++) {
        struct usb_device *device = &hc->devices[i];
        if (usb_is_there(device) && device->parent == 0 &&
            device->port == port) {
            return device;
        }
    }
    return 0;
}

static void usb_root_ready(struct xhci *hc)
{
    u32 status = xhci_port_read(hc, hc->job.port);
    usb_new_device(hc, (u8)field_get(PORTSC_SPEED, status));
}

static void usb_root_wait_reset(struct xhci *hc)
{
    u32 status = xhci_port_read(hc, hc->job.port);
    if ((status & (PORTSC_PR | PORTSC_PED)) == PORTSC_PED) {
        usb_wait(hc, RECOVERY_MS, usb_root_ready);
    } else if (deadline_passed(&hc->job.after)) {
        hc->port_tries[hc->job.port]++;
        xhci_port_event(hc, hc->job.port);
        usb_end_job(hc);
    }
}

// Faster ports train by themselves and are on; the others are reset (4.3).
static void usb_root_reset(struct xhci *hc)
{
    u32 status = xhci_port_read(hc, hc->job.port);
    if ((status & PORTSC_CCS) == 0) {
        usb_end_job(hc);
    } else if (status & PORTSC_PED &&
               field_get(PORTSC_SPEED, status) >= USB_SUPER) {
        usb_root_ready(hc);
    } else {
        xhci_port_reset(hc, hc->job.port);
        usb_wait(hc, RESET_MS, usb_root_wait_reset);
        hc->job.waits = 0; // looked at each time until then
    }
}

static int usb_all_gone(const struct xhci *hc)
{
    for (u32 i = 0; i < XHCI_DEVICES; i++) {
        if (hc->devices[i].state == USB_LEAVING) {
            return 0;
        }
    }
    return 1;
}

// Returns 1 when there is more to do at this port, later.
static int usb_look_at_port(struct xhci *hc, u32 port)
{
    u32 status = xhci_port_take(hc, port);
    struct usb_device *device = usb_root_device(hc, port);
    int connected = (status & PORTSC_CCS) != 0;
    if (status & PORTSC_CSC || !connected) {
        hc->port_tries[port] = 0;
        if (device != 0) {
            usb_remove(device);
            device = 0;
        }
        if (hc->job.active && hc->job.hub == 0 && hc->job.port == port) {
            usb_end_job(hc);
        }
    }
    if (!connected || device != 0 || hc->port_tries[port] >= USB_TRIES) {
        return 0;
    }
    if (hc->job.active || !usb_all_gone(hc)) {
        return !(hc->job.hub == 0 && hc->job.port == port);
    }
    hc->job = (struct usb_job){.active = 1, .port = (u8)port};
    usb_wait(hc, hc->settling ? 0 : DEBOUNCE_MS, usb_root_reset);
    return 0;
}

static void usb_look_at_ports(struct xhci *hc)
{
    u8 again = 0;
    hc->any_changed = 0;
    for (u32 port = 1; port <= hc->n_ports && !hc->dead; port++) {
        if (hc->port_changed[port]) {
            hc->port_changed[port] = (u8)usb_look_at_port(hc, port);
            again |= hc->port_changed[port];
        }
    }
    hc->any_changed |= again;
}

int usb_is_busy(const struct xhci *hc)
{
    return !hc->dead &&
           (hc->job.active || hc->any_changed || !usb_all_gone(hc));
}

static void usb_work_devices(struct xhci *hc)
{
    for (u32 i = 0; i < XHCI_DEVICES && !hc->dead; i++) {
        struct usb_device *device = &hc->devices[i];
        if (device->state != USB_RUNNING) {
            continue;
        }
        if (device->function.kind == USB_KEYBOARD) {
            usb_keyboard_work(device);
        } else if (!hc->job.active && usb_all_gone(hc)) {
            usb_hub_work(device);
        }
    }
}

void usb_work(struct xhci *hc)
{
    struct usb_job *job = &hc->job;
    if (hc->any_changed && !hc->dead) {
        usb_look_at_ports(hc);
    }
    if (job->step != 0 && (!job->waits || deadline_passed(&job->after))) {
        job->step(hc);
    }
    usb_work_devices(hc);
}
