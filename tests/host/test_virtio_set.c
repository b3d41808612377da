// test_virtio_set.c - net_set on a virtio network device whose control queue
// answers, lies, or is silent. SPDX-License-Identifier: MIT
#include "virtio_rig.h"
#undef LOG_TAG
#include "../../kernel/nic_set.c"

void app_call_whole(int on)
{
    (void)on;
}
const char *sys_error(int error)
{
    (void)error;
    return "error";
}

enum { MOST_COMMANDS = 16 };
enum { PROMISC_ON = 0x10, PROMISC_OFF = 0x00, ALL_ON = 0x11, ALL_OFF = 0x01 };

static struct {
    u8 ack;
    u16 jump;   // of the used index; one command is 1
    int silent; // it never answers
    int leaves; // it is removed when it is asked
    u32 n;
    u8 seen[MOST_COMMANDS]; // value << 4 | command
} host;

static u8 host_byte(u32 id, u32 len, u16 flags)
{
    const struct virtq_desc *desc = card_desc(&card.queues[2], id);
    card.misuses += desc->len != len || desc->flags != flags;
    return *(const u8 *)(desc->addr + len - 1);
}

// 5.1.6.5: class and command, a value, room for the answer.
static void host_answers(void)
{
    struct card_queue *queue = &card.queues[NET_QUEUE_CONTROL];
    card.status = host.leaves ? STATUS_GONE : card.status;
    if (host.leaves || host.silent || card_waiting(queue) == 0) {
        return;
    }
    u32 id = card_take(queue), value = card_desc(queue, id)->next;
    u8 command = host_byte(id, 2, DESC_NEXT);
    card.misuses += *(const u8 *)card_desc(queue, id)->addr != NET_CTRL_RX;
    command |= (u8)(host_byte(value, 1, DESC_NEXT) << 4);
    u32 answer = card_desc(queue, value)->next;
    CHECK_EQ(host_byte(answer, 1, DESC_WRITE), 0xFF);
    *(u8 *)card_desc(queue, answer)->addr = host.ack;
    host.seen[host.n++ % MOST_COMMANDS] = command;
    CHECK_EQ(net_tx(0, &command, 60), E_BUSY); // another core comes
    CHECK_EQ(net_set(0, NET_TX_RING, 16), E_BUSY);
    card_use(queue, 0, id, 1);
    card_show(queue, host.jump);
}

static void begin(int modern)
{
    card_plug(modern, !modern);
    card.offered |= VIRTIO_NET_F_CTRL_VQ | VIRTIO_NET_F_CTRL_RX;
    card.sizes[NET_QUEUE_CONTROL] = 64;
    card.kicked = host_answers;
    __builtin_memset(&host, 0, sizeof(host));
    host.jump = 1;
    CHECK_EQ(card_probe(), 0);
    CHECK_EQ(host.n, 0); // out of a reset everything comes in
}

static void expect_seen(u32 n, const u8 *commands)
{
    CHECK_EQ(host.n, n);
    for (u32 i = 0; i < n && i < host.n; i++) {
        CHECK_EQ(host.seen[i], commands[i]);
    }
    host.n = 0;
}

// A frame in, a frame out.
static void expect_alive(void)
{
    static u8 data[100];
    u8 sent[4096];
    u32 id;
    struct net_frame got;
    (void)net_rx(0, &got); // a broken device is put right here
    CHECK(card_receive(data, 64));
    CHECK_EQ(net_rx(0, &got), 1);
    CHECK_EQ(got.len, 64);
    CHECK_EQ(net_tx(0, data, 100), 1);
    CHECK_EQ(card_sent(sent, &id), 100);
    card_complete(id);
    CHECK_EQ(card.misuses, 0);
}

static void tells_what_has_changed(void)
{
    for (int modern = 0; modern < 2; modern++) {
        begin(modern);
        CHECK_EQ(net_set(0, NET_MULTICAST, 0), 0);
        expect_seen(0, 0); // promiscuous as before
        CHECK_EQ(net_set(0, NET_PROMISCUOUS, 0), 0);
        expect_seen(2, (const u8[]){ALL_OFF, PROMISC_OFF});
        CHECK_EQ(net_set(0, NET_MULTICAST, 1), 0);
        expect_seen(2, (const u8[]){ALL_ON, PROMISC_OFF});
        CHECK_EQ(net_set(0, NET_RX_RING, 64), 0); // a reset forgets it
        expect_seen(2, (const u8[]){ALL_ON, PROMISC_OFF});
        nic_restore_all();
        expect_seen(0, 0);
        CHECK_EQ(nic_get(0)->setting[NET_PROMISCUOUS], 1);
        expect_alive();
    }
}

