// hooks.c - hooks WHAT: the functions that a program has called by interrupt.
// SPDX-License-Identifier: MIT
//
// tests/qemu/test_hooks.py runs it. Each line "ok ..." is something that held;
// "BAD ..." is something that did not.
#include "../../apps/lib/print.h"
#include "../../lib/string.h"

#define MS 1000000ul

static volatile u32 calls;
static volatile u64 last_ns;
static volatile int last_cpu = -1, own_hook = -1;
static int bad;

static void check(int good, const char *what)
{
    print("%s %s\n", good ? "ok" : "BAD", what);
    bad |= !good;
}

static void count(void *arg)
{
    (void)arg;
    last_ns = os->time_ns();
    last_cpu = os->cpu_id();
    calls++;
}

static int wait_calls(u32 n)
{
    u64 limit = os->time_ns() + 20000 * MS;
    while (calls < n && os->time_ns() < limit) {
        __asm__ volatile("pause");
    }
    return calls >= n;
}

static void spin(u64 ns)
{
    u64 end = os->time_ns() + ns;
    while (os->time_ns() < end) {
        __asm__ volatile("pause");
    }
}

static u64 interrupts(void)
{
    struct cpu_info info;
    os->cpu_info(&info);
    return info.interrupts;
}

static void once(void)
{
    u64 start = os->time_ns();
    int hook = os->hook_timer(5 * MS, 0, count, 0);
    check(hook >= 0, "a hook's number");
    check(wait_calls(1), "it came");
    check(last_ns - start >= 5 * MS, "not early");
    check(last_cpu == 0, "on this core");
    spin(20 * MS);
    check(calls == 1, "once");
    check(os->hook_remove((u32)hook) == E_RANGE, "gone by itself");
    check(os->hook_timer(0, 0, count, 0) >= 0 && wait_calls(2), "at once");
    hook = os->hook_timer(5 * MS, 0, count, 0);
    check(os->hook_remove((u32)hook) == 0, "removed");
    u64 before = interrupts();
    spin(20 * MS);
    check(interrupts() == before, "its interrupt with it");
}

static void periodic(void)
{
    u64 start = os->time_ns();
    int hook = os->hook_timer(MS, 2 * MS, count, 0);
    check(hook >= 0 && wait_calls(10), "ten times");
    u64 took = last_ns - start;
    check(took >= 19 * MS, "not early");
    check(calls <= took / (2 * MS) + 1, "not too often");
    check(os->hook_remove((u32)hook) == 0, "removed");
    u32 seen = calls;
    spin(10 * MS);
    check(calls == seen, "no more");
    check(os->hook_remove((u32)hook) == E_RANGE, "removed once");
}

static void remove_own(void *arg)
{
    if (own_hook < 0) {
        return; // it came before its number
    }
    count(arg);
    check(os->hook_remove((u32)own_hook) == 0, "removed from the inside");
}

static void inside(void)
{
    own_hook = os->hook_timer(3 * MS, MS, remove_own, 0);
    check(wait_calls(1), "it came");
    spin(10 * MS);
    check(calls == 1, "once");
}

static void count_aloud(void *arg)
{
    count(arg);
    if (calls == 3) {
        print("three\n");
    }
}

// While the program is inside calls, which a hook must not cut in two.
static void in_calls(void)
{
    static u8 block[16];
    void *memory;
    int hook = os->hook_timer(MS, MS, count, 0);
    u64 limit = os->time_ns() + 20000 * MS;
    while (calls < 5 && os->time_ns() < limit) {
        if (os->mem_alloc(1 << 20, MEM_ZERO, &memory) == 0) {
            (void)os->mem_free(memory, 1 << 20);
        }
    }
    check(calls >= 5, "between allocations");
    calls = 0;
    (void)os->con_read(block, sizeof(block), 50 * MS);
    check(calls >= 2, "in con_read with a limit");
    (void)os->hook_remove((u32)hook);
    calls = 0;
    hook = os->hook_timer(MS, MS, count_aloud, 0);
    (void)os->con_read(block, sizeof(block), -1); // typed after the third
    check(calls >= 3, "in con_read without");
    (void)os->hook_remove((u32)hook);
}

