// intel_ring_init.c - an Intel network device, from PCI function to NIC, and
// back to work when something went wrong.
// SPDX-License-Identifier: MIT
#include "intel_ring.h"

#define LOG_TAG "intel"
#include "../kernel/log.h"

enum { MOST_RX = 256, MOST_TX = 256 };
// Where RAM is plenty: an emulator that shares its processor with the guest
// fills more than 256 in one turn of its scheduler.
enum { PLENTY_RX = 1024 };
enum { SMALL_RX = 128, SMALL_TX = 32 }; // with little RAM
enum { LEAST_RX = 32, LEAST_TX = 8 };   // rings come in 128 bytes
enum { LARGEST_RING = 4096 };           // 82599 8.2.3.8.3: 128 KiB; ours: half
enum { MULTICAST = 1 };
#define SMALL_RAM (64ul << 20)
#define PLENTY_RAM (384ul << 20)

enum {
    MASTER_MS = 10, // 82599 5.2.5.3.2 asks for none; it takes microseconds
    DRAIN_MS = 10,
    STUCK_MS = 1000,  // a full transmit ring that does not move
    SKIPPED_MS = 100, // a descriptor passed over
    RETRY_MS = 1000,  // after a reset that failed
};

// ---- steps that both generations share ----

// 82599 4.6.3.2, 5.2.5.3.2: a master that will not stop needs two resets.
static int intel_reset_once(struct intel *intel, u32 bits, u32 wait_ms)
{
    mmio_set32(intel->regs + INTEL_CTRL, bits);
    time_delay_ns(2000); // 8254x 13.4.1: no access for a microsecond
    return mmio_wait32(intel->regs + INTEL_CTRL, bits, 0, wait_ms);
}

int intel_reset(struct intel *intel, u32 bits, u32 wait_ms)
{
    if (intel->kind->has_master) {
        mmio_set32(intel->regs + INTEL_CTRL, CTRL_MASTER_OFF);
        if (mmio_wait32(intel->regs + INTEL_STATUS, STATUS_MASTER_ON, 0,
                        MASTER_MS) < 0) {
            TRY(intel_reset_once(intel, bits, wait_ms));
        }
    }
    return intel_reset_once(intel, bits, wait_ms);
}

void intel_set_ring(struct intel *intel, u32 ring, const struct intel_desc *at,
                    u32 n)
{
    u64 phys = phys_of(at);
    intel_write(intel, ring + RING_BAL, (u32)phys);
    intel_write(intel, ring + RING_BAH, (u32)(phys >> 32));
    intel_write(intel, ring + RING_LEN, n * (u32)sizeof(*at));
    intel_write(intel, ring + RING_HEAD, 0);
    intel_write(intel, ring + RING_TAIL, 0);
}

int intel_set_mac(struct intel *intel, u32 low, u32 high)
{
    u8 *mac = intel->nic.mac;
    for (u32 i = 0; i < sizeof(intel->nic.mac); i++) {
        mac[i] = (u8)(i < 4 ? low >> 8 * i : high >> 8 * (i - 4));
    }
    return (mac[0] & MULTICAST) || (low | (high & 0xFFFF)) == 0 ? E_IO : 0;
}

void intel_write_mac(const struct intel *intel, u32 ral)
{
    const u8 *mac = intel->nic.mac;
    intel_write(intel, ral,
                mac[0] | (u32)mac[1] << 8 | (u32)mac[2] << 16 |
                    (u32)mac[3] << 24);
    intel_write(intel, ral + 4, mac[4] | (u32)mac[5] << 8 | (u32)RAH_AV);
}

void intel_clear_mta(const struct intel *intel)
{
    for (u32 i = 0; i < INTEL_MTA_WORDS; i++) {
        intel_write(intel, INTEL_MTA + 4 * i, 0);
    }
}

// ---- from reset to running ----

// What a program still holds comes last, just not the device's yet.
static void intel_fill_rx(struct intel *intel)
{
    u64 phys = phys_of(intel->rx_buffers);
    u32 mask = intel->n_rx - 1, held = intel->rx_at - intel->rx_given;
    intel->rx_shift += intel->rx_at;
    intel->rx_at = 0;
    intel->rx_given = 0 - held;
    intel->rx_skip = 0;
    for (u32 i = 0; i < intel->n_rx; i++) {
        u64 buffer = (i + intel->rx_shift) & mask;
        intel->rx[i] =
            (struct intel_desc){.address = phys + buffer * intel->room};
    }
}

// Nothing is under way: every slot reads as done.
static void intel_fill_tx(struct intel *intel)
{
    u64 phys = phys_of(intel->tx_buffers);
    intel->tx_at = 0;
    intel->stuck_tsc = 0;
    for (u64 i = 0; i < intel->n_tx; i++) {
        intel->tx[i] = (struct intel_desc){.address = phys + i * intel->room,
                                           .word = INTEL_TX_DONE};
    }
}

