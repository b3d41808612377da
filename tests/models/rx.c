// rx.c - a frame from the wire into receive descriptors.
// SPDX-License-Identifier: MIT
//
// 7.1.5 (legacy descriptor), 7.1.6 (advanced descriptor), 7.1.11 (checksums).
#include "x540.h"
#include <string.h>

enum { MAX_STANDARD = 1518 };

struct rx_packet {
    u32 len, queue, step, pieces; // step: bytes a descriptor
    u32 hash, hash_type, type;
    u64 status; // as in an advanced descriptor, errors included
    u16 vlan;
};

static bool rx_legacy(struct x540 *m, u32 queue)
{
    return (*reg(m, rx_base(queue) + M_SRRCTL) & SRRCTL_DESCTYPE) ==
           SRRCTL_LEGACY;
}

static u32 rx_free(struct x540 *m, u32 queue)
{
    u32 size = rx_size(m, queue), base = rx_base(queue);
    if (!m->rx[queue].on || !size)
        return 0;
    return (*reg(m, base + M_RDT) + size - *reg(m, base + M_RDH) % size) % size;
}

// The address of descriptor number i from RDH on, read from RAM.
static bool rx_load(struct x540 *m, u32 queue, u32 i, u64 *address)
{
    u32 base = rx_base(queue);
    u64 ring = (u64)*reg(m, base + M_RDBAH) << 32 | *reg(m, base + M_RDBAL);
    u32 at = (*reg(m, base + M_RDH) + i) % rx_size(m, queue);
    u64 q[2];
    if (!dma_load(m, ring + 16 * at, q))
        return false;
    *address = q[0];
    // A driver may tell by the length instead (Linux does): clearing either is
    // enough. In a legacy descriptor both stand elsewhere.
    bool legacy = rx_legacy(m, queue);
    if (q[1] & (legacy ? RXD_DD << 32 : RXD_DD) &&
        q[1] >> (legacy ? 0 : 32) & 0xFFFF)
        rule(m, 16, "RX descriptor %u of queue %u given back as written", at,
             queue);
    return true;
}

// The chip fetches descriptors as soon as the tail lets it: what the driver
// stores into them afterwards comes too late.
void rx_prefetch(struct x540 *m, u32 queue)
{
    struct rx_queue *q = &m->rx[queue];
    u32 ahead = rx_free(m, queue);
    if (ahead > m->fault.prefetch)
        ahead = (u32)m->fault.prefetch;
    while (q->cached < ahead && model_receiving(m) &&
           rx_load(m, queue, q->cached, &q->cache[q->cached]))
        q->cached++;
}

static bool rx_next(struct x540 *m, u32 queue, u64 *address)
{
    struct rx_queue *q = &m->rx[queue];
    if (!q->cached)
        return rx_load(m, queue, 0, address);
    *address = q->cache[0];
    memmove(q->cache, q->cache + 1, --q->cached * sizeof(u64));
    return true;
}

static bool rx_too_long(struct x540 *m, const struct frame *f)
{
    u32 most = MAX_STANDARD;
    if (*reg(m, M_HLREG0) & HLREG0_JUMBOEN)
        most = *reg(m, M_MAXFRS) >> 16;
    most += filter_is_tagged(m, f->data, f->len) ? 4 : 0;
    return f->len + FCS > most;
}

// The MAC's own judgement. True: the frame went no further.
static bool rx_mac_drops(struct x540 *m, const struct frame *f)
{
    bool runt = f->len < FRAME_MIN;
    if (!runt && !rx_too_long(m, f))
        return false;
    count(m, runt ? M_RUC : M_ROC, 1);
    count(m, M_TPR, 1);
    count(m, M_TOR, f->len + FCS);
    if (runt)
        m->total.rx_runt++;
    else
        m->total.rx_oversize++;
    return true;
}

