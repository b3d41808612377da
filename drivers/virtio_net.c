// virtio_net.c - virtio network devices: receive in place, transmit by copy.
// SPDX-License-Identifier: MIT
//
// VIRTIO 1.1 5.1. Tried on QEMU 7.2: transitional, modern only, legacy only.
//
// Buffer i belongs to descriptor i for ever. Receive: the used ring names
// buffers, which are handed out in place and go back to the device, many at
// once, at a later receive. Never more than half of them are out, so the
// device always has some, and the next frame always comes. MRG_RXBUF is
// accepted so that a frame too big for a buffer arrives, in pieces, and can be
// counted; and a whole ring of buffers must hold the largest frame there can
// be, or a device with such a frame would wait for ever.
#include "virtio_net.h"

#define LOG_TAG "virtio_net"
#include "../kernel/log.h"

enum { LINK_CHECKS_A_SECOND = 1000 };

// ---- receive ----

// What the device wrote makes no sense: the next call rebuilds it.
static __attribute__((noinline, cold)) void
virtio_net_distrust(struct virtio_net *net, u64 *counter)
{
    net->broken = 1;
    (*counter)++;
    nic_set_never_idle(&net->nic);
}

// 5.1.6.4: in how many buffers this frame lies.
static inline u32 virtio_net_pieces(const u8 *frame)
{
    const u8 *field = frame - NET_HEADER + NET_HEADER_BUFFERS;
    return __atomic_load_n((const u16 *)(const void *)field, __ATOMIC_RELAXED);
}

// Not for a program: one frame, or one piece of a frame in several buffers,
// which counts once.
static __attribute__((noinline, cold)) void
virtio_net_drop(struct virtio_net *net, const u8 *frame)
{
    if (net->rx_skip > 0) {
        net->rx_skip--;
        return;
    }
    net->nic.rx_dropped++;
    u32 pieces = net->merged ? virtio_net_pieces(frame) : 1;
    net->rx_skip = pieces > 1 ? pieces - 1 : 0;
}

// How many lengths from NET_MIN_FRAME on are good: none while pieces of a frame
// too big are still to come.
static inline u32 virtio_net_lengths(const struct virtio_net *net)
{
    return net->rx_skip ? 0 : net->nic.max_frame - NET_MIN_FRAME + 1;
}

// Take the next `most` used entries; what is good of them goes to frames. The
// used ring is the device's: each entry is read once, and believed when it
// names a buffer that the device has. merged is a constant where it is called.
static inline __attribute__((always_inline)) u32
virtio_net_take(struct virtio_net *net, struct net_frame *frames, u32 most,
                int merged)
{
    const struct virtq_used_elem *used = net->rx.used->ring;
    u16 *avail = net->rx.avail->ring;
    u32 mask = net->rx.size - 1, n_rx = net->n_rx, given = net->rx_given;
    u32 header = merged ? NET_HEADER : net->header;
    u32 lengths = virtio_net_lengths(net);
    u32 at = net->rx_taken, end = at + most;
    struct net_frame *next = frames;
    u64 bytes = 0;
    for (; at != end; at++) {
        u64 entry = __atomic_load_n((const u64 *)(const void *)&used[at & mask],
                                    __ATOMIC_RELAXED);
        u32 id = (u32)entry, len = (u32)(entry >> 32) - header;
        if (id >= n_rx || net->rx_given_of[id] == given) {
            virtio_net_distrust(net, &net->nic.rx_dropped);
            break;
        }
        net->rx_given_of[id] = given;
        avail[(at + n_rx) & mask] = (u16)id;
        u8 *frame = virtio_net_rx_frame(net, id);
        if (len - NET_MIN_FRAME >= lengths ||
            (merged && virtio_net_pieces(frame) != 1)) {
            virtio_net_drop(net, frame);
            lengths = virtio_net_lengths(net);
            continue;
        }
        next->data = frame;
        next->len = len;
        next++;
        bytes += len;
    }
    net->rx_taken = at;
    net->nic.rx_bytes += bytes;
    return (u32)(next - frames);
}

// Fill frames from at most `most` used entries. Frames that are not for a
// program only make the loop look further, so that 0 means an empty ring. How
// far is counted here, whatever becomes of the indices.
static u32 virtio_net_fill(struct virtio_net *net, struct net_frame *frames,
                           u32 n, u32 most)
{
    u32 count = 0;
    while (count == 0 && most != 0 && !net->broken) {
        u32 looks = most < n ? most : n;
        count = net->merged ? virtio_net_take(net, frames, looks, 1)
                            : virtio_net_take(net, frames, looks, 0);
        most -= looks;
    }
    net->nic.rx_frames += count;
    return count;
}

