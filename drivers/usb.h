// usb.h - USB devices, from the port to what they are.
// SPDX-License-Identifier: MIT
//
// There are no threads: whatever takes time is a chain of functions, each
// called when what the last one asked for is there.
#pragma once
#include "keyboard.h"

struct xhci;
struct usb_device;

enum usb_speed { // as PORTSC and the slot context number them
    USB_FULL = 1,
    USB_LOW = 2,
    USB_HIGH = 3,
    USB_SUPER = 4, // and faster
};

enum { USB_TRIES = 3, USB_DEPTH = 5, USB_HUB_PORTS = 15, USB_PLACE = 40 };
enum { USB_DATA_BYTES = 1024, USB_REPORT_BYTES = 64, USB_REPORTS = 4 };

enum { // USB 2.0 9.3, 9.4
    USB_TO_HOST = 0x80,
    USB_CLASS = 0x20,
    USB_TO_INTERFACE = 1,
    USB_TO_PORT = 3, // of a hub, 11.24
    USB_GET_STATUS = 0,
    USB_CLEAR_FEATURE = 1,
    USB_SET_FEATURE = 3,
    USB_GET_DESCRIPTOR = 6,
    USB_SET_CONFIGURATION = 9,
};

struct usb_request {
    u8 type, request;
    u16 value, index, length;
};

enum usb_kind { USB_OTHER, USB_KEYBOARD, USB_HUB };

// What the descriptors say of the one interface that is driven.
struct usb_function {
    enum usb_kind kind;
    u8 configuration, interface;
    u8 endpoint; // number of its interrupt IN endpoint
    u8 interval; // bInterval
    u16 packet;  // bytes
};

// What a request came to: bytes, or E_UNSUPPORTED (it was refused), E_IO,
// E_TIMEOUT.
typedef void usb_done(struct usb_device *device, int result);

struct usb_memory { // what the controller reads and writes, one page
    u8 context[2048];
    u8 control_ring[320], in_ring[320];
    u8 reports[USB_REPORTS][USB_REPORT_BYTES];
    u8 data[USB_DATA_BYTES];
};

struct usb_keyboard {
    struct keyboard keyboard;
    u8 keys[6];
    u8 quiet;             // it went wrong before: nothing but reports
    u8 leds;              // what it was told
    u8 idle, wanted_idle; // report rate while nothing changes, in 4 ms
    u8 repeating;         // the key that repeats, 0: none
    struct deadline repeat_after;
};

struct usb_hub {
    u8 n_ports;
    u8 think;                    // of its transaction translator
    u16 changed;                 // ports to look at
    u8 tries[USB_HUB_PORTS + 1]; // failures in a row
    u16 status, changes;         // of the port that is looked at
    struct deadline reset_limit;
};

enum usb_state { USB_FREE, USB_STARTING, USB_RUNNING, USB_LEAVING, USB_LOST };

struct usb_device {
    struct xhci *hc;
    struct usb_device *parent; // the hub, null: a root port
    enum usb_state state;
    u8 port; // of its hub, or of the controller
    u8 root_port, slot, speed, depth;
    u8 tt_slot, tt_port; // the high-speed hub that translates for it; 0: none
    u8 in_id;            // its interrupt endpoint as the controller counts
    u32 route;
    u16 packet0; // of endpoint 0
    u16 vendor, product;
    struct usb_memory *memory;
    struct usb_function function;
    struct usb_keyboard keyboard;
    struct usb_hub hub;
};

// Look through what a device says of its first configuration. Every byte may
// be a lie. kind is USB_OTHER when there is nothing for us.
struct usb_function usb_parse_configuration(const u8 *bytes, u32 len);

// The step to take when ms have passed, and the end of all steps.
void usb_wait(struct xhci *hc, u32 ms, void (*step)(struct xhci *hc));
void usb_end_job(struct xhci *hc);
int usb_is_there(const struct usb_device *device); // being started, or running
// Go on with whatever waits: ports that changed, steps that were to wait.
void usb_work(struct xhci *hc);
int usb_is_busy(const struct xhci *hc);
// It went wrong: take it away and, if it has tries left, start it again.
void usb_fail(struct usb_device *device, int why);
void usb_remove(struct usb_device *device);
// A port holds a new device that was just reset.
void usb_new_device(struct xhci *hc, u8 speed);
// The device that was being started runs.
void usb_started(struct usb_device *device);
// "00:04.0-2.1": controller, port, ports of hubs.
void usb_place(const struct usb_device *device, char text[USB_PLACE]);

void usb_keyboard_start(struct usb_device *device);
void usb_keyboard_report(struct usb_device *device, const u8 *report, u32 len);
void usb_keyboard_work(struct usb_device *device);
void usb_keyboard_gone(struct usb_device *device);
void usb_hub_start(struct usb_device *device);
void usb_hub_report(struct usb_device *device, const u8 *report, u32 len);
// Begin to look at a port of it, when one changed. Returns 1 when it did.
int usb_hub_work(struct usb_device *device);
