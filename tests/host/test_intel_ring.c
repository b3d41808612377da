// test_intel_ring.c - the ring of Intel's network devices, and the drivers on
// it, against a card that can lie. SPDX-License-Identifier: MIT
#include "intel_card.h"

static void receives(void)
{
    struct intel *intel = card_plug();
    u32 seed = 0;
    for (u32 round = 0; round < 2000; round++) {
        u32 n = 1 + round * 7 % 100;
        for (u32 i = 0; i < n; i++) {
            CHECK(card_fill(14 + (seed + i) % 1501, DONE, (u8)(seed + i)));
        }
        u32 tails = card.tails[0];
        CHECK_EQ(net_rx_burst(0, frames, 256), n);
        CHECK_EQ(card.tails[0] - tails, round != 0); // a large burst: at once
        for (u32 i = 0; i < n; i++, seed++) {
            CHECK_EQ(frames[i].len, 14 + seed % 1501);
            CHECK_EQ(*(u8 *)frames[i].data, (u8)seed);
        }
        CHECK_EQ(*nic_poll_public[0].word & nic_poll_public[0].mask, 0);
        CHECK_EQ(net_rx(0, frames), 0);
    }
    CHECK_EQ(intel->nic.rx_frames, seed);
    CHECK_EQ(card.misuses, 0);
}

// One frame at a time, or a few: the tail is written once for a quarter of the
// ring.
static void few_tail_writes(void)
{
    card_plug();
    u32 tails = card.tails[0];
    for (u32 i = 0; i < 6400; i++) {
        CHECK(card_fill(64, DONE, (u8)i));
        CHECK_EQ(net_rx(0, frames), 1);
    }
    CHECK_EQ(card.tails[0] - tails, 99);
    for (u32 i = 0; i < 6400; i++) {
        CHECK(card_fill(64, DONE, (u8)i));
        CHECK_EQ(net_rx_burst(0, frames, i % 32 + 1), 1);
    }
    CHECK(card.tails[0] - tails < 300);
    CHECK_EQ(card.misuses, 0);
}

// Never more than half the ring is out, so a full ring is received in two.
static void full_ring(void)
{
    card_plug();
    u32 n = 0;
    while (card_fill(64, DONE, (u8)n)) {
        n++;
    }
    CHECK_EQ(n, 255);
    CHECK_EQ(net_rx_burst(0, frames, 256), 128);
    CHECK(!card_fill(64, DONE, 1));
    CHECK_EQ(net_rx_burst(0, frames, 256), 127);
    for (u32 i = 0; i < 128; i++) {
        CHECK(card_fill(64, DONE, 1));
    }
    CHECK(!card_fill(64, DONE, 1));
}

static void lies(void)
{
    struct intel *intel = card_plug();
    static const u32 lengths[] = {0, 13, 1515, 2048, 2049, 65535};
    for (u32 i = 0; i < array_size(lengths); i++) {
        card_fill(lengths[i], DONE, 1);
    }
    for (u32 bit = 8; bit < 16; bit++) {
        card_fill(64, DONE | 1u << bit, 1);
    }
    card_fill(64, DONE, 2);
    // Checksum errors (bits 13, 14) and the reserved one are no damage.
    CHECK_EQ(net_rx_burst(0, frames, 256), 4);
    CHECK_EQ(intel->nic.rx_dropped, array_size(lengths) + 5);
    // Pieces: dropped up to the end, and counted once.
    for (u32 i = 0; i < 9; i++) {
        card_fill(2048, INTEL_DD, 1);
    }
    card_fill(100, DONE, 1);
    card_fill(100, DONE, 3);
    CHECK_EQ(net_rx_burst(0, frames, 256), 1);
    CHECK_EQ(*(u8 *)frames[0].data, 3);
    CHECK_EQ(intel->nic.rx_dropped, array_size(lengths) + 6);
}

static void transmits(void)
{
    struct intel *intel = card_plug();
    u32 sent = 0;
    for (u32 i = 0; i < 5000; i++) {
        struct net_frame burst[3] = {
            {data, 14 + i % 1501, 0}, {data, 64, 0}, {data, 60, 0}};
        u32 tails = card.tails[1];
        CHECK_EQ(net_tx_burst(0, burst, 3), 3);
        CHECK_EQ(card.tails[1] - tails, 1);
        u32 len = 14 + i % 1501;
        CHECK_EQ(card_send(), len < 60 ? 60 : len);
        CHECK_EQ(card_send(), 64);
        CHECK_EQ(card_send(), 60);
        sent += 3;
    }
    CHECK_EQ(intel->nic.tx_frames, sent);
    CHECK_EQ(net_tx(0, data, 13), E_SIZE);
    CHECK_EQ(net_tx(0, data, 1515), E_SIZE);
    *word(INTEL_STATUS) = 0;
    card_tsc += CARD_HZ;
    CHECK_EQ(net_tx(0, data, 64), E_LINK);
    CHECK_EQ(card.misuses, 0);
}

