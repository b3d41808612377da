// mem.c - mem [MiB] [rounds]: what it costs to allocate, to touch and to free
// memory, for each MiB, in pieces of 4 KiB and of 2 MiB.
// SPDX-License-Identifier: MIT
#include "lib/args.h"
#include "lib/bench.h"
#include "lib/result.h"

enum { MOST_MIB = 65536, MOST_ROUNDS = 1000, MIB = 1 << 20 };

struct mem {
    u64 bytes, piece;
    u32 flags;
    struct bench alloc, touch, free; // sums
};

static void mem_add(struct bench *sum, struct bench start)
{
    struct bench took = bench_since(start);
    sum->ns += took.ns;
    sum->cycles += took.cycles;
}

// Pieces are chained through their first words, which is not counted.
static int mem_allocate(struct mem *mem, void **first)
{
    struct bench start = bench_start();
    for (u64 done = 0; done < mem->bytes; done += mem->piece) {
        void *piece;
        int error = os->mem_alloc(mem->piece, mem->flags, &piece);
        if (error < 0) {
            return error;
        }
        *(void **)piece = *first;
        *first = piece;
    }
    mem_add(&mem->alloc, start);
    return 0;
}

// One store a page of 4 KiB.
static void mem_touch(struct mem *mem, void *first)
{
    struct bench start = bench_start();
    for (u8 *piece = first; piece; piece = *(void **)(void *)piece) {
        for (u64 at = 8; at < mem->piece; at += 4096) {
            *(volatile u64 *)(void *)(piece + at) = at;
        }
    }
    mem_add(&mem->touch, start);
}

static int mem_give(struct mem *mem, void *first)
{
    struct bench start = bench_start();
    while (first) {
        void *next = *(void **)first;
        int error = os->mem_free(first, mem->piece);
        if (error < 0) {
            return error;
        }
        first = next;
    }
    mem_add(&mem->free, start);
    return 0;
}

static int mem_run(struct mem *mem, u64 rounds)
{
    for (u64 i = 0; i < rounds; i++) {
        void *first = 0;
        int error = mem_allocate(mem, &first);
        if (error < 0) {
            return error;
        }
        mem_touch(mem, first);
        error = mem_give(mem, first);
        if (error < 0) {
            return error;
        }
    }
    return 0;
}

static int mem_measure(u64 mib, u64 rounds, u64 piece, u32 flags)
{
    struct mem mem = {.bytes = mib * MIB, .piece = piece, .flags = flags};
    int error = mem_run(&mem, rounds);
    if (error < 0) {
        print("error: mem: %lu MiB in pieces of %lu KiB: %s\n", mib,
              piece / 1024, os->sys_error(error));
        return 1;
    }
    u64 n = mib * rounds;
    u64 alloc = hundredths(mem.alloc.ns, n);
    u64 touch = hundredths(mem.touch.ns, n);
    u64 give = hundredths(mem.free.ns, n);
    print("Pieces of %lu KiB, ns for each MiB: allocate %lu, touch %lu, "
          "free %lu\n",
          piece / 1024, alloc / 100, touch / 100, give / 100);
    result("mem",
           "piece=%lu mib=%lu rounds=%lu alloc_ns=" FIXED " touch_ns=" FIXED
           " free_ns=" FIXED,
           piece, mib, rounds, FIXED_ARGS(alloc), FIXED_ARGS(touch),
           FIXED_ARGS(give));
    return 0;
}

int main(int argc, char **argv)
{
    u64 mib = 16, rounds = 4;
    if (args_number(argc, argv, 1, (struct range){2, MOST_MIB}, &mib) < 0 ||
        args_number(argc, argv, 2, (struct range){1, MOST_ROUNDS}, &rounds) <
            0) {
        return 1;
    }
    mib -= mib % 2; // whole pieces of 2 MiB
    return mem_measure(mib, rounds, 4096, 0) ||
           mem_measure(mib, rounds, 2 * MIB, MEM_2M);
}
