// start.c - where the kernel enters a C program: _start calls main().
// SPDX-License-Identifier: MIT
//
// There are no constructors, no environment and nothing to clean up: what a
// program holds goes back when _start returns its status.
#include "../include/ingot.h"

int main(int argc, char **argv);
int _start(int argc, char **argv);

// Whoever calls, main() finds the stack as the System V ABI promises it, so
// that aligned SSE stores to it never fault.
__attribute__((force_align_arg_pointer, section(".text.start"))) int
_start(int argc, char **argv)
{
    return main(argc, argv);
}
