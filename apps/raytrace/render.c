// render.c - a path tracer: spheres of three materials on a chequered floor
// under an open sky.
// SPDX-License-Identifier: MIT
//
// Only IEEE additions, multiplications, divisions and square roots, in the
// order written, and integer random numbers: the picture is the same to the
// last bit wherever it is traced.
#include "render.h"
#include "vector.h"

enum material { MATTE, METAL, GLASS };

struct sphere {
    struct vector centre;
    double radius;
    struct vector colour;
    enum material material;
    double detail; // METAL: blur of the reflection; GLASS: refractive index
};

struct ray {
    struct vector from, to; // to: a unit vector
};

struct hit {
    double distance;
    struct vector point, normal; // the normal points out of the thing
    struct vector colour;
    enum material material;
    double detail;
};

enum { BOUNCES = 8, SPHERES = 8 };

static const double NEAREST = 1e-6; // nearer hits are the surface we left
static const double FURTHEST = 1e9;

// clang-format off
static const struct sphere scene[SPHERES] = {
    {{ 0.00, 1.00,  0.0}, 1.00, {1.00, 1.00, 1.00}, GLASS, 1.5},
    {{-2.30, 1.00,  0.6}, 1.00, {0.75, 0.25, 0.20}, MATTE, 0.0},
    {{ 2.30, 1.00, -0.4}, 1.00, {0.85, 0.80, 0.70}, METAL, 0.02},
    {{-0.90, 0.35, -1.9}, 0.35, {0.20, 0.45, 0.80}, MATTE, 0.0},
    {{ 0.95, 0.30, -2.1}, 0.30, {0.90, 0.65, 0.25}, METAL, 0.25},
    {{ 0.20, 0.22, -2.6}, 0.22, {0.35, 0.70, 0.30}, MATTE, 0.0},
    {{-1.95, 0.25, -1.6}, 0.25, {0.95, 0.98, 1.00}, GLASS, 1.33},
    {{ 1.10, 0.50,  2.2}, 0.50, {0.60, 0.30, 0.65}, METAL, 0.0},
};
// clang-format on

// ---- random numbers: splitmix64, seeded by the pixel ----

static u64 random_bits(u64 *state)
{
    u64 x = *state += 0x9E3779B97F4A7C15;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
    x = (x ^ x >> 27) * 0x94D049BB133111EB;
    return x ^ x >> 31;
}

// 0 <= result < 1, 53 bits of it random.
static double random_unit(u64 *state)
{
    return (double)(i64)(random_bits(state) >> 11) * 0x1p-53;
}

static struct vector random_in_sphere(u64 *state)
{
    struct vector v;
    do { // half of the cube lies in the sphere: two rounds on average
        v.x = 2.0 * random_unit(state) - 1.0;
        v.y = 2.0 * random_unit(state) - 1.0;
        v.z = 2.0 * random_unit(state) - 1.0;
    } while (vector_dot(v, v) >= 1.0);
    return v;
}

// ---- what a ray meets ----

// Distance to the sphere, FURTHEST when the ray misses it.
static inline double sphere_distance(const struct sphere *sphere,
                                     const struct ray *ray)
{
    struct vector offset = vector_subtract(sphere->centre, ray->from);
    double along = vector_dot(offset, ray->to);
    double square = along * along - vector_dot(offset, offset) +
                    sphere->radius * sphere->radius;
    if (square < 0.0) {
        return FURTHEST;
    }
    double half = square_root(square);
    if (along - half > NEAREST) {
        return along - half;
    }
    return along + half > NEAREST ? along + half : FURTHEST;
}

static double floor_distance(const struct ray *ray)
{
    double distance = -ray->from.y / ray->to.y; // infinite when level: a miss
    return distance > NEAREST && distance < FURTHEST ? distance : FURTHEST;
}

static void hit_floor(struct hit *hit)
{
    // Squares of the plane: the conversion truncates towards zero, so shift
    // everything that can be seen to positive numbers first.
    i64 column = (i64)(hit->point.x + 1048576.0);
    i64 row = (i64)(hit->point.z + 1048576.0);
    hit->normal = vector(0.0, 1.0, 0.0);
    hit->colour = (column ^ row) & 1 ? vector(0.82, 0.82, 0.80)
                                     : vector(0.22, 0.26, 0.30);
    hit->material = MATTE;
    hit->detail = 0.0;
}

static void hit_sphere(const struct sphere *sphere, struct hit *hit)
{
    hit->normal = vector_scale(vector_subtract(hit->point, sphere->centre),
                               1.0 / sphere->radius);
    hit->colour = sphere->colour;
    hit->material = sphere->material;
    hit->detail = sphere->detail;
}

static int find_hit(const struct ray *ray, struct hit *hit)
{
    const struct sphere *nearest = 0;
    hit->distance = floor_distance(ray);
    for (u32 i = 0; i < SPHERES; i++) {
        double distance = sphere_distance(&scene[i], ray);
        if (distance < hit->distance) {
            hit->distance = distance;
            nearest = &scene[i];
        }
    }
    if (hit->distance >= FURTHEST) {
        return 0;
    }
    hit->point = vector_add(ray->from, vector_scale(ray->to, hit->distance));
    if (nearest) {
        hit_sphere(nearest, hit);
    } else {
        hit_floor(hit);
    }
    return 1;
}

