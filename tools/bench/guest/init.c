// init.c - all of the Linux guest's user space: loads drivers, raises the
// NICs, and runs measuring programs from a prompt on the serial port.
// SPDX-License-Identifier: MIT
//
// /modules names the drivers in the order of their needs, one path a line.
#define _GNU_SOURCE
#include "guest.h"
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROMPT "linux> "

enum { MOST_WORDS = 16, LINE_BYTES = 256 };

uint64_t guest_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t guest_tsc(void)
{
    return __builtin_ia32_rdtsc();
}

uint64_t guest_number(int argc, char **argv, int i, uint64_t value)
{
    return i < argc ? strtoull(argv[i], 0, 0) : value;
}

int guest_error(const char *what)
{
    printf("error: %s: %s\n", what, strerror(errno));
    return 1;
}

void guest_result(const char *bench, uint64_t n, uint64_t ns)
{
    printf("RESULT bench=%s os=linux lang=c iterations=%lu ns=%.2f\n", bench, n,
           (double)ns / (double)n);
}

// ---- programs ----

static const struct {
    const char *name;
    guest_main *main;
} programs[] = {
    {"ring", guest_ring}, {"cost", guest_cost}, {"threads", guest_threads},
    {"echo", guest_echo}, {"nics", guest_nics}, {"log", guest_log},
};

static int run_words(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        if (strcmp(argv[0], programs[i].name) == 0) {
            return programs[i].main(argc, argv);
        }
    }
    char path[LINE_BYTES];
    snprintf(path, sizeof(path), "/%s", argv[0]);
    execv(path, argv);
    return guest_error(argv[0]);
}

// In a process of its own, as programs run on Linux.
static void run_line(char *line)
{
    char *argv[MOST_WORDS + 1] = {0};
    int argc = 0;
    for (char *word = strtok(line, " \r\n"); word && argc < MOST_WORDS;
         word = strtok(0, " \r\n")) {
        argv[argc++] = word;
    }
    if (argc == 0) {
        return;
    }
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        int status = run_words(argc, argv);
        fflush(stdout);
        _exit(status);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0 || status) {
        printf("error: %s: status %x\n", argv[0], (unsigned)status);
    }
}

// ---- start ----

static void load_module(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || syscall(SYS_finit_module, file, "", 0) < 0) {
        guest_error(path);
    }
    close(file);
}

static void load_modules(void)
{
    char path[LINE_BYTES];
    FILE *list = fopen("/modules", "r");
    while (list && fgets(path, sizeof(path), list)) {
        path[strcspn(path, "\n")] = 0;
        load_module(path);
    }
    if (list) {
        fclose(list);
    }
}

static void raise_nics(void)
{
    int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct if_nameindex *names = if_nameindex();
    for (struct if_nameindex *i = names; i && i->if_index; i++) {
        if (strcmp(i->if_name, "lo") == 0) {
            continue;
        }
        struct ifreq request = {.ifr_flags = IFF_UP | IFF_PROMISC};
        strncpy(request.ifr_name, i->if_name, IFNAMSIZ - 1);
        if (ioctl(s, SIOCSIFFLAGS, &request) < 0) {
            guest_error(i->if_name);
        }
    }
    if_freenameindex(names);
    close(s);
}

static void start(void)
{
    mount("devtmpfs", "/dev", "devtmpfs", 0, "");
    mount("proc", "/proc", "proc", 0, "");
    mount("sysfs", "/sys", "sysfs", 0, "");
    int console = open("/dev/console", O_RDWR);
    for (int i = 0; i < 3 && console >= 0; i++) {
        dup2(console, i);
    }
    setvbuf(stdout, 0, _IOLBF, 0);
    load_modules();
    raise_nics();
}

static void power_off(void)
{
    fflush(stdout);
    reboot(RB_POWER_OFF);
}

int main(void)
{
    start();
    char line[LINE_BYTES];
    printf("Ready in %lu ns\n" PROMPT, guest_ns());
    fflush(stdout);
    while (fgets(line, sizeof(line), stdin)) {
        if (strncmp(line, "shutdown", 8) == 0) {
            break;
        }
        run_line(line);
        printf(PROMPT);
        fflush(stdout);
    }
    power_off();
    return 1;
}
