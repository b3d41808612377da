// virtio_net.h - a virtio network device: virtio_net_init.c brings it up,
// virtio_net.c moves frames.
// SPDX-License-Identifier: MIT
#pragma once
#include "frame.h"
#include "ring.h"
#include "virtio.h"

enum { VIRTIO_NET_MOST_RX = 256, VIRTIO_NET_MOST_TX = 128 };

struct virtio_net {
    struct nic nic; // first
    struct virtio virtio;
    struct virtq rx, tx;
    u8 *rx_buffers, *tx_buffers; // FRAME_ROOM bytes each
    u32 n_rx, n_tx;              // buffers; powers of two
    u32 header;                  // bytes before a frame
    u32 merged;                  // the header says how many buffers
    u32 rx_taken;                // used entries consumed, free-running
    u32 rx_held;                 // buffers of the latest burst
    u32 rx_burst;                // its number
    u32 rx_skip;                 // pieces still to come of a frame too big
    struct ring tx_ring;         // cons: the first slot not yet sent
    u32 tx_seen;                 // used entries consumed
    u32 tx_data;                 // descriptor of slot 0's frame
    u32 tx_extra;                // bytes of that descriptor besides the frame
    u64 link_checked;            // TSC
    u8 link;
    u8 busy;   // inside a call; still set when one was never finished
    u8 broken; // the device told us nonsense: to be rebuilt
    // The burst that handed a buffer out last: it is ours to give back while
    // that is the latest burst, and the device's when it is older.
    u32 rx_burst_of[VIRTIO_NET_MOST_RX];
    u8 tx_early[VIRTIO_NET_MOST_TX]; // sent before those in front of it
};

static inline u8 *virtio_net_rx_frame(const struct virtio_net *net, u32 id)
{
    return net->rx_buffers + (u64)id * FRAME_ROOM + FRAME_OFFSET;
}

extern const struct nic_ops virtio_net_ops;
// Make a device in trouble as new, but for the buffers that a program still
// holds. Takes as long as a reset may; a device that does not come back, or
// comes back as another, is gone: E_GONE.
int must_check virtio_net_rebuild(struct virtio_net *net);
void virtio_net_read_link(struct virtio_net *net);
