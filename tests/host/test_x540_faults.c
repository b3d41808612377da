// test_x540_faults.c - every fault the X540 model can have, and its end.
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

// Frames go both ways, as if nothing had been.
static void check_well(void)
{
    const u8 *frame = rig_frame(77);
    rig_send(frame, 77);
    CHECK(rig_tx_done());
    CHECK_EQ(rig_out(out), 77);
    rig_inject(frame, 77);
    CHECK(rig_rx_done());
    CHECK(!memcmp(rig_rx_data(), frame, 77));
    rig_rx_next();
}

static void reset_stuck(void)
{
    rig_power_on();
    set("reset_stuck=1");
    w(0, 0x04000008);
    settle(10000000);
    CHECK_EQ(r(0) & 0x04000008, 0x04000008);
    set("reset_stuck=0");
    settle(1);
    CHECK_EQ(r(0) & 0x04000008, 0);
}

static void reset_slow(void)
{
    rig_power_on();
    set("reset_us=200000");
    w(0, 0x04000008);
    settle(199000);
    CHECK(r(0) & 0x04000008);
    CHECK(!(r(0x42A4) >> 30 & 1));
    settle(2000);
    CHECK(!(r(0) & 0x04000008));
}

static void init_never_done(void)
{
    rig_power_on();
    set("ard_never=1");
    set("dmaidone_never=1");
    CHECK(!(r(0x10010) & 0x200) && !(r(0x2F00) & 8));
    set("ard_never=0");
    set("dmaidone_never=0");
    CHECK(r(0x10010) & 0x200 && r(0x2F00) & 8);
}

static void queues_never_enabled(void)
{
    rig_power_on();
    set("rxen_never=1");
    set("txen_never=1");
    rig_reset();
    w(0x1028, 0x02000000);
    w(0x6028, 0x02000000);
    settle(1000000);
    CHECK(!(r(0x1028) >> 25 & 1) && !(r(0x6028) >> 25 & 1));
}

static void queues_slow(void)
{
    rig_init(false);
    set("qen_us=300");
    w(0x6028, 0);
    w(0x1028, 0);
    w(0x1028, 0x02000000);
    w(0x6028, 0x02000000);
    settle(299);
    CHECK(!(r(0x1028) >> 25 & 1) && !(r(0x6028) >> 25 & 1));
    settle(2);
    CHECK(r(0x1028) >> 25 & 1 && r(0x6028) >> 25 & 1);
    inject();
    CHECK(rig_rx_done());
}

static void removed(void)
{
    rig_init(false);
    set("removed=1");
    CHECK_EQ(r(0x8), 0xFFFFFFFF);
    CHECK_EQ(config_read(&card, 0, 2), 0xFFFFFFFF);
    inject();
    transmit();
    CHECK(!rig_rx_done() && !rig_tx_done());
    set("removed=0");
    rig_tx_go();
    CHECK(rig_rx_done() && rig_tx_done());
}

static void tx_hang(void)
{
    rig_init(false);
    set("tx_hang=2");
    transmit();
    transmit();
    CHECK(rig_tx_done());
    transmit();
    settle(1000000);
    CHECK(!rig_tx_done());
    set("rx_err=0"); // another key does not heal it
    settle(0);
    CHECK(!rig_tx_done());
    rig_reset();
    rig_init_rx();
    rig_init_tx();
    settle(0);
    while (rig_out(out))
        continue;
    check_well();
    CHECK_EQ(rig_broken(), 0);
    set("tx_hang=1");
    transmit();
    transmit();
    CHECK(!rig_tx_done());
    set("tx_hang=0");
    settle(0);
    CHECK(rig_tx_done());
}

static void tx_stall(void)
{
    rig_init(false);
    set("tx_stall=1");
    transmit();
    CHECK(!rig_tx_done());
    set("tx_stall=0");
    settle(0);
    CHECK(rig_tx_done());
}

static void tx_drop_dd(void)
{
    rig_init(false);
    set("tx_drop_dd=1");
    transmit();
    CHECK(!rig_tx_done());
    CHECK_EQ(rig_out(out), 100);
    CHECK_EQ(r(0x6010), 1);
    check_well();
}

static void tx_dd_late(void)
{
    rig_init(false);
    set("tx_dd_us=50");
    transmit();
    CHECK_EQ(r(0x6010), 1); // the head is no completion signal
    CHECK(!rig_tx_done());
    settle(49);
    CHECK(!rig_tx_done());
    settle(2);
    CHECK(rig_tx_done());
    CHECK_EQ(rig_out(out), 100);
    set("tx_dd_us=0");
    check_well();
}

