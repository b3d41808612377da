// lock.h - a spin lock that knows its owner.
// SPDX-License-Identifier: MIT
//
// Interrupts stay on: a handler or an exception report that comes back to a
// lock of its own core goes through, it does not wait for itself. Nothing but
// the console touches a program's pointer inside a lock; app.c breaks that one
// when a program died in it.
#pragma once
#include "core.h"
#include "cpu.h"

struct lock {
    u32 owner; // core index + 1; 0: free
};

// Returns 1 when it was taken and is to be given back, 0 when this core had it.
static inline int must_check lock_take(struct lock *lock)
{
    u32 me = core_self()->index + 1, free = 0;
    if (__atomic_load_n(&lock->owner, __ATOMIC_RELAXED) == me) {
        return 0;
    }
    while (!__atomic_compare_exchange_n(&lock->owner, &free, me, 0,
                                        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        free = 0;
        pause();
    }
    return 1;
}

static inline void lock_give(struct lock *lock, int taken)
{
    if (taken) {
        store_release(&lock->owner, 0);
    }
}
