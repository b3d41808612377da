// test_virtio_probe.c - virtio network devices that cannot be brought up, and
// odd ones that can.
// SPDX-License-Identifier: MIT
#include "virtio_rig.h"

// A frame goes through.
static void expect_works(void)
{
    struct net_frame got;
    const u8 frame[60] = "sixty bytes";
    CHECK(card_receive(frame, sizeof(frame)));
    CHECK_EQ(net_rx(0, &got), 1);
    CHECK_EQ(__builtin_memcmp(got.data, frame, sizeof(frame)), 0);
    CHECK_EQ(net_tx(0, frame, sizeof(frame)), 1);
}

// It fails, and leaves the device quiet.
static void expect_refused(int error)
{
    CHECK_EQ(card_probe(), error);
    CHECK_EQ(nic_count(), 0);
    CHECK_EQ(card.function->words[1] & PCI_COMMAND_MASTER, 0);
    CHECK_EQ(net_rx(0, 0), E_NODEV);
}

static void refused_features(void)
{
    card_plug(1, 0);
    card.refuses = 1;
    expect_refused(E_UNSUPPORTED);
    card_plug(1, 0);
    card.offered &= ~VIRTIO_F_VERSION_1;
    expect_refused(E_UNSUPPORTED);
    card_plug(1, 0);
    card.stuck = 1;
    card.status = 7;
    expect_refused(E_TIMEOUT);
    card_plug(1, 0);
    card.status = STATUS_GONE;
    expect_refused(E_GONE);
}

static void refused_queues(void)
{
    const u16 sizes[] = {0, 1, 2, 3, 255, 65535};
    for (u32 i = 0; i < array_size(sizes); i++) {
        card_plug(1, 1);
        card.sizes[i & 1] = sizes[i];
        expect_refused(E_UNSUPPORTED);
        card_plug(0, 1);
        card.sizes[i & 1] = sizes[i];
        expect_refused(E_UNSUPPORTED);
    }
}

static void refused_windows(void)
{
    card_plug(1, 0);
    card.function->words[0x6C / 4 + 4] = 0x100000; // far doorbells
    expect_refused(E_IO);
    const u32 bad[][2] = {
        {0x40 + 8, 0xFFFFF000}, // offset + length wraps 32 bits
        {0x40 + 8, 0x4000},     // past the BAR
        {0x40 + 12, 55},        // too short for the registers
        {0x58 + 12, 7},         // and for the configuration
        {0x6C + 12, 1},         // and for a doorbell
        {0x40 + 4, 6},          // no such BAR
        {0x40 + 4, 2},          // an empty one
        {0x40, 0},              // no capability
    };
    for (u32 i = 0; i < array_size(bad); i++) {
        card_plug(1, 0);
        card.function->words[bad[i][0] / 4] = bad[i][1];
        expect_refused(E_NODEV);
    }
    card_plug(0, 1);
    card.function->bar_bytes[0] = 16;
    expect_refused(E_NODEV);
    card_plug(0, 1);
    card.function->words[4] = 1; // not assigned
    expect_refused(E_NODEV);
}

// 4.1.4: capabilities of reserved BARs are to be passed over.
static void reserved_windows(void)
{
    card_plug(1, 0);
    card.function->words[13] = 0x80;
    card_capability(0x80, 0x40, CAP_TYPE_COMMON, 0, 0x1000);
    card.function->words[0x80 / 4 + 1] = 6;
    CHECK_EQ(card_probe(), 0);
    expect_works();
}

// Bad modern registers: the same device still has its ports.
static void falls_back_to_ports(void)
{
    card_plug(1, 1);
    card.offered &= 0xFFFFFFFF;
    card.function->words[(0x40 + 8) / 4] = 0x4000;
    CHECK_EQ(card_probe(), 0);
    expect_works();
}

static void short_of_memory(void)
{
    // For nothing, the driver's own, one queue, both, half of the buffers.
    const u64 left[] = {0, 2000, 13000, 40000, 284000};
    for (u32 i = 0; i < array_size(left); i++) {
        card_plug(1, 0);
        card_memory = left[i];
        CHECK_EQ(card_probe(), E_NOMEM);
        CHECK_EQ(nic_count(), 0);
    }
    card_plug(1, 0);
    card_memory = 340000; // 128 buffers and few to send
    CHECK_EQ(card_probe(), 0);
    CHECK_EQ(nic_get(0)->max_burst, 64);
    expect_works();
    card_plug(1, 0);
    card_ram = 6ul << 20;
    card_memory = 400000;
    CHECK_EQ(card_probe(), 0);
    expect_works();
}

static void one_nic_too_many(void)
{
    card_plug(1, 0);
    nic_table.n = NET_MAX_NICS;
    CHECK_EQ(card_probe(), E_UNSUPPORTED);
    CHECK_EQ(card.function->words[1] & PCI_COMMAND_MASTER, 0);
    nic_table.n = 0;
}

static void no_address_of_its_own(void)
{
    card_plug(1, 0);
    card.offered &= ~VIRTIO_NET_F_MAC;
    CHECK_EQ(card_probe(), 0);
    CHECK_EQ(nic_get(0)->mac[0] & 3, 2); // local, not a group
}

int main(void)
{
    RUN(refused_features);
    RUN(refused_queues);
    RUN(refused_windows);
    RUN(reserved_windows);
    RUN(falls_back_to_ports);
    RUN(short_of_memory);
    RUN(one_nic_too_many);
    RUN(no_address_of_its_own);
    card_unplug();
    return TEST_RESULT();
}
