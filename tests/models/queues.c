// queues.c - ring registers of the receive and transmit queues, and their
// rules.
// SPDX-License-Identifier: MIT
//
// Order of steps: 82599 / X540 data sheet 4.6.7 and 4.6.8.
#include "x540.h"
#include <string.h>

enum { DESCRIPTOR = 16 };

void queues_reset(struct x540 *m)
{
    for (u32 i = 0; i < QUEUES; i++) {
        m->rx[i] = (struct rx_queue){0};
        memset(&m->tx[i], 0, sizeof(m->tx[i]));
    }
}

u32 rx_size(struct x540 *m, u32 queue)
{
    return *reg(m, rx_base(queue) + M_RDLEN) / DESCRIPTOR;
}

u32 tx_size(struct x540 *m, u32 queue)
{
    return *reg(m, tx_base(queue) + M_TDLEN) / DESCRIPTOR;
}

static bool queue_comes_on(struct x540 *m, u64 *on_at)
{
    if (!*on_at || m->now < *on_at)
        return false;
    *on_at = 0;
    return true;
}

void queues_tick(struct x540 *m)
{
    for (u32 i = 0; i < QUEUES; i++) {
        if (queue_comes_on(m, &m->rx[i].on_at))
            m->rx[i].on = true;
        if (queue_comes_on(m, &m->tx[i].on_at))
            m->tx[i].on = m->tx[i].busy = true;
    }
}

u64 queues_deadline(struct x540 *m)
{
    u64 due = 0;
    for (u32 i = 0; i < QUEUES; i++) {
        if (m->rx[i].on_at && (!due || m->rx[i].on_at < due))
            due = m->rx[i].on_at;
        if (m->tx[i].on_at && (!due || m->tx[i].on_at < due))
            due = m->tx[i].on_at;
    }
    return due;
}

static u32 rx_of(u32 offset)
{
    return offset < M_RX_HIGH ? (offset - M_RX_LOW) / 0x40
                              : 64 + (offset - M_RX_HIGH) / 0x40;
}

u32 rxdctl_read(struct x540 *m, u32 offset)
{
    return (*reg(m, offset) & ~XDCTL_ENABLE) |
           (m->rx[rx_of(offset)].on ? XDCTL_ENABLE : 0);
}

u32 txdctl_read(struct x540 *m, u32 offset)
{
    return (*reg(m, offset) & ~XDCTL_ENABLE) |
           (m->tx[(offset - M_TX) / 0x40].on ? XDCTL_ENABLE : 0);
}

// What must be right when a receive queue is switched on.
static void rx_check(struct x540 *m, u32 queue)
{
    u32 base = rx_base(queue);
    if (!*reg(m, base + M_RDLEN))
        rule(m, 14, "RXDCTL(%u).ENABLE with RDLEN 0", queue);
    if (*reg(m, base + M_DCA_RXCTRL) & DCA_RXCTRL_MUST_CLEAR)
        rule(m, 15, "RXDCTL(%u).ENABLE with DCA_RXCTRL bit 12 set", queue);
    if (!(*reg(m, base + M_SRRCTL) & SRRCTL_BSIZE))
        rule(m, 50, "RXDCTL(%u).ENABLE with SRRCTL.BSIZEPACKET 0", queue);
    if (!*reg(m, base + M_RDBAL) && !*reg(m, base + M_RDBAH))
        rule(m, 28, "RXDCTL(%u).ENABLE with ring base 0", queue);
    if (!(*reg(m, M_HLREG0) & HLREG0_RXCRCSTRP) !=
        !(*reg(m, M_RDRXCTL) & RDRXCTL_CRCSTRIP))
        rule(m, 6, "HLREG0.RXCRCSTRP and RDRXCTL.CRCSTRIP differ");
}

static void rxdctl_write(struct x540 *m, u32 queue, u32 value)
{
    struct rx_queue *q = &m->rx[queue];
    if (!(value & XDCTL_ENABLE)) {
        *q = (struct rx_queue){0};
        return;
    }
    if (q->on || q->on_at)
        return;
    rx_check(m, queue);
    if (m->fault.rxen_never)
        return;
    q->on_at = m->fault.qen_us ? m->now + m->fault.qen_us * 1000 : 0;
    q->on = !m->fault.qen_us;
}

