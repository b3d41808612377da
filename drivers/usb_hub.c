// usb_hub.c - hubs of USB 2.0 and 1.1: power, and what is behind their ports.
// SPDX-License-Identifier: MIT
//
// USB 2.0 chapter 11. The hub that every USB 3 hub carries for slower devices
// is one of these; keyboards are behind it, so the other half is left alone.
#include "xhci.h"

#define LOG_TAG "usb"

enum { // 11.24.2, features of a port
    PORT_RESET = 4,
    PORT_POWER = 8,
    FIRST_CHANGE = 16, // C_PORT_CONNECTION; five in the order of their bits
    CHANGES = 0x1F,
};
enum { // 11.24.2.7
    STATUS_CONNECTED = 1 << 0,
    STATUS_ENABLED = 1 << 1,
    STATUS_RESETTING = 1 << 4,
    STATUS_LOW = 1 << 9,
    STATUS_HIGH = 1 << 10,
    CHANGE_CONNECTED = 1 << 0,
};
enum { // 11.23.2.1, the hub's descriptor
    DESCRIPTOR_HUB = 0x29,
    HUB_BYTES = 7,
    HUB_PORTS = 2,
    HUB_CHARACTERISTICS = 3,
    HUB_THINK = 3 << 5,
    HUB_POWER_GOOD = 5, // in units of 2 ms
};
enum {
    DEBOUNCE_MS = 100,
    RESET_MS = 500,
    RESET_LOOK_MS = 10,
    RECOVERY_MS = 10
};

static void usb_hub_request(struct usb_device *hub, u8 request, u16 feature,
                            usb_done *done)
{
    u32 port = hub->hc->job.port;
    xhci_control(hub,
                 (struct usb_request){USB_CLASS | USB_TO_PORT, request, feature,
                                      (u16)port, 0},
                 done);
}

static void usb_hub_get_status(struct usb_device *hub, usb_done *done)
{
    xhci_control(hub,
                 (struct usb_request){USB_TO_HOST | USB_CLASS | USB_TO_PORT,
                                      USB_GET_STATUS, 0, hub->hc->job.port, 4},
                 done);
}

// The port's status and what changed. 0, or an error.
static int usb_hub_read_status(struct usb_device *hub, int result)
{
    const u8 *data = hub->memory->data;
    if (result != 4) {
        return result < 0 ? result : E_IO;
    }
    hub->hub.status = (u16)(data[0] | data[1] << 8);
    hub->hub.changes = (u16)((data[2] | data[3] << 8) & CHANGES);
    return 0;
}

// ---- a port after its reset ----
static void usb_hub_port_ready(struct xhci *hc)
{
    u16 status = hc->job.hub->hub.status;
    usb_new_device(hc, status & STATUS_LOW    ? USB_LOW
                       : status & STATUS_HIGH ? USB_HIGH
                                              : USB_FULL);
}

static void usb_hub_reset_cleared(struct usb_device *hub, int result)
{
    if (result < 0) {
        usb_fail(hub, result);
    } else if (hub->hub.status & STATUS_ENABLED) {
        usb_wait(hub->hc, RECOVERY_MS, usb_hub_port_ready);
    } else {
        hub->hub.tries[hub->hc->job.port]++;
        usb_end_job(hub->hc);
    }
}

static void usb_hub_look_at_reset(struct xhci *hc);

static void usb_hub_reset_status(struct usb_device *hub, int result)
{
    result = usb_hub_read_status(hub, result);
    if (result < 0) {
        usb_fail(hub, result);
        return;
    }
    if (hub->hub.status & STATUS_RESETTING &&
        !deadline_passed(&hub->hub.reset_limit)) {
        usb_wait(hub->hc, RESET_LOOK_MS, usb_hub_look_at_reset);
        return;
    }
    usb_hub_request(hub, USB_CLEAR_FEATURE, FIRST_CHANGE + PORT_RESET,
                    usb_hub_reset_cleared);
}

static void usb_hub_look_at_reset(struct xhci *hc)
{
    hc->job.step = 0;
    usb_hub_get_status(hc->job.hub, usb_hub_reset_status);
}

static void usb_hub_resetting(struct usb_device *hub, int result)
{
    if (result < 0) {
        usb_fail(hub, result);
        return;
    }
    hub->hub.reset_limit = deadline_ms(RESET_MS);
    usb_wait(hub->hc, RESET_LOOK_MS, usb_hub_look_at_reset);
}

static void usb_hub_reset_port(struct xhci *hc)
{
    hc->job.step = 0;
    usb_hub_request(hc->job.hub, USB_SET_FEATURE, PORT_RESET,
                    usb_hub_resetting);
}

// ---- a port that changed ----
static struct usb_device *usb_hub_child(struct usb_device *hub, u32 port)
{
    for (u32 i = 0; i < XHCI_DEVICES; i++) {
        struct usb_device *device = &hub->hc->devices[i];
        if (device->state != USB_FREE && device->state != USB_LOST &&
            device->parent == hub && device->port == port) {
            return device;
        }
    }
    return 0;
}

