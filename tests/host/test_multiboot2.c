// test_multiboot2.c - Multiboot2 tags, good and bad.
// SPDX-License-Identifier: MIT
#include "multiboot2_build.h"

static void every_tag(void)
{
    begin();
    text_tag(1, "console=serial run=\"netpoll 0 1\"");
    text_tag(2, "GRUB 2.06");
    module_tag(0x800000, 0x801234, "/apps/hello.app /apps/hello.app");
    module_tag(0x900000, 0x900000, "  init.app x/y");
    small_map();
    u64 at = tag_begin(8);
    put64(0xfd000000);
    put32(5120);
    put32(1280);
    put32(800);
    put("\x20\x01\0\0\x10\x08\x08\x08\0\x08", 10);
    tag_end(at);
    at = tag_begin(12);
    put64(0x7f9ee018);
    tag_end(at);
    at = tag_begin(14);
    put("RSD PTR old.........", 20);
    tag_end(at);
    at = tag_begin(15);
    put("RSD PTR new.........................", 36);
    tag_end(at);
    at = tag_begin(21);
    put32(0x200000);
    tag_end(at);
    CHECK_EQ(finish(), 0);
    CHECK_EQ(info.errors[0], 0);
    CHECK(strcmp(info.command_line, "console=serial run=\"netpoll 0 1\"") == 0);
    CHECK(strcmp(info.loader, "GRUB 2.06") == 0);
    CHECK_EQ(info.n_modules, 2);
    CHECK_EQ(info.modules[0].phys, 0x800000);
    CHECK_EQ(info.modules[0].len, 0x1234);
    CHECK(strcmp(info.modules[0].name, "hello.app") == 0);
    CHECK_EQ(info.modules[1].len, 0);
    CHECK(strcmp(info.modules[1].name, "init.app") == 0);
    CHECK_EQ(info.n_regions, 2);
    CHECK_EQ(info.framebuffer.phys, 0xfd000000);
    CHECK_EQ(info.framebuffer.pitch, 5120);
    CHECK_EQ(info.framebuffer.bits, 32);
    CHECK_EQ(info.framebuffer.red_position, 16);
    CHECK_EQ(info.framebuffer.blue_bits, 8);
    CHECK_EQ(info.efi_system_table, 0x7f9ee018);
    CHECK_EQ(info.rsdp_len, 36);
    CHECK(memcmp(info.rsdp_copy, "RSD PTR new", 11) == 0);
    CHECK_EQ(info.kernel_phys, 0x200000);
    check_invariants();
}

static void new_rsdp_wins_in_any_order(void)
{
    begin();
    small_map();
    u64 at = tag_begin(15);
    put("RSD PTR new.........................", 36);
    tag_end(at);
    at = tag_begin(14);
    put("RSD PTR old.........", 20);
    tag_end(at);
    CHECK_EQ(finish(), 0);
    CHECK_EQ(info.rsdp_len, 36);
    CHECK(memcmp(info.rsdp_copy, "RSD PTR new", 11) == 0);
    begin();
    small_map();
    at = tag_begin(14);
    put("RSD PTR old.........", 20);
    tag_end(at);
    at = tag_begin(15);
    put("RSD PTR cut..........", 21);
    tag_end(at);
    CHECK_EQ(finish(), 0);
    CHECK_EQ(info.rsdp_len, 20);
    CHECK(said("multiboot2: tag 15 is too small"));
}

// Cut anywhere, with the total as it was and with the total told honestly.
static void truncation_at_every_length(void)
{
    every_tag();
    u64 whole = used;
    for (u64 len = 0; len < whole; len++) {
        CHECK(read_block(tags, len) < 0);
        check_invariants();
        u8 copy[4096];
        u32 total = (u32)len;
        memcpy(copy, tags, len);
        memcpy(copy, &total, len < 4 ? len : 4);
        (void)read_block(copy, len);
        check_invariants();
        CHECK(len + 8 > whole || info.errors[0] != 0);
    }
}

static void bad_sizes(void)
{
    begin();
    small_map();
    u64 at = tag_begin(1);
    put("x", 2);
    tag_end(at);
    u32 sizes[] = {0, 1, 7, 0x7fffffff, 0xfffffff8, 0xffffffff};
    for (u32 i = 0; i < array_size(sizes); i++) {
        memcpy(tags + at + 4, &sizes[i], 4);
        CHECK_EQ(finish(), 0); // the map came before
        CHECK(said("multiboot2: tag 1 is truncated"));
        CHECK_EQ(info.command_line[0], 0);
    }
}

