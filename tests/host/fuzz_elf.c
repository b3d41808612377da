// fuzz_elf.c - any bytes as a program image: refused, or inside the window.
// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include "../../kernel/elf.c"

#define WINDOW_START 0xFFFF800000000000ul
#define WINDOW_BYTES (1ul << 38)

static void check(int holds)
{
    if (!holds) {
        abort();
    }
}

static void check_layout(const struct elf_image *elf, u64 len)
{
    const struct elf_window window = {WINDOW_START,
                                      WINDOW_START + WINDOW_BYTES};
    check(elf->n_segments > 0 && elf->n_segments <= ELF_SEGMENTS);
    check(elf->start >= window.start && elf->end <= window.end);
    u64 last = 0;
    for (u32 i = 0; i < elf->n_segments; i++) {
        const struct elf_segment *segment = &elf->segments[i];
        check(segment->virt >= elf->start && segment->virt >= last);
        check(segment->mem_bytes <= elf->end - segment->virt);
        check(segment->file_bytes <= segment->mem_bytes);
        check(segment->offset <= len &&
              segment->file_bytes <= len - segment->offset);
        last = align_up(segment->virt + segment->mem_bytes, PAGE);
    }
}

int LLVMFuzzerTestOneInput(const u8 *data, u64 len);
int LLVMFuzzerTestOneInput(const u8 *data, u64 len)
{
    const struct elf_window window = {WINDOW_START,
                                      WINDOW_START + WINDOW_BYTES};
    struct elf_image elf;
    const char *why = 0;
    int result = elf_read(data, len, &window, &elf, &why);
    check((result == 0) == (why == 0) && (result == 0 || result == E_FORMAT));
    if (result != 0) {
        return 0;
    }
    check_layout(&elf, len);
    for (u64 i = 0; i < elf.rela_count && i < 1000; i++) {
        u64 virt, value;
        if (elf_relocation(data, &elf, i, &virt, &value) == 0) {
            check(virt >= elf.start && virt <= elf.end - sizeof(u64));
        }
    }
    return 0;
}
