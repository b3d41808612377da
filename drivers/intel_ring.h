// intel_ring.h - Intel network devices of two generations: one descriptor ring,
// one data path.
// SPDX-License-Identifier: MIT
//
// Legacy descriptors: the only ones that every chip from the 82544 to the X550
// has, and a received one still holds its buffer's address, so that giving it
// back is one store.
#pragma once
#include "drivers.h"
#include "frame.h"
#include "intel_regs.h"

struct intel_desc { // 8254x 3.2.3, 3.3.3; 82599 7.1.5, 7.2.3.2.2
    u64 address;
    union {
        u64 word;
        struct {
            u16 length;
            u16 checksum;
            u32 status; // then errors, then special
        };
    };
};
_Static_assert(sizeof(struct intel_desc) == 16, "8254x 3.2.3");

enum { // status
    INTEL_DD = BIT(0),
    INTEL_EOP = BIT(1),
};
#define INTEL_TX_EOP BIT(24)
#define INTEL_TX_IFCS BIT(25)
#define INTEL_TX_RS BIT(27)
#define INTEL_TX_DONE ((u64)INTEL_DD << 32)

enum { // one ring's registers, from its first
    RING_BAL = 0x00,
    RING_BAH = 0x04,
    RING_LEN = 0x08,
    RING_HEAD = 0x10,
    RING_TAIL = 0x18,
    RING_CONTROL = 0x28,
};

struct intel;

// What tells one family from another.
struct intel_kind {
    const char *name;
    u32 rx, tx;        // their rings' registers
    u32 rx_errors;     // status bits of a damaged frame
    u32 alive, is_set; // a register, and its bit that only a reset clears
    u32 missed[2];     // counters of frames without a buffer; 0: none
    u32 has_master;    // CTRL and STATUS tell of the PCIe master
    // Quiet, without DMA, its MAC address known.
    int (*reset)(struct intel *intel);
    // From filled rings to a device that runs.
    int (*start)(struct intel *intel);
    // Which frames it receives, as nic->setting says. At any time.
    void (*filter)(const struct intel *intel);
    // As nic_ops says, for entry 0; null: it has no messages to send.
    int (*notify)(const struct intel *intel, enum nic_notify what);
    // Mb/s; 0: the link is down.
    u32 (*link)(const struct intel *intel);
};

// A ring's memory.
struct intel_side {
    struct intel_desc *ring;
    u8 *buffers;
    u64 bytes; // of the buffers
    u32 n;     // descriptors; a power of two
};
enum { INTEL_RX, INTEL_TX, INTEL_SIDES };

struct intel {
    struct nic nic; // first
    const struct intel_kind *kind;
    u64 regs;
    struct intel_desc *rx, *tx;
    u8 *rx_buffers, *tx_buffers; // `room` bytes each
    u64 room;
    u32 n_rx, n_tx; // powers of two
    // Positions run free. Descriptors before rx_at are taken, those before
    // rx_given went back to the device: between them is what a program holds.
    u32 rx_at, rx_given;
    u32 rx_shift; // descriptor i has buffer i + rx_shift
    u32 tx_at;
    u32 speed;      // Mb/s; 0: no link
    u32 stuck_at;   // where transmit stood at stuck_tsc
    u32 skipped_at; // where the device was past a descriptor at skipped_tsc
    u64 rx_bad;     // damaged frames counted that the device counts too
    u64 checked_tsc, stuck_tsc, skipped_tsc, failed_tsc; // 0: not
    u8 rx_skip;  // pieces of a frame too big are still to come
    u8 broken;   // to be reset
    u8 notifies; // it tells of frames by interrupt
    // From the start, and what the fields above show.
    struct intel_side home[INTEL_SIDES], now[INTEL_SIDES];
};

static inline u32 intel_read(const struct intel *intel, u32 at)
{
    return mmio_read32(intel->regs + at);
}

static inline void intel_write(const struct intel *intel, u32 at, u32 value)
{
    mmio_write32(intel->regs + at, value);
}

// Descriptors before position `end` are the device's: what was written to them
// is visible before the tail is.
static inline void intel_tail(const struct intel *intel, u32 ring, u32 end)
{
    __atomic_thread_fence(__ATOMIC_RELEASE);
    intel_write(intel, ring + RING_TAIL, end);
}

extern const struct nic_ops intel_ops;

// From a PCI function to a NIC. What fails leaves it quiet.
int must_check intel_probe(struct pci_device *device,
                           const struct intel_kind *kind);
// For the families: ask the PCIe master to stop, then reset by these bits of
// CTRL.
int must_check intel_reset(struct intel *intel, u32 bits, u32 wait_ms);
void intel_set_ring(struct intel *intel, u32 ring, const struct intel_desc *at,
                    u32 n);
// The card's own address, from the two registers or the EEPROM. E_IO: it is
// none.
int must_check intel_set_mac(struct intel *intel, u32 low, u32 high);
void intel_write_mac(const struct intel *intel, u32 ral); // back to its filter
void intel_clear_mta(const struct intel *intel);

// For the data path, when something is wrong.
// Every few milliseconds: is it still there, as we left it, and the link up?
void intel_look(struct intel *intel);
// Reset what is broken. E_GONE: it was removed. Another error: not yet.
int must_check intel_heal(struct intel *intel);
// The transmit ring is full: E_AGAIN, until it has been for too long.
int must_check intel_tx_full(struct intel *intel);
int intel_notify(struct nic *nic, enum nic_notify what);
void intel_info(struct nic *nic, struct net_info *info);
void intel_recover(struct nic *nic);
int must_check intel_set(struct nic *nic, int keep);

// Between intel_ring_init.c and intel_ring_set.c.
void intel_use(struct intel *intel, const struct intel_side *sides, u64 room);
int must_check intel_run(struct intel *intel); // reset, fill, start
void intel_show_poll(const struct intel *intel);
void intel_drain(struct intel *intel);
void intel_read_counters(struct intel *intel);
// It did not come back from a reset: quiet, to be tried again. Returns result.
int intel_failed(struct intel *intel, int result);
