// pointers.c - pointers: every call's pointer parameters, one a line.
// pointers CALL PARAMETER KIND [CPU]: that call with that one pointer bad.
// SPDX-License-Identifier: MIT
//
// Made from the list of calls, so that those to come are tested too.
#include "../../apps/lib/print.h"
#include "../../lib/string.h"

enum { REGISTERS = 6, SETTLE_NS = 5000000 };

static u8 good[65536] __attribute__((aligned(4096)));
static volatile u32 done;

static const struct kind {
    const char *name;
    u64 value;
} kinds[] = {
    {"null", 0},
    {"unmapped", 0xFFFF900000000000},
    {"kernel-text", 0xFFFFFFFF80200000},
    {"call-table", INGOT_TABLE},
    {"not-canonical", 0x1234567890ABCDEF},
    {"straddling", 0xFFFF807FFFFF0000 - 4}, // the stack's last bytes
    {"last", 0xFFFFFFFFFFFFFFF8},
};

#define ANY_CALL u64 (*)(u64, u64, u64, u64, u64, u64)

// A call that a function ends with would become a jump, and the report could
// not name it.
#define CALLER(group, result, name, parameters, text)                          \
    static u64 call_##name(const u64 *a)                                       \
    {                                                                          \
        u64 value =                                                            \
            ((ANY_CALL)(void *)os->name)(a[0], a[1], a[2], a[3], a[4], a[5]);  \
        done = 1;                                                              \
        return value;                                                          \
    }
INGOT_CALLS(CALLER)

static const struct call {
    const char *name, *parameters;
    u64 (*run)(const u64 *a);
} calls[] = {
#define CALL_ENTRY(group, result, name, parameters, text)                      \
    {#name, #parameters, call_##name},
    INGOT_CALLS(CALL_ENTRY)};
enum { CALLS = sizeof(calls) / sizeof(calls[0]) };

// Parameter n of "(u32 nic, const void *data, void (*fn)(void *))": its text.
static int find_parameter(const char *all, u32 n, char *text, u64 cap)
{
    u32 depth = 0;
    u64 len = 0;
    for (; *all != 0; all++) {
        depth += *all == '(';
        depth -= *all == ')';
        if (depth == 0 || (depth == 1 && *all == ',' && n-- == 0)) {
            break;
        }
        if (n == 0 && len + 1 < cap &&
            (len > 0 || (*all != '(' && *all != ' ' && *all != ','))) {
            text[len++] = *all;
        }
    }
    text[len] = 0;
    return len > 0 && strcmp(text, "void") != 0;
}

static int has(const char *text, const char *word)
{
    u64 len = strlen(word);
    for (; *text != 0; text++) {
        if (strncmp(text, word, len) == 0) {
            return 1;
        }
    }
    return 0;
}

// What is right for most calls: one of something, the first of its kind.
static u64 good_value(const char *text)
{
    static const char *const zero[] = {"nic",      "disk",  "index",
                                       "flag",     "entry", "wait_ns",
                                       "position", "off",   "sett"};
    struct disk_info disk;
    if (has(text, "*")) {
        return (u64)good;
    }
    if (has(text, "block") && os->disk_info(0, &disk) == 0) {
        return disk.blocks - 1; // the kernel's bytes may end up there
    }
    for (u32 i = 0; i < sizeof(zero) / sizeof(zero[0]); i++) {
        if (has(text, zero[i])) {
            return 0;
        }
    }
    return 1;
}

static void list(void)
{
    char text[64];
    for (u32 i = 0; i < CALLS; i++) {
        for (u32 n = 0; find_parameter(calls[i].parameters, n, text, 64); n++) {
            if (has(text, "*")) {
                print("pointer %s %u\n", calls[i].name, n);
            }
        }
    }
}

static struct attempt {
    const struct call *call;
    u64 values[REGISTERS];
    u64 result;
} attempt;

static void run(void *unused)
{
    (void)unused;
    attempt.result = attempt.call->run(attempt.values);
}

// What the call may have set going: a hook, a core.
static void settle(void)
{
    u64 end = os->time_ns() + SETTLE_NS;
    while (os->time_ns() < end) {
    }
    (void)os->cpu_wait(1);
}

static int try_call(const struct call *call, u32 bad, u64 value, int elsewhere)
{
    char text[64];
    attempt.call = call;
    for (u32 n = 0; find_parameter(call->parameters, n, text, 64); n++) {
        attempt.values[n] = n == bad ? value : good_value(text);
    }
    if (elsewhere) {
        (void)os->cpu_start(2, run, 0);
        (void)os->cpu_wait(2);
    } else {
        run(0);
    }
    if (has(call->parameters, "(*fn)")) {
        settle();
    }
    print("returned %d\n", (int)attempt.result);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        list();
        return 0;
    }
    for (u32 i = 0; i < CALLS; i++) {
        for (u32 k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
            if (strcmp(argv[1], calls[i].name) == 0 &&
                strcmp(argv[3], kinds[k].name) == 0) {
                return try_call(&calls[i], (u32)(argv[2][0] - '0'),
                                kinds[k].value, argc > 4);
            }
        }
    }
    print("error: pointers: no such call or kind\n");
    return 98;
}
