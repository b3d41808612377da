// burst.c - what a frame costs in bursts of 32: `burst tx [nic]`, `burst rx`;
// and a frame that cannot be read: `burst bad`. SPDX-License-Identifier: MIT
//
// Only the calls are timed. rx: the ring is to hold frames beforehand.
#include "../../apps/lib/args.h"
#include "../../apps/lib/print.h"
#include "../../apps/lib/result.h"

enum { BURST = 32, BURSTS = 50, FRAME = 64, LIMIT_NS = 50000000 };

#define BAD 0xFFFF900000000000ul

static u8 packets[BURST][FRAME];
static struct net_frame frames[BURST];

// Bursts that were whole, and the time they took without reading the clock.
struct burst_total {
    u64 bursts, ns;
};

static void burst_run(u32 nic, int transmit, struct burst_total *total)
{
    u64 limit = os->time_ns() + LIMIT_NS, start = 0;
    while (start < limit && total->bursts < BURSTS) {
        start = os->time_ns();
        int n = transmit ? os->net_tx_burst(nic, frames, BURST)
                         : os->net_rx_burst(nic, frames, BURST);
        u64 end = os->time_ns();
        u64 clock = os->time_ns() - end;
        if (n == BURST) {
            total->bursts++;
            total->ns += end - start - clock;
        }
    }
}

int main(int argc, char **argv)
{
    u64 nic = 0;
    if (argc < 2 ||
        args_number(argc, argv, 2, (struct range){0, 15}, &nic) < 0) {
        return 1;
    }
    for (u32 i = 0; i < BURST; i++) {
        frames[i] = (struct net_frame){.data = packets[i], .len = FRAME};
    }
    if (argv[1][0] == 'b') {
        frames[BURST - 1].data = (void *)BAD;
    }
    struct burst_total total = {0, 0};
    burst_run((u32)nic, argv[1][0] != 'r', &total);
    u64 n = total.bursts * BURST;
    print("%s: %lu frames\n", argv[1], n);
    result("burst", "nic=%lu frames=%lu centi=%lu", nic, n,
           n ? total.ns * 100 / n : 0);
    return 0;
}
