// callcost.c - callcost [n]: what a call through the table costs when it does
// nothing.
// SPDX-License-Identifier: MIT
#include "lib/args.h"
#include "lib/bench.h"
#include "lib/result.h"

__attribute__((noinline, aligned(64))) static void callcost_loop(u64 n)
{
    do {
        (void)os->sys_null();
    } while (--n);
}

int main(int argc, char **argv)
{
    u64 n = 1000000;
    if (args_number(argc, argv, 1, (struct range){1, 1ul << 40}, &n) < 0) {
        return 1;
    }
    struct bench start = bench_start();
    callcost_loop(n);
    struct bench took = bench_since(start);
    bench_print(took, n);
    result("callcost", BENCH_FIELDS, BENCH_ARGS(took, n));
    return 0;
}
