// intel_ring.c - frames through an Intel ring: receive in place, transmit by
// copy.
// SPDX-License-Identifier: MIT
//
// Tried on QEMU 7.2: e1000 (82540EM, 82544GC, 82545EM), e1000e (82574L), and on
// the model of the X540 (tests/models).
//
// A descriptor is cleared when its frame is taken and goes back, with others,
// at a later receive. Never more than half of them are out, so the
// next one is always the device's, and its status word is what programs poll.
#include "intel_ring.h"

enum { LOOKS_A_SECOND = 250 };

// A frame, or a piece of one in several buffers, that is not for a program.
static __attribute__((noinline, cold)) void intel_drop(struct intel *intel,
                                                       u32 status)
{
    intel->nic.rx_dropped += !intel->rx_skip;
    intel->rx_bad += !intel->rx_skip && (status & intel->kind->rx_errors);
    intel->rx_skip = (status & INTEL_EOP) == 0;
}

// How many lengths from NET_MIN_FRAME on are good: none while pieces of a frame
// too big are still to come.
static inline u32 intel_lengths(const struct intel *intel)
{
    return intel->rx_skip ? 0 : intel->nic.max_frame - NET_MIN_FRAME + 1;
}

// Take at most half the ring, which is the device's to fill: of all that it
// wrote only status and length are looked at.
static inline u32 intel_take(struct intel *intel, struct net_frame *frames,
                             u32 n)
{
    struct intel_desc *ring = intel->rx;
    u32 mask = intel->n_rx - 1, shift = intel->rx_shift;
    u32 lengths = intel_lengths(intel);
    u32 looked = intel->kind->rx_errors | INTEL_EOP;
    u32 at = intel->rx_at, end = at + intel->nic.max_burst;
    u8 *buffers = intel->rx_buffers;
    struct net_frame *next = frames, *last = frames + n;
    u64 bytes = 0, room = intel->room;
    while (next != last && at != end) {
        struct intel_desc *desc = &ring[at & mask];
        u32 status = load_acquire(&desc->status);
        if (!(status & INTEL_DD)) {
            break;
        }
        u32 len = desc->length;
        desc->word = 0;
        u8 *frame = buffers + (u64)((at + shift) & mask) * room;
        at++;
        if (len - NET_MIN_FRAME >= lengths || (status & looked) != INTEL_EOP) {
            intel_drop(intel, status);
            lengths = intel_lengths(intel);
            continue;
        }
        next->data = frame;
        next->len = len;
        next++;
        bytes += len;
    }
    intel->rx_at = at;
    intel->nic.rx_bytes += bytes;
    return (u32)(next - frames);
}

// Descriptors go back when a quarter of the ring is out, or would be: a write
// to the tail costs as much as many frames. One is kept back: with tail = head
// the ring would be empty.
static inline void intel_give_back(struct intel *intel, u32 n)
{
    u32 at = intel->rx_at, out = at - intel->rx_given;
    if (out != 0 && out + n > intel->n_rx / 4) {
        intel->rx_given = at;
        intel_tail(intel, intel->kind->rx, (at - 1) & (intel->n_rx - 1));
    }
}

static int intel_rx(struct nic *nic, struct net_frame *frames, u32 n)
{
    struct intel *intel = (struct intel *)nic;
    if (intel->broken) {
        TRY(intel_heal(intel));
    }
    u32 mask = intel->n_rx - 1;
    intel_give_back(intel, n);
    u32 count = intel_take(intel, frames, n);
    nic->rx_frames += count;
    nic_set_poll(nic, &intel->rx[intel->rx_at & mask].status, INTEL_DD, 0);
    return (int)count;
}

static inline int intel_check(struct intel *intel)
{
    if (rdtsc() - intel->checked_tsc >= time_tsc_hz() / LOOKS_A_SECOND) {
        intel_look(intel);
    }
    if (intel->broken) {
        TRY(intel_heal(intel));
    }
    return intel->speed ? 0 : E_LINK;
}

// A frame of any length into a slot: bytes to send, 0 when it may not be sent.
// Out of line, so that the loop below stays in registers.
static __attribute__((noinline)) u32 intel_copy(const struct intel *intel,
                                                u8 *to, const u8 *from, u32 len)
{
    return nic_takes(&intel->nic, len) ? frame_copy(to, from, len) : 0;
}

// Copy frames into free slots. Returns how many; *error says why no more. Slots
// are done in order: when the one behind is, this one is, and one stays empty.
static inline u32 intel_queue(struct intel *intel,
                              const struct net_frame *frames, u32 n, int *error)
{
    struct intel_desc *ring = intel->tx;
    u32 mask = intel->n_tx - 1, at = intel->tx_at, end = at + n;
    u64 bytes = 0;
    for (; at != end; at++, frames++) {
        if (!(load_acquire(&ring[(at + 1) & mask].status) & INTEL_DD)) {
            *error = E_AGAIN;
            break;
        }
        u32 len = __atomic_load_n(&frames->len, __ATOMIC_RELAXED);
        u8 *to = intel->tx_buffers + (u64)(at & mask) * intel->room;
        u32 wire = len;
        if (frame_is_small(len)) {
            frame_copy_small(to, frames->data, len);
        } else if (!(wire = intel_copy(intel, to, frames->data, len))) {
            *error = E_SIZE;
            break;
        }
        ring[at & mask].word =
            INTEL_TX_EOP | INTEL_TX_IFCS | INTEL_TX_RS | wire;
        bytes += len;
    }
    u32 queued = at - intel->tx_at;
    intel->tx_at = at;
    intel->nic.tx_frames += queued;
    intel->nic.tx_bytes += bytes;
    return queued;
}

static int intel_tx(struct nic *nic, const struct net_frame *frames, u32 n)
{
    struct intel *intel = (struct intel *)nic;
    TRY(intel_check(intel));
    int error = 0;
    u32 queued = intel_queue(intel, frames, n, &error);
    if (queued) {
        intel_tail(intel, intel->kind->tx, intel->tx_at & (intel->n_tx - 1));
    }
    if (queued) {
        return (int)queued;
    }
    return error == E_AGAIN ? intel_tx_full(intel) : error;
}

const struct nic_ops intel_ops = {
    .rx = intel_rx,
    .tx = intel_tx,
    .info = intel_info,
    .recover = intel_recover,
    .set = intel_set,
    .notify = intel_notify,
};