void intel_show_poll(const struct intel *intel)
{
    nic_set_poll(&intel->nic,
                 &intel->rx[intel->rx_at & (intel->n_rx - 1)].status, INTEL_DD,
                 0);
}

int intel_run(struct intel *intel)
{
    intel->broken = 1;
    pci_enable(intel->nic.pci,
               PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_INTX_OFF);
    TRY(intel->kind->reset(intel));
    intel_fill_rx(intel);
    intel_fill_tx(intel);
    TRY(intel->kind->start(intel));
    intel_tail(intel, intel->kind->rx,
               (intel->rx_given - 1) & (intel->n_rx - 1));
    if (intel->notifies) {
        TRY(intel->kind->notify(intel, NIC_NOTIFY_ON));
    }
    intel->broken = 0;
    intel->skipped_tsc = 0;
    intel->checked_tsc = rdtsc();
    intel->speed = intel->kind->link(intel);
    return 0;
}

// ---- counters, which the device clears when they are read ----

static u64 intel_count(const struct intel *intel, const u32 *registers, u32 n)
{
    u64 sum = 0;
    for (u32 i = 0; i < n && registers[i]; i++) {
        u32 value = intel_read(intel, registers[i]);
        sum += value == ~0u ? 0 : value;
    }
    return sum;
}

void intel_read_counters(struct intel *intel)
{
    static const u32 dropped[] = {INTEL_CRCERRS, INTEL_RUC, INTEL_RFC,
                                  INTEL_ROC, INTEL_RJC};
    u64 told = intel_count(intel, dropped, array_size(dropped));
    u64 seen = intel->rx_bad < told ? intel->rx_bad : told;
    intel->rx_bad -= seen;
    intel->nic.rx_dropped += told - seen;
    intel->nic.rx_missed += intel_count(intel, intel->kind->missed,
                                        array_size(intel->kind->missed));
}

// ---- when something is wrong ----

static int intel_passed(u64 since, u64 ms)
{
    return rdtsc() - since >= time_tsc_hz() / 1000 * ms;
}

// What was queued either leaves in a moment or, when nothing moves, is lost.
void intel_drain(struct intel *intel)
{
    struct deadline deadline = deadline_ms(DRAIN_MS);
    u32 last = (intel->tx_at - 1) & (intel->n_tx - 1);
    while (!(load_acquire(&intel->tx[last].status) & INTEL_DD) &&
           !deadline_passed(&deadline)) {
        pause();
    }
    for (u32 i = 0; i < intel->n_tx; i++) {
        intel->nic.tx_dropped += !(intel->tx[i].status & INTEL_DD);
    }
}

int intel_failed(struct intel *intel, int result)
{
    intel->broken = 1;
    pci_disable_master(intel->nic.pci);
    intel->failed_tsc = rdtsc() | 1;
    nic_set_never_idle(&intel->nic);
    if (result == E_GONE) {
        nic_set_gone(&intel->nic);
    } else {
        log_error("nic %u: %s", intel->nic.index, sys_error(result));
    }
    return result;
}

int intel_heal(struct intel *intel)
{
    if (intel->failed_tsc && !intel_passed(intel->failed_tsc, RETRY_MS)) {
        return E_IO;
    }
    log_warn("nic %u: reset", intel->nic.index);
    intel_drain(intel);
    int result = intel_run(intel);
    intel->failed_tsc = 0;
    if (result >= 0) {
        intel_show_poll(intel);
        return 0;
    }
    return intel_failed(intel, result);
}

// The device is past the next descriptor, which it has not filled.
static void intel_look_at_rx(struct intel *intel)
{
    u32 mask = intel->n_rx - 1, at = intel->rx_at & mask;
    u32 head = intel_read(intel, intel->kind->rx + RING_HEAD);
    if (head == at || (load_acquire(&intel->rx[at].status) & INTEL_DD)) {
        intel->skipped_tsc = 0;
    } else if (!intel->skipped_tsc || intel->skipped_at != intel->rx_at) {
        intel->skipped_at = intel->rx_at;
        intel->skipped_tsc = rdtsc() | 1;
    } else if (intel_passed(intel->skipped_tsc, SKIPPED_MS)) {
        log_error("nic %u: receive stands still", intel->nic.index);
        intel->broken = 1;
    }
}

void intel_look(struct intel *intel)
{
    if (intel->broken || intel->nic.gone) {
        return;
    }
    intel->checked_tsc = rdtsc();
    u32 alive = intel_read(intel, intel->kind->alive);
    if (alive == ~0u || !(alive & intel->kind->is_set)) {
        log_error("nic %u: %s", intel->nic.index,
                  alive == ~0u ? "all ones" : "it was reset");
        intel->broken = 1; // the reset finds out whether it is there at all
        return;
    }
    intel->speed = intel->kind->link(intel);
    intel_look_at_rx(intel);
}

