// nic_set.c - what a program may change about a NIC, and how it goes back.
// SPDX-License-Identifier: MIT
#include "nic.h"
#include "app.h"
#include "device.h"
#include "../lib/string.h"
#include "time.h"

#define LOG_TAG "net"
#include "log.h"

enum { UNFINISHED_MS = 5000 };

static int nic_set_check(const struct nic *nic, u32 setting, u64 value)
{
    switch (setting) {
    case NET_PROMISCUOUS:
    case NET_MULTICAST:
        if (value > 1) {
            return E_ARG;
        }
        return value < nic->least[setting] ? E_UNSUPPORTED : 0;
    case NET_RX_RING:
    case NET_TX_RING:
        if (value < NIC_LEAST_RING || value > NIC_MOST_RING ||
            (value & (value - 1)) != 0) {
            return E_ARG;
        }
        break;
    case NET_FRAME_LIMIT:
        if (value < NIC_LEAST_LIMIT || value > NET_MAX_JUMBO) {
            return E_ARG;
        }
        break;
    default:
        return E_ARG;
    }
    return value < nic->least[setting] || value > nic->most[setting]
               ? E_UNSUPPORTED
               : 0;
}

// What the data path reads of the settings.
static void nic_set_use(struct nic *nic)
{
    nic->max_frame = nic->setting[NET_FRAME_LIMIT];
    nic->max_burst = nic->setting[NET_RX_RING] / 2;
}

static int nic_set_apply(struct nic *nic, u32 setting, u32 value)
{
    if (!nic_enter(nic)) {
        return E_BUSY;
    }
    store_release(&nic->setting_up, 1);
    app_call_whole(1);
    u32 before = nic->setting[setting];
    nic->setting[setting] = value;
    int result = nic->ops->set(nic, 0);
    if (result < 0) {
        nic->setting[setting] = before;
    }
    nic_set_use(nic);
    store_release(&nic->setting_up, 0);
    nic_leave(nic);
    app_call_whole(0);
    return result;
}

int net_set(u32 nic, u32 setting, u64 value)
{
    struct nic *of = nic_get(nic);
    if (of == 0) {
        return E_NODEV;
    }
    if (of->gone) {
        return E_GONE;
    }
    if (of->ops->set == 0) {
        return E_UNSUPPORTED;
    }
    TRY(nic_set_check(of, setting, value));
    return of->setting[setting] == value
               ? 0
               : nic_set_apply(of, setting, (u32)value);
}

// A core that was stopped inside net_set still finishes it.
static int nic_set_is_finished(const struct nic *nic)
{
    struct deadline limit = deadline_ms(UNFINISHED_MS);
    while (load_acquire(&nic->setting_up)) {
        if (deadline_passed(&limit)) {
            return 0;
        }
        pause();
    }
    return 1;
}

static void nic_restore(struct nic *nic)
{
    if (!nic_set_is_finished(nic)) {
        log_error("nic %u: net_set does not end", nic->index);
        return;
    }
    if (memcmp(nic->setting, nic->first, sizeof(nic->first)) == 0) {
        return;
    }
    memcpy(nic->setting, nic->first, sizeof(nic->first));
    int result = nic->ops->set(nic, 1);
    nic_set_use(nic);
    if (result < 0) {
        log_error("nic %u: %s", nic->index, sys_error(result));
    }
}

void nic_restore_all(void)
{
    for (u32 i = 0; i < nic_count(); i++) {
        nic_restore(nic_get(i));
    }
}
