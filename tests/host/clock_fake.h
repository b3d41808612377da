// clock_fake.h - the kernel's clock on the host: it moves when somebody waits.
// SPDX-License-Identifier: MIT
#pragma once

static u64 now_ns;
static u64 look_ns = 100000; // by so much each time a deadline is looked at

struct deadline deadline_ns(u64 ns)
{
    return (struct deadline){now_ns + ns, 0};
}

int deadline_passed(struct deadline *deadline)
{
    now_ns += look_ns;
    return now_ns >= deadline->end;
}

void time_delay_ns(u64 ns)
{
    now_ns += ns;
}
