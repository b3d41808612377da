// guest.h - what the measuring programs of the Linux guest share.
// SPDX-License-Identifier: MIT
#pragma once
#include <stdint.h>

typedef int guest_main(int argc, char **argv);

// Programs: 0, or 1 after a line that begins with "error: ".
guest_main guest_ring, guest_cost, guest_threads, guest_echo, guest_nics,
    guest_log;

uint64_t guest_ns(void); // CLOCK_MONOTONIC
uint64_t guest_tsc(void);
// Argument i as a number; value when it was not given.
uint64_t guest_number(int argc, char **argv, int i, uint64_t value);
int guest_error(const char *what); // with errno's text; returns 1
// The line for programs to read: one cost in nanoseconds.
void guest_result(const char *bench, uint64_t n, uint64_t ns);

// The mapped receive ring of a packet socket (TPACKET_V2): as many blocks of
// frames as fit any frame there is, one frame an entry.
struct guest_ring {
    int socket;
    uint8_t *frames;
    uint32_t n, at;
};
int guest_ring_open(struct guest_ring *ring, const char *nic);
// Bytes of the next frame, 0: there is none. guest_ring_release gives its
// entry back.
uint32_t guest_ring_look(const struct guest_ring *ring);
const void *guest_ring_data(const struct guest_ring *ring);
void guest_ring_release(struct guest_ring *ring);
