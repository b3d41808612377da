// xhci_command.c - commands to the controller, and the contexts they carry.
// SPDX-License-Identifier: MIT
//
// xHCI 1.2, 4.6 (commands), 6.2 (contexts).
#include "xhci.h"

#define LOG_TAG "xhci"

enum { COMMAND_MS = 2000, ABORT_MS = 1000 };
enum { ADD_SLOT = 1, ADD_CONTROL = 2, TIMES_TO_TRY = 3 };

void xhci_command(struct xhci *hc, struct xhci_trb trb,
                  struct usb_device *device, usb_done *done)
{
    u32 index = ring_index(&hc->commands.at, hc->commands.at.prod);
    if (hc->dead) {
        return;
    }
    if (ring_used(&hc->commands.at) == 0) {
        hc->command_limit = deadline_ms(COMMAND_MS);
    }
    if (xhci_ring_put(&hc->commands, trb) < 0) {
        xhci_die(hc, "takes no commands");
        return;
    }
    hc->waiting[index].device = device;
    hc->waiting[index].done = done;
    mmio_write32(hc->doorbells, 0);
}

// 4.6.2: they end in their order, so an event for another is none.
void xhci_command_ended(struct xhci *hc, const struct xhci_trb *event)
{
    u32 code = (u32)field_get(EVENT_CODE, event->status), position;
    if (code == CODE_RING_STOPPED) { // 4.6.1.2: we had it stopped
        mmio_write32(hc->doorbells, 0);
        return;
    }
    if (xhci_ring_find(&hc->commands, event->parameter, &position) < 0 ||
        position != hc->commands.at.cons) {
        return;
    }
    u32 index = ring_index(&hc->commands.at, position);
    hc->commands.at.cons++;
    hc->command_limit = deadline_ms(COMMAND_MS);
    hc->aborting = 0;
    int result =
        code == CODE_SUCCESS ? (int)field_get(TRB_SLOT, event->control) : E_IO;
    if (hc->waiting[index].done != 0) {
        hc->waiting[index].done(hc->waiting[index].device, result);
    }
}

// 4.6.1.2: a command that does not end is told to; then it is the controller
// that does not answer.
void xhci_check_commands(struct xhci *hc)
{
    if (ring_used(&hc->commands.at) == 0 ||
        !deadline_passed(&hc->command_limit)) {
        return;
    }
    if (hc->aborting) {
        xhci_die(hc, "does not end a command");
        return;
    }
    hc->aborting = 1;
    hc->command_limit = deadline_ms(ABORT_MS);
    xhci_write64(hc->op + XHCI_CRCR, CRCR_CA);
}

static u32 xhci_slot(const struct usb_device *device)
{
    return (u32)field_put(TRB_SLOT, (u32)device->slot);
}

void xhci_enable_slot(struct usb_device *device, usb_done *done)
{
    xhci_command(device->hc, xhci_trb(TRB_ENABLE_SLOT, 0, 0, 0), device, done);
}

// ---- the input context: 6.2.5; [0] says what to add, then slot, endpoints
// ----
static u32 *xhci_input(struct xhci *hc, u32 index)
{
    return (u32 *)(void *)(hc->input + (u64)index * hc->context_bytes);
}

static void xhci_fill_slot(struct usb_device *device, u32 entries)
{
    u32 *slot = xhci_input(device->hc, 1);
    slot[0] = device->route | (u32)field_put(SLOT_SPEED, (u32)device->speed) |
              (u32)field_put(SLOT_ENTRIES, entries);
    slot[1] = (u32)field_put(SLOT_ROOT_PORT, (u32)device->root_port);
    slot[2] = (u32)field_put(SLOT_TT_HUB, (u32)device->tt_slot) |
              (u32)field_put(SLOT_TT_PORT, (u32)device->tt_port);
    if (device->hub.n_ports > 0) {
        slot[0] |= SLOT_HUB;
        slot[1] |= (u32)field_put(SLOT_HUB_PORTS, (u32)device->hub.n_ports);
        slot[2] |= (u32)field_put(SLOT_TT_THINK, (u32)device->hub.think);
    }
}

