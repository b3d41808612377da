// test_modules.c - modules in hidden pages are moved, the others stay.
// SPDX-License-Identifier: MIT
#include "test.h"
#include "../../kernel/modules.c"
#include <sys/mman.h>

// The megabyte around the call tables' page is real memory here.
enum { REAL_START = 0xC0000, REAL_BYTES = 0x100000 };

static u8 *room;
static u64 room_bytes;

void log_line(enum log_level level, const char *tag, const char *text, ...)
{
    (void)level, (void)tag, (void)text;
}

void *memory_boot_buffer(u64 bytes, u64 align)
{
    (void)align;
    return bytes <= room_bytes ? room : 0;
}

static struct boot_info info;

static void one_module(u64 phys, u64 len)
{
    memset(&info, 0, sizeof(info));
    info.n_modules = 1;
    info.modules[0].phys = phys;
    info.modules[0].len = len;
    for (u64 i = 0; i < len; i++) {
        ((u8 *)phys)[i] = (u8)(i * 7 + 1);
    }
}

static int is_moved_whole(u64 len)
{
    const u8 *bytes = (const u8 *)info.modules[0].phys;
    for (u64 i = 0; i < len; i++) {
        if (bytes[i] != (u8)(i * 7 + 1)) {
            return 0;
        }
    }
    return bytes == room;
}

static void test_one_across_the_table_page(void)
{
    one_module(0xFF800, 0x1000);
    modules_settle(&info);
    CHECK(is_moved_whole(0x1000));
    one_module(0x100FFF, 1);
    modules_settle(&info);
    CHECK(is_moved_whole(1));
}

static void test_neighbours_stay(void)
{
    one_module(0xFF000, 0x1000);
    modules_settle(&info);
    CHECK_EQ(info.modules[0].phys, 0xFF000);
    one_module(0x101000, 100);
    modules_settle(&info);
    CHECK_EQ(info.modules[0].phys, 0x101000);
}

static void test_no_room(void)
{
    room_bytes = 100;
    one_module(0x100000, 101);
    modules_settle(&info);
    CHECK_EQ(info.modules[0].len, 0);
}

int main(void)
{
    u8 *real = mmap((void *)REAL_START, REAL_BYTES, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (real != (u8 *)REAL_START) {
        printf("FAIL no memory at the address wanted\n");
        return 1;
    }
    room = real + REAL_BYTES / 2;
    room_bytes = REAL_BYTES / 4;
    RUN(test_one_across_the_table_page);
    RUN(test_neighbours_stay);
    RUN(test_no_room);
    return TEST_RESULT();
}
