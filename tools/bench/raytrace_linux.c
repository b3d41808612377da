// raytrace_linux.c - the renderer of apps/raytrace/ as a Linux program, to
// compare with: same source, same flags, same lines, same checksum.
// SPDX-License-Identifier: MIT
#include "../../apps/raytrace/render.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static u64 now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
}

// Argument number i, from 1 to most; value when it was not given.
static u32 argument(int argc, char **argv, int i, u32 most, u32 value)
{
    if (i >= argc) {
        return value;
    }
    char *end;
    unsigned long number = strtoul(argv[i], &end, 0);
    if (*end || number < 1 || number > most) {
        fprintf(stderr, "error: '%s' is not between 1 and %u\n", argv[i], most);
        exit(2);
    }
    return (u32)number;
}

// With a fourth argument the picture is written there, as a PPM file.
static int write_picture(const struct picture *picture, const char *name)
{
    FILE *file = fopen(name, "wb");
    if (!file) {
        perror(name);
        return 1;
    }
    fprintf(file, "P6 %u %u 255\n", picture->width, picture->height);
    for (u64 i = 0; i < (u64)picture->width * picture->height; i++) {
        u32 pixel = picture->pixels[i];
        u8 colours[3] = {(u8)(pixel >> 16), (u8)(pixel >> 8), (u8)pixel};
        fwrite(colours, sizeof(colours), 1, file);
    }
    return fclose(file) != 0;
}

int main(int argc, char **argv)
{
    struct picture picture = {
        .width = argument(argc, argv, 1, 16384, 1920),
        .height = argument(argc, argv, 2, 16384, 1080),
        .samples = argument(argc, argv, 3, 65536, 1),
    };
    picture.pixels = malloc((u64)picture.width * picture.height * sizeof(u32));
    if (!picture.pixels) {
        fprintf(stderr, "error: not enough memory\n");
        return 1;
    }
    u64 start = now_ns();
    render_rows(&picture, 0, picture.height);
    u32 sum = render_checksum(&picture);
    u64 ns = now_ns() - start;
    printf("Seconds: %lu.%02lu\nChecksum: %08x\n", ns / 1000000000,
           ns / 10000000 % 100, sum);
    printf("RESULT bench=raytrace lang=c width=%u height=%u samples=%u "
           "ns=%lu checksum=%08x os=linux\n",
           picture.width, picture.height, picture.samples, ns, sum);
    int failed = argc > 4 && write_picture(&picture, argv[4]);
    free(picture.pixels);
    return failed;
}
