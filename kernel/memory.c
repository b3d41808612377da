// memory.c - physical memory: who owns each 4 KiB page.
// SPDX-License-Identifier: MIT
//
// One map, two bits a page (enum memory_owner), over the usable RAM that the
// loader reported. What is not usable RAM belongs to the kernel, so it is never
// handed out. A program's memory goes back by its owner bits: no list to leak.
#include "memory.h"
#include "../lib/string.h"
#include "lock.h"
#include "paging.h"

#define LOG_TAG "memory"
#include "log.h"

enum { PAGES_A_WORD = 32, ARENA_CHUNK = 64 * 1024 };
#define ALL_FREE 0x5555555555555555ul // MEMORY_FREE in every field
#define LOW_MEMORY 0x100000ul         // below: firmware's and start-up code's
#define TABLE_PAGE 0x100000ul         // its virtual page shows the call tables
#define EARLY_REACH BIT(30)           // before paging_init()
#define REACH BIT(44)                 // nothing above is believed to be RAM

extern const char kernel_start[], kernel_end[];

static struct {
    struct lock lock;
    u64 *owners;
    u64 pages; // the map covers physical pages 0 .. pages - 1
    u64 ram, free, modules;
    u64 first_free;        // no free page below this one
    u64 arena, arena_left; // small boot allocations come from here
    u32 n_ram;
    struct ram { // pages; REACH keeps them in 32 bits
        u32 first, n;
    } ram_pieces[BOOT_REGIONS];
} memory;

static enum memory_owner memory_owner_of(u64 page)
{
    u64 shift = page % PAGES_A_WORD * 2;
    return memory.owners[page / PAGES_A_WORD] >> shift & 3;
}

static void memory_set_owner(u64 page, u64 n, enum memory_owner owner)
{
    for (u64 end = page + n; page < end;) {
        u64 *word = &memory.owners[page / PAGES_A_WORD];
        if (page % PAGES_A_WORD == 0 && end - page >= PAGES_A_WORD) {
            *word = ALL_FREE * owner;
            page += PAGES_A_WORD;
            continue;
        }
        u64 shift = page % PAGES_A_WORD * 2;
        *word = (*word & ~(3ul << shift)) | (u64)owner << shift;
        page++;
    }
}

// How many of the n pages from page on are free before the first that is not.
static u64 memory_count_free(u64 page, u64 n)
{
    u64 count = 0;
    while (count < n) {
        u64 at = page + count;
        if (at % PAGES_A_WORD == 0 &&
            memory.owners[at / PAGES_A_WORD] == ALL_FREE) {
            count += PAGES_A_WORD;
        } else if (memory_owner_of(at) == MEMORY_FREE) {
            count++;
        } else {
            return count;
        }
    }
    return n;
}

// The next free page at or after page; memory.pages when there is none.
static u64 memory_next_free(u64 page)
{
    while (page < memory.pages) {
        u64 word = memory.owners[page / PAGES_A_WORD];
        if (page % PAGES_A_WORD == 0 && (word & ~(word >> 1) & ALL_FREE) == 0) {
            page += PAGES_A_WORD;
        } else if (memory_owner_of(page) == MEMORY_FREE) {
            return page;
        } else {
            page++;
        }
    }
    return memory.pages;
}

// First fit: n free pages, the first a multiple of align, all below limit.
static u64 memory_find(u64 n, u64 align, u64 limit)
{
    memory.first_free = memory_next_free(memory.first_free);
    u64 page = align_up(memory.first_free, align);
    while (page < limit && n <= limit - page) {
        u64 run = memory_count_free(page, n);
        if (run == n) {
            return page;
        }
        page = align_up(memory_next_free(page + run), align);
    }
    return 0;
}

static u64 memory_limit(u64 bytes)
{
    return bytes / PAGE < memory.pages ? bytes / PAGE : memory.pages;
}

// Take n free pages for owner; 0: there are none.
static u64 memory_take_free(u64 n, u64 align, u64 limit,
                            enum memory_owner owner)
{
    int taken = lock_take(&memory.lock);
    u64 page = memory_find(n, align, limit);
    if (page != 0) {
        memory_set_owner(page, n, owner);
        memory.free -= n;
        if (page == memory.first_free) {
            memory.first_free = page + n;
        }
    }
    lock_give(&memory.lock, taken);
    return page;
}

