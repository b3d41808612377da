// faults.c - the switches of the model, and the rules a guest can break.
// SPDX-License-Identifier: MIT
#include "x540.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RULE_LOG_MAX = 8 }; // lines a rule, then it is only counted

static const struct {
    const char *name;
    size_t at;
    u64 value;
} fault_keys[] = {
#define FAULT_KEY(name, value, help)                                           \
    {#name, offsetof(struct faults, name), value},
    FAULT_LIST(FAULT_KEY)
#undef FAULT_KEY
};

enum { FAULT_KEYS = sizeof(fault_keys) / sizeof(fault_keys[0]) };

static u64 *fault_field(struct x540 *m, u32 key)
{
    return (u64 *)(void *)((u8 *)&m->fault + fault_keys[key].at);
}

void faults_default(struct x540 *m)
{
    for (u32 i = 0; i < FAULT_KEYS; i++)
        *fault_field(m, i) = fault_keys[i].value;
}

// What a new value changes besides itself.
static void fault_changed(struct x540 *m, const u64 *field)
{
    if (field == &m->fault.tx_hang)
        m->tx_hung = false;
    if (m->fault.prefetch > PREFETCH_MAX)
        m->fault.prefetch = PREFETCH_MAX;
    eeprom_fill(m);
}

// "key=value"; false: no such key, or no number.
bool fault_set(struct x540 *m, const char *assignment)
{
    const char *equals = strchr(assignment, '=');
    if (!equals || !equals[1])
        return false;
    size_t len = (size_t)(equals - assignment);
    char *end;
    u64 value = strtoull(equals + 1, &end, 0);
    for (u32 i = 0; i < FAULT_KEYS && !*end; i++) {
        if (strlen(fault_keys[i].name) != len ||
            strncmp(fault_keys[i].name, assignment, len))
            continue;
        *fault_field(m, i) = value;
        fault_changed(m, fault_field(m, i));
        return true;
    }
    return false;
}

bool fault_take(u64 *n)
{
    if (!*n)
        return false;
    --*n;
    return true;
}

void rule(struct x540 *m, u32 n, const char *format, ...)
{
    if (m->forgiving)
        return;
    m->total.rule_violations++;
    if (m->rule_count[n % RULES]++ >= RULE_LOG_MAX || !m->fault.strict)
        return;
    va_list args;
    va_start(args, format);
    fprintf(stderr, "GUEST RULE %u: ", n);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}
