// test_virtio_net.c - frames out of a virtio network device, into a program.
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

static int is_idle(void)
{
    const struct net_poll *poll = net_poll(0);
    return (*poll->word & poll->mask) == poll->idle;
}

static void comes_up_modern(void)
{
    card_plug(1, 1);
    CHECK_EQ(card_probe(), 0);
    CHECK_EQ(nic_count(), 1);
    CHECK_EQ(card.accepted, VIRTIO_F_VERSION_1 | VIRTIO_F_ANY_LAYOUT |
                                VIRTIO_NET_F_MAC | VIRTIO_NET_F_STATUS |
                                VIRTIO_NET_F_MRG_RXBUF);
    CHECK_EQ(card.status, STATUS_ACKNOWLEDGE | STATUS_DRIVER |
                              STATUS_FEATURES_OK | STATUS_DRIVER_OK);
    CHECK_EQ(card_waiting(&card.queues[0]), 256);
    CHECK_EQ(card.queues[0].kicks, 1);
    CHECK_EQ(card.queues[0].used % 4096, 0);
    CHECK_EQ(*(u16 *)card.queues[0].avail, AVAIL_NO_INTERRUPT);
    CHECK_EQ(*(u16 *)card.queues[1].avail, AVAIL_NO_INTERRUPT);
    CHECK_EQ(card.function->words[1] & 0xFFFF,
             PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_INTX_OFF);
    CHECK_EQ(card.misuses, 0);
    CHECK(is_idle());
    struct net_info info;
    CHECK_EQ(net_info(0, &info), 0);
    CHECK_EQ(info.mac[5], 0x56);
    CHECK_EQ(info.link, 1);
    CHECK_EQ(info.rx_ring, 256);
    CHECK_EQ(info.max_frame, 1514);
}

static void receives(u32 frames, u32 burst)
{
    struct net_frame got[300];
    u32 sent = 0, taken = 0;
    while (taken < frames) {
        while (sent < frames && card_receive(pattern(sent, 60 + sent % 1455),
                                             60 + sent % 1455)) {
            sent++;
        }
        CHECK(!is_idle());
        int n = net_rx_burst(0, got, burst);
        CHECK(n > 0 && n <= (int)burst);
        for (int i = 0; i < n; i++, taken++) {
            CHECK_EQ(got[i].len, 60 + taken % 1455);
            CHECK(same(got[i].data, taken, got[i].len));
        }
        if (n <= 0) {
            return;
        }
    }
    CHECK_EQ(net_rx_burst(0, got, burst), 0);
    CHECK(is_idle());
    CHECK_EQ(nic_get(0)->rx_frames, frames);
    CHECK_EQ(nic_get(0)->rx_dropped, 0);
    CHECK_EQ(card.misuses, 0);
}

static void receives_in_every_burst(void)
{
    const u32 bursts[] = {1, 2, 31, 32, 128};
    for (u32 i = 0; i < array_size(bursts); i++) {
        card_plug(1, 0);
        CHECK_EQ(card_probe(), 0);
        receives(2000, bursts[i]);
    }
}

// 16-bit indices go round more than once.
static void receives_70000(void)
{
    card_plug(1, 0);
    CHECK_EQ(card_probe(), 0);
    receives(140000, 32);
}

static void legacy_headers(void)
{
    card_plug(0, 1);
    CHECK_EQ(card_probe(), 0);
    CHECK_EQ(card_header(), 12);
    receives(1000, 32);
    card_plug(0, 1);
    card.offered &= ~VIRTIO_NET_F_MRG_RXBUF;
    CHECK_EQ(card_probe(), 0);
    CHECK_EQ(card_header(), 10);
    receives(1000, 32);
}