// Full is E_AGAIN; full for long is a reset, which leaves alone what a program
// holds and loses what was not sent.
static void stands_still(void)
{
    struct intel *intel = card_plug();
    for (u32 i = 0; i < 40; i++) {
        card_fill(64, DONE, (u8)i);
    }
    CHECK_EQ(net_rx_burst(0, frames, 32), 32);
    u32 n = 0, resets = card.resets;
    while (net_tx(0, data, 64) == 1) {
        n++;
    }
    CHECK_EQ(n, 255);
    CHECK_EQ(net_tx(0, data, 64), E_AGAIN);
    card_tsc += CARD_HZ / 2;
    CHECK_EQ(net_tx(0, data, 64), E_AGAIN);
    CHECK_EQ(card.resets, resets);
    card_tsc += CARD_HZ;
    CHECK_EQ(net_tx(0, data, 64), E_AGAIN);
    CHECK_EQ(card.resets, resets + 1);
    CHECK(fake_logged("transmit stands still"));
    CHECK_EQ(intel->nic.tx_dropped, 255);
    CHECK_EQ(net_tx(0, data, 64), 1);
    n = 0;
    while (card_fill(64, DONE, 0xEE)) {
        n++;
    }
    CHECK_EQ(n, 255 - 32);
    for (u32 i = 0; i < 32; i++) {
        CHECK_EQ(*(u8 *)frames[i].data, i);
    }
    CHECK_EQ(net_rx_burst(0, frames, 256), 128);
    CHECK_EQ(*(u8 *)frames[0].data, 0xEE);
    CHECK_EQ(card.misuses, 0);
}

static void comes_and_goes(void)
{
    struct intel *intel = card_plug();
    struct net_info info;
    *word(E1000_RCTL) = 0; // it has reset itself
    u32 resets = card.resets;
    CHECK_EQ(net_info(0, &info), 0);
    CHECK_EQ(card.resets, resets + 1);
    CHECK(fake_logged("it was reset") && info.link);
    CHECK_EQ(info.speed_mbps, 1000);
    CHECK(nic_enter(&intel->nic)); // a program died in a call
    nic_end_calls();
    nic_recover_all(1);
    CHECK_EQ(card.resets, resets + 2);
    CHECK_EQ(net_tx(0, data, 64), 1);
    card.stuck = 1;
    CHECK(nic_enter(&intel->nic));
    nic_end_calls();
    nic_recover_all(1);
    CHECK(fake_logged("timeout"));
    CHECK_EQ(net_tx(0, data, 64), E_IO);
    CHECK_EQ(net_rx(0, frames), E_IO);
    card.stuck = 0;
    card_tsc += 2ul * CARD_HZ;
    CHECK_EQ(net_tx(0, data, 64), 1);
    card.gone = 1;
    card_tsc += CARD_HZ;
    CHECK_EQ(net_tx(0, data, 64), E_GONE);
    CHECK_EQ(net_rx(0, frames), E_GONE);
    CHECK(intel->nic.gone);
}

// A second core, while the first one writes a tail.
static u32 seconds;
static void comes_second(void)
{
    struct net_frame burst[32] = {{data, 64, 0}};
    struct net_info info;
    card.tail_written = 0;
    for (u32 i = 0; i < 200; i++) {
        CHECK_EQ(net_rx_burst(0, burst, 32), E_BUSY);
    }
    CHECK_EQ(net_tx_burst(0, burst, 1), E_BUSY);
    CHECK_EQ(net_info(0, &info), E_BUSY);
    CHECK_EQ(net_set(0, NET_RX_RING, 64), E_BUSY);
    seconds++;
}

static void two_cores(void)
{
    struct intel *intel = card_plug();
    u32 seed = 0, seen = 0, resets = card.resets;
    for (u32 round = 0; round < 3000; round++) {
        while (card_fill(64, DONE, (u8)seed)) {
            seed++;
        }
        card.tail_written = comes_second;
        int n = net_rx_burst(0, frames, 1 + round % 100);
        for (int i = 0; i < n; i++) {
            CHECK_EQ(*(u8 *)frames[i].data, (u8)seen++);
        }
        card.tail_written = comes_second;
        CHECK_EQ(net_tx(0, data, 64), 1);
        CHECK_EQ(card_send(), 64);
        card.tail_written = 0;
    }
    CHECK(seconds > 3000 && seen > 100000);
    CHECK_EQ(intel->nic.rx_frames, seen);
    nic_end_calls();
    nic_recover_all(1);
    CHECK_EQ(card.resets, resets);
    CHECK_EQ(card.misuses, 0);
}

static void passes_over(void)
{
    card_plug();
    struct net_info info;
    *word(E1000_RX_RING + RING_HEAD) = 1;
    u32 resets = card.resets;
    CHECK_EQ(net_info(0, &info), 0);
    card_tsc += CARD_HZ;
    CHECK_EQ(net_info(0, &info), 0);
    CHECK_EQ(net_info(0, &info), 0);
    CHECK_EQ(card.resets, resets + 1);
    CHECK(card_fill(64, DONE, 1));
    CHECK_EQ(net_rx(0, frames), 1);
}

int main(void)
{
    RUN(receives);
    RUN(few_tail_writes);
    RUN(full_ring);
    RUN(lies);
    RUN(transmits);
    RUN(stands_still);
    RUN(comes_and_goes);
    RUN(two_cores);
    RUN(passes_over);
    return TEST_RESULT();
}
