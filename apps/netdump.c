// netdump.c - netdump [nic] [n] [--seconds S]: one line for each frame
// received.
// SPDX-License-Identifier: MIT
//
// Ends after n frames or S seconds, 10 when neither is given.
#include "lib/options.h"
#include "lib/result.h"

#define USAGE "netdump [nic] [frames] [--seconds S]"

enum { MAC_BYTES = 6, HEADER_BYTES = 14, SHOWN = 16 };

static void netdump_mac(const u8 *mac)
{
    print("%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3],
          mac[4], mac[5]);
}

static void netdump_frame(u64 number, u64 ns, const struct net_frame *frame)
{
    const u8 *bytes = frame->data;
    print("%6lu %4lu.%06lu  ", number, ns / 1000000000, ns / 1000 % 1000000);
    netdump_mac(bytes + MAC_BYTES);
    print(" > ");
    netdump_mac(bytes);
    print("  type %02x%02x  %5u bytes ", bytes[12], bytes[13], frame->len);
    for (u32 i = HEADER_BYTES; i < frame->len && i < HEADER_BYTES + SHOWN;
         i++) {
        print(" %02x", bytes[i]);
    }
    print("\n");
}

// Returns the frames seen, or an error.
static i64 netdump_run(u32 nic, u64 most, u64 seconds)
{
    u64 start = os->time_ns(), seen = 0;
    struct net_frame frame;
    while (seen < most && os->time_ns() - start < seconds * 1000000000) {
        int n = os->net_rx(nic, &frame);
        if (n < 0) {
            return n;
        }
        if (n > 0 && frame.len >= HEADER_BYTES) {
            netdump_frame(++seen, os->time_ns() - start, &frame);
        }
    }
    return (i64)seen;
}

int main(int argc, char **argv)
{
    u64 nic = 0, most = ~0ul, seconds = 10;
    if (option_number(&argc, argv, "--seconds", 1000000, &seconds) < 0 ||
        option_end(argc, argv, 2, USAGE) < 0 ||
        args_number(argc, argv, 1, (struct range){0, NET_MAX_NICS - 1}, &nic) <
            0 ||
        args_number(argc, argv, 2, (struct range){1, 1ul << 40}, &most) < 0) {
        return 1;
    }
    i64 seen = netdump_run((u32)nic, most, seconds);
    if (seen < 0) {
        print("error: netdump: nic %lu: %s\n", nic, os->sys_error((int)seen));
        return 1;
    }
    print("Frames: %ld\n", seen);
    return 0;
}
