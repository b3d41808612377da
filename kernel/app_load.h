// app_load.h - a program image becomes mapped memory, a stack and arguments.
// SPDX-License-Identifier: MIT
#pragma once
#include "elf.h"
#include "memory.h"

// Each region is one slot of the top page table: the image from its start, the
// stack at its end, an unmapped guard in between.
#define WINDOW_END 0xFFFF807F00000000ul
#define WINDOW_STACK 0xFFFF807FFFFF0000ul
#define SHELL_REGION 0xFFFF810000000000ul
#define SHELL_REGION_END 0xFFFF817F00000000ul
#define SHELL_STACK 0xFFFF817FFFFF0000ul
enum { APP_STACK_BYTES = 256 * 1024, APP_STACK_GUARD = 1 << 20 };

struct program {
    char name[32];
    enum memory_owner owner;
    struct elf_window window;
    u64 stack; // top
    u64 entry, stack_pointer;
    u64 image_start, image_end;
    const void *file; // of an ELF program: the caller's, for its symbols
    u64 file_len;     // 0: flat
    u64 bias;         // added to the addresses in it
    int ended;        // E_CRASHED, E_STOPPED; 0: by itself
    i64 status;       // exit status when another core ended it
    int argc;
    const char *const
        *argv; // the caller's; app_load() puts a copy in its place
};

// Map image (ELF, or flat with APP_FLAT) and a stack holding argv's arguments.
// E_FORMAT (logged why), E_NOMEM, E_ARG: too many or too long arguments. What
// was mapped on the way stays the owner's.
int must_check app_load(struct program *program, const void *image, u64 len,
                        u32 flags);
// Bytes a flat program gets.
u64 app_window_free(void);
