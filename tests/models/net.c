// net.c - the wire: datagrams, frames made here, frames sent back to us.
// SPDX-License-Identifier: MIT
//
// One datagram is one frame without FCS. Without `lossy` nothing is thrown
// away on the way in: a frame waits here, and those behind it in the socket,
// until there is a descriptor for it.
#include "x540.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { NET_BURST = 64, NET_BUFFER = 8 << 20 };

static void net_buffers(int fd)
{
    int bytes = NET_BUFFER;
    // The second of each takes root, and goes beyond the system's limit.
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes));
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
    setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes));
}

static bool net_open_udp(struct x540 *m, const char *ports)
{
    char *end;
    long local = strtol(ports, &end, 10);
    long peer = *end == ':' ? strtol(end + 1, &end, 10) : 0;
    if (*end || local < 1 || local > 65535 || peer < 1 || peer > 65535)
        return false;
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((u16)local),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int on = 1; // whoever chose the port may still hold it
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    net_buffers(fd);
    if (bind(fd, (struct sockaddr *)&to, sizeof(to)))
        return false;
    to.sin_port = htons((u16)peer);
    m->net.fd = fd;
    return connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0;
}

static bool net_open_unix(struct x540 *m, const char *paths)
{
    struct sockaddr_un local = {.sun_family = AF_UNIX}, peer = local;
    const char *colon = strchr(paths, ':');
    size_t len = colon ? (size_t)(colon - paths) : 0;
    if (!len || len >= sizeof(local.sun_path) ||
        strlen(colon + 1) >= sizeof(peer.sun_path))
        return false;
    memcpy(local.sun_path, paths, len);
    strcpy(peer.sun_path, colon + 1);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    net_buffers(fd);
    unlink(local.sun_path);
    if (bind(fd, (struct sockaddr *)&local, sizeof(local)))
        return false;
    m->net.fd = fd;
    // Connected, only the socket buffers limit it; the peer may come later.
    connect(fd, (struct sockaddr *)&peer, sizeof(peer));
    return true;
}

bool net_open(struct x540 *m, const char *where)
{
    if (!strncmp(where, "udp:", 4))
        return net_open_udp(m, where + 4);
    return !strncmp(where, "unix:", 5) && net_open_unix(m, where + 5);
}

// ---- recording ----
bool net_pcap_open(struct x540 *m, const char *path)
{
    static const u32 head[] = {0xA1B2C3D4, 0x00040002, 0, 0, FRAME_CAP, 1};
    m->net.pcap = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    return m->net.pcap >= 0 &&
           write(m->net.pcap, head, sizeof(head)) == sizeof(head);
}

void net_pcap(struct x540 *m, const u8 *frame, u32 len)
{
    if (m->net.pcap < 0)
        return;
    struct timeval t;
    gettimeofday(&t, NULL);
    u32 head[4] = {(u32)t.tv_sec, (u32)t.tv_usec, len, len};
    if (write(m->net.pcap, head, sizeof(head)) != sizeof(head) ||
        write(m->net.pcap, frame, len) != (ssize_t)len)
        m->net.pcap = -1; // a full disk stops the record, not the card
}

// ---- out ----
static bool net_is_looped(struct x540 *m)
{
    return m->net.loop || *reg(m, M_HLREG0) & HLREG0_LPBK;
}

bool net_ready(struct x540 *m)
{
    return !m->net.unsent.len && m->net.loop_n < LOOP_FRAMES;
}

static void net_keep(struct frame *to, const u8 *frame, u32 len)
{
    memcpy(to->data, frame, len);
    to->len = len;
}

// False: try again when the socket takes something.
static bool net_put(struct x540 *m, const u8 *frame, u32 len)
{
    if (send(m->net.fd, frame, len, MSG_NOSIGNAL) == (ssize_t)len)
        return true;
    if ((errno == EAGAIN || errno == ENOBUFS) && !m->fault.lossy)
        return false;
    m->total.tx_lost++; // nobody is there
    return true;
}

