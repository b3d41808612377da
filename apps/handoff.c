// handoff.c - handoff [n]: a word passed to another core and back, n times.
// SPDX-License-Identifier: MIT
#include "lib/args.h"
#include "lib/bench.h"
#include "lib/result.h"

static struct {
    __attribute__((aligned(64))) volatile u32 ping;
    __attribute__((aligned(64))) volatile u32 pong;
    u64 n;
} handoff;

static void wait_for(const volatile u32 *word, u32 value)
{
    while (*word != value) {
        __asm__ volatile("pause");
    }
}

static void answer(void *arg)
{
    (void)arg;
    for (u32 i = 1; i <= handoff.n; i++) {
        wait_for(&handoff.ping, i);
        handoff.pong = i;
    }
}

int main(int argc, char **argv)
{
    handoff.n = 10000;
    if (args_number(argc, argv, 1, (struct range){1, 1u << 31}, &handoff.n) <
        0) {
        return 1;
    }
    int error = os->cpu_start(1, answer, 0);
    if (error < 0) {
        print("error: handoff: core 1: %s\n", error == E_RANGE
                                                  ? "there is one core only"
                                                  : os->sys_error(error));
        return 1;
    }
    struct bench start = bench_start();
    for (u32 i = 1; i <= handoff.n; i++) {
        handoff.ping = i;
        wait_for(&handoff.pong, i);
    }
    struct bench took = bench_since(start);
    error = os->cpu_wait(1);
    bench_print(took, handoff.n);
    result("handoff", BENCH_FIELDS, BENCH_ARGS(took, handoff.n));
    return error < 0;
}
