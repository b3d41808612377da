// virtio_net_init.c - a virtio network device, from PCI function to NIC.
// SPDX-License-Identifier: MIT
//
// VIRTIO 1.1 5.1. Tried on QEMU 7.2: transitional, modern only, legacy only.
#include "virtio_net.h"

#define LOG_TAG "virtio_net"
#include "../kernel/log.h"

enum { LEAST_RX = 128, SMALL_TX = 32, LONGEST_FRAME = 65550 };
#define SMALL_RAM (64ul << 20) // below, NICs take less of it

// The device's receive buffers: all but those that a program still looks at,
// which stand behind the others, not yet shown.
static void virtio_net_fill_rx(struct virtio_net *net)
{
    u64 phys = phys_of(net->rx_buffers) + FRAME_OFFSET - net->header;
    u32 shown = 0, held = net->n_rx - net->rx_held, mask = net->rx.size - 1;
    for (u32 i = 0; i < net->n_rx; i++) {
        net->rx.desc[i] = (struct virtq_desc){
            .addr = phys + i * net->room,
            .len = (u32)net->room - FRAME_OFFSET + net->header,
            .flags = DESC_WRITE,
        };
        int is_held = net->rx_held && net->rx_given_of[i] == net->rx_given;
        net->rx.avail->ring[(is_held ? held++ : shown++) & mask] = (u16)i;
    }
    net->rx_taken = 0;
    net->rx_skip = 0;
}

// 5.1.6.2: a header of zeros asks for nothing. A legacy device without
// ANY_LAYOUT wants it in a descriptor of its own: slot i then is the chain
// i, n_tx + i.
static void virtio_net_fill_tx(struct virtio_net *net)
{
    u64 phys = phys_of(net->tx_buffers) + FRAME_OFFSET;
    int apart = net->tx_data != 0;
    for (u32 i = 0; i < net->n_tx; i++) {
        u64 frame = phys + i * net->room;
        memset(net->tx_buffers + i * net->room, 0, FRAME_OFFSET);
        net->tx.desc[net->tx_data + i].addr = frame;
        net->tx.desc[i] = (struct virtq_desc){
            .addr = frame - net->header,
            .len = net->header,
            .flags = apart ? DESC_NEXT : 0,
            .next = (u16)(net->tx_data + i),
        };
    }
    for (u32 i = 0; i < net->tx.size; i++) {
        net->tx.avail->ring[i] = (u16)(i & (net->n_tx - 1));
    }
    memset(net->tx_early, 0, net->n_tx);
    net->tx_seen = 0;
    net->tx_ring = (struct ring){.size = net->n_tx};
}

// 5.1.6.3.1: without a ring for the longest frame there can be, one buffer must
// hold a frame.
u64 virtio_net_wanted(const struct virtio_net *net)
{
    u64 half = net->now[VIRTIO_NET_RX].n / 2 * (net->room - FRAME_OFFSET);
    return VIRTIO_F_VERSION_1 | VIRTIO_F_ANY_LAYOUT | VIRTIO_NET_F_MAC |
           VIRTIO_NET_F_STATUS | VIRTIO_NET_F_CTRL_VQ | VIRTIO_NET_F_CTRL_RX |
           (half >= LONGEST_FRAME ? VIRTIO_NET_F_MRG_RXBUF : 0);
}

void virtio_net_read_link(struct virtio_net *net)
{
    net->link = (net->virtio.features & VIRTIO_NET_F_STATUS) == 0 ||
                (virtio_config16(&net->virtio, NET_CONFIG_STATUS) &
                 NET_STATUS_LINK_UP) != 0;
}

