// cpuid.c - cpuid [n]: what the CPUID instruction costs. In a virtual machine
// it is the price of a visit to the hypervisor.
// SPDX-License-Identifier: MIT
#include "lib/args.h"
#include "lib/bench.h"
#include "lib/result.h"

static void cpuid_loop(u64 n)
{
    do {
        u32 eax = 0, ebx, ecx = 0, edx;
        __asm__ volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
    } while (--n);
}

int main(int argc, char **argv)
{
    u64 n = 1000000;
    if (args_number(argc, argv, 1, (struct range){1, 1ul << 40}, &n) < 0) {
        return 1;
    }
    struct bench start = bench_start();
    cpuid_loop(n);
    struct bench took = bench_since(start);
    bench_print(took, n);
    result("cpuid", BENCH_FIELDS, BENCH_ARGS(took, n));
    return 0;
}
