// ring.c - frames through the mapped receive ring of a packet socket, the
// fastest way to them that a plain Linux has.
// SPDX-License-Identifier: MIT
//
// packet(7), and Documentation/networking/packet_mmap.rst.
#define _GNU_SOURCE
#include "guest.h"
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    FRAME_BYTES = 2048,
    FRAMES = 4096,
    BLOCK_BYTES = 1 << 16,
    WAIT_MS = 100,
    FIRST_MS = 20000,
};

static int ring_bind(int s, const char *nic)
{
    struct sockaddr_ll to = {
        .sll_family = AF_PACKET,
        .sll_protocol = htons(ETH_P_ALL),
        .sll_ifindex = (int)if_nametoindex(nic),
    };
    return to.sll_ifindex ? bind(s, (struct sockaddr *)&to, sizeof(to)) : -1;
}

int guest_ring_open(struct guest_ring *ring, const char *nic)
{
    int version = TPACKET_V2;
    struct tpacket_req request = {
        .tp_block_size = BLOCK_BYTES,
        .tp_block_nr = FRAMES * FRAME_BYTES / BLOCK_BYTES,
        .tp_frame_size = FRAME_BYTES,
        .tp_frame_nr = FRAMES,
    };
    int s = socket(AF_PACKET, SOCK_RAW, 0);
    *ring = (struct guest_ring){.socket = s, .n = FRAMES};
    if (s < 0 ||
        setsockopt(s, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)) ||
        setsockopt(s, SOL_PACKET, PACKET_RX_RING, &request, sizeof(request))) {
        return -1;
    }
    ring->frames = mmap(0, (size_t)FRAMES * FRAME_BYTES, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_POPULATE, s, 0);
    return ring->frames == MAP_FAILED ? -1 : ring_bind(s, nic);
}

static struct tpacket2_hdr *ring_header(const struct guest_ring *ring)
{
    size_t at = ring->at & (ring->n - 1);
    return (struct tpacket2_hdr *)(ring->frames + at * FRAME_BYTES);
}

uint32_t guest_ring_look(const struct guest_ring *ring)
{
    struct tpacket2_hdr *header = ring_header(ring);
    uint32_t status = __atomic_load_n(&header->tp_status, __ATOMIC_ACQUIRE);
    return status & TP_STATUS_USER ? header->tp_len : 0;
}

const void *guest_ring_data(const struct guest_ring *ring)
{
    struct tpacket2_hdr *header = ring_header(ring);
    return (const uint8_t *)header + header->tp_mac;
}

void guest_ring_release(struct guest_ring *ring)
{
    __atomic_store_n(&ring_header(ring)->tp_status, TP_STATUS_KERNEL,
                     __ATOMIC_RELEASE);
    ring->at++;
}

// ---- ring NIC SECONDS: frames a second under a flood ----

struct ring_run {
    uint64_t frames, bytes, ns;
};

// What is there, once round at most: under a flood there always is more.
static void ring_take(struct guest_ring *ring, struct ring_run *run)
{
    uint32_t len;
    for (uint32_t i = 0; i < ring->n && (len = guest_ring_look(ring)); i++) {
        run->frames++;
        run->bytes += len;
        guest_ring_release(ring);
    }
}

// Take frames for `seconds` from the first one on, which must come within
// FIRST_MS.
static void ring_receive(struct guest_ring *ring, uint64_t seconds,
                         struct ring_run *run)
{
    struct pollfd wait = {.fd = ring->socket, .events = POLLIN};
    if (poll(&wait, 1, FIRST_MS) <= 0) {
        return;
    }
    uint64_t start = guest_ns(), now = start,
             end = start + seconds * 1000000000;
    while (now < end) {
        (void)poll(&wait, 1, (int)((end - now) / 1000000) + 1);
        ring_take(ring, run);
        now = guest_ns();
    }
    run->ns = now - start;
}

int guest_ring(int argc, char **argv)
{
    struct guest_ring ring;
    struct ring_run run = {0};
    const char *nic = argc > 1 ? argv[1] : "eth0";
    if (guest_ring_open(&ring, nic) < 0) {
        return guest_error(nic);
    }
    printf("Receiving on %s\n", nic);
    ring_receive(&ring, guest_number(argc, argv, 2, 3), &run);
    struct tpacket_stats stats = {0};
    socklen_t bytes = sizeof(stats);
    getsockopt(ring.socket, SOL_PACKET, PACKET_STATISTICS, &stats, &bytes);
    printf("RESULT bench=receive os=linux lang=c frames=%lu bytes=%lu "
           "elapsed_ns=%lu rate=%.0f dropped=%u\n",
           run.frames, run.bytes, run.ns,
           run.ns ? (double)run.frames * 1e9 / (double)run.ns : 0.0,
           stats.tp_drops);
    return 0;
}

// ---- echo NIC SECONDS: every frame back, addresses swapped ----

static void echo_frame(int s, const uint8_t *data, uint32_t len)
{
    uint8_t frame[FRAME_BYTES];
    memcpy(frame, data + ETH_ALEN, ETH_ALEN);
    memcpy(frame + ETH_ALEN, data, ETH_ALEN);
    memcpy(frame + 2 * ETH_ALEN, data + 2 * ETH_ALEN, len - 2 * ETH_ALEN);
    for (int i = 0; i < 1000 && send(s, frame, len, 0) < 0; i++) {
        usleep(100); // its queue is full
    }
}

static int is_ours(const uint8_t *data, uint32_t len)
{
    return len >= ETH_HLEN && len <= 1514 && data[12] == 0x88 &&
           data[13] == 0xB5;
}

int guest_echo(int argc, char **argv)
{
    struct guest_ring ring;
    const char *nic = argc > 1 ? argv[1] : "eth0";
    uint64_t frames = guest_number(argc, argv, 2, 1000), seen = 0;
    uint64_t end = guest_ns() + guest_number(argc, argv, 3, 10) * 1000000000;
    if (guest_ring_open(&ring, nic) < 0) {
        return guest_error(nic);
    }
    int ignore = 1; // our own frames, on their way out
    setsockopt(ring.socket, SOL_PACKET, PACKET_IGNORE_OUTGOING, &ignore,
               sizeof(ignore));
    printf("Echoing on %s\n", nic);
    while (seen < frames && guest_ns() < end) {
        struct pollfd wait = {.fd = ring.socket, .events = POLLIN};
        uint32_t len;
        poll(&wait, 1, WAIT_MS);
        while ((len = guest_ring_look(&ring)) != 0) {
            if (is_ours(guest_ring_data(&ring), len)) {
                echo_frame(ring.socket, guest_ring_data(&ring), len);
                seen++;
            }
            guest_ring_release(&ring);
        }
    }
    printf("RESULT bench=echo os=linux frames=%lu\n", seen);
    return 0;
}
