// virtio_net_set.c - other rings, longer frames and filters for a virtio
// network device. SPDX-License-Identifier: MIT
//
// VIRTIO 1.1 5.1.6.5. The memory from the start stays: rings that fit in it lie
// in it, others take their own, which goes back with the setting.
#include "virtio_net.h"

enum { CONTROL_SIZE = 64, CONTROL_MS = 100, DRAIN_MS = 10 };

// ---- the control queue ----

enum virtio_net_filter { FILTER_OWN, FILTER_MULTICAST, FILTER_NONE };

int virtio_net_alloc_control(struct virtio_net *net)
{
    if ((net->virtio.features & VIRTIO_NET_F_CTRL_VQ) == 0 ||
        (net->virtio.features & VIRTIO_NET_F_CTRL_RX) == 0) {
        return 0;
    }
    net->command = memory_boot_alloc(sizeof(*net->command), 8);
    return net->command ? virtio_queue_alloc(&net->virtio, &net->control,
                                             NET_QUEUE_CONTROL, CONTROL_SIZE)
                        : E_NOMEM;
}

// Out of a reset a device lets every frame in.
int virtio_net_start_control(struct virtio_net *net)
{
    net->filter = FILTER_NONE;
    return net->command ? virtio_queue_start(&net->virtio, &net->control) : 0;
}

// One command at a time: its two bytes, its value, and room for the answer.
static void virtio_net_fill_command(const struct virtio_net *net, u8 command,
                                    u8 value)
{
    struct virtq_desc *desc = net->control.desc;
    u64 phys = phys_of(net->command);
    *net->command = (struct virtio_net_command){
        .class = NET_CTRL_RX, .command = command, .value = value, .ack = 0xFF};
    desc[0] = (struct virtq_desc){phys, 2, DESC_NEXT, 1};
    desc[1] = (struct virtq_desc){phys + 2, 1, DESC_NEXT, 2};
    desc[2] = (struct virtq_desc){phys + 3, 1, DESC_WRITE, 0};
}

static int virtio_net_command(struct virtio_net *net, u8 command, u8 value)
{
    const struct virtq *queue = &net->control;
    u16 idx = (u16)(queue->avail->idx + 1);
    virtio_net_fill_command(net, command, value);
    queue->avail->ring[(idx - 1) & (queue->size - 1)] = 0;
    virtio_publish(queue, idx);
    struct deadline limit = deadline_ms(CONTROL_MS);
    while (load_acquire(&queue->used->idx) != idx) {
        if (deadline_passed(&limit)) {
            net->broken = 1;
            nic_set_never_idle(&net->nic);
            return E_TIMEOUT;
        }
        pause();
    }
    return net->command->ack == NET_CTRL_OK ? 0 : E_UNSUPPORTED;
}

static int virtio_net_tell_filter(struct virtio_net *net, u32 filter)
{
    if (filter != FILTER_NONE) {
        TRY(virtio_net_command(net, NET_CTRL_RX_ALLMULTI,
                               filter == FILTER_MULTICAST));
    }
    TRY(virtio_net_command(net, NET_CTRL_RX_PROMISC, filter == FILTER_NONE));
    net->filter = filter;
    return 0;
}

int virtio_net_filter(struct virtio_net *net)
{
    const u32 *setting = net->nic.setting;
    u32 filter = setting[NET_MULTICAST] ? FILTER_MULTICAST : FILTER_OWN;
    filter = setting[NET_PROMISCUOUS] ? FILTER_NONE : filter;
    if (filter == net->filter) {
        return 0;
    }
    return net->command ? virtio_net_tell_filter(net, filter) : E_UNSUPPORTED;
}

// ---- the rings ----

static void virtio_net_give_side(const struct virtio_net_side *side,
                                 const struct virtio_net_side *home)
{
    if (side->queue.desc && side->queue.desc != home->queue.desc) {
        memory_give(phys_of(side->queue.desc), side->queue.bytes);
    }
    if (side->buffers && side->buffers != home->buffers) {
        memory_give(phys_of(side->buffers), side->bytes);
    }
}

static void virtio_net_give(const struct virtio_net *net,
                            const struct virtio_net_side *sides)
{
    for (u32 i = 0; i < VIRTIO_NET_SIDES; i++) {
        virtio_net_give_side(&sides[i], &net->home[i]);
    }
}

