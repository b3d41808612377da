// x540_rig.h - the X540 model in a test's hands: RAM, a wire, a small driver.
// SPDX-License-Identifier: MIT
//
// Offsets and bits are the data sheet's numbers written out, not the names of
// the model's own header: a wrong number there is to be seen here.
#pragma once
#include "../models/x540.h"
#include "../models/config_space.c"
#include "../models/control.c"
#include "../models/eeprom.c"
#include "../models/faults.c"
#include "../models/guest_memory.c"
#include "../models/interrupts.c"
#include "../models/mac.c"
#include "../models/model.c"
#include "../models/net.c"
#include "../models/packet.c"
#include "../models/proxy.c"
#include "../models/queues.c"
#include "../models/registers.c"
#include "../models/rx.c"
#include "../models/rx_filter.c"
#include "../models/statistics.c"
#include "../models/tx.c"
#include "test.h"

enum {
    RIG_RAM = 8 << 20,
    RIG_BASE = 0x100000, // guest physical
    RIG_BAR = 0xFEB00000,
    RIG_MSIX = 0xFEBF0000,
    RX_RING = RIG_BASE,
    TX_RING = RIG_BASE + 0x10000,
    RX_BUFFERS = RIG_BASE + 0x100000, // 2 KiB each
    TX_BUFFERS = RIG_BASE + 0x200000, // 16 KiB each
    RING = 32,
};

static struct x540 card;
static u8 *rig_ram;
static int rig_wire; // the other end of the cable
static bool rig_legacy;
static u32 rig_rx, rig_tx; // the driver's next descriptors

static inline void w(u32 offset, u32 value)
{
    bar_write(&card, RIG_BAR + offset, value, 4);
}

static inline u32 r(u32 offset)
{
    return (u32)bar_read(&card, RIG_BAR + offset, 4);
}

static inline void set(const char *assignment)
{
    if (!fault_set(&card, assignment))
        abort();
}

static inline const char *say(const char *line)
{
    static char copy[256], reply[REPLY_CAP];
    snprintf(copy, sizeof(copy), "%s", line);
    reply[control_command(&card, copy, reply, sizeof(reply) - 1)] = 0;
    return reply;
}

// Let the card do all it can do now, then so many microseconds later.
static inline void settle(u64 us)
{
    while (model_work(&card))
        continue;
    card.now += us * 1000;
    while (model_work(&card))
        continue;
}

static inline u64 *rig_at(u64 gpa)
{
    return (void *)(rig_ram + (gpa - RIG_BASE));
}

static inline void rig_close(void)
{
    if (!rig_ram)
        return;
    close(card.net.fd);
    close(rig_wire);
    model_free(&card);
    free(rig_ram);
    rig_ram = NULL;
}

static inline void rig_config(void)
{
    config_write(&card, 0x10, RIG_BAR, 4);
    config_write(&card, 0x20, RIG_MSIX, 4);
    config_write(&card, 4, 6, 2);
}

// A card with power, RAM and a cable; nobody has touched it.
static inline void rig_power_on(void)
{
    int ends[2];
    rig_close();
    rig_ram = aligned_alloc(4096, RIG_RAM);
    memset(rig_ram, 0, RIG_RAM);
    if (!model_init(&card, 0x1528) ||
        socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, ends))
        abort();
    card.net.fd = ends[0];
    rig_wire = ends[1];
    card.ram[0] = (struct region){RIG_BASE, RIG_RAM, rig_ram};
    card.ram_n = 1;
    card.fault.strict = 0; // count, do not print
    model_power_on(&card);
    rig_config();
    settle(1000);
}

// 4.6.3.1, 4.6.3.2
static inline void rig_reset(void)
{
    w(0x888, 0xFFFFFFFF);
    r(0x800);
    w(0x000, 0x04000008);
    settle(1000);
    w(0x888, 0xFFFFFFFF);
}

static inline void rig_give(u32 i)
{
    u64 *d = rig_at(RX_RING + 16 * i);
    d[0] = RX_BUFFERS + 2048 * i;
    d[1] = 0;
}

// 4.6.7
static inline void rig_init_rx(void)
{
    w(0x3000, 0);
    w(0x4240, r(0x4240) | 2); // HLREG0.RXCRCSTRP
    w(0x2F00, r(0x2F00) | 2); // RDRXCTL.CRCSTRIP
    w(0x5080, 0x400);         // FCTRL.BAM
    w(0x1014, (rig_legacy ? 0 : 0x02000000) | 2);
    w(0x1000, RX_RING);
    w(0x1004, 0);
    w(0x1008, RING * 16);
    w(0x1010, 0);
    w(0x1018, 0);
    w(0x0018, 0x10000);            // CTRL_EXT.NS_DIS
    w(0x100C, r(0x100C) & ~4096u); // DCA_RXCTRL
    w(0x3000, 1);
    w(0x1028, 0x02000000);
    settle(0);
    for (u32 i = 0; i < RING; i++)
        rig_give(i);
    w(0x1018, RING - 1);
    rig_rx = 0;
}

