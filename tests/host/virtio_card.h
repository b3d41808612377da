// virtio_card.h - a virtio network device that can be made to lie, for
// virtio_rig.h.
// SPDX-License-Identifier: MIT
#pragma once
enum { CARD_PORT = 0xC000, CARD_PORTS = 32, CARD_QUEUES = 3 };
enum { CARD_NOTIFY = 0x3000, CARD_CONFIG = 0x2000, CARD_BAR_BYTES = 0x4000 };
enum { CARD_MULTIPLIER = 4 };
#define CARD_BAR 0xE000000000ul

struct card_queue {
    u16 size, enabled, notify_off;
    u64 desc, avail, used; // addresses, which are pointers here
    u16 seen, idx;         // of the avail ring, of the used ring
    u32 kicks;
};

static struct {
    struct fake_function *function;
    u64 offered, accepted;
    u32 status, feature_select, queue_select;
    u16 sizes[CARD_QUEUES]; // after a reset
    struct card_queue queues[CARD_QUEUES];
    u8 config[32];
    u32 config_bytes;     // that there are
    u32 resets, misuses;  // misuses: what a driver must never do
    int stuck;            // a reset never ends
    int refuses;          // FEATURES_OK does not stay
    void (*kicked)(void); // on this queue:
    u32 kicked_queue;
    int silent; // keeps NO_NOTIFY set while it has buffers, as QEMU
} card;

// ---- its registers ----

static void card_reset(void)
{
    card.resets++;
    card.accepted = 0;
    for (u32 i = 0; i < CARD_QUEUES; i++) {
        card.queues[i] =
            (struct card_queue){.size = card.sizes[i], .notify_off = (u16)i};
    }
}

static void card_set_status(u32 status)
{
    if (status == 0) {
        card_reset();
        card.status = card.stuck ? card.status : 0;
        return;
    }
    card.misuses += (card.status & ~status) != 0 && status != STATUS_FAILED;
    if (card.refuses) {
        status &= ~STATUS_FEATURES_OK;
    }
    card.status = status;
}

static struct card_queue *card_selected(void)
{
    static struct card_queue none;
    none = (struct card_queue){0};
    return card.queue_select < CARD_QUEUES ? &card.queues[card.queue_select]
                                           : &none;
}

static u64 card_common_read(u64 at)
{
    struct card_queue *queue = card_selected();
    switch (at) {
    case COMMON_DEVICE_FEATURE:
        return card.offered >> card.feature_select * 32;
    case COMMON_DEVICE_STATUS:
        return card.status;
    case COMMON_QUEUE_SIZE:
        return queue->size;
    case COMMON_QUEUE_NOTIFY_OFF:
        return queue->notify_off;
    }
    card.misuses++;
    return ~0ul;
}

static void card_set_half(u64 *address, u64 at, u64 value)
{
    *address = at & 4 ? (*address & 0xFFFFFFFF) | value << 32
                      : (*address & ~0xFFFFFFFFul) | (u32)value;
}

static void card_common_write(u64 at, u64 value)
{
    struct card_queue *queue = card_selected();
    u64 *addresses[] = {&queue->desc, &queue->avail, &queue->used};
    if (at >= COMMON_QUEUE_DESC && at < COMMON_BYTES) {
        card_set_half(addresses[(at - COMMON_QUEUE_DESC) / 8], at, value);
        return;
    }
    switch (at) {
    case COMMON_DEVICE_FEATURE_SELECT:
    case COMMON_DRIVER_FEATURE_SELECT:
        card.feature_select = value & 1;
        return;
    case COMMON_DRIVER_FEATURE:
        card_set_half(&card.accepted, card.feature_select * 4, value);
        return;
    case COMMON_DEVICE_STATUS:
        card_set_status((u32)value);
        return;
    case COMMON_QUEUE_SELECT:
        card.queue_select = (u32)value;
        return;
    case COMMON_QUEUE_SIZE:
        queue->size = (u16)value;
        return;
    case COMMON_QUEUE_ENABLE:
        queue->enabled = (u16)value;
        return;
    case COMMON_QUEUE_MSIX_VECTOR:
        return;
    }
    card.misuses++;
}

static void card_kick(u64 queue)
{
    card.misuses += queue >= CARD_QUEUES || !(card.status & STATUS_DRIVER_OK);
    if (queue < CARD_QUEUES) {
        card.queues[queue].kicks++;
    }
    if (queue == card.kicked_queue && card.kicked) {
        card.kicked();
    }
}

static u64 card_config_read(u64 at, u32 bytes)
{
    u64 value = 0;
    card.misuses += at + bytes > card.config_bytes;
    for (u32 i = 0; i < bytes && at + i < card.config_bytes; i++) {
        value |= (u64)card.config[at + i] << 8 * i;
    }
    return value;
}

static u64 card_port_read(u64 at, u32 bytes)
{
    switch (at) {
    case LEGACY_DEVICE_FEATURES:
        return card.offered;
    case LEGACY_QUEUE_SIZE:
        return card_selected()->size;
    case LEGACY_DEVICE_STATUS:
        return card.status;
    }
    return card_config_read(at - LEGACY_DEVICE_CONFIG, bytes);
}

static void card_set_page(u64 page)
{
    struct card_queue *queue = card_selected();
    queue->desc = page * 4096;
    queue->avail = queue->desc + queue->size * 16ul;
    queue->used = align_up(queue->avail + 6 + 2ul * queue->size, 4096);
    queue->enabled = page != 0;
}