// n buffers and a queue of `size` at least, in the memory from the start where
// they fit.
static int virtio_net_plan_side(struct virtio_net_side *side,
                                const struct virtio_net_side *home, u32 size,
                                u64 room)
{
    *side = (struct virtio_net_side){
        .n = side->n, .bytes = side->n * room, .queue = home->queue};
    if (size > home->queue.size) {
        side->queue.desc = 0;
        TRY(virtio_queue_resize(&home->queue, size, &side->queue));
    }
    side->buffers = side->bytes <= home->bytes
                        ? home->buffers
                        : memory_boot_buffer(side->bytes, PAGE);
    return side->buffers ? 0 : E_NOMEM;
}

static int virtio_net_plan(const struct virtio_net *net,
                           struct virtio_net_side *next, u64 room)
{
    u32 n_rx = net->nic.setting[NET_RX_RING],
        n_tx = net->nic.setting[NET_TX_RING];
    next[VIRTIO_NET_RX] = (struct virtio_net_side){.n = n_rx};
    next[VIRTIO_NET_TX] = (struct virtio_net_side){.n = n_tx};
    int rx = virtio_net_plan_side(&next[VIRTIO_NET_RX],
                                  &net->home[VIRTIO_NET_RX], n_rx, room);
    int tx = virtio_net_plan_side(&next[VIRTIO_NET_TX],
                                  &net->home[VIRTIO_NET_TX], 2 * n_tx, room);
    if (rx < 0 || tx < 0) {
        virtio_net_give(net, next);
        return E_NOMEM;
    }
    return 0;
}

// What was sent leaves, or in a moment is lost.
static void virtio_net_drain(struct virtio_net *net)
{
    struct deadline limit = deadline_ms(DRAIN_MS);
    u32 sent = (u16)(net->tx_ring.prod - load_acquire(&net->tx.used->idx));
    while (sent != 0 && !net->broken && !deadline_passed(&limit)) {
        pause();
        sent = (u16)(net->tx_ring.prod - load_acquire(&net->tx.used->idx));
    }
    net->nic.tx_dropped += sent <= net->n_tx ? sent : 0;
}

static int virtio_net_restart(struct virtio_net *net)
{
    TRY(virtio_begin(&net->virtio, virtio_net_wanted(net)));
    virtio_net_set_layout(net);
    TRY(virtio_net_start(net));
    virtio_net_show_poll(net);
    return 0;
}

static int virtio_net_change(struct virtio_net *net,
                             const struct virtio_net_side *next, u64 room)
{
    if (net->nic.gone) {
        virtio_net_use(net, next, room);
        return 0;
    }
    nic_set_never_idle(&net->nic);
    virtio_net_drain(net);
    virtio_net_use(net, next, room);
    net->nic.cut = 0;
    return virtio_net_restart(net);
}

// A device that does not take the new rings gets the old ones again; one that
// takes neither is gone.
static int virtio_net_resize(struct virtio_net *net, u64 room, int keep)
{
    struct virtio_net_side before[VIRTIO_NET_SIDES], next[VIRTIO_NET_SIDES];
    u64 room_before = net->room;
    TRY(virtio_net_plan(net, next, room));
    memcpy(before, net->now, sizeof(before));
    int result = virtio_net_change(net, next, room);
    int again = result;
    if (result < 0 && !keep) {
        virtio_net_use(net, before, room_before);
        again = virtio_net_restart(net);
    }
    if (again < 0) {
        virtio_fail(&net->virtio);
        nic_set_gone(&net->nic);
    }
    virtio_net_give(net, result < 0 && !keep ? next : before);
    return result;
}

int virtio_net_set(struct nic *nic, int keep)
{
    struct virtio_net *net = (struct virtio_net *)nic;
    const u32 *setting = nic->setting;
    u64 room = setting[NET_FRAME_LIMIT] > NET_MAX_FRAME ? FRAME_ROOM_JUMBO
                                                        : FRAME_ROOM;
    if (net->n_rx != setting[NET_RX_RING] ||
        net->n_tx != setting[NET_TX_RING] || net->room != room) {
        return virtio_net_resize(net, room, keep);
    }
    return nic->gone || net->broken ? 0 : virtio_net_filter(net);
}
