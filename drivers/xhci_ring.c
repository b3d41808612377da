// xhci_ring.c - the rings of TRBs that a controller and we share.
// SPDX-License-Identifier: MIT
//
// xHCI 1.2, 4.9. The cycle bit says whose a TRB is; it follows from how often
// the ring was gone through.
#include "xhci.h"

static u32 xhci_cycle(const struct ring *at, u32 position)
{
    return (position / at->size & 1) ^ 1;
}

void xhci_ring_init(struct xhci_ring *ring, void *memory, u32 size)
{
    ring->trbs = memory;
    ring->at = (struct ring){.size = size};
    memset(ring->trbs, 0, (size + 1) * sizeof(*ring->trbs));
    ring->trbs[size].parameter = (u64)memory;
}

int xhci_ring_put(struct xhci_ring *ring, struct xhci_trb trb)
{
    struct ring *at = &ring->at;
    if (ring_room(at) == 0) {
        return E_AGAIN;
    }
    u32 cycle = xhci_cycle(at, at->prod);
    struct xhci_trb *to = &ring->trbs[ring_index(at, at->prod)];
    to->parameter = trb.parameter;
    to->status = trb.status;
    store_release(&to->control, trb.control | cycle); // the controller's now
    at->prod++;
    if (ring_index(at, at->prod) == 0) { // 4.11.5.1: the way back
        struct xhci_trb link = xhci_trb(TRB_LINK, 0, 0, TRB_TOGGLE | cycle);
        store_release(&ring->trbs[at->size].control, link.control);
    }
    return 0;
}

int xhci_ring_find(const struct xhci_ring *ring, u64 address, u32 *position)
{
    const struct ring *at = &ring->at;
    u64 offset = address - (u64)ring->trbs;
    if (offset % sizeof(struct xhci_trb) != 0 ||
        offset / sizeof(struct xhci_trb) >= at->size) {
        return E_RANGE;
    }
    u32 index = (u32)(offset / sizeof(struct xhci_trb));
    u32 ahead = ring_index(at, index - at->cons);
    *position = at->cons + ahead;
    return ahead < ring_used(at) ? 0 : E_RANGE;
}

u64 xhci_ring_restart(struct xhci_ring *ring)
{
    struct ring *at = &ring->at;
    at->cons = at->prod;
    return (u64)&ring->trbs[ring_index(at, at->prod)] |
           xhci_cycle(at, at->prod);
}

int xhci_next_event(struct xhci *hc, struct xhci_trb *event)
{
    const struct ring at = {.size = XHCI_EVENTS};
    const struct xhci_trb *from =
        &hc->events[ring_index(&at, hc->events_taken)];
    u32 control = load_acquire(&from->control);
    if ((control & TRB_CYCLE) != xhci_cycle(&at, hc->events_taken)) {
        return 0;
    }
    *event = (struct xhci_trb){from->parameter, from->status, control};
    hc->events_taken++;
    return 1;
}
