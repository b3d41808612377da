// cores.c - two cores and NICs: `cores own N`: core i echoes N frames on NIC i;
// `cores share N`: both at NIC 0, which is an error that must harm nothing
// else. SPDX-License-Identifier: MIT
#include "../../apps/lib/args.h"
#include "../../apps/lib/print.h"
#include "../../apps/lib/result.h"
#include "../../lib/string.h"

enum { CORES = 2, BURST = 32, MAC = 6 };
#define LIMIT_NS 60000000000ul // own; share: a twentieth

static struct worker {
    u32 nic;
    u64 end, most;
    u64 received, sent, refused;
    int error;
} workers[CORES] __attribute__((aligned(64)));

static void swap(const struct net_frame *frame)
{
    u8 *bytes = frame->data;
    for (u32 i = 0; i < MAC; i++) {
        u8 byte = bytes[i];
        bytes[i] = bytes[i + MAC];
        bytes[i + MAC] = byte;
    }
}

static void send(struct worker *worker, const struct net_frame *frames, u32 n)
{
    for (u32 done = 0; done < n;) {
        int sent = os->net_tx_burst(worker->nic, frames + done, n - done);
        if (sent > 0) {
            done += (u32)sent;
            worker->sent += (u32)sent;
        } else if (sent != E_AGAIN || os->time_ns() >= worker->end) {
            worker->refused++;
            return;
        }
    }
}

static void work(void *arg)
{
    struct worker *worker = arg;
    struct net_frame frames[BURST];
    while (os->time_ns() < worker->end && worker->error == 0 &&
           worker->received < worker->most) {
        int n = os->net_rx_burst(worker->nic, frames, BURST);
        worker->error = n < 0 ? n : 0;
        for (int i = 0; i < n; i++) {
            swap(&frames[i]);
        }
        if (n > 0) {
            worker->received += (u32)n;
            send(worker, frames, (u32)n);
        }
    }
}

int main(int argc, char **argv)
{
    int share = argc > 1 && strcmp(argv[1], "share") == 0;
    u64 most = 0, end = os->time_ns() + LIMIT_NS / (share ? 20 : 1);
    if (args_number(argc, argv, 2, (struct range){0, ~0ul}, &most) < 0) {
        return 1;
    }
    for (u32 i = 0; i < CORES; i++) {
        workers[i] =
            (struct worker){.nic = share ? 0 : i, .end = end, .most = most};
    }
    print("working\n");
    if (os->cpu_start(1, work, &workers[1]) < 0) {
        print("error: no second core\n");
        return 1;
    }
    work(&workers[0]);
    (void)os->cpu_wait(1);
    for (u32 i = 0; i < CORES; i++) {
        const struct worker *worker = &workers[i];
        result("cores", "core=%u received=%lu sent=%lu refused=%lu error=%d", i,
               worker->received, worker->sent, worker->refused, worker->error);
    }
    return 0;
}
