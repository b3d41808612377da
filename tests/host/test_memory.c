// test_memory.c - physical memory: what is handed out, and what never may be.
// SPDX-License-Identifier: MIT
#include "test.h"
#include "../../kernel/memory.c"
#include <sys/mman.h>

// The machine's RAM between 256 and 320 MiB is real here, at the same address.
enum { FAKE_RAM = 0x10000000, FAKE_BYTES = 64 << 20, IMAGE_BYTES = 0x40000 };

// The linker's names for the image: only their distance matters here.
__asm__(".globl kernel_start, kernel_end\n"
        ".set kernel_start, 0x100000\n"
        ".set kernel_end, 0x140000\n");

void log_line(enum log_level level, const char *tag, const char *text, ...)
{
    (void)level, (void)tag, (void)text;
}

struct core *core_self(void)
{
    static struct core core;
    return &core;
}

static struct boot_info info;

static void add_region(u64 start, u64 bytes, u32 type)
{
    info.regions[info.n_regions++] = (struct mem_region){start, bytes, type, 0};
}

static void add_module(u64 phys, u64 len)
{
    info.modules[info.n_modules].phys = phys;
    info.modules[info.n_modules++].len = len;
}

static void start_over(void)
{
    memset(&memory, 0, sizeof(memory));
    memset(&info, 0, sizeof(info));
    info.kernel_phys = FAKE_RAM + 0x100000;
}

// Every page's state, by asking for it: the allocator's own map is not trusted.
static int overlaps(u64 a, u64 a_bytes, u64 b, u64 b_bytes)
{
    return a < b + b_bytes && b < a + a_bytes;
}

static void check_all_of_it_is_allowed(void)
{
    u64 phys;
    while (memory_alloc(PAGE, 0, MEMORY_APP, &phys) == 0) {
        CHECK(!overlaps(phys, PAGE, info.kernel_phys, IMAGE_BYTES));
        CHECK(!overlaps(phys, PAGE, 0, 0x101000));
        CHECK(!overlaps(phys, PAGE, (u64)memory.owners, memory.pages / 4));
        for (u32 i = 0; i < info.n_modules; i++) {
            CHECK(!overlaps(phys, PAGE, info.modules[i].phys,
                            info.modules[i].len));
        }
        int inside = 0;
        for (u32 i = 0; i < info.n_regions; i++) {
            const struct mem_region *region = &info.regions[i];
            inside |= region->type == MEM_USABLE && phys >= region->start &&
                      phys + PAGE <= region->start + region->bytes;
        }
        CHECK(inside);
    }
}

static void test_nothing_taken_is_handed_out(void)
{
    start_over();
    add_region(0, 0x9FC00, MEM_USABLE);
    add_region(FAKE_RAM, 8 << 20, MEM_USABLE);
    add_region(FAKE_RAM + (8 << 20), 1 << 20, MEM_RESERVED);
    add_region(FAKE_RAM + (9 << 20), 0x123456, MEM_USABLE);
    add_module(FAKE_RAM, 1024);
    add_module(FAKE_RAM + 0x140000, 4097);
    CHECK_EQ(memory_init(&info), 0);
    struct mem_info now;
    memory_get_info(&now);
    CHECK_EQ(now.ram, 0x9F000 + (8 << 20) + 0x123000);
    CHECK_EQ(now.modules, 3 * PAGE);
    check_all_of_it_is_allowed();
    memory_get_info(&now);
    CHECK_EQ(now.free, 0);
    CHECK_EQ(now.largest, 0);
}

static void plain_machine(void)
{
    start_over();
    add_region(FAKE_RAM, FAKE_BYTES, MEM_USABLE);
    CHECK_EQ(memory_init(&info), 0);
}

static void test_arguments(void)
{
    u64 phys;
    plain_machine();
    CHECK_EQ(memory_alloc(0, 0, MEMORY_APP, &phys), E_ARG);
    CHECK_EQ(memory_alloc(1, 64, MEMORY_APP, &phys), E_ARG);
    CHECK_EQ(memory_alloc(~0ul, 0, MEMORY_APP, &phys), E_NOMEM);
    CHECK_EQ(memory_alloc(~0ul - 100, 0, MEMORY_APP, &phys), E_NOMEM);
    CHECK_EQ(memory_alloc(FAKE_BYTES, 0, MEMORY_APP, &phys), E_NOMEM);
    CHECK_EQ(memory_alloc(1, 0, MEMORY_APP, &phys), 0);
    CHECK_EQ(memory_free(phys, 1, MEMORY_SHELL), E_ARG);
    CHECK_EQ(memory_free(phys + 1, 1, MEMORY_APP), E_ARG);
    CHECK_EQ(memory_free(phys, 2 * PAGE, MEMORY_APP), E_ARG);
    CHECK_EQ(memory_free(phys, 0, MEMORY_APP), E_ARG);
    CHECK_EQ(memory_free(~0ul & ~4095ul, 8192, MEMORY_APP), E_ARG);
    CHECK_EQ(memory_free(phys, 1, MEMORY_APP), 0);
    CHECK_EQ(memory_free(phys, 1, MEMORY_APP), E_ARG);
    CHECK_EQ(memory_free(info.kernel_phys, PAGE, MEMORY_APP), E_ARG);
}