// Buffers go back when a quarter of the ring is out, or would be: a device that
// waits for buffers is told once for all of them, and does not fill them one by
// one. It is their turn in the avail ring too: only its index is missing.
static inline void virtio_net_give_back(struct virtio_net *net, u32 n)
{
    if (net->rx_held == 0 || net->rx_held + n <= net->n_rx / 4) {
        return;
    }
    net->rx_held = 0;
    net->rx_given++;
    virtio_publish(&net->rx, (u16)(net->rx_taken + net->n_rx));
}

static int virtio_net_rx(struct nic *nic, struct net_frame *frames, u32 n)
{
    struct virtio_net *net = (struct virtio_net *)nic;
    if (net->broken) {
        TRY(virtio_net_rebuild(net));
    }
    u32 before = net->rx_taken;
    u32 ready = (u16)(load_acquire(&net->rx.used->idx) - before);
    if (ready > net->n_rx - net->rx_held) {
        virtio_net_distrust(net, &nic->rx_dropped);
        return virtio_net_rebuild(net);
    }
    virtio_net_give_back(net, n);
    u32 most = ready < nic->max_burst ? ready : nic->max_burst;
    u32 count = virtio_net_fill(net, frames, n, most);
    net->rx_held += net->rx_taken - before;
    if (!net->broken) {
        nic_set_idle(nic, net->rx_taken << 16);
    }
    return (int)count;
}

// ---- transmit ----

// Once a millisecond: is the device still there, is the link up? A register
// read costs more than a frame.
static int virtio_net_check(struct virtio_net *net)
{
    u64 now = rdtsc();
    if (now - net->link_checked >= time_tsc_hz() / LINK_CHECKS_A_SECOND) {
        net->link_checked = now;
        u32 status = virtio_status(&net->virtio);
        if (status == STATUS_GONE) {
            nic_set_gone(&net->nic);
            return E_GONE;
        }
        net->broken |= (status & STATUS_NEEDS_RESET) != 0;
        virtio_net_read_link(net);
    }
    if (net->broken) {
        TRY(virtio_net_rebuild(net));
    }
    return net->link ? 0 : E_LINK;
}

// A completion out of turn, or a lie. Slots are filled in turn, so one that is
// done early waits, marked, until those before it are done.
static __attribute__((noinline, cold)) void
virtio_net_reclaim_early(struct virtio_net *net, u32 id)
{
    struct ring *ring = &net->tx_ring;
    u32 turn = (id - ring->cons) & (net->n_tx - 1);
    if (id >= net->n_tx || turn >= ring_used(ring) || net->tx_early[id]) {
        virtio_net_distrust(net, &net->nic.tx_dropped);
        return;
    }
    net->tx_early[id] = 1;
    while (net->tx_early[ring_index(ring, ring->cons)]) {
        net->tx_early[ring_index(ring, ring->cons++)] = 0;
    }
}

static inline u32 virtio_net_id(const struct virtq_used_elem *used)
{
    return __atomic_load_n(&used->id, __ATOMIC_RELAXED);
}

// Slots whose frames the device has sent are free again.
static inline void virtio_net_reclaim(struct virtio_net *net)
{
    const struct virtq_used_elem *used = net->tx.used->ring;
    struct ring *ring = &net->tx_ring;
    u32 mask = net->tx.size - 1, at = net->tx_seen;
    u32 end = at + (u16)(load_acquire(&net->tx.used->idx) - at);
    if (end - at > ring->prod - at) {
        virtio_net_distrust(net, &net->nic.tx_dropped);
        return;
    }
    u32 slots = net->n_tx - 1;
    if (at == ring->cons) { // nothing waits, marked
        while (at != end && virtio_net_id(&used[at & mask]) == (at & slots)) {
            at++;
        }
        ring->cons = at;
    }
    for (; at != end && !net->broken; at++) {
        virtio_net_reclaim_early(net, virtio_net_id(&used[at & mask]));
    }
    net->tx_seen = at;
}

// Copy small frames into slots at .. end - 1, up to one that is not small or
// to the last slot. Nothing is called here, so that all of it stays in
// registers. Returns the first slot that was not filled.
static inline __attribute__((always_inline)) u32
virtio_net_put_small(struct virtio_net *net, const struct net_frame *frames,
                     u32 at, u32 end, u64 *bytes)
{
    u64 slot = ring_index(&net->tx_ring, at);
    u8 *to = net->tx_buffers + slot * net->room + FRAME_OFFSET;
    struct virtq_desc *desc = &net->tx.desc[net->tx_data + slot];
    u64 room = net->room;
    u32 extra = net->tx_extra, last = at + net->n_tx - 1 - (u32)slot;
    end = end - at < last - at ? end : last;
    for (; at != end; at++, frames++, desc++, to += room) {
        u32 len = __atomic_load_n(&frames->len, __ATOMIC_RELAXED);
        if (!frame_is_small(len)) {
            break;
        }
        frame_copy_small(to, frames->data, len);
        desc->len = extra + len;
        *bytes += len;
    }
    return at;
}

