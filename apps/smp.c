// smp.c - smp [n]: what it costs to start a function on other cores and to wait
// for them.
// SPDX-License-Identifier: MIT
#include "lib/args.h"
#include "lib/bench.h"
#include "lib/result.h"

enum { ROUNDS = 1000, MOST = 255 };

static volatile u32 answers[MOST + 1][16]; // a line for each core

static void work(void *arg)
{
    (*(volatile u32 *)arg)++;
}

// Start n workers, wait for all of them.
__attribute__((noinline, aligned(64))) static int smp_round(u32 n)
{
    for (u32 cpu = 1; cpu <= n; cpu++) {
        int result = os->cpu_start(cpu, work, (void *)(u64)answers[cpu]);
        if (result < 0) {
            return result;
        }
    }
    for (u32 cpu = 1; cpu <= n; cpu++) {
        int result = os->cpu_wait(cpu);
        if (result < 0) {
            return result;
        }
    }
    return 0;
}

static int smp_fail(const char *what)
{
    print("error: smp: %s\n", what);
    return 1;
}

int main(int argc, char **argv)
{
    u64 cores = (u64)os->cpu_count() - 1;
    u64 n = cores > 4 ? 4 : cores;
    if (args_number(argc, argv, 1, (struct range){1, MOST}, &n) < 0) {
        return 1;
    }
    if (n > cores || n == 0) {
        print("error: smp: not that many other cores: there are %lu\n", cores);
        return 1;
    }
    struct bench start = bench_start();
    for (u32 i = 0; i < ROUNDS; i++) {
        int result = smp_round((u32)n);
        if (result < 0) {
            return smp_fail(os->sys_error(result));
        }
    }
    struct bench took = bench_since(start);
    for (u32 cpu = 1; cpu <= n; cpu++) {
        if (answers[cpu][0] != ROUNDS) {
            return smp_fail("a worker ran too often or not at all");
        }
    }
    print("Workers: %lu\n", n);
    bench_print(took, ROUNDS);
    result("smp", "workers=%lu " BENCH_FIELDS, n, BENCH_ARGS(took, ROUNDS));
    return 0;
}
