// app_load.c - a program image becomes mapped memory, a stack and arguments.
// SPDX-License-Identifier: MIT
#include "app_load.h"
#include "../lib/string.h"
#include "cpu.h"
#include "paging.h"

#define LOG_TAG "app"
#include "log.h"

enum { ARGUMENTS = 64, ARGUMENT_BYTES = 4096 };
enum { LARGE_PAGE = 2 << 20, FLAT_LEAST = 64 * 1024 };
enum { FLAT_CLEARED = 16 << 20 }; // zeroed behind a flat image

struct source { // the bytes that a piece of the window starts with
    const u8 *bytes;
    u64 len;
    u64 clear; // bytes to zero behind them
};

// Fill one physical piece that lies `at` bytes into the mapping.
static void app_fill(u64 phys, u64 bytes, u64 at, const struct source *source)
{
    u64 copy = at < source->len ? source->len - at : 0;
    copy = copy > bytes ? bytes : copy;
    memcpy((void *)phys, source->bytes + at, copy);
    u64 zero_end = source->len + source->clear;
    u64 zero = zero_end > at + copy ? zero_end - at - copy : 0;
    memset((void *)(phys + copy), 0, zero > bytes - copy ? bytes - copy : zero);
}

// The largest piece of physical memory that can be had, up to bytes.
static int app_get_piece(u64 *bytes, enum memory_owner owner, u64 *phys)
{
    u64 want = *bytes;
    for (;;) {
        u32 flags = want >= LARGE_PAGE ? MEM_2M : 0;
        int result = memory_alloc(want, flags, owner, phys);
        if (result != E_NOMEM || want == PAGE) {
            *bytes = want;
            return result;
        }
        want = align_up(want / 2, want / 2 >= LARGE_PAGE ? LARGE_PAGE : PAGE);
    }
}

// Put memory behind virt .. virt + bytes (whole pages) and fill it.
static int app_back(u64 virt, u64 bytes, u32 flags, enum memory_owner owner,
                    const struct source *source)
{
    for (u64 at = 0; at < bytes;) {
        u64 piece = bytes - at, phys;
        TRY(app_get_piece(&piece, owner, &phys));
        app_fill(phys, piece, at, source);
        TRY(paging_map(virt + at, phys, piece, flags, owner));
        at += piece;
    }
    return 0;
}

static int app_load_segment(const struct program *program, const u8 *image,
                            const struct elf_segment *segment)
{
    u64 start = align_down(segment->virt, PAGE);
    u64 end = align_up(segment->virt + segment->mem_bytes, PAGE);
    u64 lead = segment->virt - start;
    struct source source = {image + segment->offset, segment->file_bytes,
                            end - start};
    if (lead == 0) {
        return app_back(start, end - start, segment->flags, program->owner,
                        &source);
    }
    // A segment that starts inside its page: empty pages first, then the bytes.
    struct source empty = {image, 0, end - start};
    TRY(app_back(start, end - start, segment->flags, program->owner, &empty));
    for (u64 done = 0; done < segment->file_bytes;) {
        u64 at = segment->virt + done;
        u64 n = PAGE - (at & (PAGE - 1));
        n = n > segment->file_bytes - done ? segment->file_bytes - done : n;
        memcpy((void *)phys_of((void *)at), image + segment->offset + done, n);
        done += n;
    }
    return 0;
}

static int app_relocate(const void *image, const struct elf_image *elf)
{
    for (u64 i = 0; i < elf->rela_count; i++) {
        u64 virt, value;
        if (elf_relocation(image, elf, i, &virt, &value) != 0) {
            log_error("relocation %lu needs a dynamic linker", i);
            return E_FORMAT;
        }
        for (u32 byte = 0; byte < sizeof(value); byte++) {
            *(u8 *)phys_of((void *)(virt + byte)) = (u8)(value >> 8 * byte);
        }
    }
    return 0;
}

static int app_load_elf(struct program *program, const void *image, u64 len)
{
    struct elf_image elf;
    const char *why = "";
    int result = elf_read(image, len, &program->window, &elf, &why);
    if (result != 0) {
        log_error("%s: %s", program->name, why);
        return result;
    }
    for (u32 i = 0; i < elf.n_segments; i++) {
        TRY(app_load_segment(program, image, &elf.segments[i]));
    }
    program->entry = elf.entry;
    program->image_start = elf.start;
    program->image_end = elf.end;
    program->file = image;
    program->file_len = len;
    program->bias = elf.bias;
    return app_relocate(image, &elf);
}

u64 app_window_free(void)
{
    struct mem_info info;
    memory_get_info(&info);
    u64 share = info.free / 4 * 3;
    return align_down(share, share >= 2 * LARGE_PAGE ? LARGE_PAGE : PAGE);
}

static int app_load_flat(struct program *program, const void *image, u64 len)
{
    u64 bytes = app_window_free();
    if (len > bytes || bytes - len < FLAT_LEAST) {
        return E_NOMEM;
    }
    struct source source = {image, len, FLAT_CLEARED};
    program->entry = program->window.start;
    program->image_start = program->window.start;
    program->image_end = program->window.start + bytes;
    program->file_len = 0;
    return app_back(program->window.start, bytes, PAGE_WRITE | PAGE_EXEC,
                    program->owner, &source);
}

// Arguments at the top of the stack: the strings, and below them the pointers.
// The stack is one physical piece, so it can be filled before it is mapped.
static int app_make_stack(struct program *program)
{
    u64 phys;
    if (program->argc > ARGUMENTS) {
        return E_ARG;
    }
    TRY(memory_alloc(APP_STACK_BYTES, MEM_ZERO, program->owner, &phys));
    u64 to_virt = program->stack - APP_STACK_BYTES - phys;
    u64 top = phys + APP_STACK_BYTES;
    u64 text = top - ARGUMENT_BYTES;
    u64 *pointers = (u64 *)(text - (ARGUMENTS + 1) * sizeof(u64));
    for (int i = 0; i < program->argc; i++) {
        u64 bytes = strlen(program->argv[i]) + 1;
        if (bytes > top - text) {
            return E_ARG;
        }
        memcpy((void *)text, program->argv[i], bytes);
        pointers[i] = text + to_virt;
        text += bytes;
    }
    program->argv = (const char *const *)((u64)pointers + to_virt);
    program->stack_pointer = align_down((u64)program->argv, 16);
    return paging_map(program->stack - APP_STACK_BYTES, phys, APP_STACK_BYTES,
                      PAGE_WRITE, program->owner);
}

int app_load(struct program *program, const void *image, u64 len, u32 flags)
{
    TRY(app_make_stack(program));
    return flags & APP_FLAT ? app_load_flat(program, image, len)
                            : app_load_elf(program, image, len);
}
