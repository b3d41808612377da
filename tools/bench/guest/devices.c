// devices.c - nics: what the kernel made of the network devices; log WORD: its
// own lines about them.
// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "guest.h"
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/klog.h>
#include <unistd.h>

// ---- nics ----

static void nics_show(const char *nic, const char *what)
{
    char path[128], text[64] = "-";
    snprintf(path, sizeof(path), "/sys/class/net/%s/%s", nic, what);
    FILE *file = fopen(path, "r");
    if (file) {
        if (!fgets(text, sizeof(text), file)) {
            strcpy(text, "-");
        }
        fclose(file);
    }
    text[strcspn(text, "\n")] = 0;
    printf(" %s=%s", what, text);
}

static void nics_driver(const char *nic)
{
    char path[128], target[256];
    snprintf(path, sizeof(path), "/sys/class/net/%s/device/driver", nic);
    ssize_t len = readlink(path, target, sizeof(target) - 1);
    target[len > 0 ? len : 0] = 0;
    char *slash = strrchr(target, '/');
    printf(" driver=%s", slash ? slash + 1 : "-");
}

int guest_nics(int argc, char **argv)
{
    (void)argc, (void)argv;
    struct if_nameindex *names = if_nameindex();
    for (struct if_nameindex *i = names; i && i->if_index; i++) {
        printf("RESULT bench=nics os=linux nic=%s", i->if_name);
        nics_driver(i->if_name);
        nics_show(i->if_name, "carrier");
        nics_show(i->if_name, "speed");
        nics_show(i->if_name, "statistics/rx_packets");
        nics_show(i->if_name, "statistics/rx_dropped");
        nics_show(i->if_name, "statistics/rx_missed_errors");
        nics_show(i->if_name, "statistics/tx_packets");
        printf("\n");
    }
    if_freenameindex(names);
    return 0;
}

// ---- log WORD ----

int guest_log(int argc, char **argv)
{
    static char text[1 << 18];
    enum { READ_ALL = 3 };
    int bytes = klogctl(READ_ALL, text, sizeof(text) - 1);
    text[bytes > 0 ? bytes : 0] = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(0, "\n")) {
        if (argc < 2 || strstr(line, argv[1])) {
            printf("%s\n", line);
        }
    }
    return 0;
}
