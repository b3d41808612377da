// nic.c - the network calls, and the NICs behind them.
// SPDX-License-Identifier: MIT
//
// An empty poll is what programs do most, so it is a table look-up and a
// compare here, whatever the NIC, and everything else is out of its way.
#include "nic.h"
#include "../lib/string.h"

#define LOG_TAG "net"
#include "log.h"

#define COLD __attribute__((noinline, cold))
#define ALIGNED __attribute__((aligned(32)))

static struct {
    struct nic *nics[NET_MAX_NICS];
    u32 n;
} nic_table;

// Masked with 1 it is never 0: whoever polls it goes on to the slow path.
static const volatile u32 nic_never_idle = 1;
#define NEVER_MASK 1
#define NEVER_IDLE 0

const volatile u32 *nic_poll_word[NET_MAX_NICS] = {[0 ... NET_MAX_NICS - 1] =
                                                       &nic_never_idle};
struct nic_poll_match nic_poll_match[NET_MAX_NICS] = {
    [0 ... NET_MAX_NICS - 1] = {NEVER_MASK, NEVER_IDLE}};
struct net_poll nic_poll_public[NET_MAX_NICS];

void nic_set_never_idle(const struct nic *nic)
{
    nic_set_poll(nic, &nic_never_idle, NEVER_MASK, NEVER_IDLE);
}

int nic_add(struct nic *nic)
{
    if (nic_table.n == NET_MAX_NICS) {
        log_warn("more than %u NICs", NET_MAX_NICS);
        return E_UNSUPPORTED;
    }
    nic->index = nic_table.n;
    memcpy(nic->first, nic->setting, sizeof(nic->first));
    nic_table.nics[nic_table.n++] = nic;
    nic_set_never_idle(nic);
    char name[16];
    pci_name(nic->pci, name);
    log_info("nic %u: %s at %s, %02x:%02x:%02x:%02x:%02x:%02x", nic->index,
             nic->driver, name, nic->mac[0], nic->mac[1], nic->mac[2],
             nic->mac[3], nic->mac[4], nic->mac[5]);
    return 0;
}

struct nic *nic_get(u32 index)
{
    return index < nic_table.n ? nic_table.nics[index] : 0;
}

u32 nic_count(void)
{
    return nic_table.n;
}

void nic_end_calls(void)
{
    for (u32 i = 0; i < nic_table.n; i++) {
        struct nic *nic = nic_table.nics[i];
        if (!nic->setting_up) { // that one ends, and says so
            nic->cut |= nic->busy;
            nic_leave(nic);
        }
    }
}

void nic_recover_all(int died)
{
    for (u32 i = 0; i < nic_table.n; i++) {
        struct nic *nic = nic_table.nics[i];
        int wanted = (died || nic->cut) && !nic->busy && !nic->gone;
        if (wanted && nic->ops->recover != 0) {
            nic->ops->recover(nic);
        }
        nic->cut = 0;
    }
}

void nic_set_gone(struct nic *nic)
{
    nic->gone = 1;
    nic_set_never_idle(nic);
    log_error("nic %u: device is gone", nic->index);
}

static COLD int nic_receive(u32 index, struct net_frame *frames, u32 n)
{
    struct nic *nic = nic_get(index);
    if (nic == 0) {
        return E_NODEV;
    }
    if (!nic_enter(nic)) {
        return E_BUSY;
    }
    u32 most = nic->max_burst;
    int result =
        nic->gone ? E_GONE : nic->ops->rx(nic, frames, n < most ? n : most);
    nic_leave(nic);
    return result;
}

static inline int nic_is_empty(u32 index)
{
    return index < NET_MAX_NICS &&
           (*nic_poll_word[index] & nic_poll_match[index].mask) ==
               nic_poll_match[index].idle;
}

ALIGNED int net_rx(u32 nic, struct net_frame *frame)
{
    return nic_is_empty(nic) ? 0 : nic_receive(nic, frame, 1);
}

ALIGNED int net_rx_burst(u32 nic, struct net_frame *frames, u32 n)
{
    if (n == 0) {
        return E_ARG;
    }
    return nic_is_empty(nic) ? 0 : nic_receive(nic, frames, n);
}

int net_tx_burst(u32 nic, const struct net_frame *frames, u32 n)
{
    struct nic *to = nic_get(nic);
    if (to == 0) {
        return E_NODEV;
    }
    if (n == 0) {
        return to->gone ? E_GONE : 0;
    }
    if (!nic_enter(to)) {
        return E_BUSY;
    }
    int result = to->gone ? E_GONE : to->ops->tx(to, frames, n);
    nic_leave(to);
    return result;
}

int net_tx(u32 nic, const void *data, u64 len)
{
    struct net_frame frame = {
        .data = (void *)(u64)data,
        .len = len > ~0u ? ~0u : (u32)len,
    };
    return net_tx_burst(nic, &frame, 1);
}

const struct net_poll *net_poll(u32 nic)
{
    return nic < nic_table.n ? &nic_poll_public[nic] : 0;
}

int net_info(u32 nic, struct net_info *info)
{
    struct nic *from = nic_get(nic);
    if (from == 0) {
        return E_NODEV;
    }
    if (!nic_enter(from)) {
        return E_BUSY;
    }
    struct net_info now = {.max_frame = from->max_frame};
    string_copy(now.driver, from->driver, sizeof(now.driver));
    pci_name(from->pci, now.pci);
    memcpy(now.mac, from->mac, sizeof(now.mac));
    if (!from->gone) {
        from->ops->info(from, &now);
    }
    now.rx_frames = from->rx_frames;
    now.rx_bytes = from->rx_bytes;
    now.tx_frames = from->tx_frames;
    now.tx_bytes = from->tx_bytes;
    now.rx_dropped = from->rx_dropped;
    now.rx_missed = from->rx_missed;
    now.tx_dropped = from->tx_dropped;
    nic_leave(from);
    *info = now;
    return 0;
}
