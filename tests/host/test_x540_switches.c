// test_x540_switches.c - how the X540 model may be told to behave, and its
// wire.
// SPDX-License-Identifier: MIT
#include "x540_rig.h"

static u8 out[65536];

static void inject(void)
{
    rig_inject(rig_frame(100), 100);
}
static void transmit(void)
{
    rig_send(rig_frame(100), 100);
}

static void prefetch(void)
{
    rig_init(false);
    set("prefetch=8");
    w(0x1018, RING - 2); // now it fetches
    rig_at(RX_RING)[0] = RX_BUFFERS + 2048 * 9;
    rig_at(RX_RING + 16 * 8)[0] = RX_BUFFERS;
    inject();
    CHECK_EQ(rig_rx_status() & 3, 3);
    CHECK_EQ(rig_rx_data()[6], 2); // where the old address pointed
}

static void wthresh(void)
{
    rig_init(false);
    w(0x6028, 0);
    w(0x6010, 0);
    w(0x6018, 0);
    w(0x6028, 0x02040120); // WTHRESH 4
    for (u32 i = 0; i < 4; i++) {
        transmit();
        CHECK_EQ(rig_tx_done(), i == 3);
    }
    set("wthresh=0");
    transmit();
    CHECK(rig_tx_done());
    set("wthresh=1");
    w(0x820, 8); // EITR(0)
    transmit();
    CHECK(rig_tx_done());
}

static void poison(void)
{
    rig_init(false);
    set("poison=1");
    transmit();
    CHECK_EQ(rig_at(TX_RING)[0], 0);
    CHECK_EQ(rig_at(TX_RING)[1], 1ull << 32);
}

static void gone_wire(void)
{
    rig_init(false);
    close(rig_wire);
    rig_wire = -1;
    transmit();
    CHECK(rig_tx_done());
    CHECK_EQ(card.total.tx_lost, 1);
}

// Nothing is lost towards a reader who comes late.
static void slow_wire(void)
{
    u32 n = 0, len;
    int small = 4096;
    rig_init(false);
    setsockopt(card.net.fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
    for (u32 i = 0; i < 3; i++) {
        rig_tx_piece(rig_frame(1000), 1000, 1000, EOP_IFCS_RS);
        rig_tx_piece(rig_frame(1000), 1000, 1000, EOP_IFCS_RS);
        rig_tx_piece(rig_frame(1000), 1000, 1000, EOP_IFCS_RS);
        rig_tx_piece(rig_frame(1000), 1000, 1000, EOP_IFCS_RS);
    }
    rig_tx_go();
    CHECK(!rig_tx_done() && card.net.unsent.len);
    while ((len = rig_out(out))) {
        n += len == 1000;
        settle(0);
    }
    CHECK_EQ(n, 12);
    CHECK_EQ(card.total.tx_lost, 0);
}

// Spec update, clarification 9: what is left in the ring goes round inside.
static void flush_before_reset(void)
{
    rig_init(false);
    link_set(&card, false);
    rig_send(rig_frame(60), 60);
    CHECK(!rig_tx_done());
    w(0x3000, 0);
    w(0x4240, r(0x4240) | 0x8000); // LPBK
    w(0x11050, 0x40000000);
    settle(20);
    CHECK(rig_tx_done() && !rig_out(out));
    rig_reset();
    CHECK_EQ(rig_broken(), 0);
}

// Everything sent comes back by MAC loopback.
static void loopback(void)
{
    rig_init(false);
    w(0x4240, r(0x4240) | 0x8000);
    const u8 *frame = rig_frame(321);
    rig_send(frame, 321);
    CHECK_EQ(rig_rx_len(), 321);
    CHECK(!memcmp(rig_rx_data(), frame, 321));
    CHECK_EQ(rig_out(out), 0);
}

int main(void)
{
    RUN(prefetch);
    RUN(wthresh);
    RUN(poison);
    RUN(gone_wire);
    RUN(slow_wire);
    RUN(flush_before_reset);
    RUN(loopback);
    rig_close();
    return TEST_RESULT();
}
