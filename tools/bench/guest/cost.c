// cost.c - cost [nic] [n]: what it costs to look whether a frame has come, and
// a call that does nothing.
// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "guest.h"
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

// A packet socket without a protocol: nothing is ever queued.
static int cost_socket(void)
{
    return socket(AF_PACKET, SOCK_RAW, 0);
}

// The status word of the ring's next entry, as netpoll --inline looks at its
// own: a frame ends the loop.
__attribute__((noinline, aligned(64))) static uint64_t
cost_look(const struct guest_ring *ring, uint64_t n)
{
    const volatile uint32_t *word =
        (const volatile uint32_t *)(const void *)ring->frames;
    do {
        if (*word & 1) {
            break;
        }
    } while (--n);
    return n;
}

static int cost_ring(const char *nic, uint64_t n)
{
    struct guest_ring ring;
    if (guest_ring_open(&ring, nic) < 0) {
        return guest_error(nic);
    }
    uint64_t start = guest_ns();
    uint64_t left = cost_look(&ring, n);
    uint64_t ns = guest_ns() - start;
    if (left) {
        printf("error: cost: a frame came\n");
        return 1;
    }
    guest_result("poll-ring", n, ns);
    return 0;
}

static int cost_calls(uint64_t n)
{
    char buffer[2048];
    int s = cost_socket();
    if (s < 0) {
        return guest_error("socket");
    }
    uint64_t start = guest_ns();
    for (uint64_t i = 0; i < n; i++) {
        (void)!recvfrom(s, buffer, sizeof(buffer), MSG_DONTWAIT, 0, 0);
    }
    guest_result("poll-recvfrom", n, guest_ns() - start);
    start = guest_ns();
    for (uint64_t i = 0; i < n; i++) {
        syscall(SYS_getppid);
    }
    guest_result("getppid", n, guest_ns() - start);
    return 0;
}

int guest_cost(int argc, char **argv)
{
    uint64_t n = guest_number(argc, argv, 2, 1000000);
    return cost_ring(argc > 1 ? argv[1] : "eth0", n * 10) || cost_calls(n);
}
