// irqhooks.c - irqhooks WHAT [SOURCE]: a program that drives devices by
// interrupt: MSI (QEMU's edu), MSI-X (virtio's serial ports).
// SPDX-License-Identifier: MIT
//
// tests/qemu/test_hook_irq.py runs it. "ok ..." held, "BAD ..." did not.
#include "irq.h"

enum { COUNT = 200 };

static int bad;

static void check(int good, const char *what)
{
    print("%s %s\n", good ? "ok" : "BAD", what);
    bad |= !good;
}

// Opened, hooked, and what was left from before is over.
static void begin(struct source *source)
{
    int result = source->open();
    check(result == 0, result < 0 ? os->sys_error(result) : "opened");
    result = irq_hook(source, irq_count);
    check(result >= 0, result < 0 ? os->sys_error(result) : "hooked");
}

// Device interrupts since boot, of all cores.
static u64 interrupts(void)
{
    struct cpu_info info;
    os->cpu_info(&info);
    return info.interrupts;
}

static int raise_each(struct source *source, u32 n)
{
    for (u32 i = 0; i < n; i++) {
        u32 seen = source->calls;
        source->raise();
        if (!irq_wait(source, seen + 1)) {
            return 0;
        }
    }
    return 1;
}

// The machine was quiet, and each interrupt is one call.
static void count(struct source *source)
{
    u64 before = interrupts();
    irq_spin(20 * MS);
    check(interrupts() == before, "quiet before");
    begin(source);
    before = interrupts();
    check(raise_each(source, COUNT), "each came");
    check(source->calls == COUNT, "as many calls");
    check(interrupts() - before == COUNT, "as many interrupts");
    check(source->cpu == 0, "on this core");
    check(os->hook_remove((u32)source->hook) == 0, "removed");
    source->raise();
    irq_spin(5 * MS);
    check(source->calls == COUNT, "no call");
    check(interrupts() - before == COUNT, "no interrupt");
}

// What a device is for: it works, and says when it is done.
static void factorial(struct source *source)
{
    begin(source);
    edu_start_factorial(5);
    check(irq_wait(source, 1), "done");
    check(device_read32(edu.regs + EDU_FACTORIAL) == 120, "5! = 120");
    check(edu_causes == CAUSE_FACTORIAL, "its cause");
    void *memory;
    check(os->mem_alloc(4096, MEM_BELOW_4G, &memory) == 0, "memory");
    memset(memory, 0x55, 4096);
    edu_start_dma((u64)memory);
    check(irq_wait(source, 2), "moved");
    check(edu_causes == CAUSE_DMA && *(u8 *)memory == 0, "from the device");
}

// ---- several messages at a time ----

static void raise_twenty(void *arg)
{
    struct source *source = arg;
    irq_count(arg);
    for (u32 i = 0; i < 20 && source->calls == 1; i++) {
        source->raise();
    }
}

// While its function runs, or interrupts are off, they are one call; where
// there is no mask the third has to wait, and is one more.
static void merged(struct source *source)
{
    u32 more = source == EDU;
    begin(source);
    __asm__ volatile("cli");
    source->raise();
    source->raise();
    __asm__ volatile("sti");
    check(irq_wait(source, 1), "it came");
    irq_spin(5 * MS);
    check(source->calls <= 2 - more, "two are one or two");
    (void)os->hook_remove((u32)source->hook);
    source->calls = 0;
    check(irq_hook(source, raise_twenty) >= 0, "hooked");
    u64 before = interrupts();
    source->raise();
    check(irq_wait(source, 2), "it came again");
    irq_spin(5 * MS);
    check(source->calls <= 2 + more, "once more for twenty");
    check(interrupts() - before <= 2 + 2 * more, "and as few interrupts");
}

// ---- several hooks ----

static void hook_there(void *arg)
{
    struct source *source = arg;
    (void)irq_hook(source, irq_count);
}
static void raise_there(void *arg)
{
    check(raise_each(arg, COUNT), "each came there");
}

static void together(struct source *unused)
{
    (void)unused;
    begin(EDU);
    begin(PORTS);
    check(os->cpu_start(1, hook_there, PORTS2) == 0, "sent");
    (void)os->cpu_wait(1);
    check(PORTS2->hook >= 0, "hooked there");
    check(os->cpu_start(1, raise_there, PORTS) == 0, "raised there");
    check(raise_each(EDU, COUNT), "each came");
    check(raise_each(PORTS2, COUNT), "each came to a core that idles");
    (void)os->cpu_wait(1);
    check(EDU->calls == COUNT && EDU->cpu == 0, "edu");
    check(PORTS->calls == COUNT && PORTS->cpu == 0, "ports");
    check(PORTS2->calls == COUNT && PORTS2->cpu == 1, "ports2");
}