static bool rx_tail_ok(struct x540 *m, u32 queue, u32 value)
{
    if (value && !m->rx[queue].on)
        rule(m, 12, "RDT(%u) written before RXDCTL.ENABLE reads 1", queue);
    if (value < rx_size(m, queue) || !value)
        return true;
    rule(m, 13, "RDT(%u)=%u in a ring of %u", queue, value, rx_size(m, queue));
    return false;
}

void rx_queue_write(struct x540 *m, u32 offset, u32 value)
{
    u32 queue = rx_of(offset), field = offset & 0x3F;
    if (field == M_RDBAL && value % 128)
        rule(m, 9, "RDBAL(%u)=%x is not 128-aligned", queue, value);
    if (field == M_RDLEN && value % 128)
        rule(m, 10, "RDLEN(%u)=%x is no multiple of 128", queue, value);
    if (field == M_RDH && m->rx[queue].on) {
        rule(m, 11, "RDH(%u) written while the queue is enabled", queue);
        m->rx[queue].cached = 0;
    }
    if (field == M_RDT && !rx_tail_ok(m, queue, value))
        return;
    if (field == M_RDBAL || field == M_RDLEN)
        value &= ~127u;
    if (field == M_RDLEN)
        value &= 0xFFFFF;
    if (field == M_RDH || field == M_RDT)
        value &= 0xFFFF;
    if (field == M_RXDCTL)
        rxdctl_write(m, queue, value);
    *reg(m, offset) = value & ~(field == M_RXDCTL ? XDCTL_SWFLSH : 0);
    if (field == M_RDT)
        rx_prefetch(m, queue);
}

static void tx_check(struct x540 *m, u32 queue, u32 value)
{
    u32 base = tx_base(queue);
    if (!(*reg(m, M_DMATXCTL) & DMATXCTL_TE))
        rule(m, 25, "TXDCTL(%u).ENABLE before DMATXCTL.TE", queue);
    if (!*reg(m, base + M_TDLEN))
        rule(m, 26, "TXDCTL(%u).ENABLE with TDLEN 0", queue);
    if ((value >> 16 & 0x7F) && !(value >> 8 & 0x7F))
        rule(m, 27, "TXDCTL(%u): WTHRESH without HTHRESH", queue);
    if (!*reg(m, base + M_TDBAL) && !*reg(m, base + M_TDBAH))
        rule(m, 29, "TXDCTL(%u).ENABLE with ring base 0", queue);
}

static void txdctl_write(struct x540 *m, u32 queue, u32 value)
{
    struct tx_queue *q = &m->tx[queue];
    if (!(value & XDCTL_ENABLE)) {
        memset(q, 0, sizeof(*q));
        return;
    }
    if (q->on || q->on_at)
        return;
    tx_check(m, queue, value);
    if (m->fault.txen_never)
        return;
    q->on_at = m->fault.qen_us ? m->now + m->fault.qen_us * 1000 : 0;
    q->on = q->busy = !m->fault.qen_us;
}

static bool tx_tail_ok(struct x540 *m, u32 queue, u32 value)
{
    if (value && !m->tx[queue].on)
        rule(m, 23, "TDT(%u) written before TXDCTL.ENABLE reads 1", queue);
    if (value < tx_size(m, queue) || !value)
        return true;
    rule(m, 24, "TDT(%u)=%u in a ring of %u", queue, value, tx_size(m, queue));
    return false;
}

void tx_queue_write(struct x540 *m, u32 offset, u32 value)
{
    u32 queue = (offset - M_TX) / 0x40, field = offset & 0x3F;
    if (field == M_TDBAL && value % 128)
        rule(m, 20, "TDBAL(%u)=%x is not 128-aligned", queue, value);
    if (field == M_TDLEN && value % 128)
        rule(m, 21, "TDLEN(%u)=%x is no multiple of 128", queue, value);
    if (field == M_TDH && m->tx[queue].on)
        rule(m, 22, "TDH(%u) written while the queue is enabled", queue);
    if (field == M_TDT && !tx_tail_ok(m, queue, value))
        return;
    if (field == M_TDBAL || field == M_TDLEN)
        value &= ~127u;
    if (field == M_TDLEN)
        value &= 0xFFFFF;
    if (field == M_TDH || field == M_TDT)
        value &= 0xFFFF;
    if (field == M_TXDCTL)
        txdctl_write(m, queue, value);
    *reg(m, offset) = value & ~(field == M_TXDCTL ? XDCTL_SWFLSH : 0);
    m->tx[queue].busy = m->tx[queue].on;
}
