// test_virtio_tx.c - frames that a program sends through a virtio network
// device.
// SPDX-License-Identifier: MIT
#include "virtio_rig.h"

static u8 *pattern(u32 seed, u32 len)
{
    static u8 frame[70000];
    for (u32 i = 0; i < len; i++) {
        frame[i] = (u8)(seed * 31 + i * 7 + (i >> 8));
    }
    return frame;
}

static int same(const void *got, u32 seed, u32 len)
{
    return __builtin_memcmp(got, pattern(seed, len), len) == 0;
}

static void expect_sent(u32 seed, u32 len)
{
    u8 frame[4096];
    u32 id, got = card_sent(frame, &id);
    u32 wire = len < 60 ? 60 : len;
    CHECK_EQ(got, wire);
    CHECK(got != wire || same(frame, seed, len));
    for (u32 i = len; i < got; i++) {
        CHECK_EQ(frame[i], 0);
    }
    card_complete(id);
}

static void transmits(void)
{
    for (int modern = 0; modern < 2; modern++) {
        card_plug(modern, !modern);
        CHECK_EQ(card_probe(), 0);
        for (u32 i = 0; i < 200000; i += 1 + i / 4000) {
            u32 len = 14 + i % 1501;
            CHECK_EQ(net_tx(0, pattern(i, len), len), 1);
            expect_sent(i, len);
        }
        CHECK_EQ(card.misuses, 0);
    }
}

// No byte beyond the frame is read: ASan watches the end of this one.
static void reads_no_further(void)
{
    card_plug(1, 0);
    CHECK_EQ(card_probe(), 0);
    for (u32 len = 14; len <= 1514; len++) {
        u8 *frame = malloc(len);
        __builtin_memcpy(frame, pattern(len, len), len);
        CHECK_EQ(net_tx(0, frame, len), 1);
        free(frame);
        expect_sent(len, len);
    }
}

static void header_apart(void)
{
    card_plug(0, 1);
    card.offered &= ~(VIRTIO_F_ANY_LAYOUT | VIRTIO_NET_F_MRG_RXBUF);
    CHECK_EQ(card_probe(), 0);
    for (u32 i = 0; i < 1000; i++) {
        CHECK_EQ(net_tx(0, pattern(i, 14 + i), 14 + i), 1);
        expect_sent(i, 14 + i);
    }
    CHECK(card_desc(&card.queues[1], 0)->flags == DESC_NEXT);
    CHECK_EQ(card.misuses, 0);
}

static void bad_lengths_to_send(void)
{
    card_plug(1, 0);
    CHECK_EQ(card_probe(), 0);
    CHECK_EQ(net_tx(0, pattern(1, 13), 13), E_SIZE);
    CHECK_EQ(net_tx(0, pattern(1, 13), 0), E_SIZE);
    CHECK_EQ(net_tx(0, pattern(1, 13), 1515), E_SIZE);
    CHECK_EQ(net_tx(0, pattern(1, 13), (1ul << 32) + 60), E_SIZE);
    u8 *data = pattern(1, 100);
    const struct net_frame frames[] = {
        {data, 60, 0}, {data, 61, 0}, {data, 9000, 0}, {data, 62, 0}};
    CHECK_EQ(net_tx_burst(0, frames, 4), 2);
    expect_sent(1, 60);
    expect_sent(1, 61);
    CHECK_EQ(card_waiting(&card.queues[1]), 0);
    CHECK_EQ(net_tx_burst(0, frames + 2, 2), E_SIZE);
    CHECK_EQ(net_tx_burst(0, frames, 0), 0);
    CHECK_EQ(nic_get(0)->tx_frames, 2);
    CHECK_EQ(nic_get(0)->tx_bytes, 121);
}

static void ring_full(void)
{
    struct net_frame frames[300];
    u8 out[4096];
    u32 ids[300], n = 0;
    card_plug(1, 0);
    CHECK_EQ(card_probe(), 0);
    for (u32 i = 0; i < 300; i++) {
        frames[i] = (struct net_frame){pattern(1, 100), 100, 0};
    }
    u32 kicks = card.queues[1].kicks;
    CHECK_EQ(net_tx_burst(0, frames, 300), 128);
    CHECK_EQ(card.queues[1].kicks, kicks + 1);
    CHECK_EQ(net_tx(0, frames[0].data, 60), E_AGAIN);
    while (card_sent(out, &ids[n])) {
        n++;
    }
    CHECK_EQ(n, 128);
    card_complete(ids[5]); // out of order: the slot whose turn it is, is busy
    CHECK_EQ(net_tx(0, frames[0].data, 60), E_AGAIN);
    card_complete(ids[0]);
    card_complete(ids[1]);
    CHECK_EQ(net_tx_burst(0, frames, 300), 2);
    for (u32 i = 2; i < 128; i++) {
        if (i != 5) {
            card_complete(ids[i]);
        }
    }
    CHECK_EQ(net_tx_burst(0, frames, 300), 126);
    CHECK_EQ(card.misuses, 0);
}

// Bursts of small frames round the end of the ring, and larger ones between.
static void bursts_round_the_end(void)
{
    static u8 data[50][200];
    struct net_frame frames[50];
    card_plug(1, 0);
    CHECK_EQ(card_probe(), 0);
    for (u32 round = 0; round < 200; round++) {
        for (u32 i = 0; i < 50; i++) {
            u32 len = i % 10 == 3 ? 200 : 60 + i % 5;
            __builtin_memcpy(data[i], pattern(round + i, len), len);
            frames[i] = (struct net_frame){data[i], len, 0};
        }
        CHECK_EQ(net_tx_burst(0, frames, 50), 50);
        for (u32 i = 0; i < 50; i++) {
            expect_sent(round + i, frames[i].len);
        }
    }
    CHECK_EQ(card.misuses, 0);
}

// Nothing is lost and no slot is used twice, whatever the order in which the
// device is done.
static void done_in_any_order(void)
{
    u8 out[4096];
    u32 ids[128], waiting = 0, sent = 0, seen = 0, random = 12345;
    card_plug(1, 0);
    CHECK_EQ(card_probe(), 0);
    for (u32 step = 0; step < 20000; step++) {
        random = random * 1103515245 + 12345;
        if ((random >> 16) % 3 != 0) {
            u32 len = 60 + sent % 80;
            int result = net_tx(0, pattern(sent, len), len);
            CHECK_EQ(result == E_AGAIN || result == 1, 1);
            sent += result == 1;
        }
        for (u32 len; waiting < 128 && (len = card_sent(out, &ids[waiting]));) {
            CHECK_EQ(len, 60 + seen % 80);
            CHECK(same(out, seen, len));
            seen++;
            waiting++;
        }
        if (waiting > 0 && (random >> 20) % 2) {
            u32 pick = (random >> 8) % waiting;
            card_complete(ids[pick]);
            ids[pick] = ids[--waiting];
        }
    }
    CHECK_EQ(seen, sent);
    CHECK(sent > 5000);
    CHECK_EQ(card.resets, 1);
    CHECK_EQ(card.misuses, 0);
}

int main(void)
{
    RUN(transmits);
    RUN(reads_no_further);
    RUN(header_apart);
    RUN(bad_lengths_to_send);
    RUN(ring_full);
    RUN(bursts_round_the_end);
    RUN(done_in_any_order);
    card_unplug();
    return TEST_RESULT();
}