static struct vector sky(struct vector direction)
{
    double height = 0.5 * (direction.y + 1.0);
    return vector_add(vector_scale(vector(1.0, 1.0, 1.0), 1.0 - height),
                      vector_scale(vector(0.45, 0.65, 1.0), height));
}

// ---- where the ray goes from there ----

// Schlick's approximation of how much glass reflects at this angle.
static double reflectance(double cosine, double ratio)
{
    double straight = (1.0 - ratio) / (1.0 + ratio);
    double rest = 1.0 - cosine;
    straight *= straight;
    return straight + (1.0 - straight) * (rest * rest) * (rest * rest) * rest;
}

static struct vector scatter_glass(const struct hit *hit, struct vector to,
                                   u64 *random)
{
    double ratio = 1.0 / hit->detail;
    double cosine = -vector_dot(to, hit->normal);
    struct vector normal = hit->normal;
    if (cosine < 0.0) { // from the inside
        normal = vector_scale(normal, -1.0);
        cosine = -cosine;
        ratio = hit->detail;
    }
    double square = 1.0 - ratio * ratio * (1.0 - cosine * cosine);
    if (square < 0.0 || reflectance(cosine, ratio) > random_unit(random)) {
        return vector_reflect(to, normal);
    }
    return vector_add(
        vector_scale(to, ratio),
        vector_scale(normal, ratio * cosine - square_root(square)));
}

// Turn the ray at the hit. 0: its light is lost.
static int scatter(const struct hit *hit, struct ray *ray, u64 *random)
{
    struct vector to;
    if (hit->material == GLASS) {
        to = scatter_glass(hit, ray->to, random);
    } else if (hit->material == METAL) {
        to = vector_add(vector_reflect(ray->to, hit->normal),
                        vector_scale(random_in_sphere(random), hit->detail));
    } else {
        to = vector_add(hit->normal, vector_unit(random_in_sphere(random)));
    }
    if (vector_dot(to, to) < 1e-12) { // the two cancelled out
        to = hit->normal;
    }
    ray->from = hit->point;
    ray->to = vector_unit(to);
    return hit->material == GLASS || vector_dot(to, hit->normal) > 0.0;
}

static struct vector trace(struct ray ray, u64 *random)
{
    struct vector light = vector(1.0, 1.0, 1.0);
    for (u32 bounce = 0; bounce < BOUNCES; bounce++) {
        struct hit hit;
        if (!find_hit(&ray, &hit)) {
            return vector_multiply(light, sky(ray.to));
        }
        light = vector_multiply(light, hit.colour);
        if (!scatter(&hit, &ray, random)) {
            break;
        }
    }
    return vector(0.0, 0.0, 0.0);
}

// ---- the picture ----

struct camera {
    struct vector from, corner, right, down; // right, down: one pixel
};

static struct camera camera_place(const struct picture *picture)
{
    // From in front and above, looking at the glass sphere. The three axes
    // are unit vectors at right angles.
    struct vector from = vector(-1.2, 1.9, -6.5);
    struct vector ahead =
        vector_unit(vector_subtract(vector(0, 0.75, 0), from));
    struct vector right = vector_unit(vector(ahead.z, 0.0, -ahead.x));
    struct vector down = vector(right.y * ahead.z - right.z * ahead.y,
                                right.z * ahead.x - right.x * ahead.z,
                                right.x * ahead.y - right.y * ahead.x);
    double step = 1.05 / (double)picture->height;
    struct camera camera = {from, ahead, vector_scale(right, step),
                            vector_scale(down, step)};
    camera.corner = vector_subtract(
        camera.corner,
        vector_scale(camera.right, 0.5 * (double)picture->width));
    camera.corner = vector_subtract(
        camera.corner,
        vector_scale(camera.down, 0.5 * (double)picture->height));
    return camera;
}

static u32 shade(double light) // 0 .. 255, gamma 2
{
    double value = 256.0 * square_root(light);
    return value < 255.0 ? (u32)(i32)value : 255;
}

static u32 render_pixel(const struct picture *picture,
                        const struct camera *camera, u32 x, u32 y)
{
    u64 random = ((u64)y << 32 | x) * 0xD1342543DE82EF95 + 1;
    struct vector sum = vector(0.0, 0.0, 0.0);
    for (u32 i = 0; i < picture->samples; i++) {
        double across = (double)x + random_unit(&random);
        double below = (double)y + random_unit(&random);
        struct vector to = vector_add(
            camera->corner, vector_add(vector_scale(camera->right, across),
                                       vector_scale(camera->down, below)));
        struct ray ray = {camera->from, vector_unit(to)};
        sum = vector_add(sum, trace(ray, &random));
    }
    sum = vector_scale(sum, 1.0 / (double)picture->samples);
    return shade(sum.x) << 16 | shade(sum.y) << 8 | shade(sum.z);
}

void render_rows(const struct picture *picture, u32 first, u32 n)
{
    struct camera camera = camera_place(picture);
    for (u32 y = first; y < first + n; y++) {
        u32 *row = picture->pixels + (u64)y * picture->width;
        for (u32 x = 0; x < picture->width; x++) {
            row[x] = render_pixel(picture, &camera, x, y);
        }
    }
}

u32 render_checksum(const struct picture *picture)
{
    const u8 *bytes = (const u8 *)picture->pixels;
    u64 len = (u64)picture->width * picture->height * sizeof(u32);
    u32 sum = 0x811C9DC5;
    for (u64 i = 0; i < len; i++) {
        sum = (sum ^ bytes[i]) * 0x01000193;
    }
    return sum;
}