// 4.6.8
static inline void rig_init_tx(void)
{
    w(0x4900, 0x40); // RTTDCS.ARBDIS
    w(0x8100, 0xFFF);
    w(0xCC00, 0x28000);
    w(0x8120, 0);
    w(0x4900, 0);
    w(0x6000, TX_RING);
    w(0x6004, 0);
    w(0x6008, RING * 16);
    w(0x6010, 0);
    w(0x6018, 0);
    w(0x4A80, r(0x4A80) | 1); // DMATXCTL.TE
    w(0x6028, 0x02000000);
    settle(0);
    rig_tx = 0;
}

static inline void rig_init(bool legacy)
{
    rig_legacy = legacy;
    rig_power_on();
    rig_reset();
    rig_init_rx();
    rig_init_tx();
    w(0x18, r(0x18) | 0x10000000); // CTRL_EXT.DRV_LOAD
    settle(0);
}

// ---- frames ----
static inline const u8 *rig_frame(u32 len)
{
    static u8 frame[65536];
    static u8 seed;
    u32 mac[2] = {*reg(&card, 0xA200), *reg(&card, 0xA204)};
    seed++;
    for (u32 i = 12; i < len; i++)
        frame[i] = (u8)(i * 7 + seed);
    memcpy(frame, mac, 6);
    memcpy(frame + 6, "\x02\0\0\0\0\x09\x88\xB5", 8);
    return frame;
}

static inline void rig_inject(const u8 *frame, u32 len)
{
    if (send(rig_wire, frame, len, 0) != (ssize_t)len)
        abort();
    settle(0);
}

static inline bool rig_rx_done(void)
{
    u64 q1 = rig_at(RX_RING + 16 * rig_rx)[1];
    return rig_legacy ? q1 >> 32 & 1 : q1 & 1;
}

// The next descriptor's status or length, as either kind has them.
static inline u32 rig_rx_status(void)
{
    u64 q1 = rig_at(RX_RING + 16 * rig_rx)[1];
    return (u32)(rig_legacy ? q1 >> 32 & 0xFFFF : q1);
}

static inline u32 rig_rx_len(void)
{
    u64 q1 = rig_at(RX_RING + 16 * rig_rx)[1];
    return (u32)(rig_legacy ? q1 : q1 >> 32) & 0xFFFF;
}

static inline const u8 *rig_rx_data(void)
{
    return (u8 *)rig_at(RX_BUFFERS + 2048 * rig_rx);
}

// Hand the descriptor back; the tail stays one behind.
static inline void rig_rx_next(void)
{
    rig_give(rig_rx);
    w(0x1018, rig_rx);
    rig_rx = (rig_rx + 1) % RING;
    settle(0);
}

// One descriptor, with these bits in the command's place (q1 31:20).
static inline void rig_tx_piece(const u8 *data, u32 len, u32 total, u64 bits)
{
    u64 *d = rig_at(TX_RING + 16 * rig_tx);
    memcpy(rig_at(TX_BUFFERS + 16384 * rig_tx), data, len);
    d[0] = TX_BUFFERS + 16384 * rig_tx;
    d[1] = len | bits;
    if (!rig_legacy)
        d[1] |= 0x20300000ull | (u64)total << 46;
    rig_tx = (rig_tx + 1) % RING;
}

static inline void rig_tx_go(void)
{
    w(0x6018, rig_tx);
    settle(0);
}

enum { EOP_IFCS_RS = 0x0B000000 };

static inline void rig_send(const u8 *frame, u32 len)
{
    rig_tx_piece(frame, len, len, EOP_IFCS_RS);
    rig_tx_go();
}

// Was the newest descriptor reported done?
static inline bool rig_tx_done(void)
{
    return rig_at(TX_RING + 16 * ((rig_tx + RING - 1) % RING))[1] >> 32 & 1;
}

// What came out of the cable: its length, 0 when nothing did.
static inline u32 rig_out(u8 *frame)
{
    ssize_t n = recv(rig_wire, frame, 65536, MSG_DONTWAIT);
    return n > 0 ? (u32)n : 0;
}

static inline u64 rig_broken(void)
{
    return card.total.rule_violations;
}