static void index_goes_round(void)
{
    begin(1);
    for (u32 i = 0; i < 40000; i++) {
        CHECK_EQ(net_set(0, NET_PROMISCUOUS, i & 1), 0);
    }
    CHECK_EQ(card.queues[NET_QUEUE_CONTROL].idx, 60000);
    expect_alive();
}

static void refuses(void)
{
    static const u8 acks[] = {1, 0xFF, 0x7F};
    for (u32 i = 0; i < array_size(acks); i++) {
        begin(1);
        host.ack = acks[i];
        CHECK_EQ(net_set(0, NET_PROMISCUOUS, 0), E_UNSUPPORTED);
        CHECK_EQ(nic_get(0)->setting[NET_PROMISCUOUS], 1);
        CHECK_EQ(card.resets, 1);
        host.ack = NET_CTRL_OK;
        CHECK_EQ(net_set(0, NET_PROMISCUOUS, 0), 0);
        expect_alive();
    }
}

// Within its limit an error, the old setting, and frames again.
static void expect_timeout(void)
{
    u64 start = card_tsc;
    CHECK_EQ(net_set(0, NET_PROMISCUOUS, 0), E_TIMEOUT);
    CHECK(card_tsc - start < card_hz / 2);
    CHECK_EQ(nic_get(0)->setting[NET_PROMISCUOUS], 1);
    expect_alive();
    CHECK_EQ(card.resets, 2);
    host.silent = 0;
    host.jump = 1;
    host.n = 0;
    CHECK_EQ(net_set(0, NET_PROMISCUOUS, 0), 0);
    expect_seen(2, (const u8[]){ALL_ON, PROMISC_OFF});
    expect_alive();
}

static void never_answers(void)
{
    for (int modern = 0; modern < 2; modern++) {
        begin(modern);
        host.silent = 1;
        expect_timeout();
    }
}

static void index_is_wrong(void)
{
    static const u16 jumps[] = {0, 2, 63, 64, 65, 0x8000, 0xFFFF};
    for (u32 i = 0; i < array_size(jumps); i++) {
        begin(1);
        host.jump = jumps[i];
        expect_timeout();
    }
}

// New rings, and no answer to what the filter was: the device is reset, and
// what cannot be told to it ends it.
static void silent_after_a_reset(void)
{
    begin(1);
    CHECK_EQ(net_set(0, NET_PROMISCUOUS, 0), 0);
    host.silent = 1;
    card_given = 0;
    u64 start = card_tsc;
    CHECK_EQ(net_set(0, NET_RX_RING, 64), E_TIMEOUT);
    CHECK(card_tsc - start < card_hz);
    CHECK_EQ(nic_get(0)->setting[NET_RX_RING], 256);
    CHECK_EQ(net_set(0, NET_RX_RING, 64), E_GONE);
    CHECK_EQ(card.function->words[1] & PCI_COMMAND_MASTER, 0);
    nic_restore_all();
}

static void removed(void)
{
    struct net_frame got;
    u32 data = 0;
    begin(1);
    host.leaves = 1;
    CHECK(net_set(0, NET_PROMISCUOUS, 0) < 0);
    u64 start = card_tsc;
    CHECK_EQ(net_rx(0, &got), E_GONE);
    CHECK_EQ(net_tx(0, &data, sizeof(data)), E_GONE);
    CHECK_EQ(net_set(0, NET_PROMISCUOUS, 0), E_GONE);
    CHECK(card_tsc - start < card_hz);
    nic_recover_all(1);
    nic_restore_all();
}

// A device without the queue, also while it is in trouble.
static void without_control(void)
{
    card_plug(1, 0);
    CHECK_EQ(card_probe(), 0);
    CHECK_EQ(net_set(0, NET_PROMISCUOUS, 0), E_UNSUPPORTED);
    CHECK_EQ(net_set(0, NET_MULTICAST, 0), 0);
    ((struct virtio_net *)nic_get(0))->broken = 1;
    nic_set_never_idle(nic_get(0));
    CHECK_EQ(net_set(0, NET_PROMISCUOUS, 0), E_UNSUPPORTED);
    expect_alive();
}

int main(void)
{
    RUN(tells_what_has_changed);
    RUN(index_goes_round);
    RUN(refuses);
    RUN(never_answers);
    RUN(index_is_wrong);
    RUN(silent_after_a_reset);
    RUN(removed);
    RUN(without_control);
    card_unplug();
    return TEST_RESULT();
}