// Copy a frame of any length into slot at. Returns its length, or E_SIZE.
static __attribute__((noinline)) int
virtio_net_put(struct virtio_net *net, const struct net_frame *frame, u32 at)
{
    u32 len = __atomic_load_n(&frame->len, __ATOMIC_RELAXED);
    if (!nic_takes(&net->nic, len)) {
        return E_SIZE;
    }
    u64 slot = ring_index(&net->tx_ring, at);
    u8 *to = net->tx_buffers + slot * net->room + FRAME_OFFSET;
    net->tx.desc[net->tx_data + slot].len =
        net->tx_extra + frame_copy(to, frame->data, len);
    return (int)len;
}

// Copy frames into free slots. Returns how many; *error says why no more.
static inline u32 virtio_net_queue(struct virtio_net *net,
                                   const struct net_frame *frames, u32 n,
                                   int *error)
{
    u32 start = net->tx_ring.prod, at = start;
    u32 room = ring_room(&net->tx_ring);
    u32 end = at + (n < room ? n : room);
    u64 bytes = 0;
    while ((at = virtio_net_put_small(net, frames + (at - start), at, end,
                                      &bytes)) != end) {
        int len = virtio_net_put(net, frames + (at - start), at);
        if (len < 0) {
            *error = len;
            break;
        }
        bytes += (u32)len;
        at++;
    }
    net->tx_ring.prod = at;
    net->nic.tx_frames += at - start;
    net->nic.tx_bytes += bytes;
    return at - start;
}

static int virtio_net_tx(struct nic *nic, const struct net_frame *frames, u32 n)
{
    struct virtio_net *net = (struct virtio_net *)nic;
    if (ring_room(&net->tx_ring) < n) {
        virtio_net_reclaim(net);
    }
    TRY(virtio_net_check(net));
    int error = E_AGAIN;
    u32 queued = virtio_net_queue(net, frames, n, &error);
    virtio_publish(&net->tx, (u16)net->tx_ring.prod);
    return queued ? (int)queued : error;
}

// ---- the rest ----

static void virtio_net_info(struct nic *nic, struct net_info *info)
{
    struct virtio_net *net = (struct virtio_net *)nic;
    net->link_checked = 0;
    info->link = virtio_net_check(net) == 0;
    info->rx_ring = net->n_rx;
    info->tx_ring = net->n_tx;
}

// A call that was never finished may have left the indices anywhere.
static void virtio_net_recover(struct nic *nic)
{
    struct virtio_net *net = (struct virtio_net *)nic;
    if (!nic->cut && !net->broken) {
        return;
    }
    net->rx_held = 0;
    net->rx_given++; // nothing is held
    if (virtio_net_rebuild(net) < 0) {
        return; // it has said so
    }
}

// 2.6.7.1: the flag is a hint, and the ring is looked at after it was cleared.
static int virtio_net_notify(struct nic *nic, enum nic_notify what)
{
    struct virtio_net *net = (struct virtio_net *)nic;
    u16 vector = what == NIC_NOTIFY_ON ? 0 : VIRTIO_NO_VECTOR;
    int mask = what == NIC_NOTIFY_OFF || what == NIC_NOTIFY_MASK;
    if (what == NIC_NOTIFY_ON || what == NIC_NOTIFY_OFF) {
        int result = virtio_queue_set_vector(&net->virtio, &net->rx, vector);
        net->rx.vector = result < 0 ? (u16)VIRTIO_NO_VECTOR : vector;
        net->home[VIRTIO_NET_RX].queue.vector = net->rx.vector;
        TRY(result);
    }
    store_release(&net->rx.avail->flags, mask ? AVAIL_NO_INTERRUPT : 0);
    fence(); // the device is on the other side
    return !mask && !net->broken &&
           load_acquire(&net->rx.used->idx) != (u16)net->rx_taken;
}

const struct nic_ops virtio_net_ops = {
    .notify = virtio_net_notify,
    .rx = virtio_net_rx,
    .tx = virtio_net_tx,
    .info = virtio_net_info,
    .recover = virtio_net_recover,
    .set = virtio_net_set,
};
