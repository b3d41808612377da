// raytrace.c - raytrace [w h samples] [--cpus N] [--show]: trace a picture into
// memory; doubles, square roots and divisions all the way.
// SPDX-License-Identifier: MIT
#include "lib/args.h"
#include "lib/bench.h"
#include "lib/draw.h"
#include "lib/options.h"
#include "lib/result.h"
#include "raytrace/render.h"

#define USAGE "raytrace [width height samples] [--cpus N] [--show]"

enum { ROWS_AT_ONCE = 4, CORES = 256 };
#define LOOK_NS 10000000000 // how long the picture stays, without a key

static struct picture picture;
static u32 next_row; // the first that nobody has taken
static struct draw screen;
static int shown; // --show

static int raytrace_arguments(int argc, char **argv, u64 *cpus)
{
    shown = option_flag(&argc, argv, "--show");
    u64 width = 1920, height = 1080, samples = 1;
    if (option_number(&argc, argv, "--cpus", CORES, cpus) < 0 ||
        option_end(argc, argv, 3, USAGE) < 0 ||
        args_number(argc, argv, 1, (struct range){1, 16384}, &width) < 0 ||
        args_number(argc, argv, 2, (struct range){1, 16384}, &height) < 0 ||
        args_number(argc, argv, 3, (struct range){1, 65536}, &samples) < 0) {
        return E_ARG;
    }
    picture.width = (u32)width;
    picture.height = (u32)height;
    picture.samples = (u32)samples;
    return 0;
}

// Rows that are done, in the middle of the screen; from whichever core.
static void raytrace_show(u32 row, u32 n)
{
    i32 x = ((i32)screen.screen.width - (i32)picture.width) / 2;
    i32 y = ((i32)screen.screen.height - (i32)picture.height) / 2;
    struct draw_image rows = {picture.pixels + (u64)row * picture.width,
                              (i32)picture.width, (i32)n};
    draw_picture(&screen, x, y + (i32)row, &rows);
}

// Some rows are dearer than others, so each core takes the next few that are
// left.
static void raytrace_rows(void *arg)
{
    (void)arg;
    for (;;) {
        u32 row = __atomic_fetch_add(&next_row, ROWS_AT_ONCE, __ATOMIC_RELAXED);
        if (row >= picture.height) {
            return;
        }
        u32 left = picture.height - row;
        u32 n = left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE;
        render_rows(&picture, row, n);
        if (shown) {
            raytrace_show(row, n);
        }
    }
}

static int raytrace_on(u32 cpus)
{
    for (u32 cpu = 1; cpu < cpus; cpu++) {
        int error = os->cpu_start(cpu, raytrace_rows, 0);
        if (error < 0) {
            print("error: raytrace: core %u: %s\n", cpu, os->sys_error(error));
            return error;
        }
    }
    raytrace_rows(0);
    for (u32 cpu = 1; cpu < cpus; cpu++) {
        if (os->cpu_wait(cpu) < 0) {
            return E_ARG;
        }
    }
    return 0;
}

static void raytrace_report(struct bench took, u64 cpus, u32 sum)
{
    print("Picture: %u x %u, %u samples\nSeconds: " FIXED "\nChecksum: %08x\n",
          picture.width, picture.height, picture.samples,
          FIXED_ARGS(took.ns / 10000000), sum);
    result("raytrace",
           "width=%u height=%u samples=%u cpus=%lu ns=%lu cycles=%lu "
           "checksum=%08x",
           picture.width, picture.height, picture.samples, cpus, took.ns,
           took.cycles, sum);
}

int main(int argc, char **argv)
{
    u64 cpus = 1;
    if (raytrace_arguments(argc, argv, &cpus) < 0) {
        return 1;
    }
    u64 bytes = (u64)picture.width * picture.height * sizeof(u32);
    void *memory;
    int error = os->mem_alloc(bytes, 0, &memory);
    if (error < 0) {
        print("error: raytrace: %lu KiB for the picture: %s\n", bytes >> 10,
              os->sys_error(error));
        return 1;
    }
    picture.pixels = memory;
    error = shown ? draw_begin(&screen) : 0;
    if (error < 0) {
        print("error: raytrace: --show: %s\n", os->sys_error(error));
        return 1;
    }
    struct bench start = bench_start();
    if (raytrace_on((u32)cpus) < 0) {
        return 1;
    }
    u32 sum = render_checksum(&picture);
    raytrace_report(bench_since(start), cpus, sum);
    if (shown) { // until a key, the report waits behind it
        u8 key;
        (void)os->con_read(&key, 1, LOOK_NS);
        draw_end();
    }
    return 0;
}
