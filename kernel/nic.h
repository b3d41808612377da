// nic.h - network interfaces: what a driver gives the kernel, and the fast
// path of net_rx.
// SPDX-License-Identifier: MIT
#pragma once
#include "pci.h"

struct nic;
enum nic_notify {
    NIC_NOTIFY_OFF,
    NIC_NOTIFY_ON,
    NIC_NOTIFY_MASK,
    NIC_NOTIFY_UNMASK,
};

// Every function is called by one core at a time for one NIC; only
// NIC_NOTIFY_MASK may come in the middle of another.
struct nic_ops {
    // As net_rx_burst: hand out up to n frames, give back the buffers of the
    // previous receive, and call nic_set_poll() before it returns.
    int (*rx)(struct nic *nic, struct net_frame *frames, u32 n);
    // As net_tx_burst, n > 0. The driver reads each length once, and asks
    // nic_takes() about it in the loop that copies the frame.
    int (*tx)(struct nic *nic, const struct net_frame *frames, u32 n);
    // Fill link, speed, ring sizes and counters the device keeps.
    void (*info)(struct nic *nic, struct net_info *info);
    // The program that used it has ended, in mid-call when nic->cut is set:
    // make it as after probe. May be null.
    void (*recover)(struct nic *nic);
    // nic->setting has changed: make the device so. On an error it is left as
    // it was; with `keep`, and for one that is gone, the memory that the old
    // settings took goes back whatever the device says. Null: no settings.
    int (*set)(struct nic *nic, int keep);
    // Tell of frames in an empty ring by entry 0 of its MSI-X or MSI, which is
    // routed. ON and UNMASK return 1 when frames wait already; MASK is called
    // by the interrupt's handler. E_UNSUPPORTED. May be null.
    int (*notify)(struct nic *nic, enum nic_notify what);
};

enum { NIC_SETTINGS = NET_FRAME_LIMIT + 1 };
enum {
    NIC_LEAST_RING = 8,
    NIC_MOST_RING = 32768,
    NIC_LEAST_LIMIT = 64, // small frames are sent without a look at the limit
};

struct nic {
    const struct nic_ops *ops;
    const struct pci_device *pci;
    const char *driver;
    u32 index;
    u32 max_frame; // bytes without FCS
    u32 max_burst; // half the receive ring
    u8 mac[6];
    u8 gone;       // the device was removed: every call answers E_GONE
    u8 setting_up; // inside net_set
    u8 busy;       // a core is in a call that may change it
    u8 cut;        // such a call never ended: its rings are in any state
    // By enum net_setting: now, from the start, and the device's limits.
    u32 setting[NIC_SETTINGS], first[NIC_SETTINGS], least[NIC_SETTINGS],
        most[NIC_SETTINGS];
    u64 rx_frames, rx_bytes, tx_frames, tx_bytes, rx_dropped, rx_missed,
        tx_dropped;
};

// Begin a call that may change it: 1, or 0 when another core is in one. Nobody
// waits: two cores at one NIC are the program's error, and what they did at
// once to its rings no check could find out in time.
static inline int must_check nic_enter(struct nic *nic)
{
    return __atomic_exchange_n(&nic->busy, 1, __ATOMIC_ACQUIRE) == 0;
}

static inline void nic_leave(struct nic *nic)
{
    store_release(&nic->busy, 0);
}

// 1: a frame of len bytes may be sent or handed to a program.
static inline int nic_takes(const struct nic *nic, u32 len)
{
    return len - NET_MIN_FRAME <= nic->max_frame - NET_MIN_FRAME;
}

// Give the kernel a NIC. Its index follows PCI order: drivers are probed in
// that order. E_UNSUPPORTED when NET_MAX_NICS exist.
int must_check nic_add(struct nic *nic);
struct nic *nic_get(u32 index); // null: none
u32 nic_count(void);
// A program has ended, and no core runs any more: none is in a call.
void nic_end_calls(void);
// Then: make as new those that a call was cut off in; when the program died,
// also those in other trouble.
void nic_recover_all(int died);
// What it has set goes back, and the memory that it took.
void nic_restore_all(void);
// The device was removed: from now on every call answers E_GONE.
void nic_set_gone(struct nic *nic);

// The calls of the table; their contracts are in ingot.h.
int net_rx(u32 nic, struct net_frame *frame);
int net_rx_burst(u32 nic, struct net_frame *frames, u32 n);
int net_tx(u32 nic, const void *data, u64 len);
int net_tx_burst(u32 nic, const struct net_frame *frames, u32 n);
const struct net_poll *net_poll(u32 nic);
int net_info(u32 nic, struct net_info *info);
int net_set(u32 nic, u32 setting, u64 value);

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

// The same when only idle has changed since.
static inline void nic_set_idle(const struct nic *nic, u32 idle)
{
    nic_poll_match[nic->index].idle = idle;
    nic_poll_public[nic->index].idle = idle;
}

// A poll word that never is idle: the next receive comes to the driver.
void nic_set_never_idle(const struct nic *nic);
