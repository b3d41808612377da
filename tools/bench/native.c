// native.c - the kernel's own poll path on this processor, against Linux.
// SPDX-License-Identifier: MIT
//
// kernel/nic.c as it is, on a ring that lies empty in memory; recvfrom() on an
// empty AF_PACKET socket and getppid() on the system that runs this. All in one
// run, best of ROUNDS, because only ratios of such numbers mean anything.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#define pause cpu_pause // kernel/cpu.h's, not the system's
#include "../../kernel/nic.c"

enum { ROUNDS = 7, CALLS = 20000000, SYSTEM_CALLS = 200000 };

// What nic.c calls besides; an empty ring never gets there.
void log_line(enum log_level level, const char *tag, const char *text, ...)
{
    (void)level, (void)tag, (void)text;
}
void pci_name(const struct pci_device *device, char *text)
{
    (void)device;
    text[0] = 0;
}
u64 string_copy(char *to, const char *from, u64 cap)
{
    return (u64)snprintf(to, cap, "%s", from);
}

static volatile u32 ring_word; // the used index of a virtqueue that stays empty

static int no_frames(struct nic *nic, struct net_frame *frames, u32 n)
{
    (void)nic, (void)frames, (void)n;
    return 0;
}

static double now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC_RAW, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int packet_socket;

static void poll_by_call(long n)
{
    int (*volatile slot)(u32, struct net_frame *) = net_rx; // as in the table
    struct net_frame frame;
    for (long i = 0; i < n; i++) {
        if (slot(0, &frame) != 0) {
            break;
        }
    }
}

static void poll_inline(long n)
{
    const struct net_poll *poll = net_poll(0);
    const volatile u32 *word = poll->word;
    u32 mask = poll->mask, idle = poll->idle;
    for (long i = 0; i < n; i++) {
        if ((*word & mask) != idle) {
            break;
        }
    }
}

static void poll_recvfrom(long n)
{
    char buffer[2048];
    for (long i = 0; i < n; i++) {
        (void)!recvfrom(packet_socket, buffer, sizeof(buffer), MSG_DONTWAIT, 0,
                        0);
    }
}

static void call_getppid(long n)
{
    for (long i = 0; i < n; i++) {
        syscall(SYS_getppid);
    }
}

static double best_of(void (*fn)(long), long n)
{
    double best = 1e18;
    for (int round = 0; round < ROUNDS; round++) {
        double start = now_ns();
        fn(n);
        double each = (now_ns() - start) / (double)n;
        best = each < best ? each : best;
    }
    return best;
}

static int open_socket(void)
{
    // No protocol: nothing is ever queued, so every receive finds it empty.
    packet_socket = socket(AF_PACKET, SOCK_RAW, 0);
    if (packet_socket < 0) {
        perror("native: an AF_PACKET socket (root only)");
    }
    return packet_socket;
}

int main(void)
{
    static const struct nic_ops ops = {.rx = no_frames};
    static struct pci_device device;
    static struct nic nic = {.ops = &ops,
                             .pci = &device,
                             .driver = "memory",
                             .max_frame = NET_MAX_FRAME,
                             .max_burst = 128};
    if (nic_add(&nic) < 0 || open_socket() < 0) {
        return 1;
    }
    nic_set_poll(&nic, &ring_word, 0xFFFF0000, 0);
    double call = best_of(poll_by_call, CALLS);
    double word = best_of(poll_inline, CALLS);
    double receive = best_of(poll_recvfrom, SYSTEM_CALLS);
    double system = best_of(call_getppid, SYSTEM_CALLS);
    printf("an empty poll on this processor, best of %d\n", ROUNDS);
    printf("  recvfrom(AF_PACKET, MSG_DONTWAIT)  %8.2f ns\n", receive);
    printf("  getppid()                          %8.2f ns\n", system);
    printf("  net_rx() through the table         %8.2f ns\n", call);
    printf("  the poll word, inline              %8.2f ns\n", word);
    printf(
        "RESULT bench=native recvfrom_per_call=%.1f recvfrom_per_inline=%.1f "
        "getppid_per_call=%.1f\n",
        receive / call, receive / word, system / call);
    return 0;
}