static void rx_check_sums(const u8 *frame, const struct layers *at,
                          struct rx_packet *p)
{
    if (at->ipv4) {
        p->status |= RXD_IPCS;
        if (packet_fold(packet_sum(frame + at->l3, at->l4 - at->l3, 0)))
            p->status |= RXD_IPE;
    }
    bool none = at->udp && !be16(frame + at->l4 + 6);
    if (at->fragment || !(at->tcp || at->udp) || none)
        return;
    p->status |= RXD_L4CS | (at->udp ? RXD_UDPCS : 0);
    u32 sum = packet_pseudo_sum(frame, at);
    if (packet_fold(packet_sum(frame + at->l4, at->l4_len, sum)))
        p->status |= RXD_L4E;
}

// Everything about a frame that the descriptor will say, and its queue.
static struct rx_packet rx_classify(struct x540 *m, const struct frame *f)
{
    struct rx_packet p = {.len = f->len};
    struct layers at = packet_parse(f->data, f->len);
    rx_check_sums(f->data, &at, &p);
    p.type = at.ipv4 | (u32)at.ipv6 << 2 | (u32)at.tcp << 4 | (u32)at.udp << 5;
    p.hash = packet_rss(m, f->data, &at, &p.hash_type);
    if ((*reg(m, M_MRQC) & MRQC_MRQE) == MRQC_MRQE_RSS && p.hash_type)
        p.queue = *reg(m, M_RETA + (p.hash & 0x7C)) >> 8 * (p.hash & 3) & 0xF;
    u32 base = rx_base(p.queue);
    if (filter_is_tagged(m, f->data, f->len)) {
        p.vlan = (u16)be16(f->data + 14);
        p.status |= *reg(m, base + M_RXDCTL) & RXDCTL_VME ? RXD_VP : 0;
    }
    if (p.status & RXD_VP)
        p.len -= 4;
    if (!(*reg(m, M_HLREG0) & HLREG0_RXCRCSTRP))
        p.len += FCS;
    u32 buffer = (*reg(m, base + M_SRRCTL) & SRRCTL_BSIZE) << 10;
    p.step = buffer ? buffer : 1024;
    if (m->fault.rx_split && m->fault.rx_split_at &&
        m->fault.rx_split_at < p.step)
        p.step = (u32)m->fault.rx_split_at;
    p.pieces = (p.len + p.step - 1) / p.step;
    return p;
}

// The frame as it will lie in memory: tag taken off, FCS behind it.
static void rx_shape(struct x540 *m, struct frame *f, const struct rx_packet *p)
{
    u32 crc = packet_crc(f->data, f->len);
    if (p->status & RXD_RXE)
        crc = ~crc;
    if (p->status & RXD_VP) {
        memmove(f->data + 12, f->data + 16, f->len - 16);
        f->len -= 4;
    }
    if (*reg(m, M_HLREG0) & HLREG0_RXCRCSTRP)
        return;
    memcpy(f->data + f->len, &crc, FCS);
    f->len += FCS;
}

static struct writeback rx_words(struct x540 *m, const struct rx_packet *p,
                                 u32 len, bool last)
{
    u64 status = RXD_DD | (last ? p->status | RXD_EOP : 0);
    u64 vlan = last && status & RXD_VP ? p->vlan : 0;
    if (rx_legacy(m, p->queue)) {
        u64 errors = status >> 29 & 7; // RXE, L4E, IPE to bits 0, 6, 7
        errors = (errors & 1) | (errors & 6) << 5;
        return (struct writeback){.q1 = len | (status & 0xFF) << 32 |
                                        errors << 40 | vlan << 48};
    }
    bool hash = last && *reg(m, M_RXCSUM) & RXCSUM_PCSD;
    u64 q0 = last ? p->hash_type | p->type << 4 : 0;
    return (struct writeback){.both = true,
                              .q0 = q0 | (hash ? (u64)p->hash << 32 : 0),
                              .q1 = (status & 0xE00FFFFF) | (u64)len << 32 |
                                    vlan << 48};
}

