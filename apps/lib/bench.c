// bench.c - how long something took, in nanoseconds and in cycles.
// SPDX-License-Identifier: MIT
#include "bench.h"

static u64 bench_tsc(void)
{
    u32 low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
    return (u64)high << 32 | low;
}

struct bench bench_start(void)
{
    u64 ns = os->time_ns();
    return (struct bench){ns, bench_tsc()};
}

struct bench bench_since(struct bench start)
{
    u64 cycles = bench_tsc();
    return (struct bench){os->time_ns() - start.ns, cycles - start.cycles};
}

u64 bench_tenths(u64 a, u64 b)
{
    return (hundredths(a, b) + 5) / 10;
}

void bench_print(struct bench took, u64 n)
{
    print("Iterations: %lu\nAverage: " FIXED " ns (" FIXED " cycles)\n", n,
          FIXED_ARGS(hundredths(took.ns, n)),
          FIXED_ARGS(hundredths(took.cycles, n)));
}
