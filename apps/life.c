// life.c - life [generations] [--seed N] [--fast]: Conway's game on the screen,
// from a random beginning, until a key is pressed.
// SPDX-License-Identifier: MIT
#include "../lib/string.h"
#include "lib/args.h"
#include "lib/bench.h"
#include "lib/draw.h"
#include "lib/options.h"
#include "lib/result.h"

#define USAGE "life [generations] [--seed N] [--fast]"

enum { CELL = 4, FRAME_NS = 40000000 }; // pixels; 25 generations a second
enum { COLOUR_BORN = 0x60E070, COLOUR_OLD = 0x3060D0 };

// The field has no edges: left of the first column lies the last.
static struct {
    u32 width, height;
    u8 *now, *next; // 0 nothing, 1 born in this generation, 2 older
    struct draw draw;
} life;

static u64 life_random(u64 *state) // xorshift64*
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545F4914F6CDD1D >> 32;
}

static void life_sow(u64 seed)
{
    u64 state = seed * 0x9E3779B97F4A7C15 | 1;
    for (u32 i = 0; i < life.width * life.height; i++) {
        life.now[i] = life_random(&state) % 4 == 0;
    }
}

static u32 life_row_of(const u8 *row, const u32 column[3])
{
    u32 alive = 0;
    for (u32 i = 0; i < 3; i++) {
        alive += row[column[i]] != 0;
    }
    return alive;
}

static u8 life_rule(u8 cell, u32 around) // around: itself and eight more
{
    if (cell != 0) {
        return around == 3 || around == 4 ? 2 : 0;
    }
    return around == 3;
}

static void life_step(void)
{
    u32 width = life.width, height = life.height;
    for (u32 y = 0; y < height; y++) {
        const u8 *row = life.now + y * width;
        const u8 *above = life.now + (y + height - 1) % height * width;
        const u8 *below = life.now + (y + 1) % height * width;
        for (u32 x = 0; x < width; x++) {
            u32 column[3] = {x == 0 ? width - 1 : x - 1, x,
                             x + 1 == width ? 0 : x + 1};
            u32 around = life_row_of(above, column) + life_row_of(row, column) +
                         life_row_of(below, column);
            life.next[y * width + x] = life_rule(row[x], around);
        }
    }
}

// Only what has changed is drawn.
static void life_show(const u8 *before, const u8 *after)
{
    static const u32 colours[] = {0, COLOUR_BORN, COLOUR_OLD};
    for (u32 i = 0; i < life.width * life.height; i++) {
        if (before[i] != after[i]) {
            struct draw_box box = {(i32)(i % life.width) * CELL,
                                   (i32)(i / life.width) * CELL, CELL - 1,
                                   CELL - 1};
            draw_fill(&life.draw, &box, colours[after[i]]);
        }
    }
}

static void life_swap(void)
{
    u8 *now = life.now;
    life.now = life.next;
    life.next = now;
}

static int life_make_field(void)
{
    void *memory;
    life.width = life.draw.screen.width / CELL;
    life.height = life.draw.screen.height / CELL;
    u64 cells = (u64)life.width * life.height;
    int error = os->mem_alloc(2 * cells, MEM_ZERO, &memory);
    if (error >= 0) {
        life.now = memory;
        life.next = life.now + cells;
    }
    return error;
}

// Returns how many generations there were: a key ends it.
static u64 life_run(u64 generations, int fast)
{
    u8 key;
    u64 n = 0, due = os->time_ns();
    life_show(life.next, life.now);
    while (n < generations) {
        life_step();
        life_show(life.now, life.next);
        life_swap();
        n++;
        due += FRAME_NS;
        i64 early = (i64)(due - os->time_ns());
        if (os->con_read(&key, 1, fast || early < 0 ? 0 : early) > 0) {
            break;
        }
    }
    return n;
}

static void life_report(u64 generations, struct bench took)
{
    u64 alive = 0;
    u32 sum = 0x811C9DC5; // FNV-1a of who is alive
    for (u32 i = 0; i < life.width * life.height; i++) {
        alive += life.now[i] != 0;
        sum = (sum ^ (life.now[i] != 0)) * 0x01000193;
    }
    print("Generations: %lu\nAlive: %lu of %u\n", generations, alive,
          life.width * life.height);
    result("life",
           "generations=%lu width=%u height=%u alive=%lu checksum=%08x ns=%lu",
           generations, life.width, life.height, alive, sum, took.ns);
}

int main(int argc, char **argv)
{
    u64 generations = 1000, seed = 1;
    int fast = option_flag(&argc, argv, "--fast");
    if (option_number(&argc, argv, "--seed", ~0ul, &seed) < 0 ||
        option_end(argc, argv, 1, USAGE) < 0 ||
        args_number(argc, argv, 1, (struct range){1, 1000000}, &generations) <
            0) {
        return 1;
    }
    int error = draw_begin(&life.draw);
    if (error >= 0) {
        error = life_make_field();
    }
    if (error < 0) {
        print("error: life: %s\n", os->sys_error(error));
        return 1;
    }
    life_sow(seed);
    struct bench start = bench_start();
    generations = life_run(generations, fast);
    struct bench took = bench_since(start);
    draw_end();
    life_report(generations, took);
    return 0;
}