// One descriptor: payload, write-back, RDH. False: no DMA, the queue stands.
static bool rx_piece(struct x540 *m, const struct rx_packet *p, const u8 *data,
                     u32 len, u32 reported)
{
    u32 base = rx_base(p->queue), head = *reg(m, base + M_RDH);
    u32 size = rx_size(m, p->queue);
    u64 ring = (u64)*reg(m, base + M_RDBAH) << 32 | *reg(m, base + M_RDBAL);
    u64 address;
    if (!rx_next(m, p->queue, &address) || !dma_write(m, address, data, len))
        return false;
    bool last =
        data + len == m->rx_frame.data + m->rx_frame.len && !m->fault.rx_noeop;
    struct writeback w = rx_words(m, p, reported, last);
    w.gpa = ring + 16 * (head % size);
    *reg(m, base + M_RDH) = (head + 1) % size;
    if (!fault_take(&m->fault.rx_skip))
        dma_store_late(m, m->fault.rx_dd_us, w);
    return true;
}

static void rx_deliver(struct x540 *m, const struct rx_packet *p)
{
    struct frame *f = &m->rx_frame;
    u32 map = *reg(m, M_RQSMR + p->queue / 4 * 4) >> 8 * (p->queue % 4) & 0xF;
    count_received(m, f->data, f->len);
    count(m, M_QPRC + 0x40 * map, 1);
    count(m, M_QBRC + 0x40 * map, f->len + FCS);
    rx_shape(m, f, p);
    bool wrong_len = fault_take(&m->fault.rx_len);
    for (u32 at = 0, n; at < f->len; at += n) {
        n = f->len - at < p->step ? f->len - at : p->step;
        if (!rx_piece(m, p, f->data + at, n,
                      wrong_len ? (u16)m->fault.rx_len_val : n))
            break;
    }
    fault_take(&m->fault.rx_noeop);
    fault_take(&m->fault.rx_split);
    interrupt_queue(m, p->queue, false);
}

// No descriptor for a frame: wait for one, or lose it.
static bool rx_no_room(struct x540 *m, const struct rx_packet *p)
{
    bool never = m->rx[p->queue].on && p->pieces >= rx_size(m, p->queue);
    bool other = p->queue && !m->rx[p->queue].on; // RSS into a closed queue
    if (!m->fault.lossy && !never && !other)
        return false;
    m->total.rx_no_room++;
    if (*reg(m, rx_base(p->queue) + M_SRRCTL) & SRRCTL_DROP_EN || never) {
        count(m, M_QPRDC + 0x40 * (p->queue % 16), 1);
        return true;
    }
    count(m, M_MPC, 1);
    interrupt_cause(m, EICR_RX_MISS);
    return true;
}

// Is the frame to be delivered? Counts what it costs when it is not.
static bool rx_keeps(struct x540 *m, const struct frame *f, struct rx_packet *p,
                     bool wanted)
{
    count(m, M_TPR, 1);
    count(m, M_TOR, f->len + FCS);
    if (fault_take(&m->fault.rx_err)) {
        count(m, M_CRCERRS, 1);
        count(m, M_ERRBC, f->len + FCS);
        m->total.rx_bad++;
        p->status |= RXD_RXE;
    }
    if (!wanted)
        m->total.rx_filtered++;
    return wanted;
}

static bool rx_over_rlpml(struct x540 *m, const struct rx_packet *p)
{
    u32 control = *reg(m, rx_base(p->queue) + M_RXDCTL);
    return control & RXDCTL_RLPML_EN && p->len > (control & RXDCTL_RLPML);
}

// False: no room, offer the frame again. Nothing was counted then.
bool rx_frame(struct x540 *m, const u8 *frame, u32 len)
{
    struct frame *f = &m->rx_frame;
    memcpy(f->data, frame, len);
    f->len = len;
    if (m->fault.rxpad && len < FRAME_MIN) {
        memset(f->data + len, 0, FRAME_MIN - len);
        f->len = FRAME_MIN;
    }
    if (rx_mac_drops(m, f))
        return true;
    struct rx_packet p = rx_classify(m, f);
    bool wanted = filter_accepts(m, f->data, f->len) && !rx_over_rlpml(m, &p);
    if (m->fault.rx_err && !m->fault.rx_err_force &&
        !(*reg(m, M_FCTRL) & FCTRL_SBP))
        wanted = false;
    if (wanted && rx_free(m, p.queue) < p.pieces)
        return rx_no_room(m, &p);
    if (rx_keeps(m, f, &p, wanted)) {
        net_pcap(m, frame, len);
        rx_deliver(m, &p);
    }
    return true;
}
