// screen.c - the framebuffer: found, mapped, and lent to a program.
// SPDX-License-Identifier: MIT
#include "screen.h"
#include "../lib/string.h"
#include "app.h"
#include "console.h"
#include "cpu.h"
#include "paging.h"

#define LOG_TAG "screen"
#include "log.h"

#define LOW_MEMORY (1ul << 20)
#define INTERRUPTS_FIRST 0xFEC00000ul // I/O and local APICs, then the firmware
#define INTERRUPTS_END (1ul << 32)

extern const char kernel_start[], kernel_end[];

static struct {
    struct screen_info info; // pixels null: there is no screen
    u32 claimed;
} screen;

static u64 screen_bytes(const struct boot_framebuffer *fb)
{
    return (u64)fb->pitch * fb->height;
}

static int screen_meets(u64 a, u64 a_bytes, u64 b, u64 b_bytes)
{
    return a < b + b_bytes && b < a + a_bytes;
}

// Firmware may call the framebuffer reserved, but never memory.
static int screen_meets_memory(const struct boot_info *info, u64 phys,
                               u64 bytes)
{
    for (u32 i = 0; i < info->n_regions; i++) {
        const struct mem_region *region = &info->regions[i];
        if (region->type != MEM_RESERVED &&
            screen_meets(phys, bytes, region->start, region->bytes)) {
            return 1;
        }
    }
    return screen_meets(phys, bytes, info->kernel_phys,
                        (u64)(kernel_end - kernel_start));
}

// Why it cannot be used; null: it can.
static const char *screen_problem(const struct boot_info *info)
{
    const struct boot_framebuffer *fb = &info->framebuffer;
    u64 bytes = screen_bytes(fb);
    u32 address_bits = cpuid(0x80000008, 0).eax & 0xFF;
    if (bytes > SCREEN_MOST) {
        return "it is too large";
    }
    if (fb->phys < LOW_MEMORY || (fb->phys + bytes - 1) >> address_bits != 0) {
        return "it lies where none can";
    }
    if (screen_meets(fb->phys, bytes, INTERRUPTS_FIRST,
                     INTERRUPTS_END - INTERRUPTS_FIRST)) {
        return "it lies over the interrupt controllers";
    }
    return screen_meets_memory(info, fb->phys, bytes) ? "it lies in memory" : 0;
}

static void screen_describe(const struct boot_framebuffer *fb)
{
    screen.info = (struct screen_info){
        .pixels = (void *)paging_screen(fb),
        .width = fb->width,
        .height = fb->height,
        .pitch = fb->pitch,
        .bits = fb->bits,
        .red_position = fb->red_position,
        .red_bits = fb->red_bits,
        .green_position = fb->green_position,
        .green_bits = fb->green_bits,
        .blue_position = fb->blue_position,
        .blue_bits = fb->blue_bits,
    };
}

void screen_init(struct boot_info *info)
{
    struct boot_framebuffer *fb = &info->framebuffer;
    if (fb->bits == 0) {
        return;
    }
    const char *problem = screen_problem(info);
    if (problem == 0) {
        screen_describe(fb);
        paging_map_early((u64)screen.info.pixels, fb->phys, screen_bytes(fb));
        if (screen_driver->start(&screen.info) < 0) {
            problem = "no text fits";
        }
    }
    if (problem != 0) {
        log_warn("%ux%u at 0x%lx is not used: %s", fb->width, fb->height,
                 fb->phys, problem);
        fb->bits = 0;
        screen.info.pixels = 0;
    }
}

void screen_grow(void)
{
    const struct screen_info *info = &screen.info;
    if (info->pixels == 0) {
        return;
    }
    if (screen_driver->grow() < 0) {
        log_warn("no memory for all of its text");
    }
    u32 columns, rows;
    screen_driver->size(&columns, &rows);
    log_info("%ux%u, %u bits, %u bytes a row, %ux%u letters", info->width,
             info->height, info->bits, info->pitch, columns, rows);
}

void screen_text_size(u32 *columns, u32 *rows)
{
    *columns = *rows = 0;
    if (screen.info.pixels != 0 && console_has("screen")) {
        screen_driver->size(columns, rows);
    }
}

int screen_is_claimed(void)
{
    return __atomic_load_n(&screen.claimed, __ATOMIC_ACQUIRE) != 0;
}

int screen_is_cut_short(void)
{
    return app_stopping();
}

// An empty text goes through the console's lock: what another core writes is
// on the screen before, and a screen that came back is drawn again.
static void screen_lend(u32 on)
{
    if (screen.claimed != on) {
        __atomic_store_n(&screen.claimed, on, __ATOMIC_RELEASE);
        console_write("", 0);
    }
}

void screen_take_back(void)
{
    screen_lend(0);
}

void screen_draw_again(void)
{
    if (screen.info.pixels != 0) {
        screen_lend(1);
        screen_lend(0);
    }
}

int screen_info(struct screen_info *info)
{
    if (screen.info.pixels == 0) {
        return E_NODEV;
    }
    *info = screen.info;
    return 0;
}

int screen_claim(int on)
{
    if (screen.info.pixels == 0) {
        return E_NODEV;
    }
    screen_lend(on != 0);
    return 0;
}
