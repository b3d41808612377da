// options.c - --name and --name VALUE among a program's arguments.
// SPDX-License-Identifier: MIT
#include "options.h"
#include "print.h"
#include "../../lib/string.h"

// Index of the option, 0 when it is not there.
static int option_find(int argc, char **argv, const char *name)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], name) == 0) {
            return i;
        }
    }
    return 0;
}

static void option_remove(int *argc, char **argv, int first, int n)
{
    for (int i = first; i + n < *argc; i++) {
        argv[i] = argv[i + n];
    }
    *argc -= n;
}

int option_flag(int *argc, char **argv, const char *name)
{
    int i = option_find(*argc, argv, name);
    if (i) {
        option_remove(argc, argv, i, 1);
    }
    return i != 0;
}

int option_number(int *argc, char **argv, const char *name, u64 most,
                  u64 *value)
{
    int i = option_find(*argc, argv, name);
    if (!i) {
        return 0;
    }
    if (i + 1 >= *argc) {
        print("error: %s: %s needs a number\n", argv[0], name);
        return E_ARG;
    }
    if (args_number(*argc, argv, i + 1, (struct range){1, most}, value) < 0) {
        return E_ARG;
    }
    option_remove(argc, argv, i, 2);
    return 0;
}

int option_end(int argc, char **argv, int n, const char *usage)
{
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-' && argv[i][1] == '-') {
            print("error: %s: unknown option '%s'; usage: %s\n", argv[0],
                  argv[i], usage);
            return E_ARG;
        }
    }
    if (argc > n + 1) {
        print("error: %s: too many arguments; usage: %s\n", argv[0], usage);
        return E_ARG;
    }
    return 0;
}
