// paging.c - the address space: who may touch which virtual page, and how.
// SPDX-License-Identifier: MIT
//
// Intel SDM volume 3, 4.5: four levels of 512 entries. RAM is mapped where it
// lies, so a table is reached at its physical address.
#include "paging.h"
#include "lock.h"

#define LOG_TAG "paging"
#include "log.h"

enum { LEVELS = 4, ENTRIES = 512, LARGEST_PAGE_LEVEL = 2 };
#define PRESENT BIT(0)
#define WRITABLE BIT(1)
#define UNCACHED (BIT(3) | BIT(4)) // PWT and PCD: PAT entry 3
#define COMBINED BIT(3)            // PWT: PAT entry 1, made so by core.c
#define LARGE BIT(7)
#define NO_EXECUTE BIT(63)
#define ADDRESS BITS(51, 12)

#define LARGE_PAGE (2ul << 20)
#define NULL_PAGE 0ul
#define TABLE_VIRT 0x100000ul
#define FIRMWARE_LIMIT (64ul << 20) // no firmware table is larger

extern const char kernel_start[], kernel_rodata[], kernel_data[], kernel_end[];
extern const char boot_tables[], boot_tables_end[];
extern const char call_tables[];
extern u64 boot_table_high[]; // 2 MiB pages of the last 2 GiB

static struct {
    struct lock lock; // two cores may map registers at once
    u64 *root;
    u64 kernel_offset; // virtual - physical of the image
    u32 table_flags;   // MEM_* for new tables
    u32 large_level;   // 2 where 1 GiB pages work, else 1
} paging = {.table_flags = MEM_ZERO | MEM_BELOW_4G, .large_level = 1};

static u64 paging_page_bytes(u32 level)
{
    return (u64)PAGE << 9 * level;
}

static u64 *paging_slot(u64 *table, u64 virt, u32 level)
{
    return &table[virt >> (12 + 9 * level) & (ENTRIES - 1)];
}

static int paging_is_leaf(u64 entry, u32 level)
{
    return level == 0 || (entry & LARGE) != 0;
}

static int paging_is_canonical(u64 virt, u64 bytes)
{
    u64 last = virt + bytes - 1;
    return bytes != 0 && last >= virt && virt >> 47 == last >> 47 &&
           (virt >> 47 == 0 || virt >> 47 == 0x1FFFF);
}

// One large page becomes a table of 512 smaller ones that mean the same.
static int paging_split(u64 *slot, u32 level, enum memory_owner owner)
{
    u64 phys, old = *slot;
    TRY(memory_alloc(PAGE, paging.table_flags, owner, &phys));
    u64 *table = (u64 *)phys;
    u64 step = paging_page_bytes(level - 1);
    u64 entry = level == 1 ? old & ~LARGE : old;
    for (u32 i = 0; i < ENTRIES; i++) {
        table[i] = entry + i * step;
    }
    *slot = phys | PRESENT | WRITABLE;
    return 0;
}

// The slot of virt at the wanted level, making tables on the way.
static int paging_make_slot(u64 virt, u32 level, enum memory_owner owner,
                            u64 **slot)
{
    u64 *table = paging.root;
    for (u32 at = LEVELS - 1; at > level; at--) {
        u64 *entry = paging_slot(table, virt, at);
        if ((*entry & PRESENT) == 0) {
            u64 phys;
            TRY(memory_alloc(PAGE, paging.table_flags, owner, &phys));
            *entry = phys | PRESENT | WRITABLE;
        } else if (paging_is_leaf(*entry, at)) {
            TRY(paging_split(entry, at, owner));
        }
        table = (u64 *)(*entry & ADDRESS);
    }
    *slot = paging_slot(table, virt, level);
    return 0;
}

// The entry that maps virt and its level; 0 when nothing does.
static u64 paging_find(u64 virt, u32 *level)
{
    u64 *table = paging.root;
    for (u32 at = LEVELS; at-- > 0;) {
        u64 entry = *paging_slot(table, virt, at);
        if ((entry & PRESENT) == 0) {
            return 0;
        }
        if (paging_is_leaf(entry, at)) {
            *level = at;
            return entry;
        }
        table = (u64 *)(entry & ADDRESS);
    }
    return 0;
}