int memory_alloc(u64 bytes, u32 flags, enum memory_owner owner, u64 *phys)
{
    if (bytes == 0 || flags & ~(u32)(MEM_BELOW_4G | MEM_2M | MEM_ZERO)) {
        return E_ARG;
    }
    if (bytes > memory.ram) {
        return E_NOMEM;
    }
    u64 n = align_up(bytes, PAGE) / PAGE;
    u64 limit = memory_limit(flags & MEM_BELOW_4G ? 1ul << 32 : ~0ul);
    u64 page = memory_take_free(n, flags & MEM_2M ? 512 : 1, limit, owner);
    if (page == 0) {
        return E_NOMEM;
    }
    if (flags & MEM_ZERO) {
        memset((void *)(page * PAGE), 0, n * PAGE);
    }
    *phys = page * PAGE;
    return 0;
}

static void memory_release(u64 page, u64 n)
{
    memory_set_owner(page, n, MEMORY_FREE);
    memory.free += n;
    if (page < memory.first_free) {
        memory.first_free = page;
    }
}

int memory_free(u64 phys, u64 bytes, enum memory_owner owner)
{
    u64 page = phys / PAGE, n = align_up(bytes, PAGE) / PAGE;
    if (phys % PAGE != 0 || bytes == 0 || bytes > memory.ram ||
        page >= memory.pages || n > memory.pages - page) {
        return E_ARG;
    }
    int taken = lock_take(&memory.lock);
    u64 owned = 0;
    while (owned < n && memory_owner_of(page + owned) == owner) {
        owned++;
    }
    if (owned == n) {
        memory_release(page, n);
    }
    lock_give(&memory.lock, taken);
    return owned == n ? 0 : E_ARG;
}

void memory_free_owner(enum memory_owner owner)
{
    for (u64 word = 0; word < memory.pages / PAGES_A_WORD; word++) {
        u64 differs = memory.owners[word] ^ ALL_FREE * owner;
        if (((differs | differs >> 1) & ALL_FREE) == ALL_FREE) {
            continue; // no page of this word is the owner's
        }
        for (u64 i = 0; i < PAGES_A_WORD; i++) {
            if (memory_owner_of(word * PAGES_A_WORD + i) == owner) {
                memory_release(word * PAGES_A_WORD + i, 1);
            }
        }
    }
}

static void *memory_boot_pages(u64 bytes, u64 align, u64 limit)
{
    u64 page = memory_take_free(align_up(bytes, PAGE) / PAGE,
                                align > PAGE ? align / PAGE : 1,
                                memory_limit(limit), MEMORY_KERNEL);
    return page ? (void *)(page * PAGE) : 0;
}

void *memory_boot_buffer(u64 bytes, u64 align)
{
    if (bytes == 0 || bytes > memory.ram) {
        return 0;
    }
    return memory_boot_pages(bytes, align, ~0ul);
}

void *memory_boot_alloc_low(u64 bytes, u64 align)
{
    if (bytes == 0 || bytes > memory.ram) {
        return 0;
    }
    void *pages = memory_boot_pages(bytes, align, 1ul << 32);
    return pages ? memset(pages, 0, bytes) : 0;
}

// Requests below a page share pages, so that a driver's small tables stay
// together.
void *memory_boot_alloc(u64 bytes, u64 align)
{
    if (bytes >= PAGE || align >= PAGE) {
        void *pages = memory_boot_buffer(bytes, align);
        return pages ? memset(pages, 0, bytes) : 0;
    }
    u64 at = align_up(memory.arena, align);
    if (bytes + (at - memory.arena) > memory.arena_left) {
        at = (u64)memory_boot_buffer(PAGE, PAGE);
        if (at == 0) {
            return 0;
        }
        memory.arena = at;
        memory.arena_left = PAGE;
    }
    memory.arena_left -= at + bytes - memory.arena;
    memory.arena = at + bytes;
    return memset((void *)at, 0, bytes);
}

void memory_get_info(struct mem_info *info)
{
    u64 largest = 0;
    u64 page = memory_next_free(memory.first_free);
    while (page < memory.pages) {
        u64 run = memory_count_free(page, memory.pages - page);
        largest = run > largest ? run : largest;
        page = memory_next_free(page + run);
    }
    *info = (struct mem_info){
        .ram = memory.ram,
        .free = memory.free * PAGE,
        .largest = largest * PAGE,
        .modules = memory.modules,
        .kernel = memory.ram - memory.free * PAGE - memory.modules,
    };
}

int memory_ram_piece(u32 index, u64 *phys, u64 *bytes)
{
    if (index >= memory.n_ram) {
        return E_RANGE;
    }
    *phys = (u64)memory.ram_pieces[index].first * PAGE;
    *bytes = (u64)memory.ram_pieces[index].n * PAGE;
    return 0;
}

