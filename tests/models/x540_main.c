// x540_main.c - the process that plays an X540: options and the poll loop.
// SPDX-License-Identifier: MIT
#include "x540.h"
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { CLIENTS = 4 };

struct process {
    struct x540 model;
    struct proxy proxy;
    int listener, client[CLIENTS];
    const char *control, *qtest; // paths
};

static const char usage[] =
    "x540 --fd N [--dev 1528|10fb|1560|1563] [--mac XX:XX:XX:XX:XX:XX]\n"
    "     [--net udp:LOCAL:PEER|unix:LOCAL:PEER] [--lossy] [--sink] [--loop]\n"
    "     [--control PATH] [--set KEY=VALUE]... [--qtest PATH]\n"
    "     [--trace FILE] [--pcap FILE]\n"
    "The Intel X540, for a QEMU that has the other end of socket N:\n"
    "    -device x-pci-proxy-dev,fd=M\n"
    "Settings, with the values at start:\n"
#define FAULT_HELP(name, value, help) "    " #name "=" #value "  " help "\n"
    FAULT_LIST(FAULT_HELP)
#undef FAULT_HELP
    ;

static const struct option options[] = {
    {"fd", 1, NULL, 'f'},    {"dev", 1, NULL, 'd'},     {"mac", 1, NULL, 'm'},
    {"net", 1, NULL, 'n'},   {"lossy", 0, NULL, 'l'},   {"sink", 0, NULL, 'k'},
    {"loop", 0, NULL, 'o'},  {"control", 1, NULL, 'c'}, {"set", 1, NULL, 's'},
    {"qtest", 1, NULL, 'q'}, {"trace", 1, NULL, 't'},   {"pcap", 1, NULL, 'p'},
    {"help", 0, NULL, 'h'},  {NULL, 0, NULL, 0},
};

static u64 clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}

static bool option_mac(struct x540 *m, const char *text)
{
    for (u32 i = 0; i < 6; i++) {
        char *end;
        m->mac[i] = (u8)strtoul(text, &end, 16);
        if (end != text + 2 || *end != (i < 5 ? ':' : 0))
            return false;
        text = end + 1;
    }
    return true;
}

static bool option_device(struct x540 *m, const char *text)
{
    static const u16 ids[] = {0x1528, 0x10FB, 0x1560, 0x1563};
    char *end;
    m->device_id = (u16)strtoul(text, &end, 16);
    for (u32 i = 0; i < sizeof(ids) / sizeof(ids[0]) && !*end; i++)
        if (m->device_id == ids[i])
            return true;
    return false;
}

static bool control_open(struct process *p, const char *path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(at.sun_path))
        return false;
    strcpy(at.sun_path, path);
    unlink(path);
    p->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    return bind(p->listener, (struct sockaddr *)&at, sizeof(at)) == 0 &&
           listen(p->listener, CLIENTS) == 0;
}