static void rx_dd_late(void)
{
    rig_init(false);
    set("rx_dd_us=50");
    inject();
    CHECK_EQ(r(0x1010), 1);
    CHECK(!rig_rx_done());
    settle(51);
    CHECK(rig_rx_done());
}

static void rx_err(void)
{
    for (u32 legacy = 0; legacy < 2; legacy++) {
        u32 rxe = legacy ? 0x100 : 0x20000000;
        rig_init(legacy);
        set("rx_err=2");
        inject();
        CHECK(!rig_rx_done());
        CHECK_EQ(r(0x4000), 1);
        w(0x5080, r(0x5080) | 2); // SBP
        inject();
        CHECK(rig_rx_done() && rig_rx_status() & rxe);
        rig_rx_next();
        w(0x5080, r(0x5080) & ~2u);
        set("rx_err_force=1");
        set("rx_err=1");
        inject();
        CHECK(rig_rx_done() && rig_rx_status() & rxe);
        rig_rx_next();
        inject();
        CHECK(!(rig_rx_status() & rxe));
        CHECK_EQ(r(0x4000), 2);
    }
}

static void rx_len(void)
{
    rig_init(false);
    set("rx_len=1");
    inject();
    CHECK_EQ(rig_rx_len(), 65535);
    rig_rx_next();
    set("rx_len=1");
    set("rx_len_val=0");
    inject();
    CHECK_EQ(rig_rx_len(), 0);
    rig_rx_next();
    check_well();
}

static void rx_noeop(void)
{
    rig_init(false);
    set("rx_noeop=1");
    inject();
    CHECK_EQ(rig_rx_status() & 3, 1);
    rig_rx_next();
    check_well();
}

static void rx_split(void)
{
    rig_init(false);
    set("rx_split=1");
    set("rx_split_at=40");
    inject();
    static const u32 lengths[] = {40, 40, 20};
    for (u32 i = 0; i < 3; i++) {
        CHECK_EQ(rig_rx_len(), lengths[i]);
        CHECK_EQ(rig_rx_status() & 3, i < 2 ? 1 : 3);
        rig_rx_next();
    }
    check_well();
}

static void rx_skip(void)
{
    rig_init(false);
    set("rx_skip=1");
    inject();
    CHECK_EQ(r(0x1010), 1);
    CHECK(!rig_rx_done());
    inject();
    CHECK(!rig_rx_done());
    rig_rx = 1;
    CHECK(rig_rx_done());
}

static void rx_stall(void)
{
    rig_init(false);
    set("rx_stall=1");
    inject();
    CHECK(!rig_rx_done());
    set("rx_stall=0");
    settle(0);
    CHECK(rig_rx_done());
}

static void selfreset(void)
{
    rig_init(false);
    inject();
    CHECK(!strcmp(say("selfreset"), "ok"));
    settle(1000);
    CHECK(!(r(0x18) & 0x10000000)); // DRV_LOAD
    w(0x6018, 1);                   // the driver cannot know yet: not its fault
    CHECK_EQ(rig_broken(), 0);
    CHECK(!(r(0x1028) >> 25 & 1));
    inject();
    rig_rx_next();
    CHECK(!rig_rx_done());
    rig_reset();
    w(0x1040, 1);
    CHECK_EQ(rig_broken(), 1); // now it knows
    rig_init_rx();
    rig_init_tx();
    settle(0);
    CHECK(rig_rx_done()); // it waited in the socket
    rig_rx_next();
    check_well();
}

static void master_stuck(void)
{
    rig_init(false);
    w(0, 4);
    CHECK(!(r(8) >> 19 & 1));
    w(0, 0);
    CHECK(r(8) >> 19 & 1);
    set("master_stuck=1");
    w(0, 4);
    CHECK(r(8) >> 19 & 1);
    rig_reset();
    w(0, 4);
    CHECK(r(8) >> 19 & 1);
    rig_reset();
    w(0, 4);
    CHECK(!(r(8) >> 19 & 1));
}

int main(void)
{
    RUN(reset_stuck);
    RUN(reset_slow);
    RUN(init_never_done);
    RUN(queues_never_enabled);
    RUN(queues_slow);
    RUN(removed);
    RUN(tx_hang);
    RUN(tx_stall);
    RUN(tx_drop_dd);
    RUN(tx_dd_late);
    RUN(rx_dd_late);
    RUN(rx_err);
    RUN(rx_len);
    RUN(rx_noeop);
    RUN(rx_split);
    RUN(rx_skip);
    RUN(rx_stall);
    RUN(selfreset);
    RUN(master_stuck);
    rig_close();
    return TEST_RESULT();
}
