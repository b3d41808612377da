// irq.h - what interrupts when it is told to, and hooks that count it.
// SPDX-License-Identifier: MIT
#pragma once
#include "../../apps/lib/print.h"
#include "../../lib/string.h"
#include "ports.h"
#include "edu.h"

#define MS 1000000ul

struct source {
    const char *name;
    u32 entry;
    int (*open)(void);
    void (*raise)(void);
    void (*ack)(void); // or null
    const u32 *index;
    volatile u32 calls;
    volatile int cpu; // where the latest one ran
    int hook;
};

static u32 edu_causes; // of the latest interrupt
static void irq_ack_edu(void)
{
    edu_causes = edu_ack();
}
static void irq_raise_0(void)
{
    ports_raise(0);
}
static void irq_raise_1(void)
{
    ports_raise(1);
}
static int irq_open_nothing(void)
{
    return 0;
}

static struct source sources[] = {
    {"edu", 0, edu_open, edu_raise, irq_ack_edu, &edu.index, 0, -1, -1},
    {"ports", 1, ports_open, irq_raise_0, 0, &ports.index, 0, -1, -1},
    {"ports2", 2, irq_open_nothing, irq_raise_1, 0, &ports.index, 0, -1, -1},
};
#define EDU (&sources[0])
#define PORTS (&sources[1])
#define PORTS2 (&sources[2])

static void irq_count(void *arg)
{
    struct source *source = arg;
    if (source->ack != 0) {
        source->ack();
    }
    source->cpu = os->cpu_id();
    source->calls++;
}

static int irq_hook(struct source *source, void (*fn)(void *))
{
    source->hook = os->hook_irq(*source->index, source->entry, fn, source);
    return source->hook;
}
static struct source *irq_find(const char *name)
{
    for (u32 i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        if (strcmp(name, sources[i].name) == 0) {
            return &sources[i];
        }
    }
    return 0;
}

static void irq_spin(u64 ns)
{
    u64 end = os->time_ns() + ns;
    while (os->time_ns() < end) {
        __asm__ volatile("pause");
    }
}

static int irq_wait(const struct source *source, u32 calls)
{
    u64 limit = os->time_ns() + 20000 * MS;
    while (source->calls < calls && os->time_ns() < limit) {
        __asm__ volatile("pause");
    }
    return source->calls >= calls;
}

// For cpu_start(): without an end, and as fast as the device takes them.
static void irq_storm(void *arg)
{
    const struct source *source = arg;
    for (;;) {
        source->raise();
    }
}