static void refused(struct source *source)
{
    begin(EDU);
    begin(PORTS);
    int none = device_find(0x1B36, 0x0005, 0); // pci-testdev
    int nic = device_find(0x1AF4, 0x1000, 0);
    check(none >= 0 && nic >= 0, "found");
    check(os->hook_irq(edu.index, 0, irq_count, source) == E_BUSY, "second");
    check(os->hook_irq(edu.index, 1, irq_count, source) == E_RANGE, "MSI 1");
    check(os->hook_irq(ports.index, 1, irq_count, source) == E_BUSY, "again");
    check(os->hook_irq(ports.index, 999, irq_count, source) == E_RANGE,
          "past the table");
    check(os->hook_irq((u32)none, 0, irq_count, source) == E_UNSUPPORTED,
          "no messages");
    check(os->hook_irq((u32)nic, 0, irq_count, source) == E_BUSY, "a driver's");
    int hook, last = -1;
    u32 n = 2; // so far
    while ((hook = os->hook_irq(ports.index, n, irq_count, source)) >= 0) {
        last = hook;
        n++;
    }
    check(hook == E_NOMEM && n == 32, "32 and no more");
    check(os->hook_remove((u32)last) == 0, "one removed");
    check(os->hook_irq(ports.index, 60, irq_count, source) >= 0, "another");
    check(raise_each(EDU, 10) && raise_each(PORTS, 10), "still come");
}

// ---- removed ----

static void raise_and_remove(void *arg)
{
    struct source *source = arg;
    irq_count(arg);
    source->raise();
    check(os->hook_remove((u32)source->hook) == 0, "removed from the inside");
}

// Before it is delivered, and in the function itself: then it is never called.
static void removed(struct source *source)
{
    begin(source);
    __asm__ volatile("cli");
    source->raise();
    int result = os->hook_remove((u32)source->hook);
    __asm__ volatile("sti");
    check(result == 0, "removed while it waits");
    irq_spin(5 * MS);
    check(source->calls == 0, "not called");
    irq_hook(source, raise_and_remove);
    u64 before = interrupts();
    source->raise();
    check(irq_wait(source, 1), "it came");
    irq_spin(5 * MS);
    source->raise();
    check(source->calls == 1, "not called again");
    check(interrupts() - before <= 1u + (source == EDU), "nor interrupted");
    check(os->cpu_start(1, irq_storm, source) == 0, "a storm");
    for (u32 i = 0; i < 100 && !bad; i++) {
        u32 calls = source->calls;
        bad |= irq_hook(source, irq_count) < 0 || !irq_wait(source, calls + 2);
        bad |= os->hook_remove((u32)source->hook) != 0;
        calls = source->calls;
        irq_spin(MS / 10);
        bad |= source->calls != calls;
    }
    check(!bad, "removed a hundred times");
    before = interrupts();
    irq_spin(20 * MS);
    check(interrupts() == before, "quiet");
}

// ---- a device that never stops ----

// What is typed arrives, and the program goes on.
static void storm(struct source *source)
{
    char key = 0;
    begin(source);
    print("raging\n");
    check(os->cpu_start(1, irq_storm, source) == 0, "sent");
    while (key != '\r') {
        if (os->con_read(&key, 1, MS) == 1 && key != '\r') {
            print("typed %c\n", key);
        }
    }
    check(irq_wait(source, source->calls + 100), "it comes");
}

static const struct {
    const char *name;
    void (*run)(struct source *source);
} tests[] = {
    {"count", count},       {"factorial", factorial}, {"merged", merged},
    {"together", together}, {"refused", refused},     {"removed", removed},
    {"storm", storm},
};

int main(int argc, char **argv)
{
    struct source *source = irq_find(argc > 2 ? argv[2] : "edu");
    for (u32 i = 0; argc > 1 && i < sizeof(tests) / sizeof(tests[0]); i++) {
        if (source != 0 && strcmp(argv[1], tests[i].name) == 0) {
            tests[i].run(source);
            print("irqhooks %s: %s\n", argv[1], bad ? "BAD" : "good");
            return bad;
        }
    }
    print("error: irqhooks: no such test\n");
    return 98;
}
