// vectors.c - vectors [CPU]: doubles in vector registers that hooks interrupt,
// with a stack that was misaligned, on this core or another.
// SPDX-License-Identifier: MIT
//
// The hook does what the program does, with other numbers, and leaves every
// vector register, MXCSR and the direction flag different.
#include "../../apps/lib/print.h"

enum { N = 56, ROUNDS = 200 };
#define MS 1000000ul
#define MXCSR_START 0x1F80
#define MXCSR_PROGRAM 0x7F80 // another rounding
#define DIRECTION 0x400

static volatile u32 hooks, checks;
static volatile double spoiled;
static int bad, has_avx;

static double work(double seed)
{
    double a[N], b[N], sum = 0; // aligned stores, if the stack is aligned
    for (u32 i = 0; i < N; i++) {
        a[i] = seed + i;
        b[i] = seed * i;
    }
    for (u32 i = 0; i < N; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

// What the ABI promises a function, whatever was interrupted or ran before.
static void check_start(void *arg)
{
    u64 flags;
    u32 mxcsr;
    u8 x87[28]; // FNSTENV: control, status and tags, two bytes of four each
    (void)arg;
    __asm__ volatile("pushfq; popq %0; stmxcsr %1; fnstenv %2"
                     : "=r"(flags), "=m"(mxcsr), "=m"(x87));
    bad |= (flags & DIRECTION) != 0 || mxcsr != MXCSR_START;
    bad |= x87[8] != 0xFF || x87[9] != 0xFF; // all eight are empty
    checks++;
}

static void spoil(void *arg)
{
    static const u32 strange = 0x9FC0; // flush to zero, other rounding
    u64 end = os->time_ns() + 100000;
    check_start(arg);
    while (os->time_ns() < end) { // the other becomes due, and comes next
    }
    spoiled += work(3.25);
    if (has_avx) {
        __asm__ volatile("vpcmpeqd %%ymm0, %%ymm0, %%ymm0;"
                         "vmovdqa %%ymm0, %%ymm7; vmovdqa %%ymm0, %%ymm15"
                         :
                         :
                         : "memory");
    } else {
        __asm__ volatile("pcmpeqd %%xmm0, %%xmm0; movdqa %%xmm0, %%xmm7;"
                         "movdqa %%xmm0, %%xmm15"
                         :
                         :
                         : "memory");
    }
    __asm__ volatile("ldmxcsr %0; fldpi; std" : : "m"(strange));
    hooks++; // and the direction flag stays set
}

// Registers with a value of their own, until another hook has run. 1: all kept.
static int kept_avx(void)
{
    static const u64 in[4] = {0x1111, 0x2222, 0x3333, 0x4444};
    static u64 out[3][4];
    u32 mxcsr = 0, seen = hooks;
    __asm__ volatile("vmovdqu %[in], %%ymm0; vmovdqa %%ymm0, %%ymm7;"
                     "vmovdqa %%ymm0, %%ymm15;"
                     "leaq -136(%%rsp), %%rsp;" // eight off, past the red zone
                     "1: pause; cmpl %[seen], (%[hooks]); je 1b;"
                     "leaq 136(%%rsp), %%rsp;"
                     "vmovdqu %%ymm0, %[a]; vmovdqu %%ymm7, %[b];"
                     "vmovdqu %%ymm15, %[c]; stmxcsr %[mxcsr]"
                     : [a] "=m"(out[0]), [b] "=m"(out[1]), [c] "=m"(out[2]),
                       [mxcsr] "=m"(mxcsr)
                     : [in] "m"(in), [seen] "r"(seen), [hooks] "r"(&hooks)
                     : "xmm0", "xmm7", "xmm15", "cc", "memory");
    for (u32 i = 0; i < 12; i++) {
        bad |= out[i / 4][i % 4] != in[i % 4];
    }
    return mxcsr == MXCSR_PROGRAM;
}

static int kept_sse(void)
{
    static const u64 in[2] = {0x1111, 0x2222};
    static u64 out[3][2];
    u32 mxcsr = 0, seen = hooks;
    __asm__ volatile("movdqu %[in], %%xmm0; movdqa %%xmm0, %%xmm7;"
                     "movdqa %%xmm0, %%xmm15;"
                     "leaq -136(%%rsp), %%rsp;" // eight off, past the red zone
                     "1: pause; cmpl %[seen], (%[hooks]); je 1b;"
                     "leaq 136(%%rsp), %%rsp;"
                     "movdqu %%xmm0, %[a]; movdqu %%xmm7, %[b];"
                     "movdqu %%xmm15, %[c]; stmxcsr %[mxcsr]"
                     : [a] "=m"(out[0]), [b] "=m"(out[1]), [c] "=m"(out[2]),
                       [mxcsr] "=m"(mxcsr)
                     : [in] "m"(in), [seen] "r"(seen), [hooks] "r"(&hooks)
                     : "xmm0", "xmm7", "xmm15", "cc", "memory");
    for (u32 i = 0; i < 6; i++) {
        bad |= out[i / 2][i % 2] != in[i % 2];
    }
    return mxcsr == MXCSR_PROGRAM;
}

static void run(void *arg)
{
    static const u32 mxcsr = MXCSR_PROGRAM;
    (void)arg;
    __asm__ volatile("ldmxcsr %0; fldpi" : : "m"(mxcsr));
    double want = work(1.5);
    int hook = os->hook_timer(MS, MS, spoil, 0);
    int other = os->hook_timer(MS, MS, check_start, 0);
    bad |= hook < 0 || other < 0;
    for (u32 i = 0; i < ROUNDS && !bad && hooks < 40; i++) {
        bad |= !(has_avx ? kept_avx() : kept_sse());
        bad |= work(1.5) != want;
    }
    (void)os->hook_remove((u32)hook);
    (void)os->hook_remove((u32)other);
    bad |= checks <= hooks;
}

int main(int argc, char **argv)
{
    struct cpu_info cpu;
    os->cpu_info(&cpu);
    has_avx = (cpu.xcr0 & 4) != 0;
    if (argc > 1 && argv[1][0] == '1') {
        bad |= os->cpu_start(1, run, 0) < 0 || os->cpu_wait(1) < 0;
    } else {
        run(0);
    }
    print("vectors %s: %s, %u hooks\n", has_avx ? "avx" : "sse",
          bad ? "BAD" : "good", hooks);
    return bad;
}
