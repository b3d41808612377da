// threads.c - threads [n]: a thread from its start to its join, a word passed
// to another core and back, by futex and by spinning.
// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "guest.h"
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
    __attribute__((aligned(64))) uint32_t ping;
    __attribute__((aligned(64))) uint32_t pong;
    uint32_t n;
} hand;

static volatile uint32_t answers;

static void pin(size_t cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    (void)!sched_setaffinity(0, sizeof(set), &set);
}

static void *work(void *arg)
{
    (void)arg;
    answers++;
    return 0;
}

static int threads_start_join(uint32_t n)
{
    pthread_attr_t where;
    cpu_set_t second;
    CPU_ZERO(&second);
    CPU_SET(1, &second);
    pthread_attr_init(&where);
    pthread_attr_setaffinity_np(&where, sizeof(second), &second);
    uint64_t start = guest_ns();
    for (uint32_t i = 0; i < n; i++) {
        pthread_t thread;
        if (pthread_create(&thread, &where, work, 0) ||
            pthread_join(thread, 0)) {
            printf("error: threads: no thread\n");
            return 1;
        }
    }
    guest_result("thread", n, guest_ns() - start);
    return answers != n;
}

// ---- a word there and back ----

static void futex_wait(uint32_t *word, uint32_t wanted)
{
    uint32_t now;
    while ((now = __atomic_load_n(word, __ATOMIC_ACQUIRE)) != wanted) {
        syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, now, 0, 0, 0);
    }
}

static void futex_set(uint32_t *word, uint32_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

static void spin_wait(uint32_t *word, uint32_t wanted)
{
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != wanted) {
        __builtin_ia32_pause();
    }
}

static void spin_set(uint32_t *word, uint32_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

struct way {
    const char *name;
    void (*wait)(uint32_t *, uint32_t);
    void (*set)(uint32_t *, uint32_t);
};

static void *answer(void *arg)
{
    const struct way *way = arg;
    pin(1);
    for (uint32_t i = 1; i <= hand.n; i++) {
        way->wait(&hand.ping, i);
        way->set(&hand.pong, i);
    }
    return 0;
}

static int threads_hand(struct way way, uint32_t n)
{
    pthread_t thread;
    hand.ping = hand.pong = 0;
    hand.n = n;
    if (pthread_create(&thread, 0, answer, &way)) {
        printf("error: threads: no thread\n");
        return 1;
    }
    uint64_t start = guest_ns();
    for (uint32_t i = 1; i <= n; i++) {
        way.set(&hand.ping, i);
        way.wait(&hand.pong, i);
    }
    uint64_t ns = guest_ns() - start;
    pthread_join(thread, 0);
    guest_result(way.name, n, ns);
    return 0;
}

int guest_threads(int argc, char **argv)
{
    uint32_t n = (uint32_t)guest_number(argc, argv, 1, 1000);
    pin(0);
    return threads_start_join(n) ||
           threads_hand((struct way){"futex", futex_wait, futex_set}, n * 10) ||
           threads_hand((struct way){"spin", spin_wait, spin_set}, n * 10);
}
