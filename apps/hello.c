// hello.c - the smallest program: greets, and shows its arguments.
// SPDX-License-Identifier: MIT
#include "lib/print.h"

int main(int argc, char **argv)
{
    print("Hello from C on Ingot!\n");
    for (int i = 1; i < argc; i++) {
        print("argument %d: %s\n", i, argv[i]);
    }
    return 0;
}
