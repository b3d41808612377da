// x540.h - the state of one modelled X540 and what its rooms offer each other.
// SPDX-License-Identifier: MIT
//
// The model is driven from outside: whoever owns a struct x540 sets `now`,
// hands it register, configuration and control accesses, and calls
// model_work() until it has nothing more to do. The process does so from a
// poll loop, the self test by hand and with a clock of its own.
#pragma once
#define _GNU_SOURCE 1
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "x540_model_regs.h"

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t i64;

enum {
    BAR0_SIZE = 0x80000,
    BAR4_SIZE = 0x4000,
    MSIX_VECTORS = 64,
    MSIX_PBA = 0x2000,
    QUEUES = 128,
    PREFETCH_MAX = 64,
    REGIONS = 8,
    FRAME_CAP = 65536 + 64, // the largest datagram, a tag and an FCS
    FRAME_MIN = 60,         // without FCS
    FCS = 4,
    LOOP_FRAMES = 64,
    LATE_CAP = 4096,
    HELD_CAP = 128,
    EEPROM_WORDS = 2048,
    RULES = 64,
    REPLY_CAP = 32768,
};

// Guest RAM as QEMU last described it.
struct region {
    u64 gpa, size;
    u8 *at;
};

// A descriptor write-back: q1 goes last, in one aligned release store.
struct writeback {
    u64 due, gpa, q0, q1;
    bool both; // q0 too
};

struct rx_queue {
    bool on;
    u64 on_at; // ns, 0: not on its way
    u64 cache[PREFETCH_MAX];
    u32 cached; // descriptors from RDH on whose addresses are in cache
};

struct tx_queue {
    bool on, busy;
    u64 on_at;
    u64 context[8][2];
    u32 contexts; // bit i: context[i] was given
    struct writeback held[HELD_CAP];
    u32 held_n;
};

// Every key of `set`. One list: name, value at start, what it does.
// clang-format off
#define FAULT_LIST(X) \
    X(reset_stuck, 0, "1: CTRL.RST and LRST never clear") \
    X(reset_us, 100, "how long a reset takes") \
    X(ard_never, 0, "1: EEC auto-read never done") \
    X(dmaidone_never, 0, "1: RDRXCTL.DMAIDONE never set") \
    X(init_us, 50, "auto-read and DMA init, after the reset") \
    X(rxen_never, 0, "1: RXDCTL.ENABLE never reads 1") \
    X(txen_never, 0, "1: TXDCTL.ENABLE never reads 1") \
    X(qen_us, 0, "how long a queue takes to be enabled") \
    X(removed, 0, "1: surprise removal, every read is all ones") \
    X(link_us, 0, "link after a reset, or after link up") \
    X(speed, 10000, "Mb/s: 10000, 1000 or 100") \
    X(tx_hang, 0, "n: transmit stops after n frames, until reset or 0") \
    X(tx_stall, 0, "1: transmit stands still") \
    X(tx_drop_dd, 0, "n: the next n DD write-backs are lost") \
    X(tx_dd_us, 0, "DD so long after TDH") \
    X(rx_dd_us, 0, "DD so long after RDH") \
    X(rx_err, 0, "n: the next n frames have a bad FCS") \
    X(rx_err_force, 0, "1: deliver them with RXE even without SBP") \
    X(rx_len, 0, "n: the next n frames report rx_len_val as length") \
    X(rx_len_val, 65535, "the length they report") \
    X(rx_noeop, 0, "n: the next n frames end without EOP") \
    X(rx_split, 0, "n: the next n frames are cut into pieces") \
    X(rx_split_at, 64, "bytes of a piece") \
    X(rx_skip, 0, "n: the next n descriptors: RDH moves, DD never") \
    X(rx_stall, 0, "1: the receive path is dead") \
    X(master_stuck, 0, "1: STATUS.19 stays set until two resets") \
    X(swsm_held, 0, "n: SWSM.SMBI reads as taken n times") \
    X(fw_holds, 0, "mask: bits of SW_FW_SYNC the firmware never gives up") \
    X(eeprom_bad, 0, "1: the checksum is wrong") \
    X(lossy, 0, "1: no descriptor: drop, as a wire does") \
    X(prefetch, 0, "RX descriptors fetched ahead, at most 64") \
    X(wthresh, 1, "0: TX write-back ignores WTHRESH") \
    X(poison, 0, "1: TX write-back clears the rest of the descriptor") \
    X(rxpad, 1, "0: frames under 60 bytes are runts, else padded") \
    X(strict, 1, "0: count rule violations without logging them")
// clang-format on

struct faults {
#define FAULT_FIELD(name, value, help) u64 name;
    FAULT_LIST(FAULT_FIELD)
#undef FAULT_FIELD
};

