// ways.h - what the programs that die share: a table of ways, run here or on
// another core.
// SPDX-License-Identifier: MIT
#pragma once
#include "../../apps/lib/print.h"
#include "../../lib/string.h"

struct way {
    const char *name;
    void (*run)(void);
};

static void ways_run_here(void *way)
{
    ((void (*)(void))way)();
}

// On another core the way is a function sent there.
static int ways_run(void (*way)(void), const char *cpu)
{
    if (cpu == 0) {
        way();
        return 0;
    }
    u32 core = (u32)(cpu[0] - '0');
    int result = os->cpu_start(core, ways_run_here, (void *)way);
    return result < 0 ? result : os->cpu_wait(core);
}

// NAME [CPU]. A way that returns has not died: that is said, and is a failure.
static int ways_main(const struct way *ways, u32 n, int argc, char **argv)
{
    for (u32 i = 0; argc > 1 && i < n; i++) {
        if (strcmp(argv[1], ways[i].name) == 0) {
            int result = ways_run(ways[i].run, argc > 2 ? argv[2] : 0);
            print("survived %s (%d)\n", argv[1], result);
            return 99;
        }
    }
    print("error: %s: no such way\n", argv[0]);
    return 98;
}
