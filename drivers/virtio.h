// virtio.h - what every virtio device shares: finding its registers, agreeing
// on features, its queues.
// SPDX-License-Identifier: MIT
//
// In the order of VIRTIO 1.1 3.1.1: virtio_find once, then virtio_begin,
// virtio_queue_start for each queue, virtio_run. The last three again make a
// device in trouble as new.
#pragma once
#include "virtio_regs.h"

struct virtio {
    const struct pci_device *pci;
    u64 common, config, notify; // register addresses; modern devices
    u64 config_bytes, notify_bytes;
    u32 notify_multiplier;
    u16 port;     // legacy devices; 0: modern
    u16 vectors;  // legacy devices: bytes of them, before the configuration
    u64 features; // agreed on
};

struct virtq {
    struct virtq_desc *desc;
    struct virtq_avail *avail;
    struct virtq_used *used;
    u64 bytes;  // of the three
    u64 notify; // register's address, or 0
    u16 port;   // else its port
    u16 index;
    u16 vector;     // entry of MSI-X, or VIRTIO_NO_VECTOR
    u32 size, most; // entries; the device's own size
};
enum { VIRTIO_NO_VECTOR = 0xFFFF };

int must_check virtio_find(struct virtio *virtio,
                           const struct pci_device *device, u64 config_bytes);
// Reset it and accept those of the wanted features that it offers. E_TIMEOUT,
// E_GONE, E_UNSUPPORTED: it does not take our choice.
int must_check virtio_begin(struct virtio *virtio, u64 wanted);
// Choose the queue's size, at most most_size where the device lets us choose,
// and take memory for it. Once; after virtio_begin.
int must_check virtio_queue_alloc(struct virtio *virtio, struct virtq *queue,
                                  u16 index, u32 most_size);
// Memory for a queue like this one, with more entries, at most its `most`.
int must_check virtio_queue_resize(const struct virtq *queue, u32 size,
                                   struct virtq *larger);
// Clear the queue's rings and tell the device where they are.
int must_check virtio_queue_start(struct virtio *virtio, struct virtq *queue);
void virtio_run(struct virtio *virtio);
// Which entry of MSI-X, which is on, the queue signals; VIRTIO_NO_VECTOR: none.
// E_UNSUPPORTED: the device does not take it.
int must_check virtio_queue_set_vector(struct virtio *virtio,
                                       struct virtq *queue, u16 vector);
// Give up: the device is told, and reaches memory no longer.
void virtio_fail(struct virtio *virtio);
u32 virtio_status(const struct virtio *virtio); // STATUS_*
u8 virtio_config8(const struct virtio *virtio, u32 offset);
u16 virtio_config16(const struct virtio *virtio, u32 offset);
u32 virtio_config32(const struct virtio *virtio, u32 offset);

// Show the device everything below idx in the avail ring, and ring the doorbell
// unless it says that it looks by itself. The fence is for the other side: the
// device first says that it sleeps and then looks at idx once more.
static inline void virtio_publish(const struct virtq *queue, u16 idx)
{
    store_release(&queue->avail->idx, idx);
    fence();
    if (load_acquire(&queue->used->flags) & USED_NO_NOTIFY) {
        return;
    }
    if (queue->notify) {
        mmio_write16(queue->notify, queue->index);
    } else {
        outw(queue->port, queue->index);
    }
}