static u64 paging_bits(u32 flags)
{
    return PRESENT | (flags & PAGE_WRITE ? WRITABLE : 0) |
           (flags & PAGE_EXEC ? 0 : NO_EXECUTE) |
           (flags & PAGE_UNCACHED ? UNCACHED : 0) |
           (flags & PAGE_COMBINED ? COMBINED : 0);
}

// The largest level whose pages fit at this place.
static u32 paging_best_level(u64 virt, u64 phys, u64 bytes)
{
    u32 level = paging.large_level;
    while (level > 0 && (((virt | phys) & (paging_page_bytes(level) - 1)) ||
                         bytes < paging_page_bytes(level))) {
        level--;
    }
    return level;
}

static int paging_map_pieces(u64 virt, u64 phys, u64 bytes, u32 flags,
                             enum memory_owner owner)
{
    u64 bits = paging_bits(flags);
    u64 *slot = 0;
    for (u32 before = LEVELS, level; bytes > 0; before = level) {
        level = paging_best_level(virt, phys, bytes);
        u64 step = paging_page_bytes(level);
        if (level == before && (u64)(slot + 1) % PAGE != 0) {
            slot++; // in the same table
        } else {
            TRY(paging_make_slot(virt, level, owner, &slot));
        }
        // A table of smaller pages in the way is lost only until the owner's
        // memory goes back.
        u64 old = *slot;
        *slot = phys | bits | (level > 0 ? LARGE : 0);
        if (old & PRESENT) {
            invlpg(virt);
        }
        virt += step;
        phys += step;
        bytes -= step > bytes ? bytes : step;
    }
    return 0;
}

int paging_map(u64 virt, u64 phys, u64 bytes, u32 flags,
               enum memory_owner owner)
{
    int taken = lock_take(&paging.lock);
    int result = paging_map_pieces(virt, phys, bytes, flags, owner);
    lock_give(&paging.lock, taken);
    return result;
}

void paging_load(void)
{
    write_cr3((u64)paging.root);
}

int paging_unmap(u64 virt, u64 bytes)
{
    for (u64 at = virt; at < virt + bytes; at += PAGE) {
        u64 *slot;
        TRY(paging_make_slot(at, 0, MEMORY_KERNEL, &slot));
        *slot = 0;
        invlpg(at);
    }
    return 0;
}

void paging_drop_slot(u64 virt)
{
    *paging_slot(paging.root, virt, LEVELS - 1) = 0;
    write_cr3(read_cr3());
}

int paging_query(u64 address, struct mem_page *page)
{
    u32 level = 0;
    u64 entry =
        paging_is_canonical(address, 1) ? paging_find(address, &level) : 0;
    if (entry == 0) {
        return E_FAULT;
    }
    u64 bytes = paging_page_bytes(level);
    u64 base = entry & ADDRESS & ~(bytes - 1);
    *page = (struct mem_page){
        .phys = base + (address & (bytes - 1)),
        .bytes = bytes,
        .flags = (entry & WRITABLE ? PAGE_WRITE : 0u) |
                 (entry & NO_EXECUTE ? 0u : PAGE_EXEC) |
                 (entry & BIT(4) ? PAGE_UNCACHED : 0u),
    };
    return 0;
}

u64 phys_of(const void *address)
{
    struct mem_page page;
    return paging_query((u64)address, &page) == 0 ? page.phys : ~0ul;
}

u64 phys_run(const void *address, u64 len, int write, u64 *phys)
{
    u64 at = (u64)address, run = 0;
    while (run < len) {
        struct mem_page page;
        if (paging_query(at + run, &page) != 0 ||
            (write && (page.flags & PAGE_WRITE) == 0) ||
            (run > 0 && page.phys != *phys + run)) {
            break;
        }
        if (run == 0) {
            *phys = page.phys;
        }
        run += page.bytes - ((at + run) & (page.bytes - 1));
    }
    return run < len ? run : len;
}

int mmio_map(u64 phys, u64 bytes)
{
    if (!paging_is_canonical(phys, bytes) || phys >> 47 != 0 ||
        memory_is_ram(phys, bytes) || phys < TABLE_VIRT + PAGE) {
        return E_ARG;
    }
    u64 start = align_down(phys, PAGE), end = align_up(phys + bytes, PAGE);
    u64 at;
    if (phys_run((const void *)start, end - start, 1, &at) == end - start) {
        return 0;
    }
    return paging_map(start, start, end - start, PAGE_WRITE | PAGE_UNCACHED,
                      MEMORY_KERNEL);
}

