// test_x540_model.c - the X540 model driven as the data sheet says: both rings.
// SPDX-License-Identifier: MIT
#include "x540_rig.h"

static u8 out[65536];

static void init_breaks_no_rule(void)
{
    for (u32 legacy = 0; legacy < 2; legacy++) {
        rig_init(legacy);
        CHECK_EQ(rig_broken(), 0);
        CHECK(r(0x42A4) & 0x40000000);
        CHECK_EQ(r(0x42A4) >> 28 & 3, 3);
        CHECK(r(0x1028) & 0x02000000);
        CHECK(r(0x6028) & 0x02000000);
    }
}

static void a_reset_takes_its_time(void)
{
    rig_power_on();
    w(0x5200, 77);
    w(0x000, 0x04000008);
    CHECK_EQ(r(0x000) & 0x04000008, 0x04000008);
    CHECK_EQ(r(0x004) & 0x04000008, 0x04000008);
    settle(99);
    CHECK_EQ(r(0x000) & 0x04000008, 0x04000008);
    CHECK(!(r(0x10010) & 0x200) && card.rule_count[3] == 1);
    settle(10);
    CHECK_EQ(r(0x000) & 0x04000008, 0);
    CHECK(!(r(0x10010) & 0x200) && !(r(0x2F00) & 8));
    settle(60);
    CHECK(r(0x10010) & 0x200 && r(0x2F00) & 8);
    CHECK_EQ(r(0x5200), 0);
    CHECK_EQ(card.rule_count[3], 1);
}

static void reset_values(void)
{
    rig_power_on();
    CHECK_EQ(r(0xA200), 0x584E4902);
    CHECK_EQ(r(0xA204), 0x80000054);
    CHECK_EQ(r(0x5400), 0x584E4902); // the other name
    CHECK_EQ(r(0x4240), 0x08012C0B);
    CHECK_EQ(r(0x3C00), 384 << 10);
    CHECK_EQ(r(0x1014), 2);
    CHECK_EQ(r(0x100C), 0x1000);
    CHECK_EQ(r(0xD00C), 0x1000);
    CHECK_EQ(r(0xCC00), 0x28000);
    CHECK(r(0x008) & 0x80080);
    w(0x2104, 0x1234); // SRRCTL(1), DCA_RXCTRL(1) and their other names
    w(0x2204, 0x4321);
    CHECK_EQ(r(0x1054), 0x1234);
    CHECK_EQ(r(0x104C), 0x4321);
    CHECK_EQ(rig_broken(), 0);
}

static void eeprom_sums_to_baba(void)
{
    u32 sum = 0;
    rig_power_on();
    for (u32 i = 0; i < 0x40; i++) {
        w(0x10014, i << 2 | 1);
        CHECK(r(0x10014) & 2);
        sum += r(0x10014) >> 16;
    }
    CHECK_EQ(sum & 0xFFFF, 0xBABA);
    set("eeprom_bad=1");
    w(0x10014, 0x3F << 2 | 1);
    CHECK((r(0x10014) >> 16) + 0x8000 != 0xBABA);
}

static void semaphores(void)
{
    rig_power_on();
    CHECK_EQ(r(0x10140) & 1, 0); // ours now
    CHECK_EQ(r(0x10140) & 1, 1);
    w(0x10140, 0);
    set("swsm_held=2");
    CHECK_EQ(r(0x10140) & 1, 1);
    w(0x10140, 0);
    CHECK_EQ(r(0x10140) & 1, 1);
    w(0x10140, 0);
    CHECK_EQ(r(0x10140) & 1, 0);
    CHECK_EQ(r(0x10160) >> 31, 0);
    CHECK_EQ(r(0x10160) >> 31, 1);
    w(0x10160, 3);
    CHECK_EQ(r(0x10160), 3);
    w(0x10160, 0);
    set("fw_holds=0x20");
    CHECK_EQ(r(0x10160), 0x20);
}

