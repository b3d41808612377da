// together.c - together die|take: all cores do something while the first one
// leaves the program. SPDX-License-Identifier: MIT
#include "../../apps/lib/print.h"

static u32 *volatile bad = (u32 *)0x10;
static volatile int go;

static void __attribute__((noinline)) die(void *arg)
{
    (void)arg;
    while (!go) {
    }
    *bad = 0;
}

static void take(void *arg)
{
    void *memory;
    (void)arg;
    for (;;) {
        (void)os->mem_alloc(4096, 0, &memory);
    }
}

int main(int argc, char **argv)
{
    int dies = argc > 1 && argv[1][0] == 'd';
    for (int i = 1; i < os->cpu_count(); i++) {
        (void)os->cpu_start((u32)i, dies ? die : take, 0);
    }
    print("half a line");
    go = 1;
    if (dies) {
        die(0);
    }
    return 0;
}
