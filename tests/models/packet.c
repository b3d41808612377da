// packet.c - what lies in a frame: layers, checksums, the RSS hash.
// SPDX-License-Identifier: MIT
#include "x540.h"
#include <string.h>

enum { IP_TCP = 6, IP_UDP = 17, IPV4 = 0x0800, IPV6 = 0x86DD, VLAN = 0x8100 };

static void packet_parse_ipv4(struct layers *at, const u8 *frame, u32 len)
{
    const u8 *ip = frame + at->l3;
    u32 header = (ip[0] & 15u) * 4, total = be16(ip + 2);
    if (ip[0] >> 4 != 4 || header < 20 || total < header ||
        total > len - at->l3)
        return;
    at->ipv4 = true;
    at->fragment = be16(ip + 6) & 0x3FFF;
    at->l4 = at->l3 + header;
    at->l4_len = total - header;
    at->tcp = ip[9] == IP_TCP && at->l4_len >= 20;
    at->udp = ip[9] == IP_UDP && at->l4_len >= 8;
}

static void packet_parse_ipv6(struct layers *at, const u8 *frame, u32 len)
{
    const u8 *ip = frame + at->l3;
    if (len - at->l3 < 40 || ip[0] >> 4 != 6 ||
        be16(ip + 4) > len - at->l3 - 40)
        return;
    at->ipv6 = true;
    at->l4 = at->l3 + 40;
    at->l4_len = be16(ip + 4);
    at->tcp = ip[6] == IP_TCP && at->l4_len >= 20;
    at->udp = ip[6] == IP_UDP && at->l4_len >= 8;
}

struct layers packet_parse(const u8 *frame, u32 len)
{
    struct layers at = {0};
    u32 type_at = len >= 18 && be16(frame + 12) == VLAN ? 16 : 12;
    at.l3 = type_at + 2;
    if (len < at.l3 + 20)
        return at;
    if (be16(frame + type_at) == IPV4)
        packet_parse_ipv4(&at, frame, len);
    if (be16(frame + type_at) == IPV6)
        packet_parse_ipv6(&at, frame, len);
    return at;
}

// The Ethernet FCS, as it stands little endian behind the frame.
u32 packet_crc(const u8 *data, u32 len)
{
    static u32 table[256];
    for (u32 i = 0; i < 256 && !table[255]; i++) {
        u32 c = i;
        for (u32 bit = 0; bit < 8; bit++)
            c = c >> 1 ^ (c & 1 ? 0xEDB88320 : 0);
        table[i] = c;
    }
    u32 crc = ~0u;
    for (u32 i = 0; i < len; i++)
        crc = crc >> 8 ^ table[(crc ^ data[i]) & 0xFF];
    return ~crc;
}

u32 packet_sum(const u8 *data, u32 len, u32 sum)
{
    u64 wide = sum;
    for (u32 i = 0; i + 1 < len; i += 2)
        wide += be16(data + i);
    if (len & 1)
        wide += (u32)data[len - 1] << 8;
    while (wide >> 16)
        wide = (wide & 0xFFFF) + (wide >> 16);
    return (u32)wide;
}

u16 packet_fold(u32 sum)
{
    while (sum >> 16)
        sum = (sum & 0xFFFF) + (sum >> 16);
    return (u16)~sum;
}

// Addresses, protocol and length, which TCP and UDP checksums cover too.
u32 packet_pseudo_sum(const u8 *frame, const struct layers *at)
{
    const u8 *ip = frame + at->l3;
    u32 protocol = at->tcp ? IP_TCP : IP_UDP;
    u32 sum = protocol + at->l4_len;
    return at->ipv4 ? packet_sum(ip + 12, 8, sum) : packet_sum(ip + 8, 32, sum);
}

static u32 packet_toeplitz(struct x540 *m, const u8 *input, u32 len)
{
    u8 key[44];
    memcpy(key, reg(m, M_RSSRK), 40);
    memset(key + 40, 0, 4);
    u32 hash = 0;
    u32 window = be16(key) << 16 | be16(key + 2);
    for (u32 i = 0; i < len; i++) {
        for (u32 bit = 0; bit < 8; bit++) {
            hash ^= input[i] >> (7 - bit) & 1 ? window : 0;
            window = window << 1 | (key[i + 4] >> (7 - bit) & 1u);
        }
    }
    return hash;
}

// 7.1.2.8: type 0 means that no hash was made.
u32 packet_rss(struct x540 *m, const u8 *frame, const struct layers *at,
               u32 *type)
{
    static const struct {
        u32 enable, type;
    } kinds[2][3] = {
        {{MRQC_IPV4_TCP, 1}, {MRQC_IPV4_UDP, 7}, {MRQC_IPV4, 2}},
        {{MRQC_IPV6_TCP, 3}, {MRQC_IPV6_UDP, 8}, {MRQC_IPV6, 5}},
    };
    u32 control = *reg(m, M_MRQC);
    *type = 0;
    if ((control & MRQC_MRQE) != MRQC_MRQE_RSS || !(at->ipv4 || at->ipv6))
        return 0;
    u32 i = at->tcp ? 0 : 1;
    bool ports = !at->fragment && (at->tcp || at->udp) &&
                 control & kinds[at->ipv6][i].enable;
    if (!ports)
        i = 2;
    if (!(control & kinds[at->ipv6][i].enable))
        return 0;
    *type = kinds[at->ipv6][i].type;
    u8 input[36];
    u32 n = at->ipv4 ? 8 : 32;
    memcpy(input, frame + at->l3 + (at->ipv4 ? 12 : 8), n);
    memcpy(input + n, frame + at->l4, ports ? 4 : 0);
    return packet_toeplitz(m, input, ports ? n + 4 : n);
}
