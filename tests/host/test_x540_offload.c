// test_x540_offload.c - the X540 model's tags, sums, RSS, vectors and commands.
// SPDX-License-Identifier: MIT
#include "x540_rig.h"

static u8 out[65536];

enum { IP = 14, L4 = 34, UDP_LEN = 8 + 20 };

// An IPv4/UDP frame whose checksums are right.
static u32 make_udp(u8 *frame, u32 source, u16 port)
{
    static const u8 head[] = {0x45, 0, 0, 20 + UDP_LEN, 0, 1, 0, 0,  64,
                              17,   0, 0, 10,           0, 0, 0, 10, 0,
                              0,    2};
    memcpy(frame, rig_frame(100), 62);
    memcpy(frame + 12, "\x08\x00", 2);
    memcpy(frame + IP, head, 20);
    frame[IP + 15] = (u8)source;
    u32 sum = packet_fold(packet_sum(frame + IP, 20, 0));
    frame[IP + 10] = (u8)(sum >> 8);
    frame[IP + 11] = (u8)sum;
    const u8 udp[8] = {(u8)(port >> 8), (u8)port, 0, 99, 0, UDP_LEN, 0, 0};
    memcpy(frame + L4, udp, 8);
    struct layers at = packet_parse(frame, 62);
    sum = packet_fold(
        packet_sum(frame + L4, UDP_LEN, packet_pseudo_sum(frame, &at)));
    frame[L4 + 6] = (u8)(sum >> 8);
    frame[L4 + 7] = (u8)sum;
    return 62;
}

enum { IPCS = 0x40, L4CS = 0x20, UDPCS = 0x10 };
static const u32 L4E = 0x40000000, IPE = 0x80000000;

static void sums_are_checked(void)
{
    u8 frame[62];
    rig_init(false);
    rig_inject(frame, make_udp(frame, 1, 7));
    CHECK_EQ(rig_rx_status(), IPCS | L4CS | UDPCS | 3);
    rig_rx_next();
    frame[L4 + 9] ^= 1;
    rig_inject(frame, 62);
    CHECK_EQ(rig_rx_status() & (L4E | IPE), L4E);
    rig_rx_next();
    make_udp(frame, 1, 7);
    frame[IP + 8]--;
    rig_inject(frame, 62);
    CHECK_EQ(rig_rx_status() & (L4E | IPE), IPE);
    rig_rx_next();
    frame[IP + 3] = 200; // longer than the frame: no IP packet
    rig_inject(frame, 62);
    CHECK_EQ(rig_rx_status(), 3);
    rig_init(true);
    rig_inject(frame, make_udp(frame, 1, 7));
    CHECK_EQ(rig_rx_status(), IPCS | L4CS | UDPCS | 3);
    rig_rx_next();
    frame[L4 + 9] ^= 1;
    rig_inject(frame, 62);
    CHECK_EQ(rig_rx_status() >> 8, 0x40); // TCPE
}

// The pseudo header's sum is software's; the rest is the card's.
static void sums_are_inserted(void)
{
    u8 good[62], frame[62];
    rig_init(false);
    make_udp(good, 1, 7);
    memcpy(frame, good, 62);
    memset(frame + IP + 10, 0, 2);
    struct layers at = packet_parse(good, 62);
    u32 sum = packet_pseudo_sum(good, &at);
    frame[L4 + 6] = (u8)(sum >> 8);
    frame[L4 + 7] = (u8)sum;
    u64 *d = rig_at(TX_RING);
    d[0] = 14 << 9 | 20;
    d[1] = 0x20200000; // context, UDP
    rig_tx = 1;
    rig_tx_piece(frame, 62, 62, EOP_IFCS_RS | 3ull << 40);
    rig_tx_go();
    CHECK_EQ(rig_out(out), 62);
    CHECK(!memcmp(out, good, 62));
    CHECK_EQ(rig_broken(), 0);
}

static void legacy_sum_is_inserted(void)
{
    u8 good[62], frame[62];
    rig_init(true);
    make_udp(good, 1, 7);
    memcpy(frame, good, 62);
    // CSS to the end of the packet: here the UDP sum with its pseudo header.
    struct layers at = packet_parse(good, 62);
    u32 sum = packet_pseudo_sum(good, &at);
    frame[L4 + 6] = (u8)(sum >> 8);
    frame[L4 + 7] = (u8)sum;
    rig_tx_piece(frame, 62, 62,
                 EOP_IFCS_RS | 0x04000000 | (u64)L4 << 40 | (L4 + 6) << 16);
    rig_tx_go();
    rig_out(out);
    CHECK(!memcmp(out, good, 62));
}

