// test_x540_rules.c - every rule the X540 model holds a driver to, broken once.
// SPDX-License-Identifier: MIT
#include "x540_rig.h"

static u8 out[65536];

static const u8 *frame(void)
{
    return rig_frame(100);
}

// Each breaks the rule of its name, on a card that is up and well.
static void rule_1(void)
{
    config_write(&card, 4, 2, 2); // memory, no bus master
    rig_send(frame(), 100);
}

static void rule_2(void)
{
    rig_tx_piece(frame(), 100, 100, EOP_IFCS_RS);
    rig_at(TX_RING)[0] = 0xF0000000;
    rig_tx_go();
}

static void rule_3(void)
{
    w(0, 0x04000000);
    r(0x4240);
}

static void rule_4(void)
{
    w(0, 0x04000000);
    w(0x4240, 0);
}

static void rule_5(void)
{
    link_set(&card, false);
    rig_send(frame(), 100);
    w(0, 0x04000000);
}

static void rule_6(void)
{
    w(0x1028, 0);
    w(0x2F00, 0);
    w(0x1028, 0x02000000);
}

static void rule_7(void)
{
    w(0x8120, 0);
}
static void rule_8(void)
{
    w(0x3C00, 0x60000);
}
static void rule_9(void)
{
    w(0x1040, RX_RING + 64);
}
static void rule_10(void)
{
    w(0x1048, 16 * 12);
}
static void rule_11(void)
{
    w(0x1010, 0);
}
static void rule_12(void)
{
    w(0x1048, 128);
    w(0x1058, 5);
}
static void rule_13(void)
{
    w(0x1018, RING);
}

static void rule_14(void)
{
    w(0x1040, RX_RING);
    w(0x104C, 0);
    w(0x1068, 0x02000000);
}

static void rule_15(void)
{
    w(0x1040, RX_RING);
    w(0x1048, 128);
    w(0x1068, 0x02000000);
}

static void rule_16(void)
{
    for (u32 i = 0; i <= RING; i++) {
        rig_inject(frame(), 100);
        // Back to the card as the card left it, but for the address.
        rig_at(RX_RING + 16 * (i % RING))[0] = RX_BUFFERS;
        w(0x1018, i % RING);
    }
    settle(0);
}

static void rule_18(void)
{
    set("dmaidone_never=1");
    w(0x3000, 0);
    w(0x3000, 1);
}

static void rule_20(void)
{
    w(0x6040, TX_RING + 16);
}
static void rule_21(void)
{
    w(0x6048, 16 * 9);
}
static void rule_22(void)
{
    w(0x6010, 0);
}
static void rule_23(void)
{
    w(0x6048, 128);
    w(0x6058, 1);
}
static void rule_24(void)
{
    w(0x6018, RING);
}

static void tx_queue_1(u32 len)
{
    w(0x6040, TX_RING);
    w(0x6048, len);
}

static void rule_25(void)
{
    w(0x4A80, r(0x4A80) & ~1u);
    tx_queue_1(128);
    w(0x6068, 0x02000000);
}

static void rule_26(void)
{
    tx_queue_1(0);
    w(0x6068, 0x02000000);
}

static void rule_27(void)
{
    tx_queue_1(128);
    w(0x6068, 0x02040000);
}

static void rule_28(void)
{
    w(0x1048, 128);
    w(0x104C, 0);
    w(0x1068, 0x02000000);
}

static void rule_29(void)
{
    w(0x6048, 128);
    w(0x6068, 0x02000000);
}

static void rule_30(void)
{
    bar_read(&card, RIG_BAR + 8, 2);
}
static void rule_31(void)
{
    bar_write(&card, RIG_BAR + 0x5200, 0, 8);
}

static void send_bits(u32 len, u32 total, u64 bits)
{
    rig_tx_piece(frame(), len, total, bits);
    rig_tx_go();
}

static void rule_40(void)
{
    u64 *d = rig_at(TX_RING);
    d[0] = 14 << 9 | 20;
    d[1] = 0x20200000; // a context: DEXT, DTYP 2
    rig_tx = 1;
    send_bits(100, 100, EOP_IFCS_RS | 0x80000000);
}

static void rule_41(void)
{
    rig_tx_piece(frame(), 100, 100, EOP_IFCS_RS);
    rig_at(TX_RING)[1] ^= 0x00300000; // DTYP 0
    rig_tx_go();
}

