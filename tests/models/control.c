// control.c - text commands: faults, link, frames, looking inside.
// SPDX-License-Identifier: MIT
#include "x540.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 16, RAM_MAX = 4096 };

struct reply {
    char *at;
    size_t cap, len;
};

struct words {
    u32 n;
    char *at[WORDS_MAX];
};

static void __attribute__((format(printf, 2, 3)))
reply_add(struct reply *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(r->at + r->len, r->cap - r->len, format, args);
    va_end(args);
    if (n > 0)
        r->len += (size_t)n < r->cap - r->len ? (size_t)n : r->cap - r->len - 1;
}

static bool number(const char *word, u64 *value)
{
    char *end;
    *value = word ? strtoull(word, &end, 0) : 0;
    return word && *word && !*end;
}

// "on"/"off", "up"/"down", 1/0; nothing means on.
static bool is_on(const char *word)
{
    return !word ||
           (strcmp(word, "off") && strcmp(word, "down") && strcmp(word, "0"));
}

static void control_set(struct x540 *m, struct words *w, struct reply *r)
{
    for (u32 i = 1; i < w->n; i++) {
        if (!fault_set(m, w->at[i])) {
            reply_add(r, "error: no such setting: %s", w->at[i]);
            return;
        }
    }
    reply_add(r, "ok");
}

static void control_link(struct x540 *m, struct words *w, struct reply *r)
{
    link_set(m, is_on(w->at[1]));
    reply_add(r, "ok");
}

static void control_loop(struct x540 *m, struct words *w, struct reply *r)
{
    m->net.loop = is_on(w->at[1]);
    reply_add(r, "ok");
}

static void control_sink(struct x540 *m, struct words *w, struct reply *r)
{
    m->net.sink = is_on(w->at[1]);
    reply_add(r, "ok");
}

static void control_selfreset(struct x540 *m, struct words *w, struct reply *r)
{
    (void)w;
    model_reset(m);
    m->forgiving = true;
    reply_add(r, "ok");
}

static void control_gen(struct x540 *m, struct words *w, struct reply *r)
{
    u64 n, len;
    u8 to = w->n > 3 ? (u8)w->at[3][0] : 'u';
    if (!number(w->at[1], &n) || !number(w->at[2], &len) || len < 18 ||
        len > 16384 || !strchr("ubmo", to)) {
        reply_add(r, "error: gen N LEN(18..16384) [u|b|m|o]");
        return;
    }
    net_generate(m, n, (u32)len, to);
    reply_add(r, "ok");
}

static void control_peek(struct x540 *m, struct words *w, struct reply *r)
{
    u64 offset;
    if (!number(w->at[1], &offset) || offset % 4 || offset >= BAR0_SIZE)
        reply_add(r, "error: peek OFFSET");
    else
        reply_add(r, "%08x", register_peek(m, (u32)offset));
}

static void control_poke(struct x540 *m, struct words *w, struct reply *r)
{
    u64 offset, value;
    if (!number(w->at[1], &offset) || offset % 4 || offset >= BAR0_SIZE ||
        !number(w->at[2], &value)) {
        reply_add(r, "error: poke OFFSET VALUE");
        return;
    }
    *reg(m, (u32)offset) = (u32)value; // the register itself, no side effect
    reply_add(r, "ok");
}

static void control_ram(struct x540 *m, struct words *w, struct reply *r)
{
    u64 address, n;
    if (!number(w->at[1], &address) || !number(w->at[2], &n) || n > RAM_MAX) {
        reply_add(r, "error: ram ADDRESS N");
        return;
    }
    const u8 *at = dma_at(m, address, n);
    if (!at)
        reply_add(r, "error: no RAM");
    for (u64 i = 0; at && i < n; i++)
        reply_add(r, "%02x", at[i]);
}