// Never cleared by the guest; shown by `stats`.
// clang-format off
#define TOTAL_LIST(X) \
    X(rx_frames) X(rx_bytes) X(tx_frames) X(tx_bytes) X(rx_filtered) \
    X(rx_dropped) X(rx_oversize) X(rx_runt) X(rx_no_room) X(rx_bad) \
    X(rx_no_link) X(tx_bad) X(tx_lost) X(tx_contexts) X(dma_err) \
    X(unmodelled) X(resets) X(reads) X(writes) X(config) X(sysmem) \
    X(irqs) X(rule_violations)
// clang-format on

struct totals {
#define TOTAL_FIELD(name) u64 name;
    TOTAL_LIST(TOTAL_FIELD)
#undef TOTAL_FIELD
};

struct frame {
    u32 len;
    u8 data[FRAME_CAP];
};

// Where frames come from and go to.
struct traffic {
    int fd; // datagram socket, -1: none
    bool sink, loop, blocked;
    struct frame in;     // fetched, waiting for a descriptor
    struct frame unsent; // transmitted, waiting for the socket
    struct frame *looped;
    u32 loop_head, loop_n;
    u64 gen_left;
    u32 gen_len, gen_seq;
    u8 gen_to; // a letter: u, b, m, o
    int pcap;  // file, -1: none
};

struct interrupts {
    int qtest;    // socket to QEMU's -qtest, -1: none
    u64 enabled;  // EIMS and EIMS_EX: bits 63:16 vectors, 15:0 shared
    u64 pending;  // vectors that wait for their mask, or for EITR
    u64 next[64]; // EITR: not before this time
    char intx[64];
    u32 gsi;
    bool level;
};

struct x540 {
    u64 now; // ns, never 0
    u16 device_id;
    u8 mac[6];
    u32 *regs;    // BAR0_SIZE / 4
    u64 *counter; // statistics, by the offset of their (low) register / 4
    u8 config[256], config_mask[256];
    u8 msix[BAR4_SIZE];
    struct region ram[REGIONS];
    u32 ram_n;
    u64 reset_end, ready_at, link_at; // 0: over
    bool forgiving; // the card's own doing: no rules until a reset
    bool in_reset, link_wanted, link_seen, tx_hung;
    u32 stuck_resets;
    struct rx_queue rx[QUEUES];
    struct tx_queue tx[QUEUES];
    struct writeback *late; // a FIFO of LATE_CAP
    u32 late_head, late_n;
    struct frame rx_frame, tx_frame; // working copies
    struct traffic net;
    struct interrupts irq;
    u16 eeprom[EEPROM_WORDS];
    u16 mdio_reg[32];
    bool regsmp, quit;
    struct faults fault;
    struct totals total;
    u64 rule_count[RULES];
    int trace; // file, -1: none
};

static inline u32 *reg(struct x540 *m, u32 offset)
{
    return &m->regs[offset / 4];
}

static inline u32 rx_base(u32 queue)
{
    return queue < 64 ? M_RX_LOW + 0x40 * queue
                      : M_RX_HIGH + 0x40 * (queue - 64);
}

static inline u32 tx_base(u32 queue)
{
    return M_TX + 0x40 * queue;
}

// model.c: life and time
bool model_init(struct x540 *m, u16 device_id);
void model_free(struct x540 *m);
void model_power_on(struct x540 *m); // also QEMU's DEVICE_RESET
void model_reset(struct x540 *m);    // CTRL.RST, FLR, selfreset
bool model_work(struct x540 *m);     // true: call again at once
u64 model_deadline(struct x540 *m);  // when to call again, ns; 0: no need
bool model_receiving(struct x540 *m);
bool link_is_up(struct x540 *m);
void link_set(struct x540 *m, bool up);
void link_restart(struct x540 *m);

// registers.c
void registers_reset(struct x540 *m);
u32 register_read(struct x540 *m, u32 offset);
void register_write(struct x540 *m, u32 offset, u32 value);
u32 register_peek(struct x540 *m, u32 offset); // without side effects
u64 bar0_read(struct x540 *m, u64 offset, u32 size);
void bar0_write(struct x540 *m, u64 offset, u64 value, u32 size);

// mac.c: handlers of single registers
u32 ctrl_read(struct x540 *m, u32 offset);
void ctrl_write(struct x540 *m, u32 offset, u32 value);
u32 status_read(struct x540 *m, u32 offset);
u32 links_read(struct x540 *m, u32 offset);
u32 rdrxctl_read(struct x540 *m, u32 offset);
u32 sec_stat_read(struct x540 *m, u32 offset);
void rxctrl_write(struct x540 *m, u32 offset, u32 value);
void rxpbsize_write(struct x540 *m, u32 offset, u32 value);
void mtqc_write(struct x540 *m, u32 offset, u32 value);
void autoc_write(struct x540 *m, u32 offset, u32 value);

// eeprom.c: EEPROM, semaphores, MDIO
void eeprom_fill(struct x540 *m);
u32 eec_read(struct x540 *m, u32 offset);
void eerd_write(struct x540 *m, u32 offset, u32 value);
u32 swsm_read(struct x540 *m, u32 offset);
u32 sync_read(struct x540 *m, u32 offset);
void sync_write(struct x540 *m, u32 offset, u32 value);
void msca_write(struct x540 *m, u32 offset, u32 value);

