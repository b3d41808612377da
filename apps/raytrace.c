// raytrace.c - raytrace [w h samples]: trace a picture into memory; doubles,
// square roots and divisions all the way.
// SPDX-License-Identifier: MIT
#include "lib/args.h"
#include "lib/bench.h"
#include "lib/result.h"
#include "raytrace/render.h"

static int raytrace_arguments(int argc, char **argv, struct picture *picture)
{
    u64 width = 1920, height = 1080, samples = 1;
    if (args_number(argc, argv, 1, (struct range){1, 16384}, &width) < 0 ||
        args_number(argc, argv, 2, (struct range){1, 16384}, &height) < 0 ||
        args_number(argc, argv, 3, (struct range){1, 65536}, &samples) < 0) {
        return E_ARG;
    }
    *picture = (struct picture){
        .width = (u32)width, .height = (u32)height, .samples = (u32)samples};
    return 0;
}

int main(int argc, char **argv)
{
    struct picture picture;
    if (raytrace_arguments(argc, argv, &picture) < 0) {
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
    struct bench start = bench_start();
    render_rows(&picture, 0, picture.height);
    u32 sum = render_checksum(&picture);
    struct bench took = bench_since(start);
    print("Picture: %u x %u, %u samples\nSeconds: " FIXED "\nChecksum: %08x\n",
          picture.width, picture.height, picture.samples,
          FIXED_ARGS(took.ns / 10000000), sum);
    result("raytrace",
           "width=%u height=%u samples=%u ns=%lu cycles=%lu checksum=%08x",
           picture.width, picture.height, picture.samples, took.ns, took.cycles,
           sum);
    return 0;
}
