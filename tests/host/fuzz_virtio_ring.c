// fuzz_virtio_ring.c - a device that writes anything into its rings, registers
// and configuration space at any time: what a program gets are whole frames,
// inside the ring's buffers, each buffer once.
// SPDX-License-Identifier: MIT
#include "virtio_rig.h"

static struct {
    const u8 *next;
    u64 left;
} script;

static u32 script_byte(void)
{
    if (script.left == 0) {
        return 0;
    }
    script.left--;
    return *script.next++;
}

static u32 script_word(void)
{
    u32 low = script_byte(), high = script_byte();
    u32 word = low | high << 8;
    return word & 0x8000 ? word << 16 | script_byte() : word;
}

static void check(int holds)
{
    if (!holds) {
        abort();
    }
}

static void check_frames(const struct net_frame *frames, int n)
{
    const struct virtio_net *net = (struct virtio_net *)nic_get(0);
    for (int i = 0; i < n; i++) {
        u64 at = (u64)((u8 *)frames[i].data - net->rx_buffers);
        check(frames[i].len >= 14 && frames[i].len <= 1514);
        check(at < (u64)net->n_rx * FRAME_ROOM && at % FRAME_ROOM == 64);
        for (int k = 0; k < i; k++) {
            check(frames[k].data != frames[i].data);
        }
        (void)*(volatile u8 *)((u8 *)frames[i].data + frames[i].len - 1);
    }
}

static void program_receives(void)
{
    struct net_frame frames[256];
    u32 n = script_byte() + 1;
    int got = net_rx_burst(0, frames, n);
    check(got <= (int)n && (got >= 0 || got == E_GONE));
    check(got <= (int)nic_get(0)->max_burst);
    check_frames(frames, got);
}

static void program_sends(void)
{
    static u8 data[2048];
    struct net_frame frames[8];
    for (u32 i = 0; i < 8; i++) {
        frames[i] = (struct net_frame){data, script_word(), 0};
    }
    int sent = net_tx_burst(0, frames, 8);
    check(sent <= 8 && sent != 0);
}

static void device_receives(void)
{
    static const u8 data[70000];
    (void)card_receive(data, script_word() % 65536);
}

static void device_sends(void)
{
    u32 id;
    u8 frame[4096];
    if (card_sent(frame, &id)) {
        card_complete(id);
    }
}

// Any word of any ring that the device may write.
static void device_scribbles(void)
{
    struct card_queue *queue = &card.queues[script_byte() & 1];
    if (!queue->enabled) {
        return;
    }
    struct virtq_used *used = (void *)queue->used;
    u32 at = script_byte();
    switch (script_byte() % 4) {
    case 0:
        used->idx = (u16)script_word();
        return;
    case 1:
        used->idx++;
        return;
    case 2:
        used->ring[at % queue->size].id = script_word();
        return;
    }
    used->ring[at % queue->size].len = script_word();
}

// The number of buffers in a header.
static void device_writes_header(void)
{
    const struct virtio_net *net = (struct virtio_net *)nic_get(0);
    u16 pieces = (u16)script_word();
    u32 id = script_byte() % net->n_rx;
    __builtin_memcpy(virtio_net_rx_frame(net, id) - 2, &pieces, 2);
}

static void device_changes(void)
{
    switch (script_byte() % 6) {
    case 0:
        card.status = script_byte();
        return;
    case 1:
        card.config[script_byte() % NET_CONFIG_BYTES] = (u8)script_byte();
        return;
    case 2:
        card.offered ^= BIT(script_byte() % 64);
        return;
    case 3:
        card.sizes[script_byte() & 1] = (u16)script_word();
        return;
    case 4:
        card.stuck = script_byte() & 1;
        return;
    }
    card.refuses = script_byte() & 1;
}

static void step(void)
{
    struct net_info info;
    static void (*const steps[])(void) = {
        program_receives, program_sends,        device_receives,
        device_sends,     device_scribbles,     device_scribbles,
        device_changes,   device_writes_header,
    };
    u32 which = script_byte() % 10;
    if (which < array_size(steps)) {
        steps[which]();
    } else if (which == 8) {
        card_tsc += card_hz / 100;
        check(net_info(0, &info) == 0);
    } else {
        nic_recover_all(1);
    }
}

// Registers where the configuration space says, which lies.
static void device_lies_at_start(void)
{
    for (u32 n = script_byte() % 8; n > 0; n--) {
        u32 at = script_byte() % 48;
        card.function->words[at > 0 ? at : 1] ^= script_word();
    }
    card.sizes[0] = (u16)(1u << script_byte() % 12);
    card.sizes[1] = (u16)(1u << script_byte() % 12);
    card.offered ^= script_word();
}

int LLVMFuzzerTestOneInput(const u8 *data, u64 len);
int LLVMFuzzerTestOneInput(const u8 *data, u64 len)
{
    script.next = data;
    script.left = len;
    u32 kind = script_byte();
    card_plug(kind & 1, kind & 2);
    card_ram = kind & 4 ? card_ram : 6ul << 20; // with 256 or 128 buffers
    device_lies_at_start();
    if (card_probe() == 0) {
        while (script.left > 0) {
            step();
        }
    }
    card_unplug();
    return 0;
}
