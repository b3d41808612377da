// ring.h - indices of a ring that two sides share: one produces, one consumes.
// SPDX-License-Identifier: MIT
#pragma once
#include "../kernel/driver.h"

// prod and cons run free and are masked only to index.
struct ring {
    u32 size; // a power of two
    u32 prod, cons;
};

static inline u32 ring_index(const struct ring *ring, u32 position)
{
    return position & (ring->size - 1);
}

static inline u32 ring_used(const struct ring *ring)
{
    return ring->prod - ring->cons;
}

static inline u32 ring_room(const struct ring *ring)
{
    return ring->size - ring_used(ring);
}