int virtio_net_start(struct virtio_net *net)
{
    TRY(virtio_queue_start(&net->virtio, &net->rx));
    TRY(virtio_queue_start(&net->virtio, &net->tx));
    TRY(virtio_net_start_control(net));
    virtio_net_fill_rx(net);
    virtio_net_fill_tx(net);
    net->broken = 0;
    net->link_checked = rdtsc();
    virtio_net_read_link(net);
    virtio_run(&net->virtio);
    virtio_publish(&net->rx, (u16)(net->n_rx - net->rx_held));
    return virtio_net_filter(net);
}

// The used ring's first word: flags, and the index that moves.
void virtio_net_show_poll(const struct virtio_net *net)
{
    nic_set_poll(&net->nic, (const volatile u32 *)(const void *)net->rx.used,
                 0xFFFF0000, 0);
}

int virtio_net_rebuild(struct virtio_net *net)
{
    u64 features = net->virtio.features;
    log_warn("nic %u: reset", net->nic.index);
    int result = virtio_begin(&net->virtio, features);
    if (result == 0 && net->virtio.features == features &&
        virtio_net_start(net) == 0) {
        virtio_net_show_poll(net);
        return 0;
    }
    virtio_fail(&net->virtio);
    nic_set_gone(&net->nic);
    return E_GONE;
}

// ---- probe ----

static int virtio_net_is_small(void)
{
    u64 phys, piece, bytes = 0;
    for (u32 i = 0; memory_ram_piece(i, &phys, &piece) == 0; i++) {
        bytes += piece;
    }
    return bytes < SMALL_RAM;
}

// A queue and buffers for n frames, or for fewer where memory is short.
static int virtio_net_alloc_side(struct virtio *virtio,
                                 struct virtio_net_side *side, u16 index,
                                 u32 least)
{
    u32 n = side->n;
    TRY(virtio_queue_alloc(virtio, &side->queue, index, VIRTIO_NET_MOST_RX));
    // Two descriptors a slot must fit.
    u32 size = index == NET_QUEUE_TX ? side->queue.size / 2 : side->queue.size;
    n = size < n ? size : n;
    while ((side->buffers = memory_boot_buffer((u64)n * FRAME_ROOM, PAGE)) ==
           0) {
        if (n <= least) {
            return E_NOMEM;
        }
        n /= 2;
    }
    side->bytes = (u64)n * FRAME_ROOM;
    side->n = n;
    return 0;
}

static int virtio_net_alloc(struct virtio_net *net)
{
    int small = virtio_net_is_small();
    struct virtio_net_side *rx = &net->home[VIRTIO_NET_RX],
                           *tx = &net->home[VIRTIO_NET_TX];
    rx->n = small ? LEAST_RX : VIRTIO_NET_MOST_RX;
    tx->n = small ? SMALL_TX : VIRTIO_NET_MOST_TX;
    TRY(virtio_net_alloc_side(&net->virtio, rx, NET_QUEUE_RX, LEAST_RX));
    TRY(virtio_net_alloc_side(&net->virtio, tx, NET_QUEUE_TX, 1));
    return virtio_net_alloc_control(net);
}

void virtio_net_use(struct virtio_net *net, const struct virtio_net_side *sides,
                    u64 room)
{
    memcpy(net->now, sides, sizeof(net->now));
    net->rx = sides[VIRTIO_NET_RX].queue;
    net->rx.vector = net->home[VIRTIO_NET_RX].queue.vector; // of a hook
    net->rx_buffers = sides[VIRTIO_NET_RX].buffers;
    net->rx_frames = net->rx_buffers + FRAME_OFFSET;
    net->n_rx = sides[VIRTIO_NET_RX].n;
    net->tx = sides[VIRTIO_NET_TX].queue;
    net->tx_buffers = sides[VIRTIO_NET_TX].buffers;
    net->n_tx = sides[VIRTIO_NET_TX].n;
    net->room = room;
    net->rx_held = 0;
    net->rx_given++; // nothing was handed out
}

