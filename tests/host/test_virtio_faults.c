// test_virtio_faults.c - a virtio network device that lies, breaks, disappears.
// SPDX-License-Identifier: MIT
#include "virtio_rig.h"

static u8 *pattern(u32 seed)
{
    static u8 frame[100];
    for (u32 i = 0; i < sizeof(frame); i++) {
        frame[i] = (u8)(seed * 31 + i * 7);
    }
    return frame;
}

static void put(u32 seed)
{
    CHECK(card_receive(pattern(seed), 100));
}

static void expect(u32 seed)
{
    struct net_frame got;
    CHECK_EQ(net_rx(0, &got), 1);
    CHECK_EQ(got.len, 100);
    CHECK_EQ(__builtin_memcmp(got.data, pattern(seed), 100), 0);
}

static void begin(void)
{
    card_plug(1, 0);
    CHECK_EQ(card_probe(), 0);
    put(1);
    expect(1);
}

// Whatever happened: the ring is good again after one more call.
static void expect_alive(u32 resets, u64 dropped)
{
    struct net_frame got[8];
    CHECK(net_rx_burst(0, got, 8) >= 0);
    CHECK_EQ(card.resets, resets);
    CHECK_EQ(nic_get(0)->rx_dropped, dropped);
    for (u32 i = 0; i < 500; i++) {
        put(i);
        expect(i);
    }
    CHECK_EQ(card.misuses, 0);
}

static void used_id_out_of_range(void)
{
    const u32 ids[] = {256, 257, 0xFFFF, 0x10000, 0x80000000, ~0u};
    struct net_frame got[8];
    for (u32 i = 0; i < array_size(ids); i++) {
        begin();
        put(2);
        card_use(&card.queues[0], 0, ids[i], 112);
        card_show(&card.queues[0], 1);
        CHECK_EQ(net_rx_burst(0, got, 8), 1); // the good one before it
        expect_alive(2, 1);
    }
}

static void used_id_twice(void)
{
    struct net_frame got[8];
    begin();
    put(2);
    card_use(&card.queues[0], 0, 1, 112); // in the same burst
    card_show(&card.queues[0], 1);
    CHECK_EQ(net_rx_burst(0, got, 8), 1);
    expect_alive(2, 1);
    begin();
    card_use(&card.queues[0], 0, 0, 112); // while a program holds it
    card_show(&card.queues[0], 1);
    CHECK_EQ(net_rx_burst(0, got, 8), 0);
    expect_alive(2, 1);
}

static void used_index_jumps(void)
{
    struct net_frame got[8];
    const u16 jumps[] = {256, 257, 1000, 0x8000, 0xFFFF};
    for (u32 i = 0; i < array_size(jumps); i++) {
        begin(); // holds one: 255 can have come
        card_show(&card.queues[0], jumps[i]);
        CHECK_EQ(net_rx_burst(0, got, 8), 0);
        expect_alive(2, 1);
    }
}

static void used_length_absurd(void)
{
    const u32 lengths[] = {0, 11, 12, 25, 12 + 1515, 4096, 0x80000000, ~0u};
    begin();
    for (u32 i = 0; i < array_size(lengths); i++) {
        struct net_frame got[8];
        u32 id = card_take(&card.queues[0]);
        card_use(&card.queues[0], 0, id, lengths[i]);
        __builtin_memcpy((void *)(card_desc(&card.queues[0], id)->addr + 10),
                         &(u16){1}, 2);
        card_show(&card.queues[0], 1);
        CHECK_EQ(net_rx_burst(0, got, 8), 0);
    }
    expect_alive(1, array_size(lengths));
}

static void pieces_absurd(void)
{
    begin();
    struct net_frame got[8];
    u32 id = card_take(&card.queues[0]);
    card_use(&card.queues[0], 0, id, 112);
    __builtin_memcpy((void *)(card_desc(&card.queues[0], id)->addr + 10),
                     &(u16){0}, 2);
    card_show(&card.queues[0], 1);
    CHECK_EQ(net_rx_burst(0, got, 8), 0);
    CHECK_EQ(nic_get(0)->rx_dropped, 1);
    put(3);
    expect(3);
}