static void rule_42(void)
{
    rig_tx_piece(frame(), 0, 100, 0x02000000);
    send_bits(100, 100, EOP_IFCS_RS);
}

static void rule_43(void)
{
    send_bits(16, 16, EOP_IFCS_RS);
}
static void rule_44(void)
{
    send_bits(100, 104, EOP_IFCS_RS);
}

static void rule_45(void)
{
    rig_tx_piece(frame(), 10000, 20000, 0x02000000);
    send_bits(10000, 20000, EOP_IFCS_RS);
}

static void rule_46(void)
{
    rig_tx_piece(frame(), 50, 100, 0x02000000);
    rig_tx_piece(frame(), 50, 100, EOP_IFCS_RS);
    rig_at(TX_RING + 16)[1] &= ~0x20000000ull;
    rig_tx_go();
}

static void rule_47(void)
{
    send_bits(100, 100, EOP_IFCS_RS & ~0x02000000);
}
static void rule_48(void)
{
    send_bits(100, 100, EOP_IFCS_RS | 1ull << 41);
}

static void rule_49(void)
{
    w(0x4240, r(0x4240) & ~0x400u);
    send_bits(40, 40, EOP_IFCS_RS);
}

static void rule_50(void)
{
    w(0x1040, RX_RING);
    w(0x1048, 128);
    w(0x104C, 0);
    w(0x1054, 0x02000000);
    w(0x1068, 0x02000000);
}

static const struct {
    u32 number;
    void (*breaks)(void);
} cases[] = {
    {1, rule_1},   {2, rule_2},   {3, rule_3},   {4, rule_4},   {5, rule_5},
    {6, rule_6},   {7, rule_7},   {8, rule_8},   {9, rule_9},   {10, rule_10},
    {11, rule_11}, {12, rule_12}, {13, rule_13}, {14, rule_14}, {15, rule_15},
    {16, rule_16}, {18, rule_18}, {20, rule_20}, {21, rule_21}, {22, rule_22},
    {23, rule_23}, {24, rule_24}, {25, rule_25}, {26, rule_26}, {27, rule_27},
    {28, rule_28}, {29, rule_29}, {30, rule_30}, {31, rule_31}, {40, rule_40},
    {41, rule_41}, {42, rule_42}, {43, rule_43}, {44, rule_44}, {45, rule_45},
    {46, rule_46}, {47, rule_47}, {48, rule_48}, {49, rule_49}, {50, rule_50},
};

// The one rule is counted, and no other.
static void each_rule_alone(void)
{
    for (u32 i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        rig_init(false);
        CHECK_EQ(rig_broken(), 0);
        cases[i].breaks();
        settle(0);
        u64 counted = card.rule_count[cases[i].number];
        if (!counted || counted != rig_broken())
            printf("  rule %u, %s\n", cases[i].number, say("stats"));
        CHECK(counted > 0);
        CHECK_EQ(rig_broken(), counted);
    }
}

static void rules_of_legacy_rings(void)
{
    rig_init(true);
    rule_16();
    CHECK(card.rule_count[16] > 0);
    rig_init(true);
    send_bits(16, 16, EOP_IFCS_RS);
    CHECK_EQ(card.rule_count[43], 1);
    CHECK_EQ(rig_broken(), 1);
}

// A packet that breaks a rule does not stop those behind it.
static void life_goes_on(void)
{
    rig_init(false);
    rule_43();
    CHECK(rig_tx_done());
    rig_send(frame(), 100);
    CHECK_EQ(rig_out(out), 100);
    rule_13();
    rig_inject(frame(), 100);
    CHECK(rig_rx_done());
}

static void too_many_descriptors(void)
{
    rig_init(false);
    w(0x6028, 0);
    w(0x6008, 64 * 16);
    w(0x6010, 0);
    w(0x6018, 0);
    w(0x6028, 0x02000000);
    for (u32 i = 0; i < 45; i++) {
        u64 *d = rig_at(TX_RING + 16 * i);
        d[0] = TX_BUFFERS;
        d[1] = 0x22300000 | 20 | (u64)(45 * 20) << 46;
    }
    w(0x6018, 45);
    settle(0);
    CHECK(card.rule_count[45] > 0);
    CHECK_EQ(r(0x6010), 40);
}

int main(void)
{
    RUN(each_rule_alone);
    RUN(rules_of_legacy_rings);
    RUN(life_goes_on);
    RUN(too_many_descriptors);
    rig_close();
    return TEST_RESULT();
}
