// jitter.c - jitter [seconds]: the gaps between successive reads of the TSC,
// which is the noise that the machine itself makes.
// SPDX-License-Identifier: MIT
#include "lib/args.h"
#include "lib/bench.h"
#include "lib/result.h"

enum { BUCKETS = 40 }; // gap of 2^n .. 2^(n+1) - 1 cycles

static u64 rdtsc_ordered(void)
{
    u32 low, high;
    __asm__ volatile("lfence; rdtsc" : "=a"(low), "=d"(high) : : "memory");
    return (u64)high << 32 | low;
}

struct jitter {
    u64 reads, largest;
    u64 buckets[BUCKETS];
};

static void jitter_measure(struct jitter *jitter, u64 cycles)
{
    u64 start = rdtsc_ordered(), last = start;
    do {
        u64 now = rdtsc_ordered(), gap = now - last;
        u32 bucket = 63 - (u32)__builtin_clzl(gap | 1);
        jitter->buckets[bucket < BUCKETS ? bucket : BUCKETS - 1]++;
        jitter->largest = gap > jitter->largest ? gap : jitter->largest;
        jitter->reads++;
        last = now;
    } while (last - start < cycles);
}

static u64 interrupts(void)
{
    struct cpu_info cpu;
    os->cpu_info(&cpu);
    return cpu.interrupts;
}

int main(int argc, char **argv)
{
    static struct jitter jitter;
    struct time_info clock;
    u64 seconds = 1;
    if (args_number(argc, argv, 1, (struct range){1, 3600}, &seconds) < 0) {
        return 1;
    }
    os->time_info(&clock);
    if (clock.tsc_hz == 0) {
        print("error: jitter: this machine has no clock\n");
        return 1;
    }
    u64 before = interrupts();
    jitter_measure(&jitter, seconds * clock.tsc_hz);
    u64 taken = interrupts() - before;
    print("Gap of at least  Times\n");
    for (u32 i = 0; i < BUCKETS; i++) {
        if (jitter.buckets[i] != 0) {
            print("%8lu cycles  %lu\n", 1ul << i, jitter.buckets[i]);
        }
    }
    u64 ns = jitter.largest * 1000 / (clock.tsc_hz / 1000000); // of MHz
    print("Largest: %lu ns\nInterrupts: %lu\n", ns, taken);
    result("jitter", "seconds=%lu reads=%lu largest_ns=%lu interrupts=%lu",
           seconds, jitter.reads, ns, taken);
    return 0;
}