// The rest of a frame too big never comes: a rebuilt device owes us nothing.
static void pieces_never_come(void)
{
    begin();
    struct net_frame got[8];
    u32 id = card_take(&card.queues[0]);
    card_use(&card.queues[0], 0, id, 112);
    __builtin_memcpy((void *)(card_desc(&card.queues[0], id)->addr + 10),
                     &(u16){500}, 2);
    card_use(&card.queues[0], 1, 256, 112);
    card_show(&card.queues[0], 2);
    CHECK_EQ(net_rx_burst(0, got, 8), 0);
    expect_alive(2, 2);
}

static void transmit_lies(void)
{
    const u32 ids[] = {128, 0xFFFF, ~0u, 7}; // 7 was not given
    for (u32 i = 0; i < array_size(ids); i++) {
        struct net_frame frames[128];
        begin();
        for (u32 k = 0; k < 128; k++) {
            frames[k] = (struct net_frame){pattern(k), 100, 0};
        }
        CHECK_EQ(net_tx_burst(0, frames, 3), 3);
        card_complete(ids[i]);
        CHECK_EQ(net_tx_burst(0, frames, 128), 128);
        CHECK_EQ(card.resets, 2);
        CHECK_EQ(nic_get(0)->tx_dropped, 1);
        begin();
        CHECK_EQ(net_tx_burst(0, frames, 3), 3);
        card_complete(1); // early, and once more
        card_complete(1);
        CHECK_EQ(net_tx_burst(0, frames, 128), 128);
        CHECK_EQ(card.resets, 2);
        begin();
        CHECK_EQ(net_tx_burst(0, frames, 3), 3);
        card_show(&card.queues[1], 4); // more than there were
        CHECK_EQ(net_tx_burst(0, frames, 128), 128);
        CHECK_EQ(card.resets, 2);
    }
}

// Rebuilt while a program holds frames: they stay, the device gets the others.
static void rebuilt_around_held(void)
{
    struct net_frame got[16];
    begin();
    for (u32 i = 0; i < 16; i++) {
        put(i);
    }
    CHECK_EQ(net_rx_burst(0, got, 16), 16);
    card.status |= STATUS_NEEDS_RESET;
    card_tsc += card_hz;
    CHECK_EQ(net_tx(0, got[0].data, got[0].len), 1);
    CHECK_EQ(card.resets, 2);
    CHECK_EQ(card_waiting(&card.queues[0]), 239); // begin() has one, too
    while (card_receive(pattern(99), 100)) {
    }
    for (u32 i = 0; i < 16; i++) {
        CHECK_EQ(__builtin_memcmp(got[i].data, pattern(i), 100), 0);
    }
    for (u32 i = 0; i < 239; i++) {
        expect(99);
    }
    expect_alive(2, 0);
}

// A program that ended in mid-call leaves indices anywhere.
static void recovered_in_mid_call(void)
{
    begin();
    struct virtio_net *net = (struct virtio_net *)nic_get(0);
    put(5);
    CHECK(nic_enter(&net->nic));
    net->rx_taken += 3;
    net->rx_given++;
    for (u32 i = 0; i < 20; i++) {
        net->rx_given_of[i] = net->rx_given;
    }
    net->rx_held = 77;
    net->tx_ring.prod += 9;
    nic_end_calls();
    nic_recover_all(0);
    CHECK_EQ(card.resets, 2);
    CHECK_EQ(card_waiting(&card.queues[0]), 256);
    expect_alive(2, 0);
    nic_end_calls();
    nic_recover_all(1);
    CHECK_EQ(card.resets, 2); // a finished program costs nothing
}

// A second core, while the first one rings a doorbell: it takes nothing out of
// the rings under the first one's hands.
static u32 seconds;
static void comes_second(void)
{
    struct net_frame burst[32] = {{pattern(1), 100, 0}};
    struct net_info info;
    card.kicked = 0;
    for (u32 i = 0; i < 100; i++) {
        CHECK_EQ(net_rx_burst(0, burst, 32), E_BUSY);
    }
    CHECK_EQ(net_tx_burst(0, burst, 1), E_BUSY);
    CHECK_EQ(net_info(0, &info), E_BUSY);
    seconds++;
}