// 5.1.6.1 and 5.1.6: what the agreed features make of the frames' header.
void virtio_net_set_layout(struct virtio_net *net)
{
    u64 features = net->virtio.features;
    net->merged = (features & VIRTIO_NET_F_MRG_RXBUF) != 0;
    net->header = features & (VIRTIO_F_VERSION_1 | VIRTIO_NET_F_MRG_RXBUF)
                      ? NET_HEADER
                      : NET_HEADER_SHORT;
    int apart = (features & (VIRTIO_F_VERSION_1 | VIRTIO_F_ANY_LAYOUT)) == 0;
    net->tx_data = apart ? net->n_tx : 0;
    net->tx_extra = apart ? 0 : net->header;
}

// Without an address of its own it gets a local one.
static void virtio_net_read_mac(struct virtio_net *net)
{
    u64 made_up = rdtsc() << 8 | 0x02;
    for (u32 i = 0; i < sizeof(net->nic.mac); i++) {
        net->nic.mac[i] = net->virtio.features & VIRTIO_NET_F_MAC
                              ? virtio_config8(&net->virtio, NET_CONFIG_MAC + i)
                              : (u8)(made_up >> 8 * i);
    }
}

static u32 virtio_net_least(u32 a, u32 b)
{
    return a < b ? a : b;
}

static void virtio_net_set_limits(struct virtio_net *net)
{
    struct nic *nic = &net->nic;
    nic->setting[NET_PROMISCUOUS] = nic->setting[NET_MULTICAST] = 1;
    nic->setting[NET_RX_RING] = net->n_rx;
    nic->setting[NET_TX_RING] = net->n_tx;
    nic->setting[NET_FRAME_LIMIT] = nic->max_frame;
    nic->least[NET_PROMISCUOUS] = net->command == 0; // nobody to tell
    nic->least[NET_RX_RING] = VIRTIO_NET_LEAST_RX;
    nic->least[NET_TX_RING] = VIRTIO_NET_LEAST_TX;
    nic->most[NET_RX_RING] = virtio_net_least(net->rx.most, VIRTIO_NET_LARGEST);
    nic->most[NET_TX_RING] =
        virtio_net_least(net->tx.most / 2, VIRTIO_NET_LARGEST);
    nic->most[NET_FRAME_LIMIT] = NET_MAX_JUMBO;
    nic->max_burst = net->n_rx / 2;
}

static int virtio_net_bring_up(struct virtio_net *net)
{
    net->room = FRAME_ROOM;
    net->now[VIRTIO_NET_RX].n = VIRTIO_NET_MOST_RX; // until it is known
    TRY(virtio_begin(&net->virtio, virtio_net_wanted(net)));
    virtio_net_read_mac(net);
    TRY(virtio_net_alloc(net));
    virtio_net_use(net, net->home, FRAME_ROOM);
    virtio_net_set_layout(net);
    virtio_net_set_limits(net);
    TRY(virtio_net_start(net));
    TRY(nic_add(&net->nic));
    virtio_net_show_poll(net);
    return 0;
}

static int virtio_net_match(const struct pci_device *device)
{
    return device->vendor == VIRTIO_VENDOR &&
           (device->device_id == VIRTIO_NET_LEGACY_ID ||
            device->device_id == VIRTIO_NET_ID);
}

static int virtio_net_probe(struct pci_device *device)
{
    struct virtio_net *net = memory_boot_alloc(sizeof(*net), 64);
    if (net == 0) {
        return E_NOMEM;
    }
    net->nic = (struct nic){
        .ops = &virtio_net_ops,
        .pci = device,
        .driver = "virtio_net",
        .max_frame = NET_MAX_FRAME,
    };
    TRY(virtio_find(&net->virtio, device, NET_CONFIG_BYTES));
    int result = virtio_net_bring_up(net);
    if (result < 0) {
        virtio_fail(&net->virtio);
    }
    return result;
}

const struct driver virtio_net_driver = {
    .name = "virtio_net",
    .match = virtio_net_match,
    .probe = virtio_net_probe,
};
