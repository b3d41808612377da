// string.h - bytes and C strings, for the kernel and for programs.
// SPDX-License-Identifier: MIT
#pragma once
#include "../include/ingot.h"

void *memcpy(void *to, const void *from, u64 len);
void *memmove(void *to, const void *from, u64 len);
void *memset(void *to, int byte, u64 len);
int memcmp(const void *a, const void *b, u64 len);
u64 strlen(const char *text);
u64 strnlen(const char *text, u64 cap);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, u64 len);
char *strchr(const char *text, int byte);

// Copy at most cap - 1 bytes of from and a terminating 0. Returns bytes copied.
// from need not be terminated when it is at least cap - 1 bytes long.
u64 string_copy(char *to, const char *from, u64 cap);
