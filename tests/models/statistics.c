// statistics.c - the counters a driver reads, cleared by reading (8.2.3.23).
// SPDX-License-Identifier: MIT
#include "x540.h"

static u64 *counter_of(struct x540 *m, u32 offset)
{
    return &m->counter[offset / 4];
}

void count(struct x540 *m, u32 offset, u64 n)
{
    *counter_of(m, offset) += n;
}

u32 counter_read(struct x540 *m, u32 offset)
{
    u64 value = *counter_of(m, offset);
    *counter_of(m, offset) = 0;
    return value > UINT32_MAX ? UINT32_MAX : (u32)value; // they stick
}

// A 36-bit pair goes to zero when its high half is read.
u32 counter_read_low(struct x540 *m, u32 offset)
{
    return (u32)*counter_of(m, offset);
}

u32 counter_read_high(struct x540 *m, u32 offset)
{
    u32 value = (u32)(*counter_of(m, offset - 4) >> 32) & 0xF;
    *counter_of(m, offset - 4) = 0;
    return value;
}

// Which of the six counters by size, FCS included.
static u32 size_class(u32 wire_len)
{
    static const u32 limits[] = {64, 127, 255, 511, 1023};
    u32 class = 0;
    while (class < 5 && wire_len > limits[class])
        class ++;
    return class;
}

static u32 queue_counter(struct x540 *m, u32 map, u32 queue)
{
    return *reg(m, map + queue / 4 * 4) >> 8 * (queue % 4) & 0xF;
}

void count_received(struct x540 *m, const u8 *frame, u32 len)
{
    count(m, M_GPRC, 1);
    count(m, M_GORC, len + FCS);
    count(m, M_PRC64 + 4 * size_class(len + FCS), 1);
    bool broadcast = frame[0] == 0xFF && frame[1] == 0xFF;
    if (frame[0] & 1)
        count(m, broadcast ? M_BPRC : M_MPRC, 1);
    m->total.rx_frames++;
    m->total.rx_bytes += len;
}

void count_sent(struct x540 *m, u32 queue, const u8 *frame, u32 len)
{
    count(m, M_GPTC, 1);
    count(m, M_TPT, 1);
    count(m, M_GOTC, len + FCS);
    count(m, M_PTC64 + 4 * size_class(len + FCS), 1);
    bool broadcast = frame[0] == 0xFF && frame[1] == 0xFF;
    if (frame[0] & 1)
        count(m, broadcast ? M_BPTC : M_MPTC, 1);
    u32 i = queue_counter(m, M_TQSM, queue);
    count(m, M_QPTC + 0x40 * i, 1);
    count(m, M_QBTC + 8 * i, len + FCS);
    m->total.tx_frames++;
    m->total.tx_bytes += len;
}