static void usb_hub_port_known(struct usb_device *hub, int changed)
{
    u32 port = hub->hc->job.port;
    struct usb_device *child = usb_hub_child(hub, port);
    int connected = (hub->hub.status & STATUS_CONNECTED) != 0;
    if (changed) {
        hub->hub.tries[port] = 0;
    }
    if (child != 0 && (changed || !connected)) {
        hub->hub.changed |= (u16)(1u << port); // again when it is gone
        usb_remove(child);
        usb_end_job(hub->hc);
    } else if (connected && child == 0 && hub->hub.tries[port] < USB_TRIES) {
        usb_wait(hub->hc, DEBOUNCE_MS, usb_hub_reset_port);
    } else {
        usb_end_job(hub->hc);
    }
}

// One change after the other is cleared; the first is kept in mind.
static void usb_hub_clear_changes(struct usb_device *hub, int result)
{
    u32 changes = hub->hub.changes;
    if (result < 0) {
        usb_fail(hub, result);
        return;
    }
    if ((changes & CHANGES) == 0) {
        usb_hub_port_known(hub, (changes >> FIRST_CHANGE / 2 & 1) != 0);
        return;
    }
    u32 bit = (u32)__builtin_ctz(changes);
    changes &= ~(1u << bit);
    if (bit == 0) {
        changes |= 1u << FIRST_CHANGE / 2;
    }
    hub->hub.changes = (u16)changes;
    usb_hub_request(hub, USB_CLEAR_FEATURE, (u16)(FIRST_CHANGE + bit),
                    usb_hub_clear_changes);
}

static void usb_hub_got_status(struct usb_device *hub, int result)
{
    usb_hub_clear_changes(hub, usb_hub_read_status(hub, result));
}

int usb_hub_work(struct usb_device *hub)
{
    u32 changed = hub->hub.changed;
    if (changed == 0 || xhci_endpoints(hub)->request.done != 0) {
        return 0;
    }
    u32 port = (u32)__builtin_ctz(changed);
    hub->hub.changed = (u16)(changed & ~(1u << port));
    hub->hc->job = (struct usb_job){.active = 1, .port = (u8)port, .hub = hub};
    usb_hub_get_status(hub, usb_hub_got_status);
    return 1;
}

// 11.12.4: bit 0 is the hub itself, bit n is port n.
void usb_hub_report(struct usb_device *hub, const u8 *report, u32 len)
{
    u32 bits = (len > 0 ? report[0] : 0u) | (len > 1 ? report[1] * 256u : 0u);
    hub->hub.changed |= (u16)(bits & ((2u << hub->hub.n_ports) - 2));
}

// ---- start ----
static void usb_hub_ready(struct xhci *hc)
{
    struct usb_device *hub = hc->job.device;
    char place[USB_PLACE];
    usb_place(hub, place);
    log_debug("hub with %u ports at %s", hub->hub.n_ports, place);
    usb_started(hub);
    hub->hub.changed = (u16)((2u << hub->hub.n_ports) - 2);
    xhci_listen(hub);
}

static void usb_hub_power_next(struct usb_device *hub, int result)
{
    struct usb_hub *state = &hub->hub;
    if (result < 0 && result != E_UNSUPPORTED) {
        usb_fail(hub, result);
        return;
    }
    if (state->changes == state->n_ports) { // counts here
        usb_wait(hub->hc, state->status, usb_hub_ready);
        return;
    }
    state->changes++;
    xhci_control(hub,
                 (struct usb_request){USB_CLASS | USB_TO_PORT, USB_SET_FEATURE,
                                      PORT_POWER, state->changes, 0},
                 usb_hub_power_next);
}

static void usb_hub_told(struct usb_device *hub, int result)
{
    hub->hub.changes = 0;
    usb_hub_power_next(hub, result);
}

static void usb_hub_described(struct usb_device *hub, int result)
{
    const u8 *data = hub->memory->data;
    if (result < HUB_BYTES || data[HUB_PORTS] == 0) {
        usb_fail(hub, result < 0 ? result : E_IO);
        return;
    }
    u8 n = data[HUB_PORTS];
    hub->hub.n_ports = n < USB_HUB_PORTS ? n : USB_HUB_PORTS;
    hub->hub.think = hub->speed == USB_HIGH
                         ? (data[HUB_CHARACTERISTICS] & HUB_THINK) >> 5
                         : 0;
    hub->hub.status = (u16)(2 * data[HUB_POWER_GOOD]); // ms
    xhci_set_hub(hub, usb_hub_told);
}

void usb_hub_start(struct usb_device *hub)
{
    xhci_control(hub,
                 (struct usb_request){USB_TO_HOST | USB_CLASS,
                                      USB_GET_DESCRIPTOR, DESCRIPTOR_HUB << 8,
                                      0, HUB_BYTES},
                 usb_hub_described);
}
