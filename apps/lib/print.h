// print.h - text to the console.
// SPDX-License-Identifier: MIT
#pragma once
#include "../../lib/format.h"

// Format and write at once: one con_write a call, whatever the length.
void print(const char *format, ...) __attribute__((format(printf, 1, 2)));
void print_args(const char *format, va_list args)
    __attribute__((format(printf, 1, 0)));
void print_text(const char *text); // as it stands
void print_bytes(const char *text, u64 len);

// Where all of it goes instead of the consoles, when it is not null.
extern void (*print_to)(const char *text, u64 len);

// Two decimals without floating point, from a count of hundredths:
//     print("Average: " FIXED " ns\n", FIXED_ARGS(hundredths(ns, n)));
#define FIXED "%lu.%02lu"
#define FIXED_ARGS(hundredths) (u64)(hundredths) / 100, (u64)(hundredths) % 100
// a / b in hundredths, rounded; 0 when b is 0.
u64 hundredths(u64 a, u64 b);
