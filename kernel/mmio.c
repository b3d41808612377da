// mmio.c - waiting for a device register.
// SPDX-License-Identifier: MIT
#include "mmio.h"
#include "time.h"

int mmio_wait32(u64 address, u32 mask, u32 want, u32 ms)
{
    // Most devices are ready at the first look: no clock is read for them.
    u32 value = mmio_read32(address);
    if ((value & mask) == want) {
        return 0;
    }
    struct deadline deadline = deadline_ms(ms);
    for (;;) {
        // The clock is looked at before the register: when we were held up
        // between the two, the device still gets its last look.
        int late = deadline_passed(&deadline);
        value = mmio_read32(address);
        if ((value & mask) == want) {
            return 0;
        }
        if (value == ~0u) {
            return E_GONE;
        }
        if (late) {
            return E_TIMEOUT;
        }
        pause();
    }
}
