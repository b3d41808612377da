// xhci_transfer.c - requests to a device and reports from it.
// SPDX-License-Identifier: MIT
//
// xHCI 1.2, 3.2.9 (control), 4.10 (how transfers end), 4.11.2 (their TRBs).
#include "xhci.h"

enum { CONTROL_MS = 1000, CONTROL_ID = 1 };

u64 xhci_control_ring(const struct usb_device *device)
{
    return xhci_ring_restart(&xhci_endpoints(device)->control);
}

u64 xhci_in_ring(const struct usb_device *device)
{
    return xhci_ring_restart(&xhci_endpoints(device)->in);
}

void xhci_start_endpoints(struct usb_device *device)
{
    struct xhci_endpoints *endpoints = xhci_endpoints(device);
    struct usb_memory *memory = device->memory;
    memset(memory, 0, sizeof(*memory));
    memset(endpoints, 0, sizeof(*endpoints));
    xhci_ring_init(&endpoints->control, memory->control_ring, XHCI_TRANSFERS);
    xhci_ring_init(&endpoints->in, memory->in_ring, XHCI_TRANSFERS);
}

static void xhci_ring_doorbell(const struct usb_device *device, u32 id)
{
    mmio_write32(device->hc->doorbells + 4ul * device->slot, id);
}

static u64 xhci_setup(struct usb_request request)
{
    return request.type | (u64)request.request << 8 | (u64)request.value << 16 |
           (u64)request.index << 32 | (u64)request.length << 48;
}

// Setup, data (where there are any) and status stage; the last tells us, and
// the middle one only when less came than asked for.
void xhci_control(struct usb_device *device, struct usb_request request,
                  usb_done *done)
{
    struct xhci_endpoints *endpoints = xhci_endpoints(device);
    struct xhci_ring *ring = &endpoints->control;
    int in = (request.type & USB_TO_HOST) != 0;
    u32 kind = request.length == 0 ? 0 : in ? TRB_SETUP_IN : TRB_SETUP_OUT;
    u32 data = in ? TRB_IN | TRB_ISP : 0;
    u32 status = in && request.length > 0 ? 0 : TRB_IN;
    int result = xhci_ring_put(ring, xhci_trb(TRB_SETUP, xhci_setup(request), 8,
                                              TRB_IMMEDIATE | kind));
    endpoints->request = (struct xhci_request){
        done, deadline_ms(CONTROL_MS), request.length, 0, ring->at.prod, 0};
    if (request.length > 0) {
        result |=
            xhci_ring_put(ring, xhci_trb(TRB_DATA, (u64)device->memory->data,
                                         request.length, data));
    }
    result |= xhci_ring_put(ring, xhci_trb(TRB_STATUS, 0, 0, TRB_IOC | status));
    if (result < 0) { // one request at a time always finds room
        xhci_die(device->hc, "lost a transfer");
        return;
    }
    xhci_ring_doorbell(device, CONTROL_ID);
}

static void xhci_end_request(struct usb_device *device, int result)
{
    struct xhci_request *request = &xhci_endpoints(device)->request;
    usb_done *done = request->done;
    request->done = 0;
    if (done != 0) {
        done(device, result);
    }
}

static void xhci_stall_over(struct usb_device *device, int result)
{
    xhci_end_request(device, result < 0 ? result : E_UNSUPPORTED);
}

static void xhci_endpoint_reset(struct usb_device *device, int result)
{
    if (result < 0) {
        xhci_end_request(device, result);
        return;
    }
    u32 to = (u32)field_put(TRB_SLOT, (u32)device->slot) |
             (u32)field_put(TRB_ENDPOINT, CONTROL_ID);
    xhci_command(device->hc,
                 xhci_trb(TRB_SET_DEQUEUE, xhci_control_ring(device), 0, to),
                 device, xhci_stall_over);
}

// 4.6.8: the device refused. It is ready for the next request, the endpoint
// is once it was reset and told where to go on.
static void xhci_stalled(struct usb_device *device)
{
    u32 to = (u32)field_put(TRB_SLOT, (u32)device->slot) |
             (u32)field_put(TRB_ENDPOINT, CONTROL_ID);
    xhci_command(device->hc, xhci_trb(TRB_RESET_ENDPOINT, 0, 0, to), device,
                 xhci_endpoint_reset);
}

