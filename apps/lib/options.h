// options.h - --name and --name VALUE among a program's arguments.
// SPDX-License-Identifier: MIT
#pragma once
#include "args.h"

// Both take what they find out of argv; the rest closes up, so that what is
// left are the arguments by position. A name has its dashes: "--fast".

// 1 when name is there.
int option_flag(int *argc, char **argv, const char *name);
// The number after name, from 1 to most; without name *value stays as it is.
// Returns 0, or E_ARG after one error line.
int must_check option_number(int *argc, char **argv, const char *name, u64 most,
                             u64 *value);
// What is left must be at most n arguments, none of them an option. Returns 0,
// or E_ARG after one error line and the usage.
int must_check option_end(int argc, char **argv, int n, const char *usage);