static void card_port_write(u64 at, u64 value)
{
    switch (at) {
    case LEGACY_DRIVER_FEATURES:
        card.accepted = value;
        return;
    case LEGACY_QUEUE_PFN:
        card_set_page(value);
        return;
    case LEGACY_QUEUE_SELECT:
        card.queue_select = (u32)value;
        return;
    case LEGACY_QUEUE_NOTIFY:
        card_kick(value);
        return;
    case LEGACY_DEVICE_STATUS:
        card_set_status((u32)value);
        return;
    }
    card.misuses++;
}

u64 other_read(u64 address, u32 bytes, int is_port)
{
    if (card.status == STATUS_GONE) {
        return ~0ul;
    }
    if (is_port && address - CARD_PORT < CARD_PORTS) {
        return card_port_read(address - CARD_PORT, bytes);
    }
    u64 at = address - CARD_BAR;
    if (!is_port && at < COMMON_BYTES) {
        return card_common_read(at);
    }
    if (!is_port && at >= CARD_CONFIG && at < CARD_NOTIFY) {
        return card_config_read(at - CARD_CONFIG, bytes);
    }
    card.misuses++;
    return ~0ul;
}

void other_write(u64 address, u64 value, u32 bytes, int is_port)
{
    (void)bytes;
    u64 at = address - CARD_BAR;
    if (card.status == STATUS_GONE) {
        return;
    }
    if (is_port && address - CARD_PORT < CARD_PORTS) {
        card_port_write(address - CARD_PORT, value);
    } else if (!is_port && at < COMMON_BYTES) {
        card_common_write(at, value);
    } else if (!is_port && at >= CARD_NOTIFY && at < CARD_BAR_BYTES) {
        card.misuses += (at - CARD_NOTIFY) / CARD_MULTIPLIER != value;
        card_kick(value);
    } else {
        card.misuses++;
    }
}

// ---- what it does with its queues ----

static struct virtq_desc *card_desc(const struct card_queue *queue, u32 id)
{
    return &((struct virtq_desc *)queue->desc)[id];
}

static u32 card_waiting(struct card_queue *queue)
{
    const struct virtq_avail *avail = (const void *)queue->avail;
    return queue->enabled ? (u16)(avail->idx - queue->seen) : 0;
}

// The next descriptor chain that the driver offers.
static u32 card_take(struct card_queue *queue)
{
    const struct virtq_avail *avail = (const void *)queue->avail;
    return avail->ring[queue->seen++ % queue->size];
}

// An entry at place idx + ahead of the used ring, which is not shown yet.
static void card_use(struct card_queue *queue, u32 ahead, u32 id, u32 len)
{
    struct virtq_used *used = (void *)queue->used;
    used->ring[(u16)(queue->idx + ahead) % queue->size] =
        (struct virtq_used_elem){id, len};
}

static void card_show(struct card_queue *queue, u32 n)
{
    if (!queue->enabled) {
        return;
    }
    struct virtq_used *used = (void *)queue->used;
    queue->idx = (u16)(queue->idx + n);
    used->idx = queue->idx;
    used->flags = card.silent && card_waiting(queue) ? USED_NO_NOTIFY : 0;
}

static u32 card_header(void)
{
    return card.accepted & (VIRTIO_F_VERSION_1 | VIRTIO_NET_F_MRG_RXBUF) ? 12
                                                                         : 10;
}

// As QEMU: a frame fills as many buffers as it takes, or one. 0: no room, the
// frame waits or is lost.
static inline int card_receive(const u8 *frame, u32 len)
{
    struct card_queue *queue = &card.queues[NET_QUEUE_RX];
    u32 total = card_header() + len, done = 0, pieces = 0;
    u8 *first = 0;
    u32 room = FRAME_ROOM - FRAME_OFFSET + card_header();
    u32 wanted = (total + room - 1) / room;
    int merged = (card.accepted & VIRTIO_NET_F_MRG_RXBUF) != 0;
    if (card_waiting(queue) < wanted || (!merged && wanted > 1)) {
        card_show(queue, 0);
        return 0;
    }
    while (done < total) {
        u32 id = card_take(queue);
        struct virtq_desc *desc = card_desc(queue, id);
        card.misuses += desc->flags != DESC_WRITE || desc->len != room;
        u32 piece = total - done < room ? total - done : room;
        u8 *to = (u8 *)desc->addr;
        for (u32 i = 0; i < piece; i++, done++) {
            to[i] = done < card_header() ? 0 : frame[done - card_header()];
        }
        first = first ? first : to;
        card_use(queue, pieces++, id, piece);
    }
    if (card_header() == 12) {
        __builtin_memcpy(first + 10, &(u16){(u16)pieces}, 2);
    }
    card_show(queue, pieces);
    return 1;
}

// Take one frame to send; its length, 0: none. Its header must be zeros.
static inline u32 card_sent(u8 *frame, u32 *id)
{
    struct card_queue *queue = &card.queues[NET_QUEUE_TX];
    if (card_waiting(queue) == 0) {
        return 0;
    }
    u8 all[4096];
    u32 len = 0;
    const struct virtq_desc *desc = card_desc(queue, *id = card_take(queue));
    for (;; desc = card_desc(queue, desc->next)) {
        card.misuses += (desc->flags & DESC_WRITE) != 0;
        __builtin_memcpy(all + len, (void *)desc->addr, desc->len);
        len += desc->len;
        if ((desc->flags & DESC_NEXT) == 0) {
            break;
        }
    }
    for (u32 i = 0; i < card_header(); i++) {
        card.misuses += all[i] != 0;
    }
    __builtin_memcpy(frame, all + card_header(), len - card_header());
    return len - card_header();
}

static inline void card_complete(u32 id)
{
    card_use(&card.queues[NET_QUEUE_TX], 0, id, 0);
    card_show(&card.queues[NET_QUEUE_TX], 1);
}