static void test_alignment_and_zero(void)
{
    u64 phys;
    plain_machine();
    memset((void *)(FAKE_RAM + 0x400000ul), 0xAA, 4 << 20);
    CHECK_EQ(memory_alloc(3 << 20, MEM_2M | MEM_ZERO, MEMORY_APP, &phys), 0);
    CHECK_EQ(phys % (2 << 20), 0);
    const u8 *bytes = (const u8 *)phys;
    u64 not_zero = 0;
    for (u64 i = 0; i < 3 << 20; i++) {
        not_zero += bytes[i] != 0;
    }
    CHECK_EQ(not_zero, 0);
}

static void test_below_4g(void)
{
    u64 phys, above;
    start_over();
    add_region(FAKE_RAM, 4 << 20, MEM_USABLE);
    add_region(6ul << 30, 1ul << 30, MEM_USABLE);
    CHECK_EQ(memory_init(&info), 0);
    CHECK_EQ(memory_alloc(64 << 20, 0, MEMORY_APP, &above), 0);
    CHECK(above >= 6ul << 30);
    CHECK_EQ(memory_alloc(64 << 20, MEM_BELOW_4G, MEMORY_APP, &phys), E_NOMEM);
    CHECK_EQ(memory_alloc(64 << 10, MEM_BELOW_4G, MEMORY_APP, &phys), 0);
    CHECK(phys + (64 << 10) <= 4ul << 30);
}

static void test_absurd_maps(void)
{
    start_over();
    CHECK_EQ(memory_init(&info), E_NOMEM);
    start_over();
    add_region(FAKE_RAM, 4 << 20, MEM_USABLE);
    add_region(1ul << 43, 1ul << 43, MEM_USABLE); // its map would be 1 GiB
    add_region(1ul << 60, 1ul << 40, MEM_USABLE);
    CHECK_EQ(memory_init(&info), 0);
    CHECK_EQ(memory.ram, 4 << 20);
    check_all_of_it_is_allowed();
}

// Random allocations of two owners against a list kept here.
static void test_a_long_random_life(void)
{
    static struct {
        u64 phys, bytes;
        enum memory_owner owner;
    } live[200];
    u32 n = 0;
    struct mem_info before, after;
    plain_machine();
    memory_get_info(&before);
    srand(1);
    for (u32 step = 0; step < 20000; step++) {
        if (n < 200 && rand() % 2) {
            live[n].bytes = (u64)(rand() % (rand() % 10 ? 9 : 900) + 1) * PAGE;
            live[n].owner = rand() % 2 ? MEMORY_APP : MEMORY_SHELL;
            u32 flags = rand() % 8 ? 0 : MEM_2M;
            if (memory_alloc(live[n].bytes, flags, live[n].owner,
                             &live[n].phys) != 0) {
                continue;
            }
            for (u32 i = 0; i < n; i++) {
                CHECK(!overlaps(live[i].phys, live[i].bytes, live[n].phys,
                                live[n].bytes));
            }
            n++;
        } else if (n > 0) {
            u32 i = (u32)rand() % n;
            CHECK_EQ(memory_free(live[i].phys, live[i].bytes, live[i].owner),
                     0);
            live[i] = live[--n];
        }
    }
    memory_free_owner(MEMORY_APP);
    memory_free_owner(MEMORY_SHELL);
    memory_get_info(&after);
    CHECK_EQ(after.free, before.free);
    CHECK_EQ(after.largest, before.largest);
}

static void test_boot_allocations(void)
{
    plain_machine();
    u64 last = 0;
    for (u32 i = 0; i < 2000; i++) {
        u64 bytes = i % 300 + 1;
        u8 *at = memory_boot_alloc(bytes, 16);
        CHECK(at != 0 && (u64)at % 16 == 0 && (u64)at >= last);
        CHECK((u64)at / PAGE == ((u64)at + bytes - 1) / PAGE);
        memset(at, 0xFF, bytes);
        last = (u64)at + bytes;
    }
    CHECK(memory_boot_alloc(~0ul, 8) == 0);
    CHECK(memory_boot_buffer(0, PAGE) == 0);
    CHECK((u64)memory_boot_alloc(PAGE, 1 << 20) % (1 << 20) == 0);
}

int main(void)
{
    void *ram = mmap((void *)FAKE_RAM, FAKE_BYTES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (ram != (void *)FAKE_RAM) {
        printf("FAIL no memory at the address wanted\n");
        return 1;
    }
    RUN(test_nothing_taken_is_handed_out);
    RUN(test_arguments);
    RUN(test_alignment_and_zero);
    RUN(test_below_4g);
    RUN(test_absurd_maps);
    RUN(test_a_long_random_life);
    RUN(test_boot_allocations);
    return TEST_RESULT();
}