static u32 mdio(u32 phy, u32 device, u32 number)
{
    w(0x425C, number | device << 16 | phy << 21 | 0x40000000);
    w(0x425C, number | device << 16 | phy << 21 | 0x4C000000);
    CHECK(!(r(0x425C) & 0x40000000));
    return r(0x4260) >> 16;
}

static void phy_answers(void)
{
    rig_power_on();
    CHECK_EQ(mdio(0, 1, 2), 0x0154);
    CHECK_EQ(mdio(0, 1, 3), 0x0200);
    CHECK_EQ(mdio(1, 1, 2), 0xFFFF);
    CHECK_EQ(mdio(0, 7, 1) & 4, 4);
    link_set(&card, false);
    CHECK_EQ(mdio(0, 7, 1) & 4, 0);
}

// Every length: out of the transmit ring, back into the receive ring.
static void echo(bool legacy)
{
    static const u32 lengths[] = {17,  18,   59,   60,   61,   64,  65,
                                  127, 1023, 1024, 1513, 1514, 200, 999};
    rig_init(legacy);
    for (u32 i = 0; i < 700; i++) {
        u32 len = lengths[i % 14], wire = len < 60 ? 60 : len;
        const u8 *frame = rig_frame(len);
        rig_send(frame, len);
        CHECK(rig_tx_done());
        CHECK_EQ(rig_out(out), wire);
        CHECK(!memcmp(out, frame, len));
        CHECK(!rig_rx_done());
        rig_inject(out, wire);
        CHECK(rig_rx_done());
        CHECK_EQ(rig_rx_status() & 3, 3);
        CHECK_EQ(rig_rx_len(), wire);
        CHECK(!memcmp(rig_rx_data(), out, wire));
        rig_rx_next();
    }
    CHECK_EQ(rig_broken(), 0);
    CHECK_EQ(card.total.tx_frames, 700);
    CHECK_EQ(card.total.rx_frames, 700);
}

static void echo_advanced(void)
{
    echo(false);
}
static void echo_legacy(void)
{
    echo(true);
}

static void addresses_after_write_back(void)
{
    rig_init(false);
    rig_inject(rig_frame(60), 60);
    CHECK(rig_at(RX_RING)[0] != RX_BUFFERS); // overwritten
    rig_init(true);
    rig_inject(rig_frame(60), 60);
    CHECK_EQ(rig_at(RX_RING)[0], RX_BUFFERS); // kept
}

static void fcs_is_kept_when_not_stripped(void)
{
    rig_init(false);
    w(0x4240, r(0x4240) & ~2u);
    w(0x2F00, r(0x2F00) & ~2u);
    const u8 *frame = rig_frame(100);
    rig_inject(frame, 100);
    u32 crc = packet_crc(frame, 100);
    CHECK_EQ(rig_rx_len(), 104);
    CHECK(!memcmp(rig_rx_data() + 100, &crc, 4));
    CHECK_EQ(packet_crc((const u8 *)"123456789", 9), 0xCBF43926);
}

static void own_fcs_is_taken_off(void)
{
    u8 frame[104];
    rig_init(false);
    memcpy(frame, rig_frame(100), 100);
    u32 crc = packet_crc(frame, 100);
    memcpy(frame + 100, &crc, 4);
    rig_tx_piece(frame, 104, 104, EOP_IFCS_RS & ~0x02000000u);
    rig_tx_go();
    CHECK_EQ(rig_out(out), 100);
    CHECK_EQ(rig_broken(), 0);
}

