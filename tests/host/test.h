// test.h - the smallest test runner: a test is a function, a check is a line.
// SPDX-License-Identifier: MIT
//
// A test file includes the .c files it tests, so that it can reach their
// statics, and stands in for what they call. Output: one line a test,
// "PASS name" or "FAIL name"; the exit status is 1 when one failed.
#pragma once
#include <stdio.h>
#include <stdlib.h>

static int test_failures, test_failed_checks;

#define CHECK(condition)                                                       \
    do {                                                                       \
        if (!(condition)) {                                                    \
            test_failed_checks++;                                              \
            printf("  %s:%d: %s\n", __FILE__, __LINE__, #condition);           \
        }                                                                      \
    } while (0)

#define CHECK_EQ(a, b)                                                         \
    do {                                                                       \
        long long check_a = (long long)(a), check_b = (long long)(b);          \
        if (check_a != check_b) {                                              \
            test_failed_checks++;                                              \
            printf("  %s:%d: %s is %lld, want %lld\n", __FILE__, __LINE__, #a, \
                   check_a, check_b);                                          \
        }                                                                      \
    } while (0)

#define RUN(test)                                                              \
    do {                                                                       \
        test_failed_checks = 0;                                                \
        test();                                                                \
        printf("%s %s\n", test_failed_checks ? "FAIL" : "PASS", #test);        \
        test_failures += test_failed_checks != 0;                              \
        fflush(stdout);                                                        \
    } while (0)

#define TEST_RESULT() (test_failures != 0)
