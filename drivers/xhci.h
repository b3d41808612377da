// xhci.h - an xHCI controller: its rings, its registers, its devices.
// SPDX-License-Identifier: MIT
#pragma once
#include "ring.h"
#include "usb.h"
#include "xhci_regs.h"

enum { XHCI_COMMANDS = 64, XHCI_EVENTS = 256, XHCI_TRANSFERS = 16 };
enum { XHCI_DEVICES = 16, XHCI_PORTS = 256, XHCI_CONTROLLERS = 8 };

// We produce. One more TRB behind the last leads back to the first.
struct xhci_ring {
    struct xhci_trb *trbs;
    struct ring at;
};

struct xhci_request { // a control transfer
    usb_done *done;   // null: none is under way
    struct deadline limit;
    u32 length, missing;
    u32 data; // position of its data stage in the ring
    int result;
};

struct xhci_endpoints {
    struct xhci_ring control, in;
    struct xhci_request request;
};

// The step that waits for time or for a port, and where.
struct usb_job {
    void (*step)(struct xhci *hc); // null: none waits
    struct deadline after;
    u8 waits;                  // for `after`; else it is called each time
    u8 active;                 // a port is being looked at
    u8 port;                   // of hub, or of the controller
    struct usb_device *hub;    // null: a root port
    struct usb_device *device; // null: none yet
};

struct xhci {
    const struct pci_device *pci;
    char name[16];
    u64 base, op, runtime, doorbells; // addresses of registers
    u32 bytes;                        // of registers that are mapped
    u32 context_bytes;
    u32 n_ports, n_slots;
    u8 wide;         // it reaches memory above 4 GiB
    u8 dead;         // said so once, never touched again
    u8 by_interrupt; // else it is polled
    u8 settling;     // in probe
    u8 running, again;
    u8 aborting; // a command does not end

    struct xhci_ring commands;
    struct {
        struct usb_device *device;
        usb_done *done;
    } waiting[XHCI_COMMANDS];
    struct deadline command_limit;
    struct xhci_trb *events;
    u32 events_taken;
    u64 *contexts; // DCBAA: where each slot's device context is
    u8 *input;     // the one input context
    struct usb_device devices[XHCI_DEVICES];
    struct xhci_endpoints endpoints[XHCI_DEVICES];
    u8 port_changed[XHCI_PORTS], port_tries[XHCI_PORTS];
    u8 any_changed;
    struct usb_job job;
};

// ---- xhci_ring.c ----
void xhci_ring_init(struct xhci_ring *ring, void *memory, u32 size);
// E_AGAIN: full.
int must_check xhci_ring_put(struct xhci_ring *ring, struct xhci_trb trb);
// Position of the TRB at address, when it is one that is under way.
int must_check xhci_ring_find(const struct xhci_ring *ring, u64 address,
                              u32 *position);
// Where the controller is to go on, with its cycle bit; nothing is under way.
u64 xhci_ring_restart(struct xhci_ring *ring);
// The next event, if there is one.
int xhci_next_event(struct xhci *hc, struct xhci_trb *event);

// ---- xhci_events.c ----
// Take what came and go on with what waits; safe at any time on any core.
void xhci_run(struct xhci *hc);
void xhci_poll_all(void); // every controller that has something to do
void xhci_run_all(void);  // every controller
void xhci_add(struct xhci *hc);
void xhci_die(struct xhci *hc, const char *why);

// ---- xhci_command.c ----
// done(device, result): E_IO, or >= 0 (the slot of an enabled one).
void xhci_command(struct xhci *hc, struct xhci_trb trb,
                  struct usb_device *device, usb_done *done);
void xhci_command_ended(struct xhci *hc, const struct xhci_trb *event);
void xhci_check_commands(struct xhci *hc);
void xhci_enable_slot(struct usb_device *device, usb_done *done);
void xhci_address(struct usb_device *device, usb_done *done);
void xhci_set_packet0(struct usb_device *device, usb_done *done);
void xhci_configure(struct usb_device *device, usb_done *done);
void xhci_set_hub(struct usb_device *device, usb_done *done);
// Whatever it does ends, its slot is given back, done is called.
void xhci_disable_slot(struct usb_device *device, usb_done *done);

// ---- xhci_transfer.c ----
void xhci_start_endpoints(struct usb_device *device); // fresh, empty rings
// One request on endpoint 0; its data is at memory->data.
void xhci_control(struct usb_device *device, struct usb_request request,
                  usb_done *done);
void xhci_listen(struct usb_device *device); // reports from now on
void xhci_transfer_ended(struct xhci *hc, const struct xhci_trb *event);
void xhci_check_request(struct usb_device *device);
u64 xhci_control_ring(const struct usb_device *device);
u64 xhci_in_ring(const struct usb_device *device);

// ---- xhci_port.c ----
u32 xhci_port_read(const struct xhci *hc, u32 port);
u32 xhci_port_take(const struct xhci *hc, u32 port); // and clear its changes
void xhci_port_reset(const struct xhci *hc, u32 port);
void xhci_ports_start(struct xhci *hc);
void xhci_port_event(struct xhci *hc, u32 port);
void xhci_write64(u64 address, u64 value);

static inline struct xhci_endpoints *
xhci_endpoints(const struct usb_device *device)
{
    return &device->hc->endpoints[device - device->hc->devices];
}

static inline struct xhci_trb xhci_trb(enum trb_type type, u64 parameter,
                                       u32 status, u32 control)
{
    return (struct xhci_trb){parameter, status,
                             (u32)field_put(TRB_TYPE, (u32)type) | control};
}
