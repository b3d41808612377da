// usb.c - from a port on which something was plugged in to a device that runs.
// SPDX-License-Identifier: MIT
//
// USB 2.0 9.1.2 (the order of things), xHCI 1.2 4.3. One port is looked at at a
// time: a device that has no address yet would answer for another.
#include "usb.h"
#include "xhci.h"

#define LOG_TAG "usb"

enum { ADDRESS_MS = 5 };
enum { // 9.6.1, 9.6.3
    DEVICE = 1,
    DEVICE_BYTES = 18,
    DEVICE_PACKET0 = 7,
    DEVICE_VENDOR = 8,
    DEVICE_PRODUCT = 10,
    CONFIGURATION = 2,
    CONFIGURATION_BYTES = 9,
    CONFIGURATION_TOTAL = 2,
    FIRST_BYTES = 8,
};

static char *usb_put_number(char *text, u32 n)
{
    if (n >= 100) {
        *text++ = (char)('0' + n / 100);
    }
    if (n >= 10) {
        *text++ = (char)('0' + n / 10 % 10);
    }
    *text++ = (char)('0' + n % 10);
    return text;
}

void usb_place(const struct usb_device *device, char text[USB_PLACE])
{
    char *at = text;
    for (const char *name = device->hc->name; *name != 0; name++) {
        *at++ = *name;
    }
    *at++ = '-';
    at = usb_put_number(at, device->root_port);
    for (u32 i = 0; i < device->depth; i++) {
        *at++ = '.';
        at = usb_put_number(at, device->route >> 4 * i & 15);
    }
    *at = 0;
}

// ---- taking a device away ----
static void usb_slot_free(struct usb_device *device, int result)
{
    device->state = result < 0 ? USB_LOST : USB_FREE;
    if (device->slot != 0) {
        device->hc->contexts[device->slot] = 0;
    }
    device->slot = 0;
}

static void usb_remove_one(struct usb_device *device)
{
    struct usb_job *job = &device->hc->job;
    if (job->active && (job->device == device || job->hub == device)) {
        usb_end_job(device->hc);
    }
    usb_keyboard_gone(device);
    xhci_endpoints(device)->request.done = 0;
    device->state = USB_LEAVING;
    if (device->slot != 0) { // else its slot is on its way
        xhci_disable_slot(device, usb_slot_free);
    }
}

static int usb_is_below(const struct usb_device *device,
                        const struct usb_device *hub)
{
    while (device != 0 && device != hub) {
        device = device->parent;
    }
    return device == hub;
}

// With everything behind it.
void usb_remove(struct usb_device *device)
{
    struct xhci *hc = device->hc;
    for (u32 i = 0; i < XHCI_DEVICES; i++) {
        struct usb_device *other = &hc->devices[i];
        if (usb_is_there(other) && usb_is_below(other, device)) {
            usb_remove_one(other);
        }
    }
}

static void usb_look_again(struct xhci *hc, struct usb_device *hub, u32 port)
{
    if (hub == 0) {
        xhci_port_event(hc, port);
    } else {
        hub->hub.changed |= (u16)(1u << port);
    }
}

static u8 *usb_tries(struct xhci *hc, struct usb_device *hub, u32 port)
{
    return hub == 0 ? &hc->port_tries[port] : &hub->hub.tries[port];
}

void usb_fail(struct usb_device *device, int why)
{
    struct xhci *hc = device->hc;
    u8 *tries = usb_tries(hc, device->parent, device->port);
    char place[USB_PLACE];
    if (!usb_is_there(device)) {
        return;
    }
    ++*tries;
    if (*tries >= USB_TRIES) {
        usb_place(device, place);
        log_warn("%s: given up (%d)", place, why);
    }
    usb_look_again(hc, device->parent, device->port);
    usb_remove(device);
}

// Nothing for us: its slot is given back, the port is not looked at again
// before something else is plugged in.
static void usb_leave_alone(struct usb_device *device)
{
    *usb_tries(device->hc, device->parent, device->port) = USB_TRIES;
    usb_remove(device);
}

// ---- starting a device, step by step ----
void usb_started(struct usb_device *device)
{
    device->state = USB_RUNNING;
    usb_end_job(device->hc);
}

static void usb_get_descriptor(struct usb_device *device, u32 type, u32 length,
                               usb_done *done)
{
    xhci_control(device,
                 (struct usb_request){USB_TO_HOST, USB_GET_DESCRIPTOR,
                                      (u16)(type << 8), 0, (u16)length},
                 done);
}

static void usb_configured(struct usb_device *device, int result)
{
    if (result < 0) {
        usb_fail(device, result);
    } else if (device->function.kind == USB_KEYBOARD) {
        usb_keyboard_start(device);
    } else {
        usb_hub_start(device);
    }
}

static void usb_set_configuration(struct usb_device *device, int result)
{
    if (result < 0) {
        usb_fail(device, result);
        return;
    }
    xhci_control(device,
                 (struct usb_request){0, USB_SET_CONFIGURATION,
                                      device->function.configuration, 0, 0},
                 usb_configured);
}

static void usb_got_configuration(struct usb_device *device, int result)
{
    if (result < 0) {
        usb_fail(device, result);
        return;
    }
    device->function =
        usb_parse_configuration(device->memory->data, (u32)result);
    enum usb_kind kind = device->function.kind;
    if (kind == USB_OTHER ||
        (kind == USB_HUB &&
         (device->speed >= USB_SUPER || device->depth >= USB_DEPTH))) {
        usb_leave_alone(device);
        return;
    }
    device->in_id = (u8)(2 * device->function.endpoint + 1);
    xhci_configure(device, usb_set_configuration);
}

