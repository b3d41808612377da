// test_x540_proxy.c - the X540 model as QEMU speaks with it, over a socket.
// SPDX-License-Identifier: MIT
#include "x540_rig.h"

static struct proxy side;
static int qemu; // QEMU's end
static int memory;

struct message {
    int command, padding;
    u64 size;
    u8 body[192];
};

static void post(int command, const void *body, u64 size, const int *fds,
                 u32 fds_n)
{
    struct message m = {.command = command, .size = size};
    struct iovec piece = {&m, 16 + size};
    _Alignas(8) u8 control[CMSG_SPACE(8 * sizeof(int))] = {0};
    struct msghdr header = {.msg_iov = &piece, .msg_iovlen = 1};
    if (size)
        memcpy(m.body, body, size);
    if (fds_n) {
        header.msg_control = control;
        header.msg_controllen = CMSG_SPACE(fds_n * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&header);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(fds_n * sizeof(int));
        memcpy(CMSG_DATA(c), fds, fds_n * sizeof(int));
    }
    if (sendmsg(qemu, &header, 0) != (ssize_t)(16 + size))
        abort();
}

// The answer's value; ~1 when there is none.
static u64 answer(void)
{
    struct message m;
    ssize_t n = recv(qemu, &m, sizeof(m), MSG_DONTWAIT);
    u64 value = ~1ull;
    if (n == 24 && m.command == 1 && m.size == 8)
        memcpy(&value, m.body, 8);
    return value;
}

static u64 config(int command, u32 addr, u32 value, int len)
{
    struct proxy_config c = {addr, value, len};
    post(command, &c, sizeof(c), NULL, 0);
    CHECK(proxy_serve(&side, &card));
    return answer();
}

static u64 bar(int command, u64 addr, u64 value, u32 size)
{
    struct proxy_bar b = {.addr = addr, .value = value, .size = size};
    b.memory = 1;
    post(command, &b, sizeof(b), NULL, 0);
    CHECK(proxy_serve(&side, &card));
    return answer();
}

static void share_memory(u64 gpa, u64 size, i64 offset)
{
    struct proxy_memory map = {{0, gpa}, {0, size}, {0, offset}};
    post(0, &map, sizeof(map), &memory, 1);
}

static void connect_sides(void)
{
    int ends[2];
    close(qemu);
    close(side.fd);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        abort();
    qemu = ends[0];
    proxy_init(&side, ends[1]);
    rig_init(false);
    memory = memfd_create("ram", 0);
    if (memory < 0 || ftruncate(memory, RIG_RAM + 4096))
        abort();
}