// 9000 bytes in one piece out, over five buffers in.
static void jumbo(void)
{
    rig_init(false);
    const u8 *frame = rig_frame(9000);
    rig_inject(frame, 9000);
    CHECK(!rig_rx_done());
    CHECK_EQ(r(0x40AC), 1); // ROC
    w(0x4240, r(0x4240) | 4);
    w(0x4268, 9018u << 16);
    rig_inject(frame, 9000);
    for (u32 i = 0, at = 0; i < 5; i++) {
        u32 n = i < 4 ? 2048 : 9000 - 4 * 2048;
        CHECK_EQ(rig_rx_status() & 3, i < 4 ? 1 : 3);
        CHECK_EQ(rig_rx_len(), n);
        CHECK(!memcmp(rig_rx_data(), frame + at, n));
        at += n;
        rig_rx_next();
    }
    rig_inject(frame, 9001);
    rig_inject(frame, 9015);
    CHECK_EQ(r(0x40AC), 1); // 9019 with FCS
    for (u32 i = 0; i < 5; i++)
        rig_rx_next();
    rig_send(frame, 9000);
    CHECK_EQ(rig_out(out), 9000);
    CHECK(!memcmp(out, frame, 9000));
    rig_tx_piece(frame, 5000, 9000, 0x03000000 & ~0x01000000u);
    rig_tx_piece(frame + 5000, 4000, 9000, EOP_IFCS_RS);
    rig_tx_go();
    CHECK_EQ(rig_out(out), 9000);
    CHECK(!memcmp(out, frame, 9000));
    CHECK_EQ(rig_broken(), 0);
}

static bool arrives(const char *to)
{
    u8 frame[64];
    u64 before = card.total.rx_frames;
    memcpy(frame, rig_frame(64), 64);
    memcpy(frame, to, 6);
    rig_inject(frame, 64);
    bool came = rig_rx_done();
    CHECK_EQ(came, card.total.rx_frames - before);
    if (came)
        rig_rx_next();
    return came;
}

static void filters(void)
{
    static const char own[] = "\x02\x49\x4E\x58\x54\x00";
    static const char other[] = "\x02\x49\x4E\x58\x54\x01";
    static const char group[] = "\x01\x00\x5E\x00\x12\x34";
    static const char all[] = "\xFF\xFF\xFF\xFF\xFF\xFF";
    rig_init(false);
    CHECK(arrives(own) && !arrives(other) && !arrives(group) && arrives(all));
    w(0x5080, 0);
    CHECK(!arrives(all));
    w(0x5080, 0x200); // UPE
    CHECK(arrives(other) && !arrives(group) && !arrives(all));
    w(0x5080, 0x100); // MPE
    CHECK(!arrives(other) && arrives(group));
    w(0x5080, 0);
    w(0xA208, 0x584E4902); // RAL(1): one more address
    w(0xA20C, 0x80000154);
    CHECK(arrives(other));
    w(0xA20C, 0x00000154); // not valid
    CHECK(!arrives(other));
    u32 hash = 0x3412 >> 4; // MO 0: bits 47:36
    w(0x5200 + hash / 32 * 4, 1u << hash % 32);
    CHECK(!arrives(group));
    w(0x5090, 4); // MFE
    CHECK(arrives(group));
    w(0x5090, 4 | 3); // MO 3: bits 43:32
    CHECK(!arrives(group));
    CHECK_EQ(rig_broken(), 0);
}

static void counters_clear_on_read(void)
{
    u8 frame[64];
    rig_init(false);
    memcpy(frame, rig_frame(60), 60);
    rig_inject(frame, 60);
    memset(frame, 0xFF, 6);
    rig_inject(frame, 60);
    rig_inject(rig_frame(1514), 1514);
    rig_send(rig_frame(61), 61);
    CHECK_EQ(r(0x4074), 3); // GPRC
    CHECK_EQ(r(0x4074), 0);
    CHECK_EQ(r(0x4078), 1);              // BPRC
    CHECK_EQ(r(0x405C), 2);              // PRC64
    CHECK_EQ(r(0x4070), 1);              // PRC1522
    CHECK_EQ(r(0x4088), 64 + 64 + 1518); // GORCL stays until GORCH
    CHECK_EQ(r(0x4088), 64 + 64 + 1518);
    CHECK_EQ(r(0x408C), 0);
    CHECK_EQ(r(0x4088), 0);
    CHECK_EQ(r(0x1030), 3);  // QPRC(0)
    CHECK_EQ(r(0x4080), 1);  // GPTC
    CHECK_EQ(r(0x40DC), 1);  // PTC127
    CHECK_EQ(r(0x4090), 65); // GOTCL
    CHECK_EQ(r(0x6030), 1);  // QPTC(0)
    CHECK_EQ(r(0x40D0), 3);  // TPR
    CHECK_EQ(r(0x40D4), 1);  // TPT
}