static void usb_got_length(struct usb_device *device, int result)
{
    const u8 *data = device->memory->data + CONFIGURATION_TOTAL;
    if (result < CONFIGURATION_BYTES) {
        usb_fail(device, result < 0 ? result : E_IO);
        return;
    }
    u32 total = data[0] | (u32)data[1] << 8;
    total = total < USB_DATA_BYTES ? total : USB_DATA_BYTES;
    total = total < CONFIGURATION_BYTES ? CONFIGURATION_BYTES : total;
    usb_get_descriptor(device, CONFIGURATION, total, usb_got_configuration);
}

static void usb_got_device(struct usb_device *device, int result)
{
    const u8 *data = device->memory->data;
    if (result < DEVICE_BYTES || data[1] != DEVICE) {
        usb_fail(device, result < 0 ? result : E_IO);
        return;
    }
    device->vendor = (u16)(data[DEVICE_VENDOR] | data[DEVICE_VENDOR + 1] << 8);
    device->product =
        (u16)(data[DEVICE_PRODUCT] | data[DEVICE_PRODUCT + 1] << 8);
    usb_get_descriptor(device, CONFIGURATION, CONFIGURATION_BYTES,
                       usb_got_length);
}

static void usb_read_device(struct usb_device *device, int result)
{
    if (result < 0) {
        usb_fail(device, result);
        return;
    }
    usb_get_descriptor(device, DEVICE, DEVICE_BYTES, usb_got_device);
}

// 9.6.1: 8, 16, 32 or 64 on a full-speed device; the others have one size.
static void usb_got_first(struct usb_device *device, int result)
{
    u8 packet = device->memory->data[DEVICE_PACKET0];
    if (result < FIRST_BYTES ||
        (device->speed == USB_FULL && packet != 8 && packet != 16 &&
         packet != 32 && packet != 64)) {
        usb_fail(device, result < 0 ? result : E_IO);
        return;
    }
    if (device->speed == USB_FULL && packet != device->packet0) {
        device->packet0 = packet;
        xhci_set_packet0(device, usb_read_device);
    } else {
        usb_read_device(device, 0);
    }
}

static void usb_read_first(struct xhci *hc)
{
    hc->job.step = 0;
    usb_get_descriptor(hc->job.device, DEVICE, FIRST_BYTES, usb_got_first);
}

static void usb_addressed(struct usb_device *device, int result)
{
    if (!usb_is_there(device)) {
        return;
    }
    if (result < 0) {
        usb_fail(device, result);
        return;
    }
    usb_wait(device->hc, ADDRESS_MS, usb_read_first);
}

static void usb_got_slot(struct usb_device *device, int result)
{
    struct xhci *hc = device->hc;
    u32 slot = result < 0 ? 0 : (u32)result;
    if (slot == 0 || slot > hc->n_slots || hc->contexts[slot] != 0) {
        if (usb_is_there(device)) {
            usb_fail(device, E_IO);
        }
        usb_slot_free(device, 0);
        return;
    }
    device->slot = (u8)slot;
    if (device->state == USB_LEAVING) { // unplugged meanwhile
        xhci_disable_slot(device, usb_slot_free);
        return;
    }
    xhci_address(device, usb_addressed);
}

// xHCI 1.2, 8.9 (route string), USB 2.0 11.14 (who translates for whom).
static void usb_find_place(struct usb_device *device, struct usb_device *hub)
{
    device->route = 0;
    device->depth = 0;
    device->root_port = device->port;
    device->tt_slot = device->tt_port = 0;
    if (hub == 0) {
        return;
    }
    device->root_port = hub->root_port;
    device->depth = (u8)(hub->depth + 1);
    device->route = hub->route | (u32)device->port << 4 * hub->depth;
    if (device->speed < USB_HIGH) {
        device->tt_slot = hub->speed == USB_HIGH ? hub->slot : hub->tt_slot;
        device->tt_port = hub->speed == USB_HIGH ? device->port : hub->tt_port;
    }
}

static struct usb_device *usb_take_device(struct xhci *hc)
{
    for (u32 i = 0; i < XHCI_DEVICES; i++) {
        if (hc->devices[i].state == USB_FREE) {
            return &hc->devices[i];
        }
    }
    return 0;
}

void usb_new_device(struct xhci *hc, u8 speed)
{
    struct usb_job *job = &hc->job;
    struct usb_device *device = usb_take_device(hc);
    u8 tries = *usb_tries(hc, job->hub, job->port);
    if (device == 0 || speed == 0) {
        log_warn("%s: no room for one more device", hc->name);
        *usb_tries(hc, job->hub, job->port) = USB_TRIES;
        usb_end_job(hc);
        return;
    }
    *device = (struct usb_device){.hc = hc,
                                  .parent = job->hub,
                                  .state = USB_STARTING,
                                  .port = job->port,
                                  .speed = speed,
                                  .memory = device->memory};
    device->keyboard.quiet = tries > 0;
    device->packet0 = speed == USB_HIGH ? 64 : speed < USB_HIGH ? 8 : 512;
    usb_find_place(device, job->hub);
    xhci_start_endpoints(device);
    job->step = 0;
    job->device = device;
    xhci_enable_slot(device, usb_got_slot);
}