static u32 open_files(void)
{
    u32 n = 0;
    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

// What QEMU does at start: size the BARs, look at the ids.
static void enumeration(void)
{
    connect_sides();
    CHECK_EQ(config(3, 0, 0, 2), 0x8086);
    CHECK_EQ(config(3, 2, 0, 2), 0x1528);
    CHECK_EQ(config(3, 10, 0, 2), 0x0200);
    static const struct {
        u32 at, mask;
    } bars[] = {{0x10, 0xFFF80000}, {0x14, 0}, {0x18, 0}, {0x1C, 0},
                {0x20, 0xFFFFC000}, {0x24, 0}, {0x28, 0}};
    for (u32 i = 0; i < 7; i++) {
        u64 old = config(3, bars[i].at, 0, 4);
        CHECK_EQ(config(2, bars[i].at, 0xFFFFFFFF, 4), 0);
        CHECK_EQ(config(3, bars[i].at, 0, 4), bars[i].mask);
        config(2, bars[i].at, (u32)old, 4);
    }
    // Capabilities: PM, MSI, MSI-X, PCIe, in a chain that ends.
    static const u32 ids[] = {1, 5, 0x11, 0x10};
    u64 at = config(3, 0x34, 0, 1);
    for (u32 i = 0; i < 4; i++) {
        CHECK_EQ(config(3, (u32)at, 0, 1), ids[i]);
        at = config(3, (u32)at + 1, 0, 1);
    }
    CHECK_EQ(at, 0);
    CHECK_EQ(config(3, 0x72, 0, 2), 63);
    CHECK_EQ(config(3, 0x100, 0, 4), 0xFFFFFFFF);
    post(7, NULL, 0, NULL, 0);
    CHECK(proxy_serve(&side, &card));
    CHECK_EQ(answer(), 0);
    CHECK_EQ(config(3, 0x10, 0, 4), 0);
}

static void registers_by_address(void)
{
    connect_sides();
    CHECK_EQ(bar(5, RIG_BAR + 0xA200, 0, 4), 0x584E4902);
    CHECK_EQ(bar(4, RIG_BAR + 0x5200, 0x55, 4), 0);
    CHECK_EQ(bar(5, RIG_BAR + 0x5200, 0, 4), 0x55);
    CHECK_EQ(bar(5, RIG_MSIX + 12, 0, 4), 1);
    CHECK_EQ(bar(5, 0xFEC00000, 0, 4), ~0ull);
    CHECK_EQ(bar(5, RIG_BAR + BAR0_SIZE, 0, 4), ~0ull);
    CHECK_EQ(bar(5, RIG_BAR + 8, 0, 99), ~0ull);
    config(2, 0x10, 0xC0000000, 4); // moved
    CHECK_EQ(bar(5, 0xC0005200, 0, 4), 0x55);
    CHECK_EQ(bar(5, RIG_BAR + 0x5200, 0, 4), ~0ull);
    config(2, 4, 4, 2); // memory decoding off
    CHECK_EQ(bar(5, 0xC0005200, 0, 4), ~0ull);
    config(2, 4, 6, 2);
    config(2, 0xA8, 0x8000, 2); // function level reset
    CHECK_EQ(config(3, 0x10, 0, 4), 0);
    CHECK_EQ(config(3, 0xA8, 0, 2) & 0x8000, 0);
}

static void memory_comes_and_moves(void)
{
    connect_sides();
    u32 files = open_files();
    u8 *mine = mmap(NULL, RIG_RAM, 3, MAP_SHARED, memory, 4096);
    for (u32 i = 0; i < 300; i++) {
        share_memory(0x40000000 + i * 4096, RIG_RAM - 4096, 4096);
        CHECK(proxy_serve(&side, &card));
    }
    CHECK_EQ(card.total.sysmem, 300);
    CHECK_EQ(answer(), ~1ull); // none
    CHECK_EQ(open_files(), files);
    CHECK_EQ(side.mapped_n, 1);
    CHECK_EQ(card.ram_n, 1);
    u64 gpa = 0x40000000 + 299 * 4096;
    CHECK(dma_write(&card, gpa + 5, "hello", 5));
    CHECK(!memcmp(mine + 5, "hello", 5));
    CHECK(!dma_write(&card, gpa - 1, "hello", 5));
    CHECK(!dma_write(&card, gpa + RIG_RAM - 4096 - 2, "hello", 5));
    munmap(mine, RIG_RAM);
    close(memory);
}

// Two regions that touch are one stretch of RAM.
static void dma_over_a_seam(void)
{
    rig_init(false);
    card.ram[0].size = 0x1000;
    card.ram[1] = (struct region){RIG_BASE + 0x1000, 0x1000, rig_ram + 0x1000};
    card.ram_n = 2;
    char back[64] = {0};
    CHECK(dma_write(&card, RIG_BASE + 0xFF3, "over the seam and on", 20));
    CHECK(dma_read(&card, RIG_BASE + 0xFF3, back, 20));
    CHECK(!strcmp(back, "over the seam and on"));
    CHECK(!dma_write(&card, RIG_BASE + 0x1FF0, back, 17));
}

static void pieces_and_pairs(void)
{
    connect_sides();
    struct {
        int command, padding;
        u64 size;
        struct proxy_config c;
    } __attribute__((packed)) m = {3, 0, 12, {0, 0, 4}};
    for (u32 i = 0; i < sizeof(m); i++) { // byte by byte
        CHECK_EQ(answer(), ~1ull);
        CHECK(send(qemu, (u8 *)&m + i, 1, 0) == 1);
        CHECK(proxy_serve(&side, &card));
    }
    CHECK_EQ(answer(), 0x15288086);
    share_memory(0, RIG_RAM, 0); // no reply, right before one
    config(3, 2, 0, 2);
    CHECK(proxy_serve(&side, &card));
    CHECK_EQ(answer(), 0x1528);
    int two[2] = {memory, memory};
    u32 files = open_files();
    post(6, NULL, 0, two, 2);
    CHECK(proxy_serve(&side, &card));
    CHECK_EQ(open_files(), files);
    CHECK_EQ(answer(), ~1ull);
    close(memory);
}

static void nonsense_ends_it(void)
{
    static const struct {
        int command;
        u64 size;
    } bad[] = {{8, 0}, {-1, 0}, {3, 11}, {0, 191}, {1, 8}, {7, 1}};
    u8 body[192] = {0};
    for (u32 i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        connect_sides();
        post(bad[i].command, body, bad[i].size, NULL, 0);
        CHECK(!proxy_serve(&side, &card));
        close(memory);
    }
    connect_sides();
    struct proxy_memory map = {{0}, {4096}, {0}}; // and no descriptor
    post(0, &map, sizeof(map), NULL, 0);
    CHECK(!proxy_serve(&side, &card));
    share_memory(0, RIG_RAM + 8192, 0); // longer than its file
    CHECK(!proxy_serve(&side, &card));
    close(memory);
    connect_sides();
    share_memory(0, 4096, -4096);
    CHECK(!proxy_serve(&side, &card));
    close(memory);
}

static void qemu_goes(void)
{
    connect_sides();
    CHECK(proxy_serve(&side, &card)); // nothing there
    close(qemu);
    CHECK(!proxy_serve(&side, &card));
    qemu = -1;
    close(memory);
}

int main(void)
{
    freopen("/dev/null", "w", stderr); // the complaints asked for
    qemu = side.fd = -1;
    RUN(enumeration);
    RUN(registers_by_address);
    RUN(memory_comes_and_moves);
    RUN(dma_over_a_seam);
    RUN(pieces_and_pairs);
    RUN(nonsense_ends_it);
    RUN(qemu_goes);
    rig_close();
    return TEST_RESULT();
}