static void tagged_may_be_longer(void)
{
    static u8 frame[1519];
    rig_init(false);
    memcpy(frame, rig_frame(1519), 1519);
    rig_inject(frame, 1515);
    CHECK(!rig_rx_done());
    memcpy(frame + 12, "\x81\x00\x20\x05", 4);
    rig_inject(frame, 1519);
    CHECK(!rig_rx_done());
    rig_inject(frame, 1518);
    CHECK_EQ(rig_rx_len(), 1518);
    CHECK_EQ(r(0x40AC), 2);
}

static void tags(void)
{
    u8 frame[100];
    rig_init(false);
    memcpy(frame, rig_frame(100), 100);
    memcpy(frame + 12, "\x81\x00\x20\x05", 4);
    rig_inject(frame, 100);
    CHECK_EQ(rig_rx_len(), 100);
    rig_rx_next();
    w(0x1028, r(0x1028) | 0x40000000); // VME
    rig_inject(frame, 100);
    CHECK_EQ(rig_rx_len(), 96);
    CHECK(rig_rx_status() & 8);
    CHECK_EQ(rig_at(RX_RING + 16)[1] >> 48, 0x2005);
    CHECK(!memcmp(rig_rx_data() + 12, frame + 16, 84));
    rig_rx_next();
    w(0x5088, 0x40008100); // VFE
    rig_inject(frame, 100);
    CHECK(!rig_rx_done());
    w(0xA000, 1 << 5);
    rig_inject(frame, 100);
    CHECK(rig_rx_done());
    rig_rx_next();
    tagged_may_be_longer();
    rig_init(true);
    rig_tx_piece(frame, 60, 60, EOP_IFCS_RS | 0x40000000 | 0x0123ull << 48);
    rig_tx_go();
    CHECK_EQ(rig_out(out), 64);
    CHECK(!memcmp(out + 12, "\x81\x00\x01\x23\x81\x00", 6));
}

static void head_write_back(void)
{
    rig_init(false);
    w(0x6038, (RIG_BASE + 0x8000) | 1);
    rig_send(rig_frame(60), 60);
    CHECK(!rig_tx_done());
    CHECK_EQ(*rig_at(RIG_BASE + 0x8000), 1);
}

// The verification suite of the Toeplitz hash, as published with RSS.
static void rss_spreads(void)
{
    static const u8 key[40] = {0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2,
                               0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0,
                               0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4,
                               0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c,
                               0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};
    static const u8 input[12] = {66,  9,  149, 187, 161, 142,
                                 100, 80, 10,  234, 6,   230};
    rig_init(false);
    for (u32 i = 0; i < 10; i++) {
        u32 word;
        memcpy(&word, key + 4 * i, 4);
        w(0x5C80 + 4 * i, word);
    }
    CHECK_EQ(packet_toeplitz(&card, input, 8), 0x323E8FC2);
    CHECK_EQ(packet_toeplitz(&card, input, 12), 0x51CCC178);
    w(0x5000, 0x2000);                // PCSD
    w(0x5818, 1 | 1 << 17 | 1 << 22); // RSS, IPv4 and its UDP
    for (u32 i = 0; i < 32; i++)
        w(0x5C00 + 4 * i, 0x01000100);
    w(0x1040, RX_RING + 0x1000); // a second ring
    w(0x1048, RING * 16);
    w(0x104C, 0);
    w(0x1054, 0x02000002);
    w(0x1068, 0x02000000);
    settle(0);
    for (u32 i = 0; i < RING; i++)
        rig_at(RX_RING + 0x1000 + 16 * i)[0] = RX_BUFFERS + 0x20000 + 2048 * i;
    w(0x1058, RING - 1);
    u8 frame[62];
    for (u32 i = 0; i < 24; i++)
        rig_inject(frame, make_udp(frame, i, (u16)(1000 + i)));
    CHECK_EQ(r(0x1010) + r(0x1050), 24);
    CHECK(r(0x1010) > 4 && r(0x1050) > 4);
    CHECK_EQ(rig_at(RX_RING)[0] & 15, 7); // RSS type: IPv4 UDP
    CHECK(rig_at(RX_RING)[0] >> 32);
    CHECK_EQ(rig_broken(), 0);
}

// ---- interrupts: what would be said to QEMU ----
static int rig_qtest;

static void interrupts_on(void)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends))
        abort();
    card.irq.qtest = ends[0];
    rig_qtest = ends[1];
}

static void interrupts_off(void)
{
    close(card.irq.qtest);
    close(rig_qtest);
    card.irq.qtest = -1;
}

static const char *heard(void)
{
    static char text[4096];
    ssize_t n = recv(rig_qtest, text, sizeof(text) - 1, MSG_DONTWAIT);
    text[n > 0 ? n : 0] = 0;
    return text;
}

