// time_reference.h - counters of known rate that the TSC is measured against.
// SPDX-License-Identifier: MIT
#pragma once
#include "acpi.h"

struct time_reference {
    const char *name; // null: there is none
    u64 (*read)(void);
    u64 hz, mask; // it counts up, modulo mask + 1
};

// One moment seen on both clocks. width: TSC ticks of doubt about it.
struct time_sample {
    u64 tsc, ticks, width;
};

// The best of HPET, ACPI PM timer and PIT that is there and counts.
struct time_reference time_reference_find(const struct acpi *acpi);
// The tightest of several looks at the counter's next ticks; width is ~0 when
// it stands still. tries >= 1.
struct time_sample time_reference_sample(const struct time_reference *reference,
                                         u32 tries);
// TSC ticks per second between two samples; 0 when they do not tell.
u64 time_reference_rate(const struct time_reference *reference,
                        const struct time_sample *from,
                        const struct time_sample *to);
// TSC ticks per second, measured in as short a time as is good to 0.1%, 150
// microseconds at most. *start is the first sample, for a later refinement.
u64 time_reference_measure(const struct time_reference *reference,
                           struct time_sample *start);
