// bench.h - how long something took, in nanoseconds and in cycles.
// SPDX-License-Identifier: MIT
#pragma once
#include "print.h"

struct bench {
    u64 ns, cycles; // TSC cycles
};

struct bench bench_start(void);
struct bench bench_since(struct bench start);

// The lines people read: "Iterations: N" and "Average: X ns (Y cycles)".
void bench_print(struct bench took, u64 n);

// The same as fields of a RESULT line.
#define BENCH_FIELDS "iterations=%lu ns=" FIXED " cycles=%lu.%lu"
#define BENCH_ARGS(took, n)                                                    \
    (u64)(n), FIXED_ARGS(hundredths((took).ns, (n))),                          \
        bench_tenths((took).cycles, (n)) / 10,                                 \
        bench_tenths((took).cycles, (n)) % 10
u64 bench_tenths(u64 a, u64 b); // a / b in tenths, rounded
