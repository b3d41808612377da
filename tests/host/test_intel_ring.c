// test_intel_ring.c - the ring of Intel's network devices, and the drivers on
// it, against a card that can lie. SPDX-License-Identifier: MIT
#include "pci_fake.h"
#include "../../lib/string_copy.c"
#include "../../kernel/nic.c"
#undef LOG_TAG
#include "../../drivers/intel_ring.c"
#undef LOG_TAG
#include "../../drivers/intel_ring_init.c"
#undef LOG_TAG
#include "../../drivers/intel_ring_set.c"
#undef LOG_TAG
#include "../../drivers/e1000.c"
#undef LOG_TAG
#include "../../kernel/mmio.c"

#define CARD_BAR 0xFE000000ul
enum { CARD_WORDS = 0x20000 / 4, CARD_HZ = 1000000000 };
enum { DONE = INTEL_DD | INTEL_EOP };

static struct {
    u32 words[CARD_WORDS];
    u32 resets, misuses, tails[2];
    int gone, stuck;
    u32 rx_at, tx_at; // descriptors done
} card;
static u64 card_tsc, card_ram = 512ul << 20;

// ---- the kernel around it ----

u64 rdtsc(void)
{
    return card_tsc += 100;
}
u64 time_tsc_hz(void)
{
    return CARD_HZ;
}
void time_delay_ns(u64 ns)
{
    card_tsc += ns;
}
struct deadline deadline_ns(u64 ns)
{
    return (struct deadline){card_tsc + ns, 0};
}
int deadline_passed(struct deadline *deadline)
{
    card_tsc += 100000;
    return card_tsc > deadline->end;
}
u64 phys_of(const void *address)
{
    return (u64)address;
}
void *memory_boot_buffer(u64 bytes, u64 align)
{
    return memory_boot_alloc(bytes, align);
}
static u64 given_bytes;
void memory_give(u64 phys, u64 bytes)
{
    (void)phys;
    given_bytes += bytes;
}
int memory_ram_piece(u32 index, u64 *phys, u64 *bytes)
{
    *phys = PAGE;
    *bytes = card_ram;
    return index == 0 ? 0 : E_RANGE;
}
const char *sys_error(int error)
{
    return error == E_TIMEOUT ? "timeout" : "error";
}

// ---- the card ----

static u32 *word(u64 at)
{
    return &card.words[at / 4];
}

static void card_reset(void)
{
    card.resets++;
    __builtin_memset(card.words, 0, sizeof(card.words));
    card.rx_at = card.tx_at = 0;
    *word(E1000_RAL) = 0x12005452;
    *word(E1000_RAH) = 0x80005634;
    *word(INTEL_STATUS) = STATUS_LU | field_put(STATUS_SPEED, 2);
}

u64 other_read(u64 address, u32 bytes, int is_port)
{
    u64 at = address - CARD_BAR;
    if (is_port || bytes != 4 || at >= sizeof(card.words) || at % 4) {
        card.misuses++;
        return ~0ul;
    }
    return card.gone ? ~0u : *word(at);
}

void other_write(u64 address, u64 value, u32 bytes, int is_port)
{
    u64 at = address - CARD_BAR;
    if (is_port || bytes != 4 || at >= sizeof(card.words) || at % 4) {
        card.misuses++;
        return;
    }
    card.tails[0] += at == E1000_RX_RING + RING_TAIL;
    card.tails[1] += at == E1000_TX_RING + RING_TAIL;
    *word(at) = (u32)value;
    if (at == INTEL_CTRL && (value & CTRL_RST) && !card.stuck) {
        card_reset();
    }
}

static struct intel_desc *card_ring(u32 ring, u32 at)
{
    u64 base = *word(ring + RING_BAL) | (u64)*word(ring + RING_BAH) << 32;
    return (struct intel_desc *)base + at % (*word(ring + RING_LEN) / 16);
}

// One receive descriptor filled; 0 when the driver has left none.
static int card_fill(u32 len, u32 status, u8 byte)
{
    u32 n = *word(E1000_RX_RING + RING_LEN) / 16;
    if (card.rx_at % n == *word(E1000_RX_RING + RING_TAIL)) {
        return 0;
    }
    struct intel_desc *desc = card_ring(E1000_RX_RING, card.rx_at++);
    card.misuses += desc->word != 0;
    __builtin_memset((u8 *)desc->address, byte, FRAME_ROOM);
    desc->length = (u16)len;
    desc->status = status;
    *word(E1000_RX_RING + RING_HEAD) = card.rx_at % n;
    return 1;
}

// Take one frame off the transmit ring; its length, 0 when there is none.
static u32 card_send(void)
{
    u32 n = *word(E1000_TX_RING + RING_LEN) / 16;
    if (card.tx_at % n == *word(E1000_TX_RING + RING_TAIL)) {
        return 0;
    }
    struct intel_desc *desc = card_ring(E1000_TX_RING, card.tx_at++);
    card.misuses += (desc->status & INTEL_DD) != 0;
    desc->status |= INTEL_DD;
    return desc->length;
}

static struct intel *card_plug(void)
{
    static struct acpi acpi;
    fake_reset();
    __builtin_memset(&card, 0, sizeof(card));
    __builtin_memset(&nic_table, 0, sizeof(nic_table));
    struct fake_function *f = fake_add(0, 2, 0);
    f->words[0] = 0x100E8086;
    f->words[4] = CARD_BAR;
    f->bar_bytes[0] = 0x20000;
    card_reset();
    pci_init(&acpi);
    CHECK(e1000_match(pci_get(0)));
    CHECK_EQ(e1000_probe(pci_get(0)), 0);
    return (struct intel *)nic_get(0);
}

// ---- tests ----

static struct net_frame frames[256];
static u8 data[4096];

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
    intel->busy = 1; // a program died in a call
    nic_recover_all();
    CHECK_EQ(card.resets, resets + 2);
    CHECK_EQ(net_tx(0, data, 64), 1);
    card.stuck = 1;
    intel->busy = 1;
    nic_recover_all();
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
    RUN(passes_over);
    return TEST_RESULT();
}
