// nethooks.c - nethooks WHAT: frames that come by interrupt.
// SPDX-License-Identifier: MIT
//
// tests/qemu/test_hooks.py runs it. "ok ..." held, "BAD ..." did not.
#include "../../apps/lib/print.h"
#include "../../lib/string.h"

#define MS 1000000ul

static int bad;

static void check(int good, const char *what)
{
    print("%s %s\n", good ? "ok" : "BAD", what);
    bad |= !good;
}

static void spin(u64 ns)
{
    u64 end = os->time_ns() + ns;
    while (os->time_ns() < end) {
        __asm__ volatile("pause");
    }
}

static u64 interrupts_taken(void)
{
    struct cpu_info info;
    os->cpu_info(&info);
    return info.interrupts;
}

// Frames come back from inside the hook, and are counted, until a key comes.
static volatile u64 frames;

static void echo(void *arg)
{
    struct net_frame frame;
    (void)arg;
    while (os->net_rx(0, &frame) == 1) {
        frames++;
        (void)os->net_tx(0, frame.data, frame.len);
    }
}

static int start_net(void)
{
    int hook = os->hook_net(0, echo, 0);
    check(hook >= 0, hook < 0 ? os->sys_error(hook) : "a hook's number");
    check(os->hook_net(0, echo, 0) == E_BUSY, "one for each");
    return hook;
}

static void wait_key(void)
{
    char key;
    print("listening\n");
    (void)os->con_read(&key, 1, -1);
    print("frames %lu\n", frames);
}

static void net(void)
{
    int hook = start_net();
    wait_key();
    check(os->hook_remove((u32)hook) == 0, "removed");
    frames = 0;
    u64 before = interrupts_taken();
    wait_key();
    check(interrupts_taken() - before <= 2, "none but the key's");
    struct net_frame frame;
    u64 polled = 0, limit = os->time_ns() + 10000 * MS;
    while (polled < 20 && os->time_ns() < limit) {
        polled += os->net_rx(0, &frame) == 1;
    }
    print("polled %lu\n", polled);
    check(os->hook_net(0, echo, 0) >= 0, "again");
    wait_key();
}

// The same, and the program never sleeps.
static void net_busy(void)
{
    char key;
    (void)start_net();
    print("listening\n");
    while (os->con_read(&key, 1, 0) == 0) {
        spin(100000);
    }
    print("frames %lu\n", frames);
}

static void start_net_there(void *arg)
{
    (void)arg;
    (void)start_net();
}

// On a core that has nothing else to do.
static void net_idle(void)
{
    (void)os->cpu_start(1, start_net_there, 0);
    (void)os->cpu_wait(1);
    wait_key();
}

// Frames lie in the ring when the hook comes.
static void net_late(void)
{
    wait_key();
    (void)start_net();
    wait_key();
}

// Each setting resets the device, which goes on calling.
static void net_set(void)
{
    static const struct {
        u32 setting;
        u64 value;
    } changes[] = {{NET_RX_RING, 64},
                   {NET_TX_RING, 16},
                   {NET_FRAME_LIMIT, NET_MAX_JUMBO},
                   {NET_PROMISCUOUS, 0},
                   {NET_RX_RING, 256},
                   {NET_FRAME_LIMIT, 1514}};
    (void)start_net();
    for (u32 i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        check(os->net_set(0, changes[i].setting, changes[i].value) == 0, "set");
        wait_key();
    }
}

// Frames come while the hook's function runs: the NIC keeps quiet about them.
static void hold(void *arg)
{
    static int held;
    char key;
    if (!held) {
        held = 1;
        u64 before = interrupts_taken();
        print("holding\n");
        (void)os->con_read(&key, 1, -1);
        u64 taken = interrupts_taken() - before;
        print("%lu interrupts\n", taken);
        check(taken <= 4, "of keys, and what was on its way");
    }
    echo(arg);
}

static void net_held(void)
{
    check(os->hook_net(0, hold, 0) >= 0, "a hook's number");
    wait_key();
}

static void net_refused(void)
{
    check(os->hook_net(0, echo, 0) == E_UNSUPPORTED, "not supported");
}

static const struct {
    const char *name;
    void (*run)(void);
} tests[] = {
    {"net", net},           {"net-busy", net_busy},
    {"net-idle", net_idle}, {"net-late", net_late},
    {"net-set", net_set},   {"net-refused", net_refused},
    {"net-held", net_held},
};

int main(int argc, char **argv)
{
    for (u32 i = 0; argc > 1 && i < sizeof(tests) / sizeof(tests[0]); i++) {
        if (strcmp(argv[1], tests[i].name) == 0) {
            tests[i].run();
            print("nethooks %s: %s\n", argv[1], bad ? "BAD" : "good");
            return bad;
        }
    }
    print("error: nethooks: no such test\n");
    return 98;
}
