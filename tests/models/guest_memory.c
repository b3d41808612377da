// guest_memory.c - DMA: the model reads and writes the guest's RAM.
// SPDX-License-Identifier: MIT
#include "x540.h"
#include <string.h>

// RAM that lies in one piece; NULL when it does not, or is none.
u8 *dma_at(struct x540 *m, u64 gpa, u64 len)
{
    for (u32 i = 0; i < m->ram_n; i++) {
        const struct region *r = &m->ram[i];
        if (gpa >= r->gpa && gpa - r->gpa < r->size &&
            len <= r->size - (gpa - r->gpa))
            return r->at + (gpa - r->gpa);
    }
    return NULL;
}

static bool dma_failed(struct x540 *m, u64 gpa, u64 len)
{
    m->total.dma_err++;
    rule(m, 2, "DMA of %llu bytes at %llx, which is no RAM",
         (unsigned long long)len, (unsigned long long)gpa);
    interrupt_cause(m, EICR_PCI_ERROR);
    return false;
}

static bool dma_allowed(struct x540 *m)
{
    if (config_is_master(m) && !(*reg(m, M_CTRL) & CTRL_GIO_DIS))
        return true;
    m->total.dma_err++;
    rule(m, 1, "DMA while %s",
         config_is_master(m) ? "CTRL.GIO_DIS is set" : "bus mastering is off");
    return false;
}

// Firmware may show one stretch of RAM as several regions: go byte-wise only
// as far as the region reaches.
static u64 dma_piece(struct x540 *m, u64 gpa, u64 len, u8 **at)
{
    for (u64 n = len; n; n /= 2) {
        *at = dma_at(m, gpa, n);
        if (*at)
            return n;
    }
    return 0;
}

bool dma_read(struct x540 *m, u64 gpa, void *to, u64 len)
{
    u8 *out = to, *at;
    if (!dma_allowed(m))
        return false;
    for (u64 n; len; gpa += n, out += n, len -= n) {
        n = dma_piece(m, gpa, len, &at);
        if (!n)
            return dma_failed(m, gpa, len);
        memcpy(out, at, n);
    }
    return true;
}

bool dma_write(struct x540 *m, u64 gpa, const void *from, u64 len)
{
    const u8 *in = from;
    u8 *at;
    if (!dma_allowed(m))
        return false;
    for (u64 n; len; gpa += n, in += n, len -= n) {
        n = dma_piece(m, gpa, len, &at);
        if (!n)
            return dma_failed(m, gpa, len);
        memcpy(at, in, n);
    }
    return true;
}

// The guest stores descriptors while we read them: each quadword in one load.
bool dma_load(struct x540 *m, u64 gpa, u64 q[2])
{
    if (!dma_allowed(m))
        return false;
    u8 *at = dma_at(m, gpa, 16);
    if (!at || gpa % 16)
        return dma_failed(m, gpa, 16);
    q[0] = __atomic_load_n((u64 *)(void *)at, __ATOMIC_ACQUIRE);
    q[1] = __atomic_load_n((u64 *)(void *)(at + 8), __ATOMIC_ACQUIRE);
    return true;
}

// The reader on the other side is the guest's poll for DD: everything else of
// the frame and the descriptor must be there before.
void dma_store(struct x540 *m, const struct writeback *w)
{
    u8 *at = dma_at(m, w->gpa, 16);
    if (!at) {
        dma_failed(m, w->gpa, 16);
        return;
    }
    if (w->both)
        __atomic_store_n((u64 *)(void *)at, w->q0, __ATOMIC_RELAXED);
    __atomic_store_n((u64 *)(void *)(at + 8), w->q1, __ATOMIC_RELEASE);
}

// delay_us later, but never before an earlier one.
void dma_store_late(struct x540 *m, u64 delay_us, struct writeback w)
{
    if (!delay_us && !m->late_n) {
        dma_store(m, &w);
        return;
    }
    if (m->late_n == LATE_CAP) { // out of room: the oldest comes early
        dma_store(m, &m->late[m->late_head]);
        m->late_head = (m->late_head + 1) % LATE_CAP;
        m->late_n--;
    }
    w.due = m->now + delay_us * 1000;
    m->late[(m->late_head + m->late_n++) % LATE_CAP] = w;
}

void dma_late_run(struct x540 *m)
{
    while (m->late_n && m->late[m->late_head].due <= m->now) {
        dma_store(m, &m->late[m->late_head]);
        m->late_head = (m->late_head + 1) % LATE_CAP;
        m->late_n--;
    }
}
