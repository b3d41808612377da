// test_intel_set.c - what a program sets on Intel's network devices, and their
// address from the EEPROM. SPDX-License-Identifier: MIT
#include "intel_card.h"

// Where the address filter is empty the address is the EEPROM's.
static void eeprom_address(void)
{
    static const u32 ids[] = {0x100E8086, 0x10D38086};
    static const u8 mac[] = {0x02, 0x22, 0x33, 0x44, 0x55, 0x66};
    for (u32 i = 0; i < array_size(ids); i++) {
        CHECK_EQ(card_try(ids[i], 1, 0), 0);
        CHECK_EQ(memcmp(nic_get(0)->mac, mac, sizeof(mac)), 0);
        CHECK_EQ(*word(E1000_RAL), 0x44332202);
        CHECK_EQ(*word(E1000_RAH), 0x80006655);
        CHECK_EQ(card.misuses, 0);
        CHECK_EQ(card_try(ids[i], 1, 1), E_TIMEOUT);
        CHECK(nic_get(0) == 0);
    }
}

static int is_home(const struct intel *intel)
{
    int same = intel->room == FRAME_ROOM;
    for (u32 i = 0; i < INTEL_SIDES; i++) {
        same &= intel->now[i].ring == intel->home[i].ring &&
                intel->now[i].buffers == intel->home[i].buffers &&
                intel->now[i].n == intel->home[i].n;
    }
    return same;
}

// Rings and frames of other sizes, which receive and send; then back.
static void sets(void)
{
    static const struct {
        u32 rx, tx, limit;
    } sizes[] = {{32, 8, 9014},
                 {4096, 4096, 1514},
                 {512, 64, 9014},
                 {64, 16, 64},
                 {256, 256, 1514}};
    struct intel *intel = card_plug();
    given_bytes = 0;
    for (u32 i = 0; i < array_size(sizes); i++) {
        CHECK_EQ(net_set(0, NET_RX_RING, sizes[i].rx), 0);
        CHECK_EQ(net_set(0, NET_TX_RING, sizes[i].tx), 0);
        CHECK_EQ(net_set(0, NET_FRAME_LIMIT, sizes[i].limit), 0);
        CHECK_EQ(*word(E1000_RX_RING + RING_LEN), sizes[i].rx * 16);
        CHECK_EQ((*word(E1000_RCTL) & RCTL_LPE) != 0, sizes[i].limit > 1514);
        for (u32 round = 0; round < 3 * sizes[i].rx; round++) {
            CHECK(card_fill(sizes[i].limit, DONE, (u8)round));
            CHECK(card_fill(sizes[i].limit + 1, DONE, 0xDD));
            CHECK_EQ(net_rx(0, frames), 1);
            CHECK_EQ(frames[0].len, sizes[i].limit);
            CHECK_EQ(*(u8 *)frames[0].data, (u8)round);
            CHECK_EQ(net_rx(0, frames), 0);
            CHECK_EQ(net_tx(0, data, sizes[i].limit), 1);
            CHECK_EQ(card_send(), sizes[i].limit);
        }
        CHECK_EQ(net_tx(0, data, sizes[i].limit + 1), E_SIZE);
    }
    CHECK(given_bytes > 0);
    CHECK(is_home(intel));
    CHECK_EQ(card.misuses, 0);
}

static void set_filters(void)
{
    card_plug();
    const u32 all = RCTL_UPE | RCTL_MPE;
    u32 resets = card.resets;
    CHECK_EQ(*word(E1000_RCTL) & all, all);
    CHECK_EQ(net_set(0, NET_PROMISCUOUS, 0), 0);
    CHECK_EQ(*word(E1000_RCTL) & all, RCTL_MPE);
    CHECK_EQ(net_set(0, NET_MULTICAST, 0), 0);
    CHECK_EQ(*word(E1000_RCTL) & all, 0);
    CHECK_EQ(card.resets, resets); // no frame is lost
    nic_restore_all();
    CHECK_EQ(*word(E1000_RCTL) & all, all);
}

// A reset that never ends: what was stays, and the program's end takes back
// memory from a card that is not even there.
static void set_fails(void)
{
    struct intel *intel = card_plug();
    card.stuck = 1;
    CHECK_EQ(net_set(0, NET_RX_RING, 1024), E_TIMEOUT);
    CHECK_EQ(intel->nic.setting[NET_RX_RING], 256);
    CHECK_EQ(intel->n_rx, 256);
    CHECK(!(card.function->words[1] & PCI_COMMAND_MASTER));
    card.stuck = 0;
    card_tsc += 2ul * CARD_HZ;
    CHECK_EQ(net_tx(0, data, 64), 1);
    CHECK_EQ(net_set(0, NET_RX_RING, 1024), 0);
    CHECK_EQ(net_set(0, NET_FRAME_LIMIT, 9014), 0);
    card.gone = 1;
    card_tsc += CARD_HZ;
    CHECK_EQ(net_tx(0, data, 64), E_GONE);
    CHECK_EQ(net_set(0, NET_RX_RING, 256), E_GONE);
    given_bytes = 0;
    nic_restore_all();
    CHECK(given_bytes >= 1024ul * FRAME_ROOM_JUMBO);
    CHECK(is_home(intel));
    CHECK_EQ(net_rx(0, frames), E_GONE);
}

int main(void)
{
    RUN(eeprom_address);
    RUN(sets);
    RUN(set_filters);
    RUN(set_fails);
    return TEST_RESULT();
}
