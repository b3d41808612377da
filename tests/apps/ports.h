// ports.h - virtio's serial ports as a device that interrupts when it is told
// to: an entry of MSI-X for each of two queues.
// SPDX-License-Identifier: MIT
//
// Virtio 1.1: 4.1.4 (where registers lie), 3.1.1 (initialization), 2.6 (rings),
// 5.3 (ports). QEMU's device (ioeventfd=off, vectors=64) has no port behind
// these queues: it hands back what is sent, and interrupts, before the
// doorbell's store has ended.
#pragma once
#include "device.h"

enum { PORTS_VENDOR = 0x1AF4, PORTS_ID = 0x1043, PORTS_QUEUES = 2 };
enum { CAP_VENDOR = 9, WINDOW_COMMON = 1, WINDOW_NOTIFY = 2 };
enum { // 4.1.4.3
    COMMON_DRIVER_SELECT = 0x08,
    COMMON_DRIVER_FEATURES = 0x0C,
    COMMON_STATUS = 0x14,
    COMMON_QUEUE = 0x16,
    COMMON_QUEUE_SIZE = 0x18,
    COMMON_QUEUE_ENTRY = 0x1A,
    COMMON_QUEUE_ENABLE = 0x1C,
    COMMON_QUEUE_NOTIFY = 0x1E,
    COMMON_QUEUE_DESC = 0x20,
    COMMON_QUEUE_AVAIL = 0x28,
    COMMON_QUEUE_USED = 0x30,
};
enum { STATUS_FOUND = 1, STATUS_DRIVER = 2, STATUS_OK = 4, STATUS_AGREED = 8 };
enum { RING = 8, AT_AVAIL = 256, AT_USED = 512, AT_BYTE = 1024 };

static struct {
    u32 index;
    u64 common, notify;
    u32 notify_multiplier;
    u16 *avail[PORTS_QUEUES]; // flags, index, ring
    u64 doorbell[PORTS_QUEUES];
} ports;

static const u16 ports_queues[PORTS_QUEUES] = {1, 5}; // what port 0, 1 send

// A window of registers, and where its capability lies. 0: there is none.
static u32 ports_window(u8 kind, u64 *address)
{
    u32 at = device_config(ports.index, CONFIG_CAPABILITIES) & 0xFC;
    for (u32 i = 0; at != 0 && i < 48; i++) {
        u32 head = device_config(ports.index, at);
        u32 bar = device_config(ports.index, at + 4) & 0xFF;
        if ((head & 0xFF) == CAP_VENDOR && head >> 24 == kind) {
            u64 start, offset = device_config(ports.index, at + 8);
            u64 bytes = device_config(ports.index, at + 12);
            if (device_map(ports.index, bar, offset + bytes, &start) < 0) {
                return 0;
            }
            *address = start + offset;
            return at;
        }
        at = head >> 8 & 0xFC;
    }
    return 0;
}

static void ports_write16(u32 offset, u16 value)
{
    *(volatile u16 *)(ports.common + offset) = value;
}
static u16 ports_read16(u32 offset)
{
    return *(volatile u16 *)(ports.common + offset);
}
static void ports_write64(u32 offset, u64 value)
{
    device_write32(ports.common + offset, (u32)value);
    device_write32(ports.common + offset + 4, (u32)(value >> 32));
}
static void ports_status(u8 value)
{
    *(volatile u8 *)(ports.common + COMMON_STATUS) = value;
}

// Entries 1 and 2.
static int ports_start_queue(u32 i)
{
    void *memory;
    int result = os->mem_alloc(4096, MEM_ZERO, &memory);
    if (result < 0) {
        return result;
    }
    u64 page = (u64)memory;
    u64 *descriptor = memory;
    descriptor[0] = page + AT_BYTE;
    descriptor[1] = 1; // byte, for the device to read
    ports_write16(COMMON_QUEUE, ports_queues[i]);
    ports_write16(COMMON_QUEUE_SIZE, RING);
    ports_write16(COMMON_QUEUE_ENTRY, (u16)(1 + i));
    ports_write64(COMMON_QUEUE_DESC, page);
    ports_write64(COMMON_QUEUE_AVAIL, page + AT_AVAIL);
    ports_write64(COMMON_QUEUE_USED, page + AT_USED);
    ports.avail[i] = (u16 *)(page + AT_AVAIL);
    ports.doorbell[i] = ports.notify + ports_read16(COMMON_QUEUE_NOTIFY) *
                                           ports.notify_multiplier;
    ports_write16(COMMON_QUEUE_ENABLE, 1);
    return ports_read16(COMMON_QUEUE_ENTRY) == 1 + i ? 0 : E_IO;
}

static int ports_open(void)
{
    int index = device_find(PORTS_VENDOR, PORTS_ID, 0);
    if (index < 0) {
        return index;
    }
    ports.index = (u32)index;
    device_switch_on(ports.index);
    u32 at = ports_window(WINDOW_NOTIFY, &ports.notify);
    if (at == 0 || ports_window(WINDOW_COMMON, &ports.common) == 0) {
        return E_NODEV;
    }
    ports.notify_multiplier = device_config(ports.index, at + 16);
    ports_status(0);
    ports_status(STATUS_FOUND | STATUS_DRIVER);
    device_write32(ports.common + COMMON_DRIVER_SELECT, 1);
    device_write32(ports.common + COMMON_DRIVER_FEATURES, 1); // VERSION_1
    ports_status(STATUS_FOUND | STATUS_DRIVER | STATUS_AGREED);
    for (u32 i = 0; i < PORTS_QUEUES; i++) {
        int result = ports_start_queue(i);
        if (result < 0) {
            return result;
        }
    }
    ports_status(STATUS_FOUND | STATUS_DRIVER | STATUS_AGREED | STATUS_OK);
    return 0;
}

// The same descriptor again.
static void ports_raise(u32 i)
{
    u16 *avail = ports.avail[i];
    __atomic_store_n(&avail[1], (u16)(avail[1] + 1), __ATOMIC_RELEASE);
    *(volatile u16 *)ports.doorbell[i] = ports_queues[i];
}