static void two_cores(void)
{
    struct net_frame got[128];
    u32 put_n = 0, got_n = 0, id;
    u8 sent[4096];
    begin();
    for (u32 round = 0; round < 3000; round++) {
        while (card_receive(pattern(put_n), 100)) {
            put_n++;
        }
        card.kicked = comes_second;
        card.kicked_queue = NET_QUEUE_RX;
        int n = net_rx_burst(0, got, 1 + round % 100);
        for (int i = 0; i < n; i++) {
            CHECK_EQ(*(u8 *)got[i].data, *pattern(got_n++));
        }
        card.kicked = comes_second;
        card.kicked_queue = NET_QUEUE_TX;
        CHECK_EQ(net_tx(0, pattern(1), 100), 1);
        CHECK_EQ(card_sent(sent, &id), 100);
        card_complete(id);
        card.kicked = 0;
    }
    CHECK(seconds > 3000 && got_n > 100000);
    CHECK_EQ(nic_get(0)->rx_frames, got_n + 1);
    nic_end_calls();
    nic_recover_all(1);
    CHECK_EQ(card.resets, 1);
    CHECK_EQ(card.misuses, 0);
}

static void link_goes_and_comes(void)
{
    struct net_info info;
    begin();
    card.config[NET_CONFIG_STATUS] = 0;
    card_tsc += card_hz / 1000;
    CHECK_EQ(net_tx(0, pattern(1), 100), E_LINK);
    CHECK_EQ(net_info(0, &info), 0);
    CHECK_EQ(info.link, 0);
    card.config[NET_CONFIG_STATUS] = 1;
    card_tsc += card_hz / 1000;
    CHECK_EQ(net_tx(0, pattern(1), 100), 1);
    CHECK_EQ(net_info(0, &info), 0);
    CHECK_EQ(info.link, 1);
    card.offered &= ~VIRTIO_NET_F_STATUS;
}

static void no_clock(void)
{
    card_plug(1, 0);
    card_hz = 0;
    CHECK_EQ(card_probe(), 0);
    card.config[NET_CONFIG_STATUS] = 0;
    CHECK_EQ(net_tx(0, pattern(1), 100), E_LINK);
    card_hz = 1000000000;
}

static void expect_gone(void)
{
    struct net_frame got;
    struct net_info info;
    CHECK_EQ(net_rx(0, &got), E_GONE);
    CHECK_EQ(net_rx_burst(0, &got, 1), E_GONE);
    CHECK_EQ(net_tx(0, pattern(1), 100), E_GONE);
    CHECK_EQ(net_info(0, &info), 0);
    CHECK_EQ(info.link, 0);
    const struct net_poll *poll = net_poll(0);
    CHECK((*poll->word & poll->mask) != poll->idle);
    CHECK(fake_logged("nic 0: device is gone"));
    nic_recover_all(1);
}

static void removed(void)
{
    begin();
    card.status = STATUS_GONE;
    card_tsc += card_hz;
    u64 start = card_tsc;
    CHECK_EQ(net_tx(0, pattern(1), 100), E_GONE);
    CHECK_EQ(card_tsc, start); // nothing was waited for
    expect_gone();
}

static void reset_never_ends(void)
{
    struct net_frame got;
    begin();
    u64 start = card_tsc;
    card.stuck = 1;
    card_show(&card.queues[0], 1000);
    CHECK_EQ(net_rx(0, &got), E_GONE);
    CHECK(card_tsc - start < 2 * card_hz);
    CHECK_EQ(card.function->words[1] & PCI_COMMAND_MASTER, 0);
    expect_gone();
}

static void comes_back_as_another(void)
{
    struct net_frame got;
    begin();
    card.offered &= ~VIRTIO_NET_F_MRG_RXBUF;
    card_show(&card.queues[0], 1000);
    CHECK_EQ(net_rx(0, &got), E_GONE);
    begin();
    card.sizes[1] = 64;
    card_show(&card.queues[0], 1000);
    CHECK_EQ(net_rx(0, &got), E_GONE);
    expect_gone();
}

int main(void)
{
    RUN(used_id_out_of_range);
    RUN(used_id_twice);
    RUN(used_index_jumps);
    RUN(used_length_absurd);
    RUN(pieces_absurd);
    RUN(pieces_never_come);
    RUN(transmit_lies);
    RUN(rebuilt_around_held);
    RUN(recovered_in_mid_call);
    RUN(two_cores);
    RUN(link_goes_and_comes);
    RUN(no_clock);
    RUN(removed);
    RUN(reset_never_ends);
    RUN(comes_back_as_another);
    card_unplug();
    return TEST_RESULT();
}
