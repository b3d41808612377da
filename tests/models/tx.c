// tx.c - transmit descriptors out as frames.
// SPDX-License-Identifier: MIT
//
// 7.2.3.2.2 (legacy descriptor), 7.2.3.2.3 and .4 (advanced), 7.2.5 (checksum
// offload), 7.2.3.4.1 (write-back).
#include "x540.h"
#include <string.h>

enum {
    TX_PIECES = 40,       // descriptors a packet (7.2.1.1)
    TX_BURST = 32,        // packets of a queue between two looks at the rest
    TX_MIN = 17,          // 7.2.1.1
    TX_MAX = 15872 - FCS, // 15.5 KB
    CONTEXT_TCP = 1,
    CONTEXT_UDP = 0,
};

struct tx_packet {
    u32 n, len;
    u64 d[TX_PIECES][2];
};

static u32 tx_pending(struct x540 *m, u32 queue)
{
    u32 size = tx_size(m, queue), base = tx_base(queue);
    if (!m->tx[queue].on || !size)
        return 0;
    return (*reg(m, base + M_TDT) + size - *reg(m, base + M_TDH) % size) % size;
}

bool tx_is_busy(struct x540 *m)
{
    for (u32 i = 0; i < QUEUES; i++)
        if (tx_pending(m, i))
            return true;
    return false;
}

static bool tx_may_run(struct x540 *m)
{
    bool loops = *reg(m, M_HLREG0) & HLREG0_LPBK; // needs no cable
    return (link_is_up(m) || loops) && !m->tx_hung && !m->fault.tx_stall &&
           *reg(m, M_DMATXCTL) & DMATXCTL_TE &&
           !(*reg(m, M_SECTXCTRL) & SEC_DIS) && net_ready(m);
}

static u64 tx_address(struct x540 *m, u32 queue, u32 i)
{
    u32 base = tx_base(queue);
    u64 ring = (u64)*reg(m, base + M_TDBAH) << 32 | *reg(m, base + M_TDBAL);
    return ring + 16 * ((*reg(m, base + M_TDH) + i) % tx_size(m, queue));
}

static bool tx_is_context(const u64 d[2])
{
    return d[1] & TXD_DEXT && (d[1] >> 20 & 15) == TXD_DTYP_CONTEXT;
}

// All descriptors of the next packet, or one context. False: not all there.
static bool tx_collect(struct x540 *m, u32 queue, struct tx_packet *p)
{
    u32 pending = tx_pending(m, queue);
    for (p->n = 0; p->n < pending; p->n++) {
        u64 *d = p->d[p->n];
        if (p->n == TX_PIECES - 1)
            rule(m, 45, "more than %d descriptors in a packet", TX_PIECES);
        if (!dma_load(m, tx_address(m, queue, p->n), d))
            return false;
        if (tx_is_context(d) || d[1] & TXD_EOP || p->n == TX_PIECES - 1) {
            p->n++;
            return true;
        }
    }
    return false;
}

static void tx_store(struct x540 *m, struct writeback w)
{
    if (!fault_take(&m->fault.tx_drop_dd))
        dma_store_late(m, m->fault.tx_dd_us, w);
}

void tx_flush_held(struct x540 *m, u32 queue)
{
    struct tx_queue *q = &m->tx[queue];
    for (u32 i = 0; i < q->held_n; i++)
        tx_store(m, q->held[i]);
    q->held_n = 0;
}

// TXDCTL.WTHRESH gathers write-backs; only interrupt moderation's timer
// brings them out before there are enough.
static void tx_report(struct x540 *m, u32 queue, struct writeback w)
{
    struct tx_queue *q = &m->tx[queue];
    u32 threshold = *reg(m, tx_base(queue) + M_TXDCTL) >> 16 & 0x7F;
    if (!m->fault.wthresh || threshold <= 1 ||
        interrupt_moderation(m, queue, true))
        threshold = 1;
    q->held[q->held_n++] = w;
    if (q->held_n >= threshold || q->held_n == HELD_CAP)
        tx_flush_held(m, queue);
}

static void tx_write_head(struct x540 *m, u32 queue, u32 head)
{
    u32 base = tx_base(queue);
    u64 at =
        (u64)*reg(m, base + M_TDWBAH) << 32 | (*reg(m, base + M_TDWBAL) & ~3u);
    dma_write(m, at, &head, sizeof(head));
}