static void vectors(void)
{
    rig_init(false);
    interrupts_on();
    bar_write(&card, RIG_MSIX + 16 * 3, 0xFEE01000, 4);
    bar_write(&card, RIG_MSIX + 16 * 3 + 8, 0x41, 4);
    bar_write(&card, RIG_MSIX + 16 * 3 + 12, 0, 4);
    config_write(&card, 0x72, 0x8000, 2);
    w(0x900, 0x83);           // RX 0: vector 3
    w(0xA00, 0x8300);         // other causes too
    w(0x898, 0x10 | 1 << 30); // GPIE: MSI-X, EIAME
    w(0x810, 8);              // EIAC
    w(0xAD0, 8);              // EIAM_EX(0)
    rig_inject(rig_frame(60), 60);
    CHECK(!strcmp(heard(), ""));
    w(0xAA0, 8); // EIMS_EX(0)
    settle(0);
    CHECK(!strcmp(heard(), "writel 0xfee01000 0x41\n"));
    CHECK_EQ(r(0x880) & 8, 0); // masked by itself
    w(0xAA0, 8);
    CHECK_EQ(r(0x880) & 8, 8); // one storage, two names
    w(0x820 + 12, 100 << 3);   // EITR(3): 200 us
    rig_inject(rig_frame(60), 60);
    CHECK(strcmp(heard(), ""));
    w(0xAA0, 8);
    rig_inject(rig_frame(60), 60);
    CHECK(!strcmp(heard(), ""));
    settle(199);
    CHECK(!strcmp(heard(), ""));
    settle(2);
    CHECK(strcmp(heard(), ""));
    r(0x800);
    w(0x880, 0x100000); // LSC
    link_set(&card, false);
    settle(1000);
    CHECK(strcmp(heard(), ""));
    CHECK_EQ(r(0x800), 0x100000);
    interrupts_off();
}

static void pin(void)
{
    rig_init(false);
    interrupts_on();
    CHECK(!strcmp(say("intx /machine/q35/ioapic 21"), "ok"));
    w(0x900, 0x80);
    w(0x880, 1);
    rig_inject(rig_frame(60), 60);
    CHECK(strstr(heard(), "ioapic unnamed-gpio-in 21 1\n"));
    CHECK_EQ(r(0x800) & 1, 1);
    settle(0);
    CHECK(strstr(heard(), " 21 0\n"));
    interrupts_off();
}

// ---- commands ----
static void commands_answer(void)
{
    rig_init(false);
    CHECK(!strcmp(say("gen 5 64"), "ok"));
    settle(0);
    CHECK_EQ(card.total.rx_frames, 5);
    CHECK_EQ(rig_rx_len(), 64);
    u32 number;
    memcpy(&number, (u8 *)rig_at(RX_BUFFERS + 2048 * 4) + 14, 4);
    CHECK_EQ(number, 4);
    say("gen 1 64 b");
    settle(0);
    CHECK_EQ(rig_at(RX_BUFFERS + 2048 * 5)[0] & 0xFFFFFFFFFFFF, 0xFFFFFFFFFFFF);
    CHECK(!strcmp(say("peek 0x4074"), "00000006"));
    CHECK(!strcmp(say("peek 0x4074"), "00000006"));
    CHECK(!strcmp(say("poke 0x5200 0x77"), "ok") && r(0x5200) == 0x77);
    CHECK(!strcmp(say("set speed=100 link_us=0"), "ok"));
    CHECK(!strcmp(say("ram 0x200000 6"), "02494e585400"));
    CHECK(strstr(say("stats"), "\"rx_frames\":6"));
    CHECK(!strcmp(say("loop"), "ok"));
    w(0x4240, r(0x4240));
    rig_send(rig_frame(80), 80);
    CHECK_EQ(card.total.rx_frames, 7);
    say("loop off");
    say("sink");
    rig_send(rig_frame(80), 80);
    CHECK(rig_tx_done() && !rig_out(out));
}

static void bad_commands_are_refused(void)
{
    static const char *bad[] = {
        "",
        "dance",
        "set nothing=1",
        "set speed",
        "set speed=x",
        "gen",
        "gen 1 5",
        "gen 1 64 z",
        "peek",
        "peek 3",
        "peek 0x80000",
        "poke 0",
        "poke 0x5200 x",
        "ram 0 4",
        "ram 0x100000 9999",
        "intx",
        "gen x 64",
        "set speed=",
    };
    rig_init(false);
    for (u32 i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        CHECK(!strncmp(say(bad[i]), "error: ", 7));
    }
    CHECK_EQ(card.fault.speed, 10000);
}

int main(void)
{
    RUN(sums_are_checked);
    RUN(sums_are_inserted);
    RUN(legacy_sum_is_inserted);
    RUN(tags);
    RUN(head_write_back);
    RUN(rss_spreads);
    RUN(vectors);
    RUN(pin);
    RUN(commands_answer);
    RUN(bad_commands_are_refused);
    rig_close();
    return TEST_RESULT();
}
