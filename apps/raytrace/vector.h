// vector.h - points, directions and colours in double precision.
// SPDX-License-Identifier: MIT
#pragma once

struct vector {
    double x, y, z;
};

static inline struct vector vector(double x, double y, double z)
{
    return (struct vector){x, y, z};
}
static inline struct vector vector_add(struct vector a, struct vector b)
{
    return vector(a.x + b.x, a.y + b.y, a.z + b.z);
}
static inline struct vector vector_subtract(struct vector a, struct vector b)
{
    return vector(a.x - b.x, a.y - b.y, a.z - b.z);
}
static inline struct vector vector_scale(struct vector a, double by)
{
    return vector(a.x * by, a.y * by, a.z * by);
}
static inline struct vector vector_multiply(struct vector a, struct vector b)
{
    return vector(a.x * b.x, a.y * b.y, a.z * b.z);
}
static inline double vector_dot(struct vector a, struct vector b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

// One instruction, correctly rounded: no library, the same on every machine.
static inline double square_root(double value)
{
    double root;
    __asm__("sqrtsd %1, %0" : "=x"(root) : "x"(value));
    return root;
}

static inline struct vector vector_unit(struct vector a)
{
    return vector_scale(a, 1.0 / square_root(vector_dot(a, a)));
}
// a as a mirror with this unit normal throws it back.
static inline struct vector vector_reflect(struct vector a,
                                           struct vector normal)
{
    return vector_subtract(a,
                           vector_scale(normal, 2.0 * vector_dot(a, normal)));
}
