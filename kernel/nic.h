// nic.h - network interfaces: what a driver gives the kernel, and the fast
// path of net_rx.
// SPDX-License-Identifier: MIT
#pragma once
#include "pci.h"

struct nic;

// Every function is called by one core at a time for one NIC.
struct nic_ops {
    // As net_rx_burst: hand out up to n frames, give back the buffers of the
    // previous receive, and call nic_set_poll() before it returns.
    int (*rx)(struct nic *nic, struct net_frame *frames, u32 n);
    // As net_tx_burst. Lengths are checked already (14 .. max_frame).
    int (*tx)(struct nic *nic, const struct net_frame *frames, u32 n);
    // Fill link, speed, ring sizes and counters the device keeps.
    void (*info)(struct nic *nic, struct net_info *info);
    // The program that used it has ended, perhaps in mid-call: make it as
    // after probe. May be null.
    void (*recover)(struct nic *nic);
};

struct nic {
    const struct nic_ops *ops;
    const struct pci_device *pci;
    const char *driver;
    u32 index;
    u32 max_frame; // bytes without FCS
    u32 max_burst; // half the receive ring
    u8 mac[6];
    u8 gone; // the device was removed: every call answers E_GONE
    u64 rx_frames, rx_bytes, tx_frames, tx_bytes, rx_dropped, rx_missed,
        tx_dropped;
};

// Give the kernel a NIC. Its index follows PCI order: drivers are probed in
// that order. E_NOMEM when NET_MAX_NICS exist.
int must_check nic_add(struct nic *nic);
struct nic *nic_get(u32 index); // null: none
u32 nic_count(void);
void nic_recover_all(void); // a program ended

// The poll words, split so that the assembly fast path needs no multiply:
// nic n is empty exactly while (*nic_poll_word[n] & mask) == idle. Entries of
// NICs that do not exist point at a word that never is idle.
struct nic_poll_match {
    u32 mask, idle;
};
extern const volatile u32 *nic_poll_word[NET_MAX_NICS];
extern struct nic_poll_match nic_poll_match[NET_MAX_NICS];
extern struct net_poll nic_poll_public[NET_MAX_NICS]; // what net_poll() shows

static inline void nic_set_poll(const struct nic *nic, const volatile u32 *word,
                                u32 mask, u32 idle)
{
    u32 i = nic->index;
    nic_poll_word[i] = word;
    nic_poll_match[i] = (struct nic_poll_match){mask, idle};
    nic_poll_public[i] = (struct net_poll){word, mask, idle};
}
