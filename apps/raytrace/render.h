// render.h - a path tracer that needs nothing but memory: the same source runs
// on Ingot (apps/raytrace.c) and on Linux (tools/bench/raytrace_linux.c).
// SPDX-License-Identifier: MIT
#pragma once
#include "../../include/ingot.h"

struct picture {
    u32 *pixels; // width * height, 0x00RRGGBB, row by row
    u32 width, height;
    u32 samples; // light paths per pixel
};

// Trace n rows from first on. Every pixel has a random sequence of its own, so
// rows can be traced in any order, by any core: the picture is the same.
void render_rows(const struct picture *picture, u32 first, u32 n);
// FNV-1a, 32 bits, over the bytes of the picture.
u32 render_checksum(const struct picture *picture);