// Hardware owns [RDH, RDT): it stops at the tail and waits there.
static void ring_ownership(void)
{
    rig_init(false);
    for (u32 i = 0; i < RING + 3; i++)
        rig_inject(rig_frame(60 + i), 60 + i);
    CHECK_EQ(card.total.rx_frames, RING - 1);
    CHECK_EQ(r(0x1010), RING - 1);
    CHECK_EQ(rig_at(RX_RING + 16 * (RING - 1))[1], 0);
    for (u32 i = 0; i < RING + 3; i++) {
        CHECK(rig_rx_done());
        CHECK_EQ(rig_rx_len(), 60 + i);
        rig_rx_next();
    }
    CHECK(!rig_rx_done());
    CHECK_EQ(rig_broken(), 0);
}

static void overrun_is_counted(void)
{
    rig_init(false);
    set("lossy=1");
    for (u32 i = 0; i < RING + 4; i++)
        rig_inject(rig_frame(60), 60);
    CHECK_EQ(r(0x3FA0), 5); // MPC(0)
    w(0x1014, r(0x1014) | 0x10000000);
    rig_inject(rig_frame(60), 60);
    CHECK_EQ(r(0x3FA0), 0);
    CHECK_EQ(r(0x1430), 1); // QPRDC(0)
    rig_rx_next();
    rig_inject(rig_frame(60), 60);
    CHECK_EQ(card.total.rx_frames, RING);
}

static void short_frames(void)
{
    rig_init(false);
    rig_inject(rig_frame(14), 14);
    CHECK_EQ(rig_rx_len(), 60);
    rig_rx_next();
    set("rxpad=0");
    rig_inject(rig_frame(59), 59);
    CHECK(!rig_rx_done());
    CHECK_EQ(r(0x40A4), 1); // RUC
}

static void link_down_stops_both_ways(void)
{
    rig_init(false);
    link_set(&card, false);
    settle(0);
    CHECK_EQ(r(0x42A4), 0);
    CHECK(!(r(8) & 0x80));
    CHECK(r(0x808) & 0x100000); // EICS shows the causes and leaves them
    CHECK(r(0x800) & 0x100000); // LSC
    CHECK_EQ(r(0x808), 0);
    rig_inject(rig_frame(60), 60);
    rig_send(rig_frame(60), 60);
    CHECK(!rig_rx_done() && !rig_tx_done());
    CHECK_EQ(card.total.rx_no_link, 1);
    set("link_us=500");
    link_set(&card, true);
    settle(400);
    CHECK_EQ(r(0x42A4), 0);
    settle(200);
    CHECK(r(0x42A4) >> 30 & 1 && rig_tx_done());
    set("speed=1000");
    CHECK_EQ(r(0x42A4) >> 28 & 3, 2);
    rig_inject(rig_frame(60), 60);
    CHECK(rig_rx_done());
}

int main(void)
{
    RUN(init_breaks_no_rule);
    RUN(a_reset_takes_its_time);
    RUN(reset_values);
    RUN(eeprom_sums_to_baba);
    RUN(semaphores);
    RUN(phy_answers);
    RUN(echo_advanced);
    RUN(echo_legacy);
    RUN(addresses_after_write_back);
    RUN(fcs_is_kept_when_not_stripped);
    RUN(own_fcs_is_taken_off);
    RUN(jumbo);
    RUN(filters);
    RUN(counters_clear_on_read);
    RUN(ring_ownership);
    RUN(overrun_is_counted);
    RUN(short_frames);
    RUN(link_down_stops_both_ways);
    rig_close();
    return TEST_RESULT();
}