static void tx_complete(struct x540 *m, u32 queue, const struct tx_packet *p)
{
    u32 base = tx_base(queue), head = *reg(m, base + M_TDH);
    bool asked = false;
    for (u32 i = 0; i < p->n; i++) {
        bool poison = m->fault.poison && p->d[i][1] & TXD_DEXT;
        struct writeback w = {.gpa = tx_address(m, queue, i),
                              .both = poison,
                              .q1 = (poison ? 0 : p->d[i][1]) | TXD_DD};
        if (!(p->d[i][1] & TXD_RS) || tx_is_context(p->d[i]))
            continue;
        asked = true;
        if (!(*reg(m, base + M_TDWBAL) & TDWBAL_ENABLE))
            tx_report(m, queue, w);
    }
    head = (head + p->n) % tx_size(m, queue);
    *reg(m, base + M_TDH) = head;
    if (!asked)
        return;
    if (*reg(m, base + M_TDWBAL) & TDWBAL_ENABLE)
        tx_write_head(m, queue, head);
    interrupt_queue(m, queue, true);
}

static void tx_take_context(struct x540 *m, u32 queue, const u64 d[2])
{
    struct tx_queue *q = &m->tx[queue];
    u32 i = d[1] >> 36 & 7;
    memcpy(q->context[i], d, sizeof(q->context[i]));
    q->contexts |= 1u << i;
    m->total.tx_contexts++;
}

// Rules of one data descriptor; i is its place in the packet.
static void tx_check_piece(struct x540 *m, u32 queue, const struct tx_packet *p,
                           u32 i)
{
    const u64 *d = p->d[i];
    if (!(d[1] & 0xFFFF))
        rule(m, 42, "TX descriptor of length 0");
    if ((d[1] ^ p->d[0][1]) & TXD_DEXT)
        rule(m, 46, "legacy and advanced descriptors in one packet");
    if (!(d[1] & TXD_DEXT))
        return;
    if ((d[1] >> 20 & 15) != TXD_DTYP_DATA)
        rule(m, 41, "advanced TX descriptor with DTYP %u",
             (u32)(d[1] >> 20 & 15));
    bool needs = d[1] & (TXD_CC | TXD_TSE | TXD_IXSM | TXD_TXSM | TXD_VLE);
    if (i == 0 && needs && !(m->tx[queue].contexts >> (d[1] >> 36 & 7) & 1))
        rule(m, 48, "TX descriptor relies on a context never given");
}

static bool tx_gather(struct x540 *m, u32 queue, struct tx_packet *p)
{
    struct frame *f = &m->tx_frame;
    f->len = 0;
    for (u32 i = 0; i < p->n; i++) {
        u32 n = (u32)p->d[i][1] & 0xFFFF;
        tx_check_piece(m, queue, p, i);
        if (f->len + n > TX_MAX) {
            rule(m, 45, "packet of more than %d bytes", TX_MAX);
            return false;
        }
        if (!dma_read(m, p->d[i][0], f->data + f->len, n))
            return false;
        f->len += n;
    }
    u64 first = p->d[0][1];
    if (first & TXD_DEXT && first >> 46 != f->len)
        rule(m, 44, "PAYLEN %u for a packet of %u bytes", (u32)(first >> 46),
             f->len);
    if (f->len < TX_MIN) {
        rule(m, 43, "packet of %u bytes", f->len);
        return false;
    }
    return true;
}

// Sum from `start` to the end, stored at `at`; a UDP sum is never 0.
static void tx_insert_sum(struct frame *f, u32 start, u32 at, u32 end, bool udp)
{
    if (start >= end || end > f->len || at + 2 > end)
        return;
    u16 sum = packet_fold(packet_sum(f->data + start, end - start, 0));
    if (udp && !sum)
        sum = 0xFFFF;
    f->data[at] = (u8)(sum >> 8);
    f->data[at + 1] = (u8)sum;
}