int memory_is_ram(u64 phys, u64 bytes)
{
    u64 start, n;
    for (u32 i = 0; memory_ram_piece(i, &start, &n) == 0; i++) {
        if (phys < start + n && start < phys + bytes) {
            return 1;
        }
    }
    return 0;
}

// The page-aligned inside of a usable region, clipped to what is believed.
static void memory_add_ram(const struct mem_region *region)
{
    u64 start = align_up(region->start, PAGE);
    u64 end = align_down(region->start + region->bytes, PAGE);
    end = end > REACH ? REACH : end;
    if (start >= end) {
        return;
    }
    memory.ram_pieces[memory.n_ram++] =
        (struct ram){(u32)(start / PAGE), (u32)((end - start) / PAGE)};
}

// The end of what lies in the way of at .. at + bytes: the image or a module.
// 0: nothing does.
static u64 memory_in_the_way(const struct boot_info *info, u64 at, u64 bytes)
{
    u64 image_end = info->kernel_phys + (u64)(kernel_end - kernel_start);
    if (at < image_end && info->kernel_phys < at + bytes) {
        return image_end;
    }
    for (u32 i = 0; i < info->n_modules; i++) {
        u64 module_end = info->modules[i].phys + info->modules[i].len;
        if (at < module_end && info->modules[i].phys < at + bytes) {
            return module_end;
        }
    }
    return 0;
}

// A place for the owner map: usable, above the low megabyte, clear of the image
// and the modules, and in the first GiB, which the boot tables show.
static u64 memory_find_map_place(const struct boot_info *info, u64 bytes)
{
    u64 at, n;
    for (u32 i = 0; memory_ram_piece(i, &at, &n) == 0; i++) {
        u64 end = at + n > EARLY_REACH ? EARLY_REACH : at + n;
        at = at < LOW_MEMORY + PAGE ? LOW_MEMORY + PAGE : at;
        while (at < end && bytes <= end - at) {
            u64 next = memory_in_the_way(info, at, bytes);
            if (next == 0) {
                return at;
            }
            at = align_up(next, PAGE);
        }
    }
    return 0;
}

// Size the map by the highest RAM that is still believed in.
static u64 memory_map_bytes(void)
{
    const struct ram *last = &memory.ram_pieces[memory.n_ram - 1];
    memory.pages = align_up((u64)last->first + last->n, PAGES_A_WORD);
    return memory.pages / PAGES_A_WORD * sizeof(u64);
}

// Pages that phys .. phys + bytes touches are no longer free.
static void memory_take(u64 phys, u64 bytes)
{
    u64 page = phys / PAGE;
    u64 end = align_up(phys + bytes, PAGE) / PAGE;
    for (; page < end && page < memory.pages; page++) {
        if (memory_owner_of(page) == MEMORY_FREE) {
            memory_set_owner(page, 1, MEMORY_KERNEL);
            memory.free--;
        }
    }
}

static void memory_take_modules(const struct boot_info *info)
{
    for (u32 i = 0; i < info->n_modules; i++) {
        u64 before = memory.free;
        memory_take(info->modules[i].phys, info->modules[i].len);
        memory.modules += (before - memory.free) * PAGE;
    }
}

int memory_init(const struct boot_info *info)
{
    for (u32 i = 0; i < info->n_regions; i++) {
        if (info->regions[i].type == MEM_USABLE) {
            memory_add_ram(&info->regions[i]);
        }
    }
    u64 bytes = 0, place = 0;
    for (; memory.n_ram > 0 && place == 0; memory.n_ram -= place == 0) {
        bytes = memory_map_bytes();
        place = memory_find_map_place(info, bytes);
    }
    if (place == 0) {
        return E_NOMEM;
    }
    memory.owners = (u64 *)place;
    memset(memory.owners, 0, bytes);
    for (u32 i = 0; i < memory.n_ram; i++) {
        memory.ram += (u64)memory.ram_pieces[i].n * PAGE;
        memory_release(memory.ram_pieces[i].first, memory.ram_pieces[i].n);
    }
    memory_take(0, LOW_MEMORY);
    memory_take(TABLE_PAGE, PAGE);
    memory_take(info->kernel_phys, (u64)(kernel_end - kernel_start));
    memory_take(place, bytes);
    memory_take_modules(info);
    memory.first_free = LOW_MEMORY / PAGE;
    log_info("%lu MiB usable in %u pieces", memory.ram >> 20, memory.n_ram);
    return 0;
}

void memory_give(u64 phys, u64 bytes)
{
    int taken = lock_take(&memory.lock);
    memory_release(phys / PAGE, align_up(bytes, PAGE) / PAGE);
    lock_give(&memory.lock, taken);
}
