// proxy.c - the protocol QEMU's x-pci-proxy-dev speaks with a device process.
// SPDX-License-Identifier: MIT
//
// A byte stream on a Unix socket, in the host's byte order: a header of 16
// bytes (i32 command, 4 bytes of padding, u64 size), then size bytes. File
// descriptors travel as SCM_RIGHTS beside the header.
#include "x540.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SYNC_SYSMEM = 0,
    RET = 1,
    PCI_CFGWRITE = 2,
    PCI_CFGREAD = 3,
    BAR_WRITE = 4,
    BAR_READ = 5,
    SET_IRQFD = 6,
    DEVICE_RESET = 7,
    COMMANDS = 8,
    PROXY_FDS = 32,
    IRQ_FDS = 2,
};

struct proxy_header {
    int command, padding;
    u64 size;
};
static_assert(sizeof(struct proxy_header) == 16, "on the wire");

struct proxy_memory {
    u64 gpa[REGIONS], size[REGIONS];
    i64 offset[REGIONS];
};
static_assert(sizeof(struct proxy_memory) == 192, "on the wire");

struct proxy_config {
    u32 addr, value;
    int len;
};
static_assert(sizeof(struct proxy_config) == 12, "on the wire");

struct proxy_bar {
    u64 addr, value;
    u32 size;
    u8 memory, padding[3];
};
static_assert(sizeof(struct proxy_bar) == 24, "on the wire");

static const u32 proxy_sizes[COMMANDS] = {
    [SYNC_SYSMEM] = sizeof(struct proxy_memory),
    [RET] = 8,
    [PCI_CFGWRITE] = sizeof(struct proxy_config),
    [PCI_CFGREAD] = sizeof(struct proxy_config),
    [BAR_WRITE] = sizeof(struct proxy_bar),
    [BAR_READ] = sizeof(struct proxy_bar),
};

void proxy_init(struct proxy *p, int fd)
{
    memset(p, 0, sizeof(*p));
    p->fd = fd;
}

static bool proxy_complain(const char *what)
{
    fprintf(stderr, "x540: protocol: %s\n", what);
    return false;
}

static bool proxy_return(struct proxy *p, u64 value)
{
    struct {
        struct proxy_header head;
        u64 value;
    } reply = {{RET, 0, 8}, value};
    return send(p->fd, &reply, sizeof(reply), MSG_NOSIGNAL) ==
           (ssize_t)sizeof(reply);
}

static int proxy_take_fd(struct proxy *p)
{
    if (!p->fds_n)
        return -1;
    int fd = p->fds[0];
    memmove(p->fds, p->fds + 1, --p->fds_n * sizeof(int));
    return fd;
}

// Each memory file is mapped once and for all: the table of regions changes
// hundreds of times during one boot. NULL: cannot be mapped.
static u8 *proxy_map(struct proxy *p, int fd, u64 *size)
{
    struct stat s;
    if (fstat(fd, &s) || s.st_size <= 0)
        return NULL;
    *size = (u64)s.st_size;
    for (u32 i = 0; i < p->mapped_n; i++) {
        if (p->mapped[i].device == s.st_dev && p->mapped[i].inode == s.st_ino &&
            p->mapped[i].size == *size)
            return p->mapped[i].at;
    }
    if (p->mapped_n == REGIONS)
        return NULL;
    void *at = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        return NULL;
    p->mapped[p->mapped_n].device = s.st_dev;
    p->mapped[p->mapped_n].inode = s.st_ino;
    p->mapped[p->mapped_n].size = *size;
    p->mapped[p->mapped_n++].at = at;
    return at;
}