static bool option_take(struct process *p, int option, const char *value)
{
    struct x540 *m = &p->model;
    switch (option) {
    case 'f':
        proxy_init(&p->proxy, atoi(value));
        return fcntl(p->proxy.fd, F_GETFD) >= 0;
    case 'd':
        return option_device(m, value);
    case 'm':
        return option_mac(m, value);
    case 'n':
        return net_open(m, value);
    case 'l':
        return fault_set(m, "lossy=1");
    case 'k':
        return m->net.sink = true;
    case 'o':
        return m->net.loop = true;
    case 'c':
        p->control = value;
        return true;
    case 's':
        return fault_set(m, value);
    case 'q':
        p->qtest = value;
        return true;
    case 't':
        m->trace = open(value, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        return m->trace >= 0;
    case 'p':
        return net_pcap_open(m, value);
    default:
        return false;
    }
}

static void parse_options(struct process *p, int argc, char **argv)
{
    int option, at = -1;
    while ((option = getopt_long(argc, argv, "h", options, &at)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            exit(0);
        }
        if (option_take(p, option, optarg))
            continue;
        if (option != '?')
            fprintf(stderr, "x540: cannot use --%s %s\n", options[at].name,
                    optarg ? optarg : "");
        exit(2);
    }
    if (p->proxy.fd >= 0 && optind == argc)
        return;
    fputs("x540: --fd N is needed (--help lists the options)\n", stderr);
    exit(2);
}

// The control socket appears when all options were good; QEMU, which is then
// started, connects to the other.
static void open_sockets(struct process *p)
{
    if ((p->control && !control_open(p, p->control)) ||
        (p->qtest && !interrupt_connect(&p->model, p->qtest))) {
        perror("x540: --control or --qtest");
        exit(2);
    }
}

static void control_accept(struct process *p)
{
    int fd = accept4(p->listener, NULL, NULL, SOCK_CLOEXEC);
    for (u32 i = 0; i < CLIENTS && fd >= 0; i++) {
        if (p->client[i] < 0) {
            p->client[i] = fd;
            return;
        }
    }
    close(fd);
}

static void control_serve(struct process *p, u32 i)
{
    static char line[4096], reply[REPLY_CAP];
    ssize_t n = recv(p->client[i], line, sizeof(line) - 1, MSG_DONTWAIT);
    if (n <= 0) {
        close(p->client[i]);
        p->client[i] = -1;
        return;
    }
    line[n] = 0;
    size_t len = control_command(&p->model, line, reply, sizeof(reply));
    send(p->client[i], reply, len, MSG_NOSIGNAL | MSG_DONTWAIT);
}

// QEMU never reads what its qtest socket answers out of our sight: throw the
// "OK" lines away, or it would stand still one day.
static void qtest_drain(struct x540 *m)
{
    char text[4096];
    if (recv(m->irq.qtest, text, sizeof(text), MSG_DONTWAIT) == 0) {
        close(m->irq.qtest);
        m->irq.qtest = -1;
    }
}

static void wait_for_work(struct process *p, struct pollfd *fds, nfds_t n,
                          bool more)
{
    u64 due = model_deadline(&p->model);
    u64 ns = more || (due && due <= p->model.now) ? 0 : due - p->model.now;
    struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    ppoll(fds, n, more || due ? &t : NULL, NULL);
}

// One turn: work, wait, serve. False: time to go.
static bool turn(struct process *p)
{
    struct x540 *m = &p->model;
    m->now = clock_now();
    bool more = model_work(m);
    struct pollfd fds[4 + CLIENTS] = {{.fd = p->proxy.fd, .events = POLLIN},
                                      {.fd = p->listener, .events = POLLIN},
                                      {.fd = m->irq.qtest, .events = POLLIN},
                                      {.fd = m->net.fd}};
    // A frame that waits for a descriptor blocks those in the socket.
    fds[3].events = (short)((m->net.in.len ? 0 : POLLIN) |
                            (m->net.unsent.len ? POLLOUT : 0));
    fds[3].fd = fds[3].events ? m->net.fd : -1;
    for (u32 i = 0; i < CLIENTS; i++)
        fds[4 + i] = (struct pollfd){.fd = p->client[i], .events = POLLIN};
    wait_for_work(p, fds, 4 + CLIENTS, more);
    m->now = clock_now();
    if (fds[0].revents && !proxy_serve(&p->proxy, m))
        return false;
    if (fds[1].revents)
        control_accept(p);
    if (fds[2].revents)
        qtest_drain(m);
    for (u32 i = 0; i < CLIENTS; i++)
        if (fds[4 + i].revents)
            control_serve(p, i);
    return !m->quit;
}

int main(int argc, char **argv)
{
    static struct process process = {.listener = -1};
    memset(process.client, -1, sizeof(process.client));
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_IGN);
    if (!model_init(&process.model, 0x1528))
        return 1;
    process.model.now = clock_now();
    process.proxy.fd = -1;
    parse_options(&process, argc, argv);
    open_sockets(&process);
    model_power_on(&process.model);
    while (turn(&process))
        continue;
    model_free(&process.model);
    return 0;
}