int firmware_map(u64 phys, u64 bytes)
{
    if (!paging_is_canonical(phys, bytes) || phys >> 47 != 0 ||
        bytes > FIRMWARE_LIMIT || phys < PAGE ||
        (phys < TABLE_VIRT + PAGE && phys + bytes > TABLE_VIRT)) {
        return E_ARG;
    }
    for (u64 at = align_down(phys, PAGE); at < phys + bytes; at += PAGE) {
        struct mem_page page;
        if (paging_query(at, &page) != 0) {
            TRY(paging_map(at, at, PAGE, 0, MEMORY_KERNEL));
        }
    }
    return 0;
}

// The image: text read-execute, rodata read-only, data read-write, and the same
// protection for all of it seen through the identity map: the kernel does not
// write there, a stray pointer of a program may.
static int paging_map_image(const struct boot_info *info)
{
    u64 start = (u64)kernel_start, rodata = (u64)kernel_rodata;
    u64 data = (u64)kernel_data, end = (u64)kernel_end;
    u64 offset = start - info->kernel_phys;
    paging.kernel_offset = offset;
    TRY(paging_map(start, start - offset, rodata - start, PAGE_EXEC,
                   MEMORY_KERNEL));
    TRY(paging_map(rodata, rodata - offset, data - rodata, 0, MEMORY_KERNEL));
    TRY(paging_map(data, data - offset, end - data, PAGE_WRITE, MEMORY_KERNEL));
    TRY(paging_map(start - offset, start - offset, end - start, 0,
                   MEMORY_KERNEL));
    TRY(paging_map(TABLE_VIRT, (u64)call_tables - offset, PAGE, 0,
                   MEMORY_KERNEL));
    return paging_unmap(NULL_PAGE, PAGE);
}

static int paging_map_ram(void)
{
    u64 phys, bytes;
    for (u32 i = 0; memory_ram_piece(i, &phys, &bytes) == 0; i++) {
        TRY(paging_map(phys, phys, bytes, PAGE_WRITE, MEMORY_KERNEL));
    }
    return 0;
}

u64 paging_screen(const struct boot_framebuffer *screen)
{
    return SCREEN_REGION + (screen->phys & (LARGE_PAGE - 1));
}

void paging_map_early(u64 virt, u64 phys, u64 bytes)
{
    u64 bits = paging_bits(PAGE_WRITE | PAGE_COMBINED) | LARGE;
    u64 end = phys + bytes;
    for (phys = align_down(phys, LARGE_PAGE); phys < end; phys += LARGE_PAGE) {
        *paging_slot(boot_table_high, virt, 1) = phys | bits;
        virt += LARGE_PAGE;
    }
}

static int paging_map_screen(const struct boot_framebuffer *screen)
{
    u64 start = align_down(screen->phys, PAGE);
    u64 end = screen->phys + (u64)screen->pitch * screen->height;
    return screen->bits == 0
               ? 0
               : paging_map(align_down(paging_screen(screen), PAGE), start,
                            align_up(end, PAGE) - start,
                            PAGE_WRITE | PAGE_COMBINED, MEMORY_KERNEL);
}

int paging_init(const struct boot_info *info)
{
    if (cpuid(0x80000001, 0).edx & BIT(26)) {
        paging.large_level = LARGEST_PAGE_LEVEL;
    }
    u64 root;
    TRY(memory_alloc(PAGE, paging.table_flags, MEMORY_KERNEL, &root));
    paging.root = (u64 *)root;
    TRY(paging_map_ram());
    TRY(paging_map_image(info));
    TRY(paging_map_screen(&info->framebuffer));
    write_cr3(root);
    paging.table_flags = MEM_ZERO;
    u64 spare = (u64)boot_tables - paging.kernel_offset;
    u64 bytes = (u64)(boot_tables_end - boot_tables);
    TRY(paging_map(spare, spare, bytes, PAGE_WRITE, MEMORY_KERNEL));
    memory_give(spare, bytes);
    return 0;
}
