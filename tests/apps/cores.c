// cores.c - two cores and NICs: `cores own N`: core i echoes N frames on NIC i;
// `cores share`: both on NIC 0 until a key comes, which is an error, and both
// go on all the same; `cores share info|set|die`: the second one asks about it,
// makes its ring another, or dies in a call. SPDX-License-Identifier: MIT
#include "../../apps/lib/args.h"
#include "../../apps/lib/print.h"
#include "../../apps/lib/result.h"
#include "../../lib/string.h"

enum { CORES = 2, BURST = 32, MAC = 6, KEY_EVERY = 64 };
#define BAD 0xFFFF900000000000ul
#define LIMIT_NS 60000000000ul
#define PAUSE_NS 200000ul

static struct worker {
    u32 nic;
    char what; // the second one does; 0: the same
    u64 most;
    u64 received, sent, refused, busy; // busy: E_BUSY
    int error;
} workers[CORES] __attribute__((aligned(64)));

static u64 end;
static volatile int stop;

static int goes_on(const struct worker *worker)
{
    return !stop && worker->error == 0 && os->time_ns() < end;
}

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
        worker->busy += sent == E_BUSY;
        if (sent > 0) {
            done += (u32)sent;
            worker->sent += (u32)sent;
        } else if ((sent != E_AGAIN && sent != E_BUSY) || !goes_on(worker)) {
            worker->refused++;
            return;
        }
    }
}

static void poll(struct worker *worker)
{
    struct net_frame frames[BURST];
    int n = os->net_rx_burst(worker->nic, frames, BURST);
    worker->busy += n == E_BUSY;
    worker->error = n < 0 && n != E_BUSY ? n : 0;
    for (int i = 0; i < n; i++) {
        swap(&frames[i]);
    }
    if (n > 0) {
        worker->received += (u32)n;
        send(worker, frames, (u32)n);
    }
}

static void work(void *arg)
{
    struct worker *worker = arg;
    while (goes_on(worker) && worker->received < worker->most) {
        poll(worker);
    }
}

static void work_until_key(void *arg)
{
    struct worker *worker = arg;
    char key;
    for (u32 i = 1; goes_on(worker); i++) {
        poll(worker);
        stop |= i % KEY_EVERY == 0 && os->con_read(&key, 1, 0) > 0;
    }
}

// What another core may do to a NIC besides.
static void disturb(void *arg)
{
    struct worker *worker = arg;
    struct net_info info;
    for (u32 i = 0; goes_on(worker); i++) {
        int result = worker->what == 'i' ? os->net_info(worker->nic, &info)
                                         : os->net_set(worker->nic, NET_RX_RING,
                                                       i & 1 ? 64 : 128);
        worker->busy += result == E_BUSY;
        worker->sent += result == 0;
        worker->error = result < 0 && result != E_BUSY ? result : 0;
        u64 next = os->time_ns() + PAUSE_NS;
        while (os->time_ns() < next) {
            __asm__ volatile("pause");
        }
    }
}

// In its calls: a list of frames where nothing can be read.
static void die(void *arg)
{
    struct worker *worker = arg;
    while (goes_on(worker)) {
        (void)os->net_tx_burst(worker->nic, (struct net_frame *)BAD, BURST);
    }
}

static int run(void (*first)(void *), void (*second)(void *))
{
    print("working\n");
    if (os->cpu_start(1, second, &workers[1]) < 0) {
        print("error: no second core\n");
        return 1;
    }
    first(&workers[0]);
    (void)os->cpu_wait(1);
    for (u32 i = 0; i < CORES; i++) {
        const struct worker *worker = &workers[i];
        result("cores",
               "core=%u received=%lu sent=%lu refused=%lu busy=%lu error=%d", i,
               worker->received, worker->sent, worker->refused, worker->busy,
               worker->error);
    }
    return 0;
}

static int share(char what)
{
    workers[0].most = workers[1].most = ~0ul;
    workers[1].what = what;
    return run(work_until_key, what == 'd' ? die : what == 0 ? work : disturb);
}

int main(int argc, char **argv)
{
    end = os->time_ns() + LIMIT_NS;
    if (argc > 1 && strcmp(argv[1], "share") == 0) {
        return share(argc > 2 ? argv[2][0] : 0);
    }
    u64 most = 0;
    if (args_number(argc, argv, 2, (struct range){0, ~0ul}, &most) < 0) {
        return 1;
    }
    workers[0].most = workers[1].most = most;
    workers[1].nic = 1;
    return run(work, work);
}
