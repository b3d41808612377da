// netset.c - sets a NIC, then does something: `netset NIC NAME=VALUE.. [then
// WHAT]`. SPDX-License-Identifier: MIT
//
// WHAT: show (the default), free, echo N, burst tx|rx, die, spin, core, exit.
// In a line for tests: "limit=N rx=N tx=N free=N" after every change.
#include "../../apps/lib/print.h"
#include "../../apps/lib/result.h"
#include "../../lib/string.h"

enum { BURST = 32, FRAME = 64, MAC = 6, RUN_NS = 1000000000 };
static u32 *volatile bad = (u32 *)0x10;

static const char *const names[] = {"promiscuous", "multicast", "rx", "tx",
                                    "limit"};
enum { NAMES = sizeof(names) / sizeof(names[0]) };

static u8 packets[BURST][FRAME];
static struct net_frame frames[BURST];

static u64 number(const char *text)
{
    u64 value = 0;
    while (*text >= '0' && *text <= '9') {
        value = value * 10 + (u64)(*text++ - '0');
    }
    return value;
}

static void show(u32 nic)
{
    struct net_info info;
    struct mem_info memory;
    (void)os->mem_info(&memory);
    if (os->net_info(nic, &info) == 0) {
        print("limit=%u rx=%u tx=%u free=%lu\n", info.max_frame, info.rx_ring,
              info.tx_ring, memory.free);
    }
}

// NAME=VALUE. 1: it was one.
static int set(u32 nic, const char *word)
{
    for (u32 i = 0; i < NAMES; i++) {
        u64 len = strlen(names[i]);
        if (strncmp(word, names[i], len) == 0 && word[len] == '=') {
            int error = os->net_set(nic, i, number(word + len + 1));
            print("%s: %s\n", word, error ? os->sys_error(error) : "set");
            show(nic);
            return 1;
        }
    }
    return 0;
}

static void swap(u8 *bytes)
{
    for (u32 i = 0; i < MAC; i++) {
        u8 byte = bytes[i];
        bytes[i] = bytes[i + MAC];
        bytes[i + MAC] = byte;
    }
}

// n frames back to where they came from, or ten seconds.
static void echo(u32 nic, u64 n)
{
    struct net_frame frame;
    u64 done = 0, end = os->time_ns() + 10ul * RUN_NS;
    print("echoing\n");
    while (done < n && os->time_ns() < end) {
        if (os->net_rx(nic, &frame) == 1) {
            swap(frame.data);
            done += os->net_tx(nic, frame.data, frame.len) == 1;
        }
    }
    print("echoed %lu\n", done);
}

// What a frame costs in bursts: as burst.c.
static void burst(u32 nic, int transmit)
{
    u64 ns = 0, whole = 0, end = os->time_ns() + 50000000, start = 0;
    for (u32 i = 0; i < BURST; i++) {
        frames[i] = (struct net_frame){.data = packets[i], .len = FRAME};
    }
    while (start < end && whole < 50) {
        start = os->time_ns();
        int n = transmit ? os->net_tx_burst(nic, frames, BURST)
                         : os->net_rx_burst(nic, frames, BURST);
        u64 stop = os->time_ns();
        u64 clock = os->time_ns() - stop;
        if (n == BURST) {
            whole++;
            ns += stop - start - clock;
        }
    }
    result("burst", "nic=%u frames=%lu centi=%lu", nic, whole * BURST,
           whole ? ns * 100 / (whole * BURST) : 0);
}

// What an empty poll costs, in hundredths of a nanosecond.
static void poll(u32 nic)
{
    struct net_frame frame;
    u64 n = 100000, start = os->time_ns();
    for (u64 i = 0; i < n; i++) {
        (void)os->net_rx(nic, &frame);
    }
    u64 ns = os->time_ns() - start;
    result("poll", "nic=%u centi=%lu", nic, ns * 100 / n);
}

static void set_for_ever(void *arg)
{
    u32 nic = *(u32 *)arg;
    for (u64 i = 0;; i++) {
        (void)os->net_set(nic, NET_RX_RING, i & 1 ? 64 : 512);
    }
}

static int then(u32 nic, const char *what, const char *how)
{
    switch (what[0]) {
    case 'e':
        echo(nic, number(how));
        return 0;
    case 'b':
        burst(nic, how[0] == 't');
        return 0;
    case 'w': {
        char key;
        print("waiting\n");
        (void)os->con_read(&key, 1, -1);
        return 0;
    }
    case 'p':
        poll(nic);
        return 0;
    case 'd':
        *bad = 0;
        return 0;
    case 'c': // a core changes it while the first one dies
        (void)os->cpu_start(1, set_for_ever, &nic);
        for (u64 end = os->time_ns() + 50000000; os->time_ns() < end;) {
        }
        *bad = 0;
        return 0;
    case 's':
        print("spinning\n");
        for (;;) {
        }
    default:
        return 1;
    }
}

int main(int argc, char **argv)
{
    u32 nic = argc > 1 ? (u32)number(argv[1]) : 0;
    show(nic);
    for (int i = 2; i < argc; i++) {
        if (!set(nic, argv[i])) {
            (void)then(nic, argv[i], i + 1 < argc ? argv[i + 1] : "");
        }
    }
    return 0;
}