// A legacy ring may be larger than what we have buffers for.
static void queue_sizes(void)
{
    const u16 sizes[] = {4, 8, 64, 512, 1024, 32768};
    for (u32 i = 0; i < array_size(sizes); i++) {
        for (int modern = 0; modern < 2; modern++) {
            card_plug(modern, !modern);
            card.sizes[0] = card.sizes[1] = sizes[i];
            CHECK_EQ(card_probe(), 0);
            CHECK(!modern || card.queues[0].size <= 256);
            receives(3000, 20);
        }
    }
}

// The most that may be held is held while the ring is flooded: the device has
// the other half, and frames go on afterwards.
static void flood_while_held(void)
{
    struct net_frame got[256];
    card_plug(1, 0);
    CHECK_EQ(card_probe(), 0);
    for (u32 round = 0; round < 10; round++) {
        while (card_receive(pattern(1, 64), 64)) {
        }
        CHECK_EQ(net_rx_burst(0, got, 256), 128);
    }
    while (card_receive(pattern(1, 64), 64)) {
    }
    CHECK_EQ(net_rx_burst(0, got, 256), 128);
    CHECK_EQ(net_rx_burst(0, got, 256), 0);
    CHECK(card_receive(pattern(2, 64), 64));
    CHECK_EQ(net_rx_burst(0, got, 256), 1);
    CHECK(same(got[0].data, 2, 64));
}

// One frame at a time: a quarter of the ring goes back at once, and a device
// without buffers is told once for all of them.
static void goes_back_in_quarters(void)
{
    struct net_frame got;
    card_plug(1, 0);
    CHECK_EQ(card_probe(), 0);
    while (card_receive(pattern(1, 64), 64)) {
    }
    CHECK_EQ(card.queues[0].kicks, 1);
    for (u32 i = 0; i < 256; i++) {
        CHECK_EQ(card_waiting(&card.queues[0]), i ? (i - 1) / 64 * 64 : 0);
        CHECK_EQ(net_rx(0, &got), 1);
    }
    CHECK_EQ(card.queues[0].kicks, 4);
}

// Held frames stay as they are until the next receive.
static void held_frames_stay(void)
{
    struct net_frame got[256];
    card_plug(1, 0);
    CHECK_EQ(card_probe(), 0);
    for (u32 i = 0; i < 128; i++) {
        card_receive(pattern(i, 100), 100);
    }
    CHECK_EQ(net_rx_burst(0, got, 128), 128);
    while (card_receive(pattern(999, 100), 100)) {
    }
    for (u32 i = 0; i < 128; i++) {
        CHECK(same(got[i].data, i, 100));
    }
}

// A device that was out of buffers is told when there are some again.
static void kicks_only_when_wanted(void)
{
    struct net_frame got[32];
    card_plug(1, 0);
    card.silent = 1;
    CHECK_EQ(card_probe(), 0);
    for (u32 i = 0; i < 1000; i++) {
        card_receive(pattern(i, 64), 64);
        CHECK_EQ(net_rx(0, got), 1);
    }
    CHECK_EQ(card.queues[0].kicks, 1);
    while (card_receive(pattern(1, 64), 64)) {
    }
    CHECK_EQ(net_rx_burst(0, got, 32), 32); // gives buffers back
    CHECK_EQ(card.queues[0].kicks, 2);
    card_show(&card.queues[0], 0);
    CHECK_EQ(net_rx_burst(0, got, 32), 32);
    CHECK_EQ(card.queues[0].kicks, 2);
}

// Too short, too long, in pieces: dropped whole, counted once.
static void lengths(void)
{
    struct net_frame got[128];
    const u32 bad[] = {0,    1,    13,   1515, 1518,  1522,
                       1984, 1985, 2048, 9014, 16110, 65000};
    card_plug(1, 0);
    CHECK_EQ(card_probe(), 0);
    for (u32 i = 0; i < array_size(bad); i++) {
        CHECK(card_receive(pattern(1, bad[i]), bad[i]));
        CHECK_EQ(card_receive(pattern(2, 14), 14), 1);
        CHECK_EQ(card_receive(pattern(3, 1514), 1514), 1);
        CHECK_EQ(net_rx(0, got), 1);
        CHECK(got[0].len == 14 && same(got[0].data, 2, 14));
        CHECK_EQ(net_rx(0, got), 1);
        CHECK(got[0].len == 1514 && same(got[0].data, 3, 1514));
        CHECK_EQ(net_rx(0, got), 0);
        CHECK_EQ(nic_get(0)->rx_dropped, i + 1);
    }
}

