// usb_descriptors.c - what a device says it is.
// SPDX-License-Identifier: MIT
//
// USB 2.0 9.6; HID 1.11 4.2 (boot keyboards); USB 2.0 11.23 (hubs).
#include "usb.h"

enum { // offsets in descriptors
    CONFIGURATION_BYTES = 9,
    CONFIGURATION_VALUE = 5,
    INTERFACE_BYTES = 9,
    INTERFACE_NUMBER = 2,
    INTERFACE_ALTERNATE = 3,
    INTERFACE_CLASS = 5,
    INTERFACE_SUBCLASS = 6,
    INTERFACE_PROTOCOL = 7,
    ENDPOINT_BYTES = 7,
    ENDPOINT_ADDRESS = 2,
    ENDPOINT_ATTRIBUTES = 3,
    ENDPOINT_PACKET_LOW = 4,
    ENDPOINT_PACKET_HIGH = 5,
    ENDPOINT_ASKED_EVERY = 6,
};
enum { CONFIGURATION = 2, INTERFACE = 4, ENDPOINT = 5 };
enum { CLASS_HID = 3, HID_BOOT = 1, HID_KEYBOARD = 1, CLASS_HUB = 9 };
enum { ENDPOINT_IN = 0x80, ENDPOINT_NUMBER = 0x0F, ENDPOINT_INTERRUPT = 3 };

// The alternate setting that is chosen without asking for another.
static enum usb_kind usb_interface_kind(const u8 *interface)
{
    if (interface[INTERFACE_ALTERNATE] != 0) {
        return USB_OTHER;
    }
    if (interface[INTERFACE_CLASS] == CLASS_HUB) {
        return USB_HUB;
    }
    int keyboard = interface[INTERFACE_CLASS] == CLASS_HID &&
                   interface[INTERFACE_SUBCLASS] == HID_BOOT &&
                   interface[INTERFACE_PROTOCOL] == HID_KEYBOARD;
    return keyboard ? USB_KEYBOARD : USB_OTHER;
}

// Returns 1 when it is an interrupt IN endpoint that can be used.
static int usb_take_endpoint(const u8 *endpoint, struct usb_function *function)
{
    u8 address = endpoint[ENDPOINT_ADDRESS];
    u32 packet = endpoint[ENDPOINT_PACKET_LOW] |
                 (u32)(endpoint[ENDPOINT_PACKET_HIGH] & 7) << 8;
    if ((address & ENDPOINT_IN) == 0 || (address & ENDPOINT_NUMBER) == 0 ||
        (endpoint[ENDPOINT_ATTRIBUTES] & 3) != ENDPOINT_INTERRUPT ||
        packet == 0 || packet > USB_REPORT_BYTES) {
        return 0;
    }
    function->endpoint = address & ENDPOINT_NUMBER;
    function->packet = (u16)packet;
    function->interval = endpoint[ENDPOINT_ASKED_EVERY];
    return 1;
}

struct usb_function usb_parse_configuration(const u8 *bytes, u32 len)
{
    struct usb_function function = {0}, none = {0};
    if (len < CONFIGURATION_BYTES || bytes[1] != CONFIGURATION ||
        bytes[0] < CONFIGURATION_BYTES) {
        return none;
    }
    function.configuration = bytes[CONFIGURATION_VALUE];
    for (u32 at = bytes[0]; at < len && len - at >= 2; at += bytes[at]) {
        u32 size = bytes[at];
        if (size < 2 || size > len - at) {
            return none;
        }
        if (bytes[at + 1] == INTERFACE && size >= INTERFACE_BYTES) {
            function.kind = usb_interface_kind(bytes + at);
            function.interface = bytes[at + INTERFACE_NUMBER];
        } else if (bytes[at + 1] == ENDPOINT && size >= ENDPOINT_BYTES &&
                   function.kind != USB_OTHER &&
                   usb_take_endpoint(bytes + at, &function)) {
            return function;
        }
    }
    return none;
}
