// netpoll.c - what it costs to look whether a frame has come.
// SPDX-License-Identifier: MIT
//
// netpoll [nic] [n] [--inline]   poll n times (a million)
// netpoll [nic] [n] --burst N    the same, taking up to N frames at a time
// netpoll [nic] --frames N       poll until N frames have come, or 10 seconds
// netpoll [nic] --seconds S      poll for S seconds, or until --frames
//
// What was in the ring before is drained first and not counted. --inline
// looks at the NIC's poll word itself and calls only when there is a frame.
#include "lib/bench.h"
#include "lib/options.h"
#include "lib/result.h"

#define USAGE                                                                  \
    "netpoll [nic] [n] [--inline | --burst N] [--frames N] [--seconds S]"

enum { BATCH = 1000 }; // polls between two looks at the clock
enum { MOST_BURST = 256 };

struct netpoll {
    u32 nic;
    int is_inline;
    u64 burst;         // frames taken at a time, 0: by net_rx
    u64 polls;         // still to do
    u64 max_frames;    // stop there
    u64 max_ns;        // 0: polls decide
    u64 frames, bytes; // received
    int error;         // E_* when the NIC went away
};

// Count a frame. Returns 1 when that was the last one wanted.
static int netpoll_count(struct netpoll *run, const struct net_frame *frame)
{
    run->bytes += frame->len;
    return ++run->frames == run->max_frames;
}

static int netpoll_done(const struct netpoll *run)
{
    return run->error || (run->max_frames && run->frames >= run->max_frames);
}

// Both loops poll n times, or until the last frame wanted or an error, and
// return how many polls were left then.
__attribute__((noinline, aligned(64))) static u64
netpoll_call(struct netpoll *run, u64 n)
{
    struct net_frame frame;
    u32 nic = run->nic;
    do {
        int got = os->net_rx(nic, &frame);
        if (__builtin_expect(got != 0, 0)) {
            run->error = got < 0 ? got : 0;
            if (got < 0 || netpoll_count(run, &frame)) {
                return n - 1;
            }
        }
    } while (--n);
    return 0;
}

// The same, a burst of frames at a time.
__attribute__((noinline, aligned(64))) static u64
netpoll_burst(struct netpoll *run, u64 n)
{
    static struct net_frame frames[MOST_BURST];
    u32 nic = run->nic, burst = (u32)run->burst;
    do {
        int got = os->net_rx_burst(nic, frames, burst);
        for (int i = 0; i < got; i++) {
            (void)netpoll_count(run, &frames[i]);
        }
        run->error = got < 0 ? got : 0;
        if (netpoll_done(run)) {
            return n - 1;
        }
    } while (--n);
    return 0;
}

// Look at the poll word n times, or until a frame is there. Returns what is
// left of n then.
__attribute__((noinline, aligned(64))) static u64
netpoll_wait(const struct net_poll *poll, u64 n)
{
    const volatile u32 *word = poll->word;
    u32 mask = poll->mask, idle = poll->idle;
    do {
        if ((*word & mask) != idle) {
            break;
        }
    } while (--n);
    return n;
}

static u64 netpoll_inline(struct netpoll *run, u64 n)
{
    const struct net_poll *poll = os->net_poll(run->nic);
    while (n && !netpoll_done(run)) {
        n = netpoll_wait(poll, n);
        if (n) {
            (void)netpoll_call(run, 1); // this changes the poll word
            n--;
        }
    }
    return n;
}

static u64 netpoll_some(struct netpoll *run, u64 n)
{
    if (run->is_inline) {
        return n - netpoll_inline(run, n);
    }
    return n - (run->burst ? netpoll_burst(run, n) : netpoll_call(run, n));
}

// Returns how often it polled.
static u64 netpoll_run(struct netpoll *run)
{
    if (run->max_ns == 0) {
        return netpoll_some(run, run->polls);
    }
    u64 end = os->time_ns() + run->max_ns, polls = 0;
    while (!netpoll_done(run) && os->time_ns() < end) {
        polls += netpoll_some(run, BATCH);
    }
    return polls;
}

// Empty the ring, once round: under a flood it never stays empty.
static void netpoll_drain(u32 nic, u32 ring)
{
    struct net_frame frame;
    for (u32 i = 0; i < ring && os->net_rx(nic, &frame) == 1; i++) {
    }
}

static int netpoll_arguments(int argc, char **argv, struct netpoll *run)
{
    u64 nic = 0, seconds = 0;
    *run = (struct netpoll){.polls = 1000000};
    run->is_inline = option_flag(&argc, argv, "--inline");
    if (option_number(&argc, argv, "--burst", MOST_BURST, &run->burst) < 0 ||
        option_number(&argc, argv, "--frames", ~0ul, &run->max_frames) < 0 ||
        option_number(&argc, argv, "--seconds", 1000000, &seconds) < 0 ||
        option_end(argc, argv, 2, USAGE) < 0 ||
        args_number(argc, argv, 1, (struct range){0, NET_MAX_NICS - 1}, &nic) <
            0 ||
        args_number(argc, argv, 2, (struct range){1, 1ul << 40}, &run->polls) <
            0) {
        return E_ARG;
    }
    if (run->max_frames && !seconds) {
        seconds = 10;
    }
    run->nic = (u32)nic;
    run->max_ns = seconds * 1000000000;
    return 0;
}

static const char *netpoll_mode(const struct netpoll *run)
{
    return run->is_inline ? "inline" : run->burst ? "burst" : "call";
}

static void netpoll_report(const struct netpoll *run, struct bench took,
                           u64 polls, const struct net_info *before)
{
    struct net_info now;
    if (os->net_info(run->nic, &now) < 0) {
        now = *before;
    }
    u64 dropped = now.rx_dropped - before->rx_dropped;
    u64 missed = now.rx_missed - before->rx_missed;
    bench_print(took, polls);
    print("Frames received: %lu\nBytes received: %lu\n"
          "Frames dropped: %lu\nFrames missed: %lu\n",
          run->frames, run->bytes, dropped, missed);
    result("netpoll",
           "nic=%u " BENCH_FIELDS " frames=%lu bytes=%lu dropped=%lu "
           "missed=%lu mode=%s",
           run->nic, BENCH_ARGS(took, polls), run->frames, run->bytes, dropped,
           missed, netpoll_mode(run));
}

static int netpoll_fail(u32 nic, int error)
{
    print("error: netpoll: nic %u: %s\n", nic, os->sys_error(error));
    return 1;
}

int main(int argc, char **argv)
{
    struct netpoll run;
    struct net_info info;
    if (netpoll_arguments(argc, argv, &run) < 0) {
        return 1;
    }
    int error = os->net_info(run.nic, &info);
    if (error < 0) {
        return netpoll_fail(run.nic, error);
    }
    netpoll_drain(run.nic, info.rx_ring);
    (void)os->net_info(run.nic, &info);
    print("Polling nic %u (%s)\n", run.nic, info.driver);
    struct bench start = bench_start();
    u64 polls = netpoll_run(&run);
    struct bench took = bench_since(start);
    if (run.error) {
        return netpoll_fail(run.nic, run.error);
    }
    netpoll_report(&run, took, polls, &info);
    return 0;
}