static void control_intx(struct x540 *m, struct words *w, struct reply *r)
{
    u64 gsi;
    if (!number(w->at[2], &gsi) || strlen(w->at[1]) >= sizeof(m->irq.intx)) {
        reply_add(r, "error: intx PATH GSI");
        return;
    }
    strcpy(m->irq.intx, w->at[1]);
    m->irq.gsi = (u32)gsi;
    reply_add(r, "ok");
}

static void stats_queues(struct x540 *m, struct reply *r, bool tx)
{
    const char *comma = "";
    reply_add(r, ",\"%s\":{", tx ? "tx" : "rx");
    for (u32 i = 0; i < QUEUES; i++) {
        u32 base = tx ? tx_base(i) : rx_base(i);
        if (!(tx ? m->tx[i].on : m->rx[i].on))
            continue;
        // Head and tail stand at the same places in both.
        reply_add(r, "%s\"%u\":{\"size\":%u,\"head\":%u,\"tail\":%u}", comma, i,
                  tx ? tx_size(m, i) : rx_size(m, i), *reg(m, base + M_RDH),
                  *reg(m, base + M_RDT));
        comma = ",";
    }
    reply_add(r, "}");
}

static void stats_rules(struct x540 *m, struct reply *r)
{
    const char *comma = "";
    reply_add(r, ",\"rules\":{");
    for (u32 i = 0; i < RULES; i++) {
        if (!m->rule_count[i])
            continue;
        reply_add(r, "%s\"%u\":%llu", comma, i,
                  (unsigned long long)m->rule_count[i]);
        comma = ",";
    }
    reply_add(r, "}");
}

static void control_stats(struct x540 *m, struct words *w, struct reply *r)
{
    (void)w;
    reply_add(r, "{\"link\":%d,\"in_reset\":%d,\"drv_load\":%d", link_is_up(m),
              m->in_reset, !!(*reg(m, M_CTRL_EXT) & CTRL_EXT_DRV_LOAD));
    reply_add(r, ",\"eicr\":%u,\"eims\":%u,\"waiting\":%d,\"gen_left\":%llu",
              *reg(m, M_EICR), register_peek(m, M_EIMS), m->net.in.len != 0,
              (unsigned long long)m->net.gen_left);
#define TOTAL_OUT(name)                                                        \
    reply_add(r, ",\"" #name "\":%llu", (unsigned long long)m->total.name);
    TOTAL_LIST(TOTAL_OUT)
#undef TOTAL_OUT
    stats_queues(m, r, false);
    stats_queues(m, r, true);
    stats_rules(m, r);
    reply_add(r, "}");
}

static void control_quit(struct x540 *m, struct words *w, struct reply *r)
{
    (void)w;
    m->quit = true;
    reply_add(r, "ok");
}

static const struct {
    const char *name;
    void (*run)(struct x540 *m, struct words *w, struct reply *r);
} commands[] = {
    {"set", control_set},   {"link", control_link},
    {"loop", control_loop}, {"sink", control_sink},
    {"gen", control_gen},   {"selfreset", control_selfreset},
    {"peek", control_peek}, {"poke", control_poke},
    {"ram", control_ram},   {"intx", control_intx},
    {"quit", control_quit}, {"stats", control_stats},
};

// One command line; the reply is a line without an end, its length comes back.
size_t control_command(struct x540 *m, char *line, char *reply, size_t cap)
{
    struct reply r = {reply, cap, 0};
    struct words w = {0};
    char *rest = NULL;
    for (char *word = strtok_r(line, " \t\r\n", &rest); word && w.n < WORDS_MAX;
         word = strtok_r(NULL, " \t\r\n", &rest))
        w.at[w.n++] = word;
    for (size_t i = 0; w.n && i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(w.at[0], commands[i].name))
            continue;
        commands[i].run(m, &w, &r);
        return r.len;
    }
    reply_add(&r, "error: no such command: %s", w.n ? w.at[0] : "");
    return r.len;
}