void net_send(struct x540 *m, const u8 *frame, u32 len)
{
    struct traffic *net = &m->net;
    if (net_is_looped(m) && !(*reg(m, M_RXCTRL) & RXCTRL_RXEN))
        return; // how a stopping driver gets rid of what is left (LPBK)
    if (net_is_looped(m)) {
        u32 at = (net->loop_head + net->loop_n++) % LOOP_FRAMES;
        net_keep(&net->looped[at], frame, len);
    } else if (net->fd >= 0 && !net->sink && !net_put(m, frame, len)) {
        net_keep(&net->unsent, frame, len);
    }
}

// The socket takes frames again. False: not this one.
bool net_flush(struct x540 *m)
{
    struct frame *f = &m->net.unsent;
    if (f->len && net_put(m, f->data, f->len))
        f->len = 0;
    return !f->len;
}

// ---- in ----
void net_generate(struct x540 *m, u64 n, u32 len, u8 to)
{
    m->net.gen_left = n;
    m->net.gen_len = len;
    m->net.gen_to = to;
}

// To the card's own address, or as the letter says; type 88B5 (experiments),
// then a number that counts up.
static void net_make(struct x540 *m, struct frame *f)
{
    struct traffic *net = &m->net;
    static const u8 from[8] = {0x02, 0, 0, 0, 0, 0x01, 0x88, 0xB5};
    u32 low = *reg(m, M_RAL), high = *reg(m, M_RAH);
    f->len = net->gen_len;
    for (u32 i = 18; i < f->len; i++)
        f->data[i] = (u8)(i + net->gen_seq);
    memcpy(f->data, &low, 4);
    memcpy(f->data + 4, &high, 2);
    if (net->gen_to == 'b')
        memset(f->data, 0xFF, 6);
    if (net->gen_to == 'm')
        memcpy(f->data, "\x01\x00\x5E\x00\x00\x01", 6);
    if (net->gen_to == 'o')
        f->data[5] ^= 0x55;
    memcpy(f->data + 6, from, 8);
    memcpy(f->data + 14, &net->gen_seq, 4);
    net->gen_seq++;
    net->gen_left--;
}

static void net_receive(struct x540 *m, struct frame *f)
{
    ssize_t n = recv(m->net.fd, f->data, FRAME_CAP - 64, 0);
    f->len = n >= 14 ? (u32)n : 0;
    if (n >= 0 && n < 14)
        m->total.rx_runt++;
}

// The next frame from wherever one is, into net.in.
static bool net_fetch(struct x540 *m)
{
    struct traffic *net = &m->net;
    if (net->in.len)
        return true;
    if (net->loop_n) {
        struct frame *f = &net->looped[net->loop_head];
        net_keep(&net->in, f->data, f->len);
        net->loop_head = (net->loop_head + 1) % LOOP_FRAMES;
        net->loop_n--;
    } else if (net->gen_left) {
        net_make(m, &net->in);
    } else if (net->fd >= 0) {
        net_receive(m, &net->in);
    }
    return net->in.len;
}

// True: taken, whatever became of it.
static bool net_deliver(struct x540 *m)
{
    struct frame *f = &m->net.in;
    if (!model_receiving(m)) {
        if (!m->fault.lossy && m->link_wanted)
            return false;
        m->total.rx_no_link += !m->link_wanted;
        m->total.rx_dropped++;
        return true;
    }
    return rx_frame(m, f->data, f->len);
}

bool net_work(struct x540 *m)
{
    if (m->net.unsent.len)
        net_flush(m);
    m->net.blocked = false;
    for (u32 i = 0; i < NET_BURST; i++) {
        if (!net_fetch(m))
            return false;
        if (!net_deliver(m)) {
            m->net.blocked = true;
            return false;
        }
        m->net.in.len = 0;
    }
    return true;
}