// Replaces the whole map; every used slot has brought a descriptor.
static bool proxy_memory(struct proxy *p, struct x540 *m, const void *body)
{
    struct proxy_memory map;
    memcpy(&map, body, sizeof(map));
    m->ram_n = 0;
    m->total.sysmem++;
    for (u32 i = 0; i < REGIONS; i++) {
        if (!map.size[i])
            continue;
        int fd = proxy_take_fd(p);
        if (fd < 0)
            return proxy_complain("a memory region without its descriptor");
        u64 size = 0, offset = (u64)map.offset[i];
        u8 *at = proxy_map(p, fd, &size);
        close(fd);
        if (!at || offset > size || map.size[i] > size - offset)
            return proxy_complain("a memory region beyond its file");
        m->ram[m->ram_n++] =
            (struct region){map.gpa[i], map.size[i], at + offset};
    }
    return true;
}

static bool proxy_configure(struct proxy *p, struct x540 *m, int command,
                            const void *body)
{
    struct proxy_config c;
    memcpy(&c, body, sizeof(c));
    u32 value = 0;
    if (command == PCI_CFGREAD)
        value = config_read(m, c.addr, (u32)c.len);
    else
        config_write(m, c.addr, c.value, (u32)c.len);
    return proxy_return(p, value);
}

static bool proxy_access(struct proxy *p, struct x540 *m, int command,
                         const void *body)
{
    struct proxy_bar b;
    memcpy(&b, body, sizeof(b));
    u64 value = 0;
    if (command == BAR_READ)
        value = b.memory ? bar_read(m, b.addr, b.size) : ~0ull;
    else if (b.memory)
        bar_write(m, b.addr, b.value, b.size);
    return proxy_return(p, value);
}

static bool proxy_message(struct proxy *p, struct x540 *m, int command,
                          const void *body)
{
    switch (command) {
    case SYNC_SYSMEM:
        return proxy_memory(p, m, body);
    case PCI_CFGWRITE:
    case PCI_CFGREAD:
        return proxy_configure(p, m, command, body);
    case BAR_WRITE:
    case BAR_READ:
        return proxy_access(p, m, command, body);
    case SET_IRQFD: // not served under TCG: see interrupts.c
        for (u32 i = 0; i < IRQ_FDS; i++)
            close(proxy_take_fd(p));
        return true;
    case DEVICE_RESET:
        model_power_on(m);
        return proxy_return(p, 0);
    default:
        return proxy_complain("a message that is none");
    }
}

static void proxy_keep_fds(struct proxy *p, struct msghdr *message)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c;
         c = CMSG_NXTHDR(message, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        u32 n = (u32)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        for (u32 i = 0; i < n; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
            if (p->fds_n < PROXY_FDS)
                p->fds[p->fds_n++] = fd;
            else
                close(fd);
        }
    }
}

// False: the other side has closed.
static bool proxy_fill(struct proxy *p)
{
    struct iovec piece = {p->buffer + p->have, sizeof(p->buffer) - p->have};
    _Alignas(struct cmsghdr) u8 control[CMSG_SPACE(16 * sizeof(int))];
    struct msghdr message = {.msg_iov = &piece,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof(control)};
    ssize_t n = recvmsg(p->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    proxy_keep_fds(p, &message);
    p->have += (u32)n;
    return n > 0;
}

// Everything that has arrived. False: QEMU is gone, or talks nonsense.
bool proxy_serve(struct proxy *p, struct x540 *m)
{
    if (!proxy_fill(p))
        return false;
    u32 at = 0;
    while (p->have - at >= sizeof(struct proxy_header)) {
        struct proxy_header head;
        memcpy(&head, p->buffer + at, sizeof(head));
        if (head.command < 0 || head.command >= COMMANDS ||
            head.size != proxy_sizes[head.command])
            return proxy_complain("a header that makes no sense");
        if (p->have - at < sizeof(head) + head.size)
            break;
        if (!proxy_message(p, m, head.command, p->buffer + at + sizeof(head)))
            return false;
        at += (u32)(sizeof(head) + head.size);
    }
    memmove(p->buffer, p->buffer + at, p->have - at);
    p->have -= at;
    return true;
}