static void no_end_tag(void)
{
    begin();
    small_map();
    u32 total = (u32)used;
    memcpy(tags, &total, 4);
    CHECK_EQ(read_block(tags, used), 0);
    CHECK(said("multiboot2: no end tag"));
}

static void absurd_totals(void)
{
    u32 totals[] = {0, 7, 8, 15, 17 << 20, 0xffffffff};
    for (u32 i = 0; i < array_size(totals); i++) {
        begin();
        small_map();
        memcpy(tags, &totals[i], 4);
        CHECK_EQ(read_block(tags, 4096), E_FORMAT);
        CHECK(info.errors[0] != 0);
    }
}

static void repeated_and_unterminated(void)
{
    begin();
    text_tag(1, "first");
    text_tag(1, "second");
    small_map();
    small_map();
    u64 at = tag_begin(2);
    put("no end", 6);
    tag_end(at);
    at = tag_begin(3);
    put32(0x1000);
    put32(0x2000);
    put("a/b", 3);
    tag_end(at);
    at = tag_begin(3);
    put32(0x1000);
    put32(0x2000);
    tag_end(at);
    CHECK_EQ(finish(), 0);
    CHECK(strcmp(info.command_line, "first") == 0);
    CHECK(strcmp(info.loader, "no end") == 0);
    CHECK(said("multiboot2: tag 1 is repeated"));
    CHECK(said("multiboot2: tag 6 is repeated"));
    CHECK(said("multiboot2: the string in tag 2 is cut"));
    CHECK(said("multiboot2: a module's string has no end"));
    CHECK_EQ(info.n_modules, 2);
    CHECK(strcmp(info.modules[0].name, "b") == 0);
    CHECK(strcmp(info.modules[1].name, "") == 0);
}

static void long_strings_are_cut(void)
{
    char text[1000];
    memset(text, 'a', sizeof(text));
    text[999] = 0;
    begin();
    text_tag(1, text);
    text_tag(2, text);
    module_tag(0, 1, text);
    small_map();
    CHECK_EQ(finish(), 0);
    CHECK_EQ(strlen(info.command_line), 255);
    CHECK_EQ(strlen(info.loader), 31);
    CHECK_EQ(strlen(info.modules[0].name), 63);
}

static void bad_modules(void)
{
    begin();
    small_map();
    module_tag(0x2000, 0x1fff, "backwards");
    CHECK_EQ(finish(), 0);
    CHECK_EQ(info.n_modules, 0);
    CHECK(said("multiboot2: a module ends before it starts"));
    begin();
    small_map();
    for (u32 i = 0; i < 70; i++) {
        module_tag(i << 12, (i << 12) + 1, "m");
    }
    CHECK_EQ(finish(), 0);
    CHECK_EQ(info.n_modules, 64);
    CHECK(said("boot: more than 64 modules"));
    check_invariants();
}

static void framebuffer(u64 phys, u32 pitch, u32 width, u32 height, u8 bits,
                        u8 kind, u8 size)
{
    u8 rest[10] = {bits, kind, 0, 0, 16, size, 8, size, 0, size};
    begin();
    small_map();
    u64 at = tag_begin(8);
    put64(phys);
    put32(pitch);
    put32(width);
    put32(height);
    put(rest, 10);
    tag_end(at);
    CHECK_EQ(finish(), 0);
}
static void framebuffers(void)
{
    framebuffer(0xfd000000, 2400, 800, 600, 24, 1, 8);
    CHECK_EQ(info.framebuffer.bits, 24);
    CHECK_EQ(info.framebuffer.pitch, 2400);
    framebuffer(0xb8000, 160, 80, 25, 16, 2, 0);
    CHECK_EQ(info.framebuffer.bits, 0);
    CHECK_EQ(info.errors[0], 0); // text mode is no fault
    u32 bad[][7] = {
        {0, 2400, 800, 600, 24, 1, 8},          // nowhere
        {0xfd000000, 2399, 800, 600, 24, 1, 8}, // rows overlap
        {0xfd000000, 3200, 0, 600, 32, 1, 8},
        {0xfd000000, 3200, 800, 0, 32, 1, 8},
        {0xfd000000, 3200, 800, 0xffffffff, 32, 1, 8},
        {0xfd000000, 0xffffffff, 800, 600, 32, 1, 8},
        {0xfd000000, 3200, 0x40000000, 600, 32, 1, 8},
        {0xfd000000, 1600, 800, 600, 16, 1, 5},
        {0xfd000000, 3200, 800, 600, 32, 0, 8},
        {0xfd000000, 3200, 800, 600, 32, 1, 0},
        {0xfd000000, 3200, 800, 600, 32, 1, 17},
        {0xfd000000, 3200, 800, 600, 32, 3, 8},
    };
    for (u32 i = 0; i < array_size(bad); i++) {
        framebuffer(bad[i][0], bad[i][1], bad[i][2], bad[i][3], (u8)bad[i][4],
                    (u8)bad[i][5], (u8)bad[i][6]);
        CHECK_EQ(info.framebuffer.bits, 0);
        CHECK(said("multiboot2: framebuffer of no known kind"));
    }
}