// A call that takes many periods: the hook comes when it has returned. A host
// that is busy elsewhere makes room for more before and after, but not always.
static void no_cut(void)
{
    void *memory;
    u64 bytes = 16 << 20, least = ~0ul, took = 0;
    (void)os->hook_timer(MS / 10, MS / 10, count, 0);
    for (u32 i = 0; i < 5; i++) {
        u64 start = os->time_ns();
        u32 before = calls;
        int result = os->mem_alloc(bytes, MEM_ZERO, &memory);
        u64 more = calls - before, ns = os->time_ns() - start;
        took = ns > took ? ns : took;
        least = more < least ? more : least;
        bad |= result < 0 || os->mem_free(memory, bytes) < 0;
    }
    print("%lu calls in %lu ns\n", least, took);
    check(took > 10 * MS / 10, "a long call");
    check(least <= 3, "a hook before and after it");
}

static void allocate(void *arg)
{
    void *memory;
    count(arg);
    if (os->mem_alloc(4096, 0, &memory) == 0 &&
        os->mem_free(memory, 4096) == 0) {
        return;
    }
    calls = 1000;
}

static void reenter(void)
{
    int hook = os->hook_timer(1, 20000, allocate, 0);
    u64 limit = os->time_ns() + 20000 * MS;
    while (calls < 50 && os->time_ns() < limit) {
        allocate(0);
        calls--;
        print(".");
    }
    check(calls >= 50 && calls < 1000, "the same calls inside and outside");
    (void)os->hook_remove((u32)hook);
}

static volatile int worker_hook;

static void hook_there(void *arg)
{
    (void)arg;
    worker_hook = os->hook_timer(2 * MS, 2 * MS, count, 0);
}

static void hook_and_stay(void *arg)
{
    hook_there(arg);
    wait_calls(20);
}

static void cores(void)
{
    check(os->cpu_start(1, hook_there, 0) == 0, "sent");
    (void)os->cpu_wait(1);
    check(wait_calls(3), "on a core that idles");
    check(last_cpu == 1, "on that core");
    check(os->hook_remove((u32)worker_hook) == 0, "removed from here");
    spin(10 * MS);
    calls = 0;
    check(os->cpu_start(1, hook_and_stay, 0) == 0, "again");
    (void)os->cpu_wait(1);
    check(calls >= 20, "on a core that works");
    check(os->hook_timer(10000 * MS, 0, count, 0) >= 0, "left behind");
    check(os->cpu_start(1, hook_there, 0) == 0, "left behind there");
    (void)os->cpu_wait(1);
}

static void hook_later(void *arg)
{
    (void)os->hook_timer(200 * MS, MS, count, arg);
}
// Timers that would come when the program has ended, on both cores.
static void left(void)
{
    check(os->cpu_start(1, hook_later, 0) == 0, "sent");
    (void)os->cpu_wait(1);
    hook_later(0);
}

static void many(void)
{
    int n = 0, hook, first = -1, doubled = 0;
    while ((hook = os->hook_timer(100000 * MS, 0, count, 0)) >= 0 && n < 1000) {
        doubled |= hook == first;
        first = n == 0 ? hook : first;
        n++;
    }
    check(hook == E_NOMEM && n == 32, "32 and no more");
    check(!doubled, "numbers of their own");
    check(os->hook_remove((u32)first) == 0, "one removed");
    hook = os->hook_timer(MS, 0, count, 0);
    check(hook >= 0 && hook != first, "room for another");
    check(wait_calls(1), "which comes");
}

