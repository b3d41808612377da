// irqdies.c - irqdies WAY SOURCE [CPU]: a program ends while its device fires
// without a pause, and is hooked on this core or another.
// SPDX-License-Identifier: MIT
//
// tests/qemu/test_hook_irq.py runs it. What a way leaves running is the
// kernel's to stop.
#include "irq.h"

static struct source *source;
static u32 hook_core;
static u64 *volatile nowhere = (u64 *)8;

// ---- in the hook ----

static void in_fault(void *arg)
{
    irq_count(arg);
    if (source->calls == 20) {
        *nowhere = 1;
    }
}
static void in_exit(void *arg)
{
    irq_count(arg);
    if (source->calls == 20) {
        (void)os->app_exit(7);
    }
}
static void in_spin(void *arg)
{
    irq_count(arg);
    if (source->calls == 20) {
        print("raging\n");
        for (;;) {
        }
    }
}

// ---- outside ----

static void out_fault(void)
{
    *nowhere = 1;
}
static void out_exit(void)
{
    (void)os->app_exit(7);
}
static void out_return(void) {}
static void out_spin(void)
{
    print("raging\n");
    for (;;) {
    }
}
static void out_off(void) // the source fires into a core that does not listen
{
    __asm__ volatile("cli");
    source->raise();
    (void)os->app_exit(7);
}
static void out_print(void)
{
    for (;;) {
        print("raging\n");
    }
}

// ---- later, when the program is gone ----

static void late_factorial(void)
{
    edu_start_factorial(100000000);
}
static void late_dma(void)
{
    void *memory;
    if (os->mem_alloc(4096, MEM_BELOW_4G, &memory) < 0) {
        print("error: no memory\n");
    }
    print("memory at %p\n", memory);
    edu_start_dma((u64)memory);
}

static u64 interrupts(void)
{
    struct cpu_info info;
    os->cpu_info(&info);
    return info.interrupts;
}

// The device of the program before may still work, but not into this one.
static int look(void)
{
    void *memory;
    u64 before = interrupts();
    if (os->mem_alloc(4096, MEM_BELOW_4G, &memory) < 0) {
        print("error: no memory\n");
        return 1;
    }
    memset(memory, 0xAA, 4096);
    irq_spin(400 * MS);
    u32 changed = 0;
    for (u32 i = 0; i < 4096; i++) {
        changed += ((volatile u8 *)memory)[i] != 0xAA;
    }
    print("memory at %p, %u bytes changed, %lu interrupts\n", memory, changed,
          interrupts() - before);
    return 0;
}

static const struct {
    const char *name;
    void (*hook)(void *);
    void (*after)(void);
} ways[] = {
    {"in-fault", in_fault, 0},
    {"in-exit", in_exit, 0},
    {"in-spin", in_spin, 0},
    {"fault", irq_count, out_fault},
    {"exit", irq_count, out_exit},
    {"return", irq_count, out_return},
    {"spin", irq_count, out_spin},
    {"off", irq_count, out_off},
    {"print", irq_count, out_print},
    {"late-factorial", irq_count, late_factorial},
    {"late-dma", irq_count, late_dma},
};

static void (*hook_function)(void *);
static void hook_there(void *unused)
{
    (void)unused;
    (void)irq_hook(source, hook_function);
}

// Core 1 makes it fire; the hook is this core's, or a third's.
static int start(void)
{
    int result = source->open();
    if (result < 0) {
        return result;
    }
    if (hook_core == 0) {
        hook_there(0);
    } else {
        (void)os->cpu_start(hook_core, hook_there, 0);
        (void)os->cpu_wait(hook_core);
    }
    return source->hook < 0 ? source->hook : 0;
}

static int run(u32 way)
{
    hook_function = ways[way].hook;
    int result = start();
    if (result < 0) {
        print("error: irqdies: %s\n", os->sys_error(result));
        return 97;
    }
    if (strncmp(ways[way].name, "late", 4) != 0) {
        (void)os->cpu_start(1, irq_storm, source);
        (void)irq_wait(source, 10);
    }
    if (ways[way].after == 0) {
        irq_spin(20000 * MS);
        return 96; // it did not end in its hook
    }
    ways[way].after();
    return 0;
}

int main(int argc, char **argv)
{
    source = irq_find(argc > 2 ? argv[2] : "edu");
    hook_core = argc > 3 ? (u32)(argv[3][0] - '0') : 0;
    if (argc > 1 && strcmp(argv[1], "look") == 0) {
        return look();
    }
    for (u32 i = 0; argc > 1 && i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (source != 0 && strcmp(argv[1], ways[i].name) == 0) {
            return run(i);
        }
    }
    print("error: irqdies: no such way\n");
    return 98;
}