// An advanced descriptor's offloads, by the context it names.
static u32 tx_offload(struct x540 *m, u32 queue, const u64 *d)
{
    struct frame *f = &m->tx_frame;
    const u64 *context = m->tx[queue].context[d[1] >> 36 & 7];
    u32 l3 = context[0] >> 9 & 0x7F, l4 = l3 + (context[0] & 0x1FF);
    u32 kind = context[1] >> 11 & 3;
    if (d[1] & TXD_TSE) {
        rule(m, 40, "segmentation is not modelled: sent in one piece");
        m->total.unmodelled++;
    }
    if (d[1] & TXD_TXSM && kind <= CONTEXT_TCP)
        tx_insert_sum(f, l4, l4 + (kind == CONTEXT_TCP ? 16 : 6), f->len,
                      kind == CONTEXT_UDP);
    if (d[1] & TXD_IXSM && l4 <= f->len && l4 >= l3 + 12) {
        memset(f->data + l3 + 10, 0, 2);
        tx_insert_sum(f, l3, l3 + 10, l4, false);
    }
    return context[0] >> 16 & 0xFFFF;
}

static void tx_insert_tag(struct x540 *m, u32 tag)
{
    struct frame *f = &m->tx_frame;
    u32 type = *reg(m, M_DMATXCTL) >> 16;
    memmove(f->data + 16, f->data + 12, f->len - 12);
    const u8 bytes[4] = {(u8)(type >> 8), (u8)type, (u8)(tag >> 8), (u8)tag};
    memcpy(f->data + 12, bytes, 4);
    f->len += 4;
}

static void tx_modify(struct x540 *m, u32 queue, const struct tx_packet *p)
{
    const u64 *d = p->d[0];
    u32 tag = (u32)(p->d[p->n - 1][1] >> 48);
    if (d[1] & TXD_DEXT)
        tag = tx_offload(m, queue, d);
    else if (d[1] & TXD_IC)
        tx_insert_sum(&m->tx_frame, d[1] >> 40 & 0xFF, d[1] >> 16 & 0xFF,
                      m->tx_frame.len, false);
    if (d[1] & TXD_VLE)
        tx_insert_tag(m, tag);
}

// The MAC: padding and FCS. False: nobody would receive this.
static bool tx_finish(struct x540 *m, const struct tx_packet *p)
{
    struct frame *f = &m->tx_frame;
    u32 control = *reg(m, M_HLREG0), crc;
    bool insert = p->d[0][1] & TXD_IFCS && control & HLREG0_TXCRCEN;
    if (insert && control & HLREG0_TXPADEN && f->len < FRAME_MIN) {
        memset(f->data + f->len, 0, FRAME_MIN - f->len);
        f->len = FRAME_MIN;
    }
    if (!insert) {
        f->len -= FCS;
        crc = packet_crc(f->data, f->len);
        if (memcmp(f->data + f->len, &crc, FCS)) {
            rule(m, 47, "frame with neither IFCS nor a right FCS of its own");
            return false;
        }
    }
    if (f->len < FRAME_MIN) {
        rule(m, 49, "frame of %u bytes without padding", f->len + FCS);
        return false;
    }
    return true;
}

static void tx_packet(struct x540 *m, u32 queue, struct tx_packet *p)
{
    if (!tx_gather(m, queue, p)) {
        m->total.tx_bad++;
        return;
    }
    tx_modify(m, queue, p);
    if (!tx_finish(m, p)) {
        m->total.tx_bad++;
        return;
    }
    count_sent(m, queue, m->tx_frame.data, m->tx_frame.len);
    net_pcap(m, m->tx_frame.data, m->tx_frame.len);
    net_send(m, m->tx_frame.data, m->tx_frame.len);
    if (m->fault.tx_hang && --m->fault.tx_hang == 0)
        m->tx_hung = true;
}

// One packet or context of a queue. False: there is none.
static bool tx_one(struct x540 *m, u32 queue)
{
    struct tx_packet p;
    if (!tx_pending(m, queue) || !tx_collect(m, queue, &p))
        return false;
    if (tx_is_context(p.d[p.n - 1]) && p.n == 1)
        tx_take_context(m, queue, p.d[0]);
    else
        tx_packet(m, queue, &p);
    tx_complete(m, queue, &p);
    return true;
}

static bool tx_queue_work(struct x540 *m, u32 queue)
{
    for (u32 i = 0; i < TX_BURST; i++) {
        if (!tx_may_run(m))
            return false;
        if (!tx_one(m, queue)) {
            m->tx[queue].busy = false; // until the next tail
            return false;
        }
    }
    return true;
}

bool tx_work(struct x540 *m)
{
    bool more = false;
    for (u32 i = 0; i < QUEUES; i++)
        if (m->tx[i].busy)
            more |= tx_queue_work(m, i);
    return more;
}
