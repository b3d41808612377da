// flood.c - the unlimited flood: as many frames as this host can send to a
// virtual machine's NIC, whether it takes them or not.
// SPDX-License-Identifier: MIT
//
// flood PORT SIZE SECONDS MOST: datagrams to 127.0.0.1:PORT, each a broadcast
// frame of SIZE bytes, for at most SECONDS (60) and MOST frames. tools/flood
// is the one that counts what comes back; it is too slow to be unlimited.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <signal.h>
#include <time.h>

enum { BURST = 32, LARGEST = 9014, SMALLEST = 14, LONGEST_SECONDS = 60 };

static unsigned char frame[LARGEST] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 2, 0,
                                       0,    0,    0,    1,    0x88, 0xB5};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static unsigned long argument(const char *text, unsigned long least,
                              unsigned long most)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    if (*end || value < least || value > most) {
        fprintf(stderr, "flood: '%s' is not from %lu to %lu\n", text, least,
                most);
        exit(2);
    }
    return value;
}

static int to_port(unsigned long port)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (s < 0 || connect(s, (struct sockaddr *)&to, sizeof(to)) < 0) {
        perror("flood");
        exit(2);
    }
    return s;
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: flood PORT SIZE SECONDS MOST\n");
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int s = to_port(argument(argv[1], 1, 65535));
    size_t size = argument(argv[2], SMALLEST, LARGEST);
    double seconds = (double)argument(argv[3], 1, LONGEST_SECONDS);
    unsigned long most = argument(argv[4], 1, 1000000000), sent = 0;
    struct iovec part = {.iov_base = frame, .iov_len = size};
    struct mmsghdr burst[BURST];
    memset(burst, 0, sizeof(burst));
    for (int i = 0; i < BURST; i++) {
        burst[i].msg_hdr.msg_iov = &part;
        burst[i].msg_hdr.msg_iovlen = 1;
    }
    double start = now(), end = start + seconds;
    while (sent < most && now() < end) {
        unsigned n = most - sent < BURST ? (unsigned)(most - sent) : BURST;
        int done = sendmmsg(s, burst, n, 0);
        sent += done > 0 ? (unsigned long)done : 0;
    }
    printf("RESULT bench=flood sent=%lu size=%zu rate=%.0f\n", sent, size,
           (double)sent / (now() - start));
    return 0;
}