static void fallback_maps(void)
{
    begin();
    u64 at = tag_begin(4);
    put32(639);
    put32(31744);
    tag_end(at);
    CHECK_EQ(finish(), 0);
    CHECK_EQ(info.n_regions, 2);
    check_region(0, 0, 639 << 10, MEM_USABLE);
    check_region(1, 0x100000, 31744 << 10, MEM_USABLE);
    used -= 8; // over the end tag
    at = tag_begin(17);
    put32(48);
    put32(1);
    for (u32 type = 0; type < 16; type++) {
        put64(type);
        put64(0x1000000ul * type);
        put64(0);
        put64(16);
        put64(0);
        put64(0);
    }
    tag_end(at);
    CHECK_EQ(finish(), 0); // the EFI map is better than two numbers
    CHECK_EQ(info.n_regions, 16);
    check_region(3, 0x3000000, 0x10000, MEM_USABLE);
    check_region(7, 0x7000000, 0x10000, MEM_USABLE);
    check_region(5, 0x5000000, 0x10000, MEM_RESERVED);
    check_region(8, 0x8000000, 0x10000, MEM_BAD);
    check_region(9, 0x9000000, 0x10000, MEM_ACPI);
    check_region(10, 0xa000000, 0x10000, MEM_NVS);
    check_region(14, 0xe000000, 0x10000, MEM_RESERVED);
    used -= 8; // over the end tag
    tag_end(tag_begin(18));
    CHECK_EQ(finish(), 0);
    check_region(3, 0x3000000, 0x10000, MEM_RESERVED);
    check_region(7, 0x7000000, 0x10000, MEM_USABLE);
}

static void no_map_at_all(void)
{
    begin();
    text_tag(1, "x");
    CHECK_EQ(finish(), E_FORMAT);
    CHECK(said("multiboot2: no usable memory map"));
    u32 strides[] = {0, 1, 8, 19, 21, 0xffffffff};
    for (u32 i = 0; i < array_size(strides); i++) {
        begin();
        u64 at = map_begin();
        region(0, 0x1000000, MEM_USABLE);
        tag_end(at);
        memcpy(tags + at + 8, &strides[i], 4);
        CHECK_EQ(finish(), E_FORMAT);
        CHECK(said("multiboot2: tag 6 has entries of"));
    }
    begin();
    u64 at = map_begin();
    region(0, 0x1000000, MEM_RESERVED);
    tag_end(at);
    CHECK_EQ(finish(), E_FORMAT);
}

static void errors_never_overflow(void)
{
    begin();
    small_map();
    for (u32 i = 0; i < 300; i++) {
        text_tag(1, "again");
    }
    CHECK_EQ(finish(), 0);
    check_invariants();
    u64 len = strlen(info.errors);
    CHECK(len > BOOT_ERRORS_CAP - 40 && info.errors[len - 1] == '\n');
}

int main(void)
{
    RUN(every_tag);
    RUN(new_rsdp_wins_in_any_order);
    RUN(truncation_at_every_length);
    RUN(bad_sizes);
    RUN(no_end_tag);
    RUN(absurd_totals);
    RUN(repeated_and_unterminated);
    RUN(long_strings_are_cut);
    RUN(bad_modules);
    RUN(framebuffers);
    RUN(fallback_maps);
    RUN(no_map_at_all);
    RUN(errors_never_overflow);
    return TEST_RESULT();
}