// queues.c
void queues_reset(struct x540 *m);
void queues_tick(struct x540 *m);
u64 queues_deadline(struct x540 *m);
u32 rx_size(struct x540 *m, u32 queue); // descriptors in the ring
u32 tx_size(struct x540 *m, u32 queue);
u32 rxdctl_read(struct x540 *m, u32 offset);
u32 txdctl_read(struct x540 *m, u32 offset);
void rx_queue_write(struct x540 *m, u32 offset, u32 value);
void tx_queue_write(struct x540 *m, u32 offset, u32 value);

// statistics.c
u32 counter_read(struct x540 *m, u32 offset);
u32 counter_read_low(struct x540 *m, u32 offset);
u32 counter_read_high(struct x540 *m, u32 offset);
void count(struct x540 *m, u32 offset, u64 n);
void count_received(struct x540 *m, const u8 *frame, u32 len);
void count_sent(struct x540 *m, u32 queue, const u8 *frame, u32 len);

// guest_memory.c
u8 *dma_at(struct x540 *m, u64 gpa, u64 len);
bool dma_read(struct x540 *m, u64 gpa, void *to, u64 len);
bool dma_write(struct x540 *m, u64 gpa, const void *from, u64 len);
bool dma_load(struct x540 *m, u64 gpa, u64 q[2]);
void dma_store(struct x540 *m, const struct writeback *w);
void dma_store_late(struct x540 *m, u64 delay_us, struct writeback w);
void dma_late_run(struct x540 *m);

// packet.c: what lies in a frame
struct layers {
    u32 l3, l4, l4_len; // offsets; 0: none
    bool ipv4, ipv6, tcp, udp, fragment;
};
struct layers packet_parse(const u8 *frame, u32 len);
u32 packet_crc(const u8 *data, u32 len);
u32 packet_sum(const u8 *data, u32 len, u32 sum);
u16 packet_fold(u32 sum);
u32 packet_pseudo_sum(const u8 *frame, const struct layers *at);
u32 packet_rss(struct x540 *m, const u8 *frame, const struct layers *at,
               u32 *type);
static inline u32 be16(const u8 *p)
{
    return (u32)p[0] << 8 | p[1];
}

// rx_filter.c
bool filter_accepts(struct x540 *m, const u8 *frame, u32 len);
bool filter_is_tagged(struct x540 *m, const u8 *frame, u32 len);

// rx.c, tx.c
bool rx_frame(struct x540 *m, const u8 *frame, u32 len); // false: no room
void rx_prefetch(struct x540 *m, u32 queue);
bool tx_work(struct x540 *m);
bool tx_is_busy(struct x540 *m);
void tx_flush_held(struct x540 *m, u32 queue);

// net.c
bool net_open(struct x540 *m, const char *where);
bool net_pcap_open(struct x540 *m, const char *path);
void net_pcap(struct x540 *m, const u8 *frame, u32 len);
bool net_ready(struct x540 *m); // may transmit now
void net_send(struct x540 *m, const u8 *frame, u32 len);
bool net_flush(struct x540 *m);
bool net_work(struct x540 *m);
void net_generate(struct x540 *m, u64 n, u32 len, u8 to);

// interrupts.c
void interrupt_reset(struct x540 *m);
void interrupt_cause(struct x540 *m, u32 bits);
void interrupt_queue(struct x540 *m, u32 queue, bool tx);
u32 interrupt_moderation(struct x540 *m, u32 queue, bool tx);
void interrupt_tick(struct x540 *m);
u64 interrupt_deadline(struct x540 *m);
bool interrupt_connect(struct x540 *m, const char *path);
u32 eicr_read(struct x540 *m, u32 offset);
u32 eics_read(struct x540 *m, u32 offset);
u32 eims_read(struct x540 *m, u32 offset);
void interrupt_write(struct x540 *m, u32 offset, u32 value);

// config_space.c
void config_power_on(struct x540 *m);
u32 config_read(struct x540 *m, u32 addr, u32 len);
void config_write(struct x540 *m, u32 addr, u32 value, u32 len);
bool config_is_master(struct x540 *m);
u64 bar_read(struct x540 *m, u64 gpa, u32 size);
void bar_write(struct x540 *m, u64 gpa, u64 value, u32 size);

// faults.c
void faults_default(struct x540 *m);
bool fault_set(struct x540 *m, const char *assignment);
bool fault_take(u64 *n); // one of n, when there is one left
void rule(struct x540 *m, u32 n, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// control.c
size_t control_command(struct x540 *m, char *line, char *reply, size_t cap);

// proxy.c
struct proxy {
    int fd;
    u8 buffer[4096];
    u32 have;
    int fds[32];
    u32 fds_n;
    struct {
        u64 device, inode, size;
        u8 *at;
    } mapped[REGIONS];
    u32 mapped_n;
};
void proxy_init(struct proxy *p, int fd);
bool proxy_serve(struct proxy *p, struct x540 *m); // false: QEMU is gone
