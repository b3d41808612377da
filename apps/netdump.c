// netdump.c - netdump [nic] [n] [--seconds S] [--pcap]: one line for each frame
// received, or a capture file as text.
// SPDX-License-Identifier: MIT
//
// Ends after n frames or S seconds, 10 when neither is given.
//
// --pcap: the bytes of a capture file (pcap 2.4, nanoseconds, Ethernet) in
// lines of "PCAP OFFSET HEX"; tools/pcap makes the file of them again.
#include "lib/options.h"
#include "lib/result.h"

#define USAGE "netdump [nic] [frames] [--seconds S] [--pcap]"

enum { MAC_BYTES = 6, HEADER_BYTES = 14, SHOWN = 16 };
enum { PCAP_LINE = 32, PCAP_ETHERNET = 1 };
#define PCAP_MAGIC 0xA1B23C4Du
#define SECOND 1000000000ul

struct pcap_header {
    u32 magic;
    u16 major, minor;
    u32 zone, accuracy, longest, link;
};

struct pcap_record {
    u32 seconds, ns, kept, len;
};

struct netdump {
    u32 nic;
    int pcap;
    u64 most, seconds;
    u64 start;  // ns
    u64 epoch;  // ns since 1970 at time_ns() 0; 0: not known
    u64 offset; // in the capture file
};

// ---- as text ----

static void netdump_mac(const u8 *mac)
{
    print("%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3],
          mac[4], mac[5]);
}

static void netdump_line(u64 number, u64 ns, const struct net_frame *frame)
{
    const u8 *bytes = frame->data;
    print("%6lu %4lu.%06lu  ", number, ns / SECOND, ns / 1000 % 1000000);
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

// ---- as a capture file ----

static void netdump_bytes(struct netdump *run, const void *data, u64 len)
{
    static const char digits[] = "0123456789abcdef";
    const u8 *bytes = data;
    for (u64 at = 0; at < len;) {
        char text[2 * PCAP_LINE + 1];
        u64 n = len - at < PCAP_LINE ? len - at : PCAP_LINE;
        for (u64 i = 0; i < n; i++) {
            // The analyser does not see that a header is all set.
            // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult)
            text[2 * i] = digits[bytes[at + i] >> 4];
            text[2 * i + 1] = digits[bytes[at + i] & 15];
        }
        text[2 * n] = 0;
        print("PCAP %lx %s\n", run->offset, text);
        run->offset += n;
        at += n;
    }
}

static void netdump_pcap_begin(struct netdump *run, u32 longest)
{
    struct pcap_header header = {.magic = PCAP_MAGIC,
                                 .major = 2,
                                 .minor = 4,
                                 .longest = longest,
                                 .link = PCAP_ETHERNET};
    netdump_bytes(run, &header, sizeof(header));
}

static void netdump_pcap(struct netdump *run, u64 ns,
                         const struct net_frame *frame)
{
    u64 when = run->epoch + ns;
    struct pcap_record record = {.seconds = (u32)(when / SECOND),
                                 .ns = (u32)(when % SECOND),
                                 .kept = frame->len,
                                 .len = frame->len};
    netdump_bytes(run, &record, sizeof(record));
    netdump_bytes(run, frame->data, frame->len);
}

// ---- either ----

static int netdump_begin(struct netdump *run)
{
    struct net_info info;
    struct time_info time;
    int error = os->net_info(run->nic, &info);
    if (error < 0) {
        return error;
    }
    run->start = os->time_ns();
    if (os->time_info(&time) == 0 && time.wall > 0) {
        run->epoch = (u64)time.wall * SECOND - run->start;
    }
    if (run->pcap) {
        netdump_pcap_begin(run, info.max_frame);
    }
    return 0;
}

// Returns the frames seen, or an error.
static i64 netdump_run(struct netdump *run)
{
    u64 seen = 0, now;
    struct net_frame frame;
    while ((now = os->time_ns()) - run->start < run->seconds * SECOND &&
           seen < run->most) {
        int n = os->net_rx(run->nic, &frame);
        if (n < 0) {
            return n;
        }
        if (n == 0 || frame.len < HEADER_BYTES) {
            continue;
        }
        seen++;
        if (run->pcap) {
            netdump_pcap(run, now, &frame);
        } else {
            netdump_line(seen, now - run->start, &frame);
        }
    }
    return (i64)seen;
}

int main(int argc, char **argv)
{
    u64 nic = 0;
    struct netdump run = {.most = ~0ul, .seconds = 10};
    run.pcap = option_flag(&argc, argv, "--pcap");
    if (option_number(&argc, argv, "--seconds", 1000000, &run.seconds) < 0 ||
        option_end(argc, argv, 2, USAGE) < 0 ||
        args_number(argc, argv, 1, (struct range){0, NET_MAX_NICS - 1}, &nic) <
            0 ||
        args_number(argc, argv, 2, (struct range){1, 1ul << 40}, &run.most) <
            0) {
        return 1;
    }
    run.nic = (u32)nic;
    i64 seen = netdump_begin(&run);
    seen = seen < 0 ? seen : netdump_run(&run);
    if (seen < 0) {
        print("error: netdump: nic %lu: %s\n", nic, os->sys_error((int)seen));
        return 1;
    }
    print("Frames: %ld\n", seen);
    return 0;
}
