// intel_ring_set.c - other rings, longer frames and filters for an Intel
// network device. SPDX-License-Identifier: MIT
//
// The memory from the start stays: rings that fit in it lie in it, others take
// their own, which goes back with the setting.
#include "intel_ring.h"

// What of a side is not the other's goes back.
static void intel_give_side(const struct intel_side *side,
                            const struct intel_side *other)
{
    if (side->ring && side->ring != other->ring) {
        memory_give(phys_of(side->ring), side->n * sizeof(*side->ring));
    }
    if (side->buffers && side->buffers != other->buffers) {
        memory_give(phys_of(side->buffers), side->bytes);
    }
}

static void intel_give(const struct intel *intel, const struct intel_side *side)
{
    for (u32 i = 0; i < INTEL_SIDES; i++) {
        intel_give_side(&side[i], &intel->home[i]);
    }
}

// n descriptors and buffers, in the memory from the start where they fit.
static int intel_plan_side(struct intel_side *side,
                           const struct intel_side *home, u32 n, u64 room)
{
    *side = (struct intel_side){.n = n, .bytes = n * room};
    side->ring = n <= home->n
                     ? home->ring
                     : memory_boot_buffer(n * sizeof(*side->ring), PAGE);
    side->buffers = side->bytes <= home->bytes
                        ? home->buffers
                        : memory_boot_buffer(side->bytes, PAGE);
    return side->ring && side->buffers ? 0 : E_NOMEM;
}

static int intel_plan(const struct intel *intel, struct intel_side *next,
                      u64 room)
{
    const u32 *setting = intel->nic.setting;
    int rx = intel_plan_side(&next[INTEL_RX], &intel->home[INTEL_RX],
                             setting[NET_RX_RING], room);
    int tx = intel_plan_side(&next[INTEL_TX], &intel->home[INTEL_TX],
                             setting[NET_TX_RING], room);
    if (rx < 0 || tx < 0) {
        intel_give(intel, next);
        return E_NOMEM;
    }
    return 0;
}

// What was sent leaves first; then a reset, with the other memory.
static int intel_change(struct intel *intel, const struct intel_side *next,
                        u64 room)
{
    if (intel->nic.gone) {
        intel_use(intel, next, room);
        return 0;
    }
    nic_set_never_idle(&intel->nic);
    intel_drain(intel);
    if (!intel->broken) {
        intel_read_counters(intel); // a reset clears them
    }
    intel_use(intel, next, room);
    int result = intel_run(intel);
    if (result < 0) {
        return intel_failed(intel, result);
    }
    intel_show_poll(intel);
    return 0;
}

// After an error nothing is the device's any more, whichever memory stays: it
// is reset with the old settings when it is used next.
static int intel_resize(struct intel *intel, u64 room, int keep)
{
    struct intel_side before[INTEL_SIDES], next[INTEL_SIDES];
    u64 room_before = intel->room;
    TRY(intel_plan(intel, next, room));
    memcpy(before, intel->now, sizeof(before));
    int result = intel_change(intel, next, room);
    if (result < 0 && !keep) {
        intel_use(intel, before, room_before);
        intel_give(intel, next);
    } else {
        intel_give(intel, before);
    }
    return result;
}

int intel_set(struct nic *nic, int keep)
{
    struct intel *intel = (struct intel *)nic;
    const u32 *setting = nic->setting;
    u64 room = setting[NET_FRAME_LIMIT] > NET_MAX_FRAME ? FRAME_ROOM_JUMBO
                                                        : FRAME_ROOM;
    if (intel->n_rx != setting[NET_RX_RING] ||
        intel->n_tx != setting[NET_TX_RING] || intel->room != room ||
        room == FRAME_ROOM_JUMBO) { // then the limit is the device's too
        return intel_resize(intel, room, keep);
    }
    if (!nic->gone && !intel->broken) {
        intel->kind->filter(intel);
    }
    return 0;
}

// ---- by interrupt ----

// A cause that came while it was masked is told of when it is unmasked, and the
// ring is looked at then as well.
int intel_notify(struct nic *nic, enum nic_notify what)
{
    struct intel *intel = (struct intel *)nic;
    if (intel->kind->notify == 0) {
        return E_UNSUPPORTED;
    }
    if (what == NIC_NOTIFY_ON || what == NIC_NOTIFY_OFF) {
        intel->notifies = what == NIC_NOTIFY_ON;
    }
    TRY(intel->kind->notify(intel, what));
    const struct intel_desc *next =
        &intel->rx[intel->rx_at & (intel->n_rx - 1)];
    return (what == NIC_NOTIFY_ON || what == NIC_NOTIFY_UNMASK) &&
           !intel->broken && (load_acquire(&next->status) & INTEL_DD) != 0;
}
