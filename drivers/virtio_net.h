// virtio_net.h - a virtio network device: virtio_net_init.c brings it up,
// virtio_net.c moves frames.
// SPDX-License-Identifier: MIT
#pragma once
#include "frame.h"
#include "ring.h"
#include "virtio.h"

// At the start, and the largest there can be.
enum { VIRTIO_NET_MOST_RX = 256, VIRTIO_NET_MOST_TX = 128 };
enum { VIRTIO_NET_LARGEST = 1024 };
enum { VIRTIO_NET_LEAST_RX = 32, VIRTIO_NET_LEAST_TX = 8 };

// A queue's memory.
struct virtio_net_side {
    struct virtq queue;
    u8 *buffers;
    u64 bytes; // of the buffers
    u32 n;     // of them; a power of two
};
enum { VIRTIO_NET_RX, VIRTIO_NET_TX, VIRTIO_NET_SIDES };

// 5.1.6.5: what a command consists of.
struct virtio_net_command {
    u8 class, command, value, ack;
};

struct virtio_net {
    struct nic nic; // first
    struct virtio virtio;
    struct virtq rx, tx;
    u8 *rx_buffers, *tx_buffers; // `room` bytes each
    u8 *rx_frames;               // where the first buffer's frame starts
    u64 room;
    u32 n_rx, n_tx;      // buffers; powers of two
    u32 header;          // bytes before a frame
    u32 merged;          // the header says how many buffers
    u32 rx_taken;        // used entries consumed, free-running
    u32 rx_held;         // buffers that are out
    u32 rx_given;        // times that buffers went back to the device
    u32 rx_skip;         // pieces still to come of a frame too big
    struct ring tx_ring; // cons: the first slot not yet sent
    u32 tx_seen;         // used entries consumed
    u32 tx_data;         // descriptor of slot 0's frame
    u32 tx_extra;        // bytes of that descriptor besides the frame
    u64 link_checked;    // TSC
    u8 link;
    u8 broken; // the device told us nonsense: to be rebuilt
    // rx_given when a buffer was handed out last: it is out while that has not
    // changed, and the device's when it has.
    u32 rx_given_of[VIRTIO_NET_LARGEST];
    u8 tx_early[VIRTIO_NET_LARGEST]; // sent before those in front of it
    // From the start, and what the fields above show.
    struct virtio_net_side home[VIRTIO_NET_SIDES], now[VIRTIO_NET_SIDES];
    struct virtq control; // where CTRL_RX was agreed on
    struct virtio_net_command *command;
    u32 filter; // what the device was told: enum virtio_net_filter
};

static inline u8 *virtio_net_rx_frame(const struct virtio_net *net, u32 id)
{
    return net->rx_frames + id * net->room;
}

extern const struct nic_ops virtio_net_ops;
// Make a device in trouble as new, but for the buffers that a program still
// holds. Takes as long as a reset may; a device that does not come back, or
// comes back as another, is gone: E_GONE.
int must_check virtio_net_rebuild(struct virtio_net *net);
void virtio_net_read_link(struct virtio_net *net);

// Between virtio_net_init.c and virtio_net_set.c.
void virtio_net_set_layout(struct virtio_net *net); // of a frame's header
u64 virtio_net_wanted(const struct virtio_net *net);
void virtio_net_use(struct virtio_net *net, const struct virtio_net_side *sides,
                    u64 room);
// From the queues' memory, with the features agreed on, to a device that runs.
int must_check virtio_net_start(struct virtio_net *net);
void virtio_net_show_poll(const struct virtio_net *net);
int must_check virtio_net_alloc_control(struct virtio_net *net);
int must_check virtio_net_start_control(struct virtio_net *net);
// Tell the device which frames nic->setting lets in. E_UNSUPPORTED: it cannot.
int must_check virtio_net_filter(struct virtio_net *net);
int must_check virtio_net_set(struct nic *nic, int keep);
