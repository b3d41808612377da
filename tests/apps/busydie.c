// busydie.c - busydie WAY: a program to be stopped while a device or other
// cores are at work for it.
// SPDX-License-Identifier: MIT
#include "ways.h"

enum { BLOCKS = 64 };
static u8 blocks[BLOCKS * 4096] __attribute__((aligned(4096)));
static u8 frame[256] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};

static void read_disk(void)
{
    print("reading\n");
    while (os->disk_read(0, 0, BLOCKS, blocks) == BLOCKS) {
    }
}

static void use_net(void)
{
    struct net_frame in[8];
    print("sending\n");
    for (;;) {
        (void)os->net_tx(0, frame, sizeof(frame));
        (void)os->net_rx_burst(0, in, 8);
    }
}

static void spin(void *counter)
{
    for (;;) {
        ++*(volatile u64 *)counter;
    }
}

static void use_cores(void)
{
    static u64 counters[256];
    for (u32 cpu = 1; cpu < (u32)os->cpu_count(); cpu++) {
        (void)os->cpu_start(cpu, spin, &counters[cpu]);
    }
    print("running\n");
    use_net();
}

static const struct way ways[] = {
    {"disk", read_disk},
    {"net", use_net},
    {"cores", use_cores},
};

int main(int argc, char **argv)
{
    return ways_main(ways, sizeof(ways) / sizeof(ways[0]), argc, argv);
}