static void xhci_control_ended(struct usb_device *device, u32 position,
                               u32 code, u32 missing)
{
    struct xhci_endpoints *endpoints = xhci_endpoints(device);
    struct xhci_request *request = &endpoints->request;
    if (request->done == 0) {
        return;
    }
    int good = code == CODE_SUCCESS || code == CODE_SHORT_PACKET;
    if (good && request->length > 0 && position == request->data) {
        request->missing =
            missing < request->length ? missing : request->length;
        return; // the status stage is still to come
    }
    if (good && position != endpoints->control.at.prod - 1) {
        return;
    }
    endpoints->control.at.cons = endpoints->control.at.prod;
    if (code == CODE_STALL) {
        xhci_stalled(device);
    } else {
        xhci_end_request(
            device, good ? (int)(request->length - request->missing) : E_IO);
    }
}

void xhci_check_request(struct usb_device *device)
{
    struct xhci_request *request = &xhci_endpoints(device)->request;
    if (request->done != 0 && deadline_passed(&request->limit)) {
        xhci_end_request(device, E_TIMEOUT);
    }
}

// ---- reports ----
static u32 xhci_report_bytes(const struct usb_device *device)
{
    u32 packet = device->function.packet;
    return packet < USB_REPORT_BYTES ? packet : USB_REPORT_BYTES;
}

static int xhci_ask_report(struct usb_device *device)
{
    struct xhci_ring *ring = &xhci_endpoints(device)->in;
    u8 *report = device->memory->reports[ring->at.prod % USB_REPORTS];
    return xhci_ring_put(ring, xhci_trb(TRB_NORMAL, (u64)report,
                                        xhci_report_bytes(device),
                                        TRB_IOC | TRB_ISP));
}

void xhci_listen(struct usb_device *device)
{
    for (u32 i = 0; i < USB_REPORTS; i++) {
        if (xhci_ask_report(device) < 0) {
            return;
        }
    }
    xhci_ring_doorbell(device, device->in_id);
}

static void xhci_reported(struct usb_device *device, u32 position, u32 code,
                          u32 missing)
{
    struct xhci_ring *ring = &xhci_endpoints(device)->in;
    u8 report[USB_REPORT_BYTES];
    u32 asked = xhci_report_bytes(device);
    if (position != ring->at.cons) {
        return; // they come in their order
    }
    ring->at.cons++;
    if (code != CODE_SUCCESS && code != CODE_SHORT_PACKET) {
        usb_fail(device, E_IO);
        return;
    }
    u32 len = missing < asked ? asked - missing : 0;
    memcpy(report, device->memory->reports[position % USB_REPORTS], len);
    if (device->function.kind == USB_KEYBOARD) {
        usb_keyboard_report(device, report, len);
    } else {
        usb_hub_report(device, report, len);
    }
    if (xhci_ask_report(device) == 0) {
        xhci_ring_doorbell(device, device->in_id);
    }
}

static struct usb_device *xhci_find_slot(struct xhci *hc, u32 slot)
{
    for (u32 i = 0; slot != 0 && i < XHCI_DEVICES; i++) {
        struct usb_device *device = &hc->devices[i];
        if (device->slot == slot &&
            (device->state == USB_STARTING || device->state == USB_RUNNING)) {
            return device;
        }
    }
    return 0;
}

void xhci_transfer_ended(struct xhci *hc, const struct xhci_trb *event)
{
    u32 slot = (u32)field_get(TRB_SLOT, event->control), position;
    u32 id = (u32)field_get(TRB_ENDPOINT, event->control);
    u32 code = (u32)field_get(EVENT_CODE, event->status);
    u32 missing = event->status & EVENT_LENGTH;
    struct usb_device *device = xhci_find_slot(hc, slot);
    if (device == 0 || (code >= CODE_STOPPED && code <= CODE_STOPPED_SHORT)) {
        return;
    }
    struct xhci_endpoints *endpoints = xhci_endpoints(device);
    if (id == CONTROL_ID) {
        if (xhci_ring_find(&endpoints->control, event->parameter, &position) ==
            0) {
            xhci_control_ended(device, position, code, missing);
        }
    } else if (id == device->in_id && device->state == USB_RUNNING &&
               xhci_ring_find(&endpoints->in, event->parameter, &position) ==
                   0) {
        xhci_reported(device, position, code, missing);
    }
}
