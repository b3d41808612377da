// netflood.c - netflood [nic] [len] [n]: transmit as fast as the NIC takes
// them.
// SPDX-License-Identifier: MIT
//
// n frames (1,000,000) of len bytes (60), broadcast, of an EtherType that is
// set aside for experiments (IEEE 802, 0x88B5), numbered in their first four
// bytes.
#include "../lib/string.h"
#include "lib/bench.h"
#include "lib/options.h"
#include "lib/result.h"

#define USAGE "netflood [nic] [length] [frames]"

enum { BURST = 32, MAC_BYTES = 6, HEADER_BYTES = 14, NUMBER_BYTES = 4 };
enum {
    LONGEST = 16384,
    STALL_NS = 2000000000
}; // ring full for so long: give up

struct netflood {
    u32 nic, len;
    u64 n, sent, full; // full: times that the ring took nothing
};

static u8 packets[BURST][LONGEST];
static struct net_frame frames[BURST];

static void netflood_fill(const struct netflood *run, const u8 *mac)
{
    for (u32 i = 0; i < BURST; i++) {
        memset(packets[i], 0xFF, MAC_BYTES);
        memcpy(packets[i] + MAC_BYTES, mac, MAC_BYTES);
        packets[i][2 * MAC_BYTES] = 0x88;
        packets[i][2 * MAC_BYTES + 1] = 0xB5;
        frames[i] = (struct net_frame){.data = packets[i], .len = run->len};
    }
}

static void netflood_number(u64 first, u32 n, u32 len)
{
    for (u32 i = 0; i < n && len >= HEADER_BYTES + NUMBER_BYTES; i++) {
        u32 number = (u32)(first + i);
        memcpy(packets[i] + HEADER_BYTES, &number, NUMBER_BYTES);
    }
}

static int netflood_run(struct netflood *run)
{
    u64 stalled = 0;
    while (run->sent < run->n) {
        u64 left = run->n - run->sent;
        u32 n = left < BURST ? (u32)left : BURST;
        netflood_number(run->sent, n, run->len);
        int queued = os->net_tx_burst(run->nic, frames, n);
        if (queued > 0) {
            run->sent += (u32)queued;
            stalled = 0;
            continue;
        }
        if (queued != E_AGAIN) {
            return queued;
        }
        run->full++;
        stalled = stalled ? stalled : os->time_ns();
        if (os->time_ns() - stalled > STALL_NS) {
            return E_TIMEOUT;
        }
    }
    return 0;
}

static int netflood_arguments(int argc, char **argv, struct netflood *run)
{
    u64 nic = 0, len = 60, n = 1000000;
    if (option_end(argc, argv, 3, USAGE) < 0 ||
        args_number(argc, argv, 1, (struct range){0, NET_MAX_NICS - 1}, &nic) <
            0 ||
        args_number(argc, argv, 2, (struct range){1, LONGEST}, &len) < 0 ||
        args_number(argc, argv, 3, (struct range){1, 1ul << 40}, &n) < 0) {
        return E_ARG;
    }
    *run = (struct netflood){.nic = (u32)nic, .len = (u32)len, .n = n};
    return 0;
}

int main(int argc, char **argv)
{
    struct netflood run;
    struct net_info info;
    if (netflood_arguments(argc, argv, &run) < 0) {
        return 1;
    }
    int error = os->net_info(run.nic, &info);
    struct bench start = bench_start();
    if (error == 0) {
        netflood_fill(&run, info.mac);
        error = netflood_run(&run);
    }
    struct bench took = bench_since(start);
    if (error < 0) {
        print("error: netflood: nic %u after %lu frames: %s\n", run.nic,
              run.sent, os->sys_error(error));
        return 1;
    }
    u64 kpps = took.ns ? run.sent * 1000000 / took.ns : 0;
    print("Frames sent: %lu of %u bytes\nRate: %lu.%03lu Mpps\n", run.sent,
          run.len, kpps / 1000, kpps % 1000);
    result("netflood", "nic=%u length=%u frames=%lu full=%lu " BENCH_FIELDS,
           run.nic, run.len, run.sent, run.full, BENCH_ARGS(took, run.sent));
    return 0;
}
