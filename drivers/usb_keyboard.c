// usb_keyboard.c - keyboards that speak the HID boot protocol.
// SPDX-License-Identifier: MIT
//
// HID 1.11, 7.2 (requests), appendix B and F. A report is the whole keyboard:
// eight modifiers and up to six keys; what changed since the last is typed.
//
// A key repeats without a timer of ours: while one is down the keyboard is
// asked to report every REPEAT_RATE even when nothing changed, and to be silent
// again when all are up (SET_IDLE).
#include "xhci.h"

#define LOG_TAG "usb"

enum { SET_REPORT = 9, SET_IDLE = 10, SET_PROTOCOL = 11, OUTPUT = 0x200 };
enum { REPORT_MODIFIERS = 0, REPORT_KEYS = 2, REPORT_BYTES = 8 };
enum { REPEAT_RATE = 8, REPEAT_AFTER_MS = 400 }; // the rate in units of 4 ms
enum { LEDS_UNKNOWN = 0xFF };

static void usb_keyboard_request(struct usb_device *device, u8 request,
                                 u16 value, u16 length, usb_done *done)
{
    xhci_control(device,
                 (struct usb_request){USB_CLASS | USB_TO_INTERFACE, request,
                                      value, device->function.interface,
                                      length},
                 done);
}

static int usb_keyboard_has(const u8 keys[6], u8 key)
{
    for (u32 i = 0; i < 6; i++) {
        if (keys[i] == key) {
            return 1;
        }
    }
    return 0;
}

static void usb_keyboard_modifiers(struct usb_keyboard *keyboard, u8 now)
{
    u8 changed = keyboard->keyboard.modifiers ^ now;
    for (u32 i = 0; i < 8; i++) {
        u8 key = (u8)(KEY_CTRL + i);
        if ((changed >> i & 1) == 0) {
            continue;
        }
        if (now >> i & 1) {
            keyboard_press(&keyboard->keyboard, key);
        } else {
            keyboard_release(&keyboard->keyboard, key);
        }
    }
}

static int usb_keyboard_repeats(u8 key)
{
    return key > KEY_ERROR + 2 && key != KEY_CAPS_LOCK && key != KEY_NUM_LOCK &&
           key != KEY_SCROLL_LOCK && key < KEY_CTRL;
}

static void usb_keyboard_keys(struct usb_keyboard *keyboard, const u8 keys[6])
{
    int same = memcmp(keys, keyboard->keys, 6) == 0;
    u8 old[6];
    memcpy(old, keyboard->keys, 6);
    memcpy(keyboard->keys, keys, 6);
    for (u32 i = 0; i < 6; i++) {
        if (keys[i] > KEY_ERROR && keys[i] < KEY_CTRL &&
            !usb_keyboard_has(old, keys[i])) {
            keyboard->repeating = usb_keyboard_repeats(keys[i]) ? keys[i] : 0;
            keyboard->repeat_after = deadline_ms(REPEAT_AFTER_MS);
            keyboard_press(&keyboard->keyboard, keys[i]);
        }
    }
    if (!usb_keyboard_has(keys, keyboard->repeating)) {
        keyboard->repeating = 0;
    }
    if (same && keyboard->repeating != 0 &&
        deadline_passed(&keyboard->repeat_after)) {
        keyboard_press(&keyboard->keyboard, keyboard->repeating);
    }
    keyboard->wanted_idle = keyboard->repeating != 0 ? REPEAT_RATE : 0;
}

void usb_keyboard_report(struct usb_device *device, const u8 *report, u32 len)
{
    struct usb_keyboard *keyboard = &device->keyboard;
    u8 keys[6] = {0};
    if (len <= REPORT_KEYS || report[REPORT_KEYS] == KEY_ERROR) {
        return;
    }
    memcpy(keys, report + REPORT_KEYS,
           len < REPORT_BYTES ? len - REPORT_KEYS : 6);
    usb_keyboard_modifiers(keyboard, report[REPORT_MODIFIERS]);
    usb_keyboard_keys(keyboard, keys);
}

void usb_keyboard_gone(struct usb_device *device)
{
    device->keyboard.keyboard.modifiers = 0;
    device->keyboard.repeating = 0;
}

// One that refuses is asked no more; one that does not answer is started anew,
// and then left in peace.
static void usb_keyboard_told(struct usb_device *device, int result)
{
    if (result == E_UNSUPPORTED) {
        device->keyboard.quiet = 1;
    } else if (result < 0) {
        usb_fail(device, result);
    }
}

void usb_keyboard_work(struct usb_device *device)
{
    struct usb_keyboard *keyboard = &device->keyboard;
    if (keyboard->quiet || xhci_endpoints(device)->request.done != 0) {
        return;
    }
    if (keyboard->idle != keyboard->wanted_idle) {
        keyboard->idle = keyboard->wanted_idle;
        usb_keyboard_request(device, SET_IDLE, (u16)(keyboard->idle << 8), 0,
                             usb_keyboard_told);
    } else if (keyboard->leds != keyboard_leds()) {
        keyboard->leds = keyboard_leds();
        device->memory->data[0] = keyboard->leds;
        usb_keyboard_request(device, SET_REPORT, OUTPUT, 1, usb_keyboard_told);
    }
}

// ---- start ----
static void usb_keyboard_ready(struct usb_device *device, int result)
{
    char place[USB_PLACE];
    if (result < 0 && result != E_UNSUPPORTED) {
        usb_fail(device, result);
        return;
    }
    device->keyboard.quiet |= result == E_UNSUPPORTED;
    device->keyboard.leds = LEDS_UNKNOWN;
    usb_started(device);
    xhci_listen(device);
    usb_place(device, place);
    // One that comes later must not write into the line that is being typed.
    log_line(device->hc->settling ? LOG_INFO : LOG_DEBUG, LOG_TAG,
             "keyboard %04x:%04x at %s", device->vendor, device->product,
             place);
}

static void usb_keyboard_in_boot_protocol(struct usb_device *device, int result)
{
    if (result < 0 && result != E_UNSUPPORTED) {
        usb_fail(device, result);
        return;
    }
    usb_keyboard_request(device, SET_IDLE, 0, 0, usb_keyboard_ready);
}

void usb_keyboard_start(struct usb_device *device)
{
    usb_keyboard_request(device, SET_PROTOCOL, 0, 0,
                         usb_keyboard_in_boot_protocol);
}