static void xhci_fill_endpoint(struct usb_device *device, u32 id, u32 type,
                               u32 packet)
{
    u32 *endpoint = xhci_input(device->hc, id + 1);
    u64 ring = id == 1 ? xhci_control_ring(device) : xhci_in_ring(device);
    endpoint[1] = (u32)field_put(ENDPOINT_ERRORS, TIMES_TO_TRY) |
                  (u32)field_put(ENDPOINT_TYPE, type) |
                  (u32)field_put(ENDPOINT_PACKET, packet);
    endpoint[2] = (u32)ring;
    endpoint[3] = (u32)(ring >> 32);
    endpoint[4] = 8; // bytes of a usual transfer
}

static void xhci_begin_input(struct usb_device *device, u32 add)
{
    struct xhci *hc = device->hc;
    memset(hc->input, 0, 33ul * hc->context_bytes);
    xhci_input(hc, 0)[1] = add;
}

static void xhci_send_input(struct usb_device *device, enum trb_type type,
                            usb_done *done)
{
    struct xhci *hc = device->hc;
    xhci_command(hc, xhci_trb(type, (u64)hc->input, 0, xhci_slot(device)),
                 device, done);
}

void xhci_address(struct usb_device *device, usb_done *done)
{
    struct xhci *hc = device->hc;
    hc->contexts[device->slot] = (u64)device->memory->context;
    xhci_begin_input(device, ADD_SLOT | ADD_CONTROL);
    xhci_fill_slot(device, 1);
    xhci_fill_endpoint(device, 1, ENDPOINT_CONTROL, device->packet0);
    xhci_send_input(device, TRB_ADDRESS_DEVICE, done);
}

void xhci_set_packet0(struct usb_device *device, usb_done *done)
{
    xhci_begin_input(device, ADD_CONTROL);
    xhci_fill_endpoint(device, 1, ENDPOINT_CONTROL, device->packet0);
    xhci_send_input(device, TRB_EVALUATE_CONTEXT, done);
}

// 6.2.3.6: how often to ask is a power of two of 125 us. Slow devices count in
// milliseconds.
static u32 xhci_interval(const struct usb_device *device)
{
    u32 interval = device->function.interval;
    if (device->speed >= USB_HIGH) {
        return interval < 1 ? 0 : interval > 16 ? 15 : interval - 1;
    }
    u32 log = 31u - (u32)__builtin_clz((interval | 1) * 8);
    return log > 10 ? 10 : log;
}

void xhci_configure(struct usb_device *device, usb_done *done)
{
    u32 id = device->in_id, packet = device->function.packet;
    xhci_begin_input(device, ADD_SLOT | 1u << id);
    xhci_fill_slot(device, id);
    xhci_fill_endpoint(device, id, ENDPOINT_INTERRUPT_IN, packet);
    u32 *endpoint = xhci_input(device->hc, id + 1);
    endpoint[0] = (u32)field_put(ENDPOINT_INTERVAL, xhci_interval(device));
    endpoint[4] |= packet << 16; // bytes in one interval
    xhci_send_input(device, TRB_CONFIGURE_ENDPOINT, done);
}

void xhci_set_hub(struct usb_device *device, usb_done *done)
{
    xhci_begin_input(device, ADD_SLOT);
    xhci_fill_slot(device, device->in_id);
    xhci_send_input(device, TRB_CONFIGURE_ENDPOINT, done);
}

static void xhci_stop_endpoint(struct usb_device *device, u32 id)
{
    u32 endpoint = (u32)field_put(TRB_ENDPOINT, id);
    xhci_command(
        device->hc,
        xhci_trb(TRB_STOP_ENDPOINT, 0, 0, xhci_slot(device) | endpoint), device,
        0);
}

void xhci_disable_slot(struct usb_device *device, usb_done *done)
{
    if (device->in_id != 0) {
        xhci_stop_endpoint(device, device->in_id);
    }
    xhci_stop_endpoint(device, 1);
    xhci_command(device->hc,
                 xhci_trb(TRB_DISABLE_SLOT, 0, 0, xhci_slot(device)), device,
                 done);
}
