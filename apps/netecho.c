// netecho.c - sends every frame back to where it came from.
// SPDX-License-Identifier: MIT
//
// netecho [nic] [--frames N] [--seconds S]
//
// Ends after N frames or S seconds, 10 when neither is given.
#include "lib/bench.h"
#include "lib/options.h"
#include "lib/result.h"

#define USAGE "netecho [nic] [--frames N] [--seconds S]"

enum { BURST = 32, IDLE_LOOKS = 1000, MAC_BYTES = 6 };
#define LOOK_NS 1000000000ul

struct netecho {
    u32 nic;
    u64 max_frames;
    u64 end_ns;
    u64 looked_ns;     // when the device was last looked at
    u64 frames, bytes; // received
    u64 sent, lost;    // of those
};

static void netecho_swap(const struct net_frame *frame)
{
    u8 *bytes = frame->data; // destination, then source
    for (u32 i = 0; i < MAC_BYTES && 2 * MAC_BYTES <= frame->len; i++) {
        u8 byte = bytes[i];
        bytes[i] = bytes[i + MAC_BYTES];
        bytes[i + MAC_BYTES] = byte;
    }
}

// Send all of them; wait while the ring is full, but not for ever.
static void netecho_send(struct netecho *run, const struct net_frame *frames,
                         u32 n)
{
    for (u32 done = 0; done < n;) {
        int queued = os->net_tx_burst(run->nic, frames + done, n - done);
        if (queued > 0) {
            run->sent += (u32)queued;
            done += (u32)queued;
        } else if (queued != E_AGAIN || os->time_ns() >= run->end_ns) {
            run->lost++; // this one cannot be sent
            done++;
        }
    }
}

// One burst there and back. Returns the frames received, or an error.
static int netecho_burst(struct netecho *run)
{
    struct net_frame frames[BURST];
    u64 wanted = run->max_frames - run->frames;
    u32 room = wanted < BURST ? (u32)wanted : BURST;
    int n = os->net_rx_burst(run->nic, frames, room);
    for (int i = 0; i < n; i++) {
        netecho_swap(&frames[i]);
        run->bytes += frames[i].len;
    }
    if (n > 0) {
        run->frames += (u32)n;
        netecho_send(run, frames, (u32)n);
    }
    return n;
}

// An empty ring looks the same whether the device is there or not: ask, once a
// second.
static int netecho_is_over(struct netecho *run)
{
    struct net_info info;
    u64 now = os->time_ns();
    if (now - run->looked_ns >= LOOK_NS) {
        run->looked_ns = now;
        (void)os->net_info(run->nic, &info); // the next receive tells
    }
    return now >= run->end_ns;
}

static int netecho_run(struct netecho *run)
{
    u32 idle = 0;
    while (run->frames < run->max_frames) {
        int n = netecho_burst(run);
        if (n < 0) {
            return n;
        }
        idle = n ? idle : idle + 1;
        if (idle % IDLE_LOOKS == 0 && netecho_is_over(run)) {
            break;
        }
    }
    return 0;
}

static int netecho_arguments(int argc, char **argv, struct netecho *run)
{
    u64 nic = 0, seconds = 0;
    *run = (struct netecho){.max_frames = ~0ul};
    if (option_number(&argc, argv, "--frames", ~0ul, &run->max_frames) < 0 ||
        option_number(&argc, argv, "--seconds", 1000000, &seconds) < 0 ||
        option_end(argc, argv, 1, USAGE) < 0 ||
        args_number(argc, argv, 1, (struct range){0, NET_MAX_NICS - 1}, &nic) <
            0) {
        return E_ARG;
    }
    run->nic = (u32)nic;
    run->end_ns = os->time_ns() + (seconds ? seconds : 10) * 1000000000;
    return 0;
}

int main(int argc, char **argv)
{
    struct netecho run;
    struct net_info info;
    if (netecho_arguments(argc, argv, &run) < 0) {
        return 1;
    }
    int error = os->net_info(run.nic, &info);
    if (error == 0) {
        print("Echoing on nic %u (%s)\n", run.nic, info.driver);
    }
    struct bench start = bench_start();
    error = error < 0 ? error : netecho_run(&run);
    struct bench took = bench_since(start);
    if (error < 0) {
        print("error: netecho: nic %u: %s\n", run.nic, os->sys_error(error));
        return 1;
    }
    print("Frames echoed: %lu of %lu, %lu lost\nBytes received: %lu\n",
          run.sent, run.frames, run.lost, run.bytes);
    result("netecho", "nic=%u frames=%lu bytes=%lu sent=%lu lost=%lu ns=%lu",
           run.nic, run.frames, run.bytes, run.sent, run.lost, took.ns);
    return run.lost ? 1 : 0;
}