// Pieces of a frame too big that look like frames themselves.
static void pieces_like_frames(void)
{
    struct net_frame got[8];
    u16 frame[4500];
    for (u32 i = 0; i < array_size(frame); i++) {
        frame[i] = 1; // what stands for "one buffer" in a header
    }
    card_plug(1, 0);
    CHECK_EQ(card_probe(), 0);
    CHECK(card_receive((const u8 *)frame, sizeof(frame)));
    CHECK_EQ(net_rx_burst(0, got, 8), 0);
    CHECK_EQ(nic_get(0)->rx_dropped, 1);
}

// A frame in more pieces than one call may take.
static void pieces_across_calls(void)
{
    struct net_frame got[128];
    card_plug(1, 0);
    CHECK_EQ(card_probe(), 0);
    for (u32 i = 0; i < 120; i++) {
        card_receive(pattern(i, 64), 64);
    }
    CHECK(card_receive(pattern(1, 65000), 65000));
    CHECK(card_receive(pattern(7, 64), 64));
    CHECK_EQ(net_rx_burst(0, got, 128), 120);
    CHECK_EQ(net_rx_burst(0, got, 128), 1);
    CHECK(same(got[0].data, 7, 64));
    CHECK_EQ(nic_get(0)->rx_dropped, 1);
}

// The largest frame there is fits into what the device has while a program
// holds all it may: else the device would wait for ever.
static void largest_while_held(void)
{
    struct net_frame got[128];
    for (int small = 0; small < 2; small++) {
        card_plug(1, 0);
        card_ram = small ? 6ul << 20 : card_ram;
        CHECK_EQ(card_probe(), 0);
        while (card_receive(pattern(1, 64), 64)) {
        }
        u32 most = nic_get(0)->max_burst;
        while (net_rx_burst(0, got, most) > 0) {
        }
        for (u32 i = 0; i < most; i++) {
            card_receive(pattern(1, 64), 64);
        }
        CHECK_EQ(net_rx_burst(0, got, 128), most);
        CHECK(card_receive(pattern(1, 65535), 65535));
    }
}

// Nothing but bad frames: none is delivered, none stays in the ring.
static void only_bad_frames(void)
{
    struct net_frame got[32];
    card_plug(1, 0);
    CHECK_EQ(card_probe(), 0);
    for (u32 round = 0; round < 20; round++) {
        while (card_receive(pattern(1, 13), 13)) {
        }
        for (u32 i = 0; i < 4; i++) {
            CHECK_EQ(net_rx_burst(0, got, 32), 0);
        }
    }
    CHECK(card_receive(pattern(5, 60), 60));
    CHECK_EQ(net_rx_burst(0, got, 32), 1);
    CHECK(same(got[0].data, 5, 60));
    CHECK(nic_get(0)->rx_dropped > 20 * 128);
}

int main(void)
{
    RUN(comes_up_modern);
    RUN(receives_in_every_burst);
    RUN(receives_70000);
    RUN(legacy_headers);
    RUN(queue_sizes);
    RUN(flood_while_held);
    RUN(goes_back_in_quarters);
    RUN(held_frames_stay);
    RUN(kicks_only_when_wanted);
    RUN(lengths);
    RUN(pieces_like_frames);
    RUN(pieces_across_calls);
    RUN(largest_while_held);
    RUN(only_bad_frames);
    card_unplug();
    return TEST_RESULT();
}