static void arguments(void)
{
    check(os->hook_timer(1, 1, 0, 0) == E_ARG, "timer: null");
    check(os->hook_net(0, 0, 0) == E_ARG, "net: null");
    check(os->hook_net(99, count, 0) == E_NODEV, "net: none");
    check(os->hook_net(~0u, count, 0) == E_NODEV, "net: -1");
    check(os->hook_irq(0, 0, 0, 0) == E_ARG, "irq: null");
    check(os->hook_irq(~0u, 0, count, 0) == E_RANGE, "irq: no function");
    check(os->hook_irq(0, 0, count, 0) == E_UNSUPPORTED, "irq: a bridge");
    check(os->hook_remove(0) == E_RANGE, "remove: none");
    check(os->hook_remove(~0u) == E_RANGE, "remove: -1");
    check(os->hook_timer(~0ul, ~0ul, count, 0) >= 0, "timer: never");
    spin(5 * MS);
    check(calls == 0, "never");
}

// Without a pause in between: the program hardly runs, but it can be stopped.
static void storm(void)
{
    print("raging\n");
    (void)os->hook_timer(0, 1, count, 0);
    for (;;) {
    }
}

static void spin_inside(void *arg)
{
    print("spinning\n");
    for (;;) {
        (void)arg;
    }
}
static void hook_spin(void)
{
    (void)os->hook_timer(MS, 0, spin_inside, 0);
    spin(1000000 * MS);
}

static void fault_inside(void *arg)
{
    *(volatile u64 *)arg = 1;
}
static void hook_fault(void)
{
    (void)os->hook_timer(MS, 0, fault_inside, (void *)8);
    spin(1000000 * MS);
}
static void hook_wild(void)
{
    void (*nowhere)(void *) = (void (*)(void *))0xFFFF900000000000ul;
    (void)os->hook_timer(MS, 0, nowhere, 0);
    spin(1000000 * MS);
}

static void exit_inside(void *arg)
{
    (void)arg;
    (void)os->app_exit(7);
}
static void hook_exit(void)
{
    (void)os->hook_timer(MS, 0, exit_inside, 0);
    spin(1000000 * MS);
}

static void recurse_inside(void *arg)
{
    volatile u8 room[64];
    room[0] = 1;
    if (arg != &bad) {
        recurse_inside((u8 *)arg + 2);
    }
    room[1] = room[0];
}
static void hook_overflow(void)
{
    (void)os->hook_timer(MS, 0, recurse_inside, 0);
    spin(1000000 * MS);
}

static void wait_inside(void *arg)
{
    char byte;
    (void)arg;
    print("waiting\n");
    (void)os->con_read(&byte, 1, -1);
}
static void hook_wait(void)
{
    (void)os->hook_timer(MS, 0, wait_inside, 0);
    spin(1000000 * MS);
}

// On another core: the hook of one that idles, or of one that works.
static void fault_there(void *arg)
{
    (void)os->hook_timer(MS, 0, fault_inside, arg);
}
static void hook_fault_idle(void)
{
    (void)os->cpu_start(1, fault_there, (void *)8);
    spin(1000000 * MS);
}
static void spin_there(void *arg)
{
    (void)os->hook_timer(MS, 0, spin_inside, arg);
}
static void hook_spin_idle(void)
{
    (void)os->cpu_start(1, spin_there, 0);
    spin(1000000 * MS);
}

static const struct {
    const char *name;
    void (*run)(void);
} tests[] = {
    {"once", once},
    {"periodic", periodic},
    {"inside", inside},
    {"in-calls", in_calls},
    {"reenter", reenter},
    {"cores", cores},
    {"no-cut", no_cut},
    {"left", left},
    {"many", many},
    {"arguments", arguments},
    {"storm", storm},
    {"spin", hook_spin},
    {"fault", hook_fault},
    {"wild", hook_wild},
    {"exit", hook_exit},
    {"overflow", hook_overflow},
    {"wait", hook_wait},
    {"fault-idle", hook_fault_idle},
    {"spin-idle", hook_spin_idle},
};

int main(int argc, char **argv)
{
    for (u32 i = 0; argc > 1 && i < sizeof(tests) / sizeof(tests[0]); i++) {
        if (strcmp(argv[1], tests[i].name) == 0) {
            tests[i].run();
            print("hooks %s: %s\n", argv[1], bad ? "BAD" : "good");
            return bad;
        }
    }
    print("error: hooks: no such test\n");
    return 98;
}