int intel_tx_full(struct intel *intel)
{
    if (!intel->stuck_tsc || intel->stuck_at != intel->tx_at) {
        intel->stuck_at = intel->tx_at;
        intel->stuck_tsc = rdtsc() | 1;
    } else if (intel_passed(intel->stuck_tsc, STUCK_MS)) {
        log_error("nic %u: transmit stands still", intel->nic.index);
        intel->broken = 1;
        TRY(intel_heal(intel));
    }
    return E_AGAIN;
}

void intel_recover(struct nic *nic)
{
    struct intel *intel = (struct intel *)nic;
    intel_look(intel);
    intel->broken |= nic->cut;
    if (!intel->broken) {
        return;
    }
    intel->rx_given = intel->rx_at; // nothing is held
    if (intel_heal(intel) < 0) {
        return; // it has said so
    }
}

// ---- what it tells ----

void intel_info(struct nic *nic, struct net_info *info)
{
    struct intel *intel = (struct intel *)nic;
    intel_look(intel);
    info->rx_ring = intel->n_rx;
    info->tx_ring = intel->n_tx;
    if (intel->broken && intel_heal(intel) < 0) {
        return; // no link
    }
    info->link = intel->speed != 0;
    info->speed_mbps = intel->speed;
    intel_read_counters(intel);
}

// ---- probe ----

static u64 intel_ram(void)
{
    u64 phys, piece, bytes = 0;
    for (u32 i = 0; memory_ram_piece(i, &phys, &piece) == 0; i++) {
        bytes += piece;
    }
    return bytes;
}

// Descriptors and buffers for n frames, or for fewer where memory is short.
static int intel_alloc_side(struct intel_side *side, u32 n, u32 least)
{
    side->ring = memory_boot_alloc(n * sizeof(*side->ring), 128);
    if (side->ring == 0) {
        return E_NOMEM;
    }
    while ((side->buffers = memory_boot_buffer((u64)n * FRAME_ROOM, PAGE)) ==
           0) {
        n /= 2;
        if (n < least) {
            return E_NOMEM;
        }
    }
    side->bytes = (u64)n * FRAME_ROOM;
    side->n = n;
    return 0;
}

void intel_use(struct intel *intel, const struct intel_side *sides, u64 room)
{
    memcpy(intel->now, sides, sizeof(intel->now));
    intel->rx = sides[INTEL_RX].ring;
    intel->rx_buffers = sides[INTEL_RX].buffers;
    intel->n_rx = sides[INTEL_RX].n;
    intel->tx = sides[INTEL_TX].ring;
    intel->tx_buffers = sides[INTEL_TX].buffers;
    intel->n_tx = sides[INTEL_TX].n;
    intel->room = room;
    intel->rx_at = intel->rx_given = intel->rx_shift = 0; // nothing is held
}

static void intel_set_limits(struct nic *nic, const struct intel *intel)
{
    nic->setting[NET_PROMISCUOUS] = nic->setting[NET_MULTICAST] = 1;
    nic->setting[NET_RX_RING] = intel->n_rx;
    nic->setting[NET_TX_RING] = intel->n_tx;
    nic->setting[NET_FRAME_LIMIT] = nic->max_frame;
    nic->least[NET_RX_RING] = LEAST_RX;
    nic->least[NET_TX_RING] = LEAST_TX;
    nic->most[NET_RX_RING] = nic->most[NET_TX_RING] = LARGEST_RING;
    nic->most[NET_FRAME_LIMIT] = NET_MAX_JUMBO;
    nic->max_burst = intel->n_rx / 2;
}

static int intel_alloc(struct intel *intel)
{
    u64 ram = intel_ram();
    int small = ram < SMALL_RAM;
    u32 n_rx = ram < PLENTY_RAM ? MOST_RX : PLENTY_RX;
    TRY(intel_alloc_side(&intel->home[INTEL_RX], small ? SMALL_RX : n_rx,
                         LEAST_RX));
    TRY(intel_alloc_side(&intel->home[INTEL_TX], small ? SMALL_TX : MOST_TX,
                         LEAST_TX));
    intel_use(intel, intel->home, FRAME_ROOM);
    intel_set_limits(&intel->nic, intel);
    return 0;
}

static int intel_bring_up(struct intel *intel)
{
    TRY(intel_alloc(intel));
    TRY(intel_run(intel));
    intel_read_counters(intel); // 82599 4.6.5: what was before is not ours
    intel->nic.rx_dropped = intel->nic.rx_missed = 0;
    TRY(nic_add(&intel->nic));
    intel_show_poll(intel);
    return 0;
}

int intel_probe(struct pci_device *device, const struct intel_kind *kind)
{
    struct intel *intel = memory_boot_alloc(sizeof(*intel), 64);
    if (intel == 0) {
        return E_NOMEM;
    }
    intel->nic = (struct nic){
        .ops = &intel_ops,
        .pci = device,
        .driver = kind->name,
        .max_frame = NET_MAX_FRAME,
    };
    intel->kind = kind;
    TRY(pci_map_bar(device, 0, INTEL_BAR_BYTES, &intel->regs));
    int result = intel_bring_up(intel);
    if (result < 0) {
        pci_disable_master(device);
    }
    return result;
}
