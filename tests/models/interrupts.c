// interrupts.c - causes, masks and vectors; messages through QEMU's -qtest.
// SPDX-License-Identifier: MIT
//
// 7.3 (interrupts), 8.2.3.5. Under TCG QEMU does not serve the eventfds of its
// own protocol, so a vector is fired by having the qtest socket write the
// message to the local APIC's page. Without that socket nothing is fired.
#include "x540.h"
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    CONFIG_MSI = 0x50,
    CONFIG_MSIX_CONTROL = 0x72,
    MSIX_ENABLE = 0x8000,
    MSIX_MASK_ALL = 0x4000,
};

void interrupt_reset(struct x540 *m)
{
    m->irq.enabled = m->irq.pending = 0;
    memset(m->irq.next, 0, sizeof(m->irq.next));
    m->irq.level = false;
}

bool interrupt_connect(struct x540 *m, const char *path)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(to.sun_path))
        return false;
    strcpy(to.sun_path, path);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    unlink(path);
    if (bind(listener, (struct sockaddr *)&to, sizeof(to)) ||
        listen(listener, 1))
        return false;
    m->irq.qtest = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    close(listener);
    return m->irq.qtest >= 0;
}

static void interrupt_say(struct x540 *m, const char *line)
{
    m->total.irqs++;
    if (m->irq.qtest >= 0)
        send(m->irq.qtest, line, strlen(line), MSG_NOSIGNAL);
}

static void interrupt_message(struct x540 *m, u64 address, u32 data)
{
    char line[64];
    snprintf(line, sizeof(line), "writel 0x%llx 0x%x\n",
             (unsigned long long)address, data);
    interrupt_say(m, line);
}

static u32 config_word(struct x540 *m, u32 at)
{
    return m->config[at] | (u32)m->config[at + 1] << 8;
}

// An IVAR byte: the vector, or -1.
static int interrupt_entry(struct x540 *m, u32 offset, u32 byte)
{
    u32 entry = *reg(m, offset) >> 8 * byte & 0xFF;
    return entry & IVAR_VALID ? (int)(entry & 63) : -1;
}

static int interrupt_vector(struct x540 *m, u32 queue, bool tx)
{
    return interrupt_entry(m, M_IVAR + queue / 2 * 4, queue % 2 * 2 + tx);
}

static u32 interrupt_mask(struct x540 *m)
{
    return (*reg(m, M_EIMS) & ~EICR_QUEUES) |
           (u32)(m->irq.enabled & EICR_QUEUES);
}

void interrupt_queue(struct x540 *m, u32 queue, bool tx)
{
    int vector = interrupt_vector(m, queue, tx);
    if (vector < 0)
        return;
    m->irq.pending |= BIT64(vector);
    if (vector < 16)
        *reg(m, M_EICR) |= 1u << vector;
}

// Everything but queues; all of it goes to one vector.
static void interrupt_raise_other(struct x540 *m)
{
    int vector = interrupt_entry(m, M_IVAR_MISC, 1);
    u32 causes = *reg(m, M_EICR) & interrupt_mask(m) & ~EICR_QUEUES;
    if (vector >= 0 && causes)
        m->irq.pending |= BIT64(vector);
}

void interrupt_cause(struct x540 *m, u32 bits)
{
    *reg(m, M_EICR) |= bits;
    if (bits & EICR_QUEUES)
        m->irq.pending |= bits & EICR_QUEUES;
    interrupt_raise_other(m);
}

u32 eicr_read(struct x540 *m, u32 offset)
{
    u32 value = *reg(m, offset);
    *reg(m, offset) = 0;
    if (value && !(*reg(m, M_GPIE) & GPIE_MSIX_MODE)) { // 7.3.1.3 auto mask
        u32 masked = *reg(m, M_EIAM);
        m->irq.enabled &= ~(u64)(masked & EICR_QUEUES);
        *reg(m, M_EIMS) &= ~masked | EICR_QUEUES;
    }
    return value;
}

// The causes, without clearing them.
u32 eics_read(struct x540 *m, u32 offset)
{
    (void)offset;
    return *reg(m, M_EICR);
}

u32 eims_read(struct x540 *m, u32 offset)
{
    if (offset == M_EIMS)
        return interrupt_mask(m);
    return (u32)(m->irq.enabled >> (offset == M_EIMS_EX ? 0 : 32));
}

// EICS, EIMS, EIMC: bits 15:0 are those of the first extended register.
static void interrupt_write_base(struct x540 *m, u32 offset, u32 value)
{
    u64 queues = value & EICR_QUEUES;
    u32 others = value & ~EICR_QUEUES;
    if (offset == M_EICS)
        interrupt_cause(m, value);
    if (offset == M_EIMS) {
        m->irq.enabled |= queues;
        *reg(m, M_EIMS) |= others;
        interrupt_raise_other(m);
    }
    if (offset == M_EIMC) {
        m->irq.enabled &= ~queues;
        *reg(m, M_EIMS) &= ~others;
    }
}

void interrupt_write(struct x540 *m, u32 offset, u32 value)
{
    u64 wide = (u64)value << (offset & 4 ? 32 : 0);
    if (offset == M_EICR) // write 1 to clear
        *reg(m, offset) &= ~value;
    else if (offset < M_EICS_EX)
        interrupt_write_base(m, offset, value);
    else if (offset < M_EIMS_EX)
        m->irq.pending |= wide;
    else if (offset < M_EIMC_EX)
        m->irq.enabled |= wide;
    else
        m->irq.enabled &= ~wide;
}

static u32 interrupt_interval_ns(struct x540 *m, u32 vector)
{
    u32 at = vector < 24 ? M_EITR0 + 4 * vector : M_EITR24 + 4 * (vector - 24);
    return (*reg(m, at) >> 3 & 0x1FF) * 2000;
}

u32 interrupt_moderation(struct x540 *m, u32 queue, bool tx)
{
    int vector = interrupt_vector(m, queue, tx);
    return interrupt_interval_ns(m, vector < 0 ? 0 : (u32)vector);
}

static bool interrupt_is_open(struct x540 *m, u32 vector)
{
    int other = interrupt_entry(m, M_IVAR_MISC, 1);
    bool other_cause = other == (int)vector && interrupt_mask(m) & ~EICR_QUEUES;
    return m->irq.enabled >> vector & 1 || other_cause;
}

static void interrupt_fire(struct x540 *m, u32 vector)
{
    u32 entry[4];
    memcpy(entry, m->msix + 16 * vector, 16);
    if (entry[3] & 1 || config_word(m, CONFIG_MSIX_CONTROL) & MSIX_MASK_ALL) {
        m->msix[MSIX_PBA + vector / 8] |= (u8)(1u << vector % 8);
        return;
    }
    m->msix[MSIX_PBA + vector / 8] &= (u8) ~(1u << vector % 8);
    m->irq.pending &= ~BIT64(vector);
    m->irq.next[vector] = m->now + interrupt_interval_ns(m, vector);
    if (vector < 16) // automatic clear, 7.3.1.2
        *reg(m, M_EICR) &= ~(*reg(m, M_EIAC) & BIT32(vector));
    u64 mask = *reg(m, M_EIAM_EX) | (u64)*reg(m, M_EIAM_EX + 4) << 32;
    if (*reg(m, M_GPIE) & GPIE_EIAME)
        m->irq.enabled &= ~(mask & BIT64(vector));
    interrupt_message(m, (u64)entry[1] << 32 | entry[0], entry[2]);
}

// MSI or a pin: one line for all causes.
static void interrupt_tick_single(struct x540 *m)
{
    bool level = *reg(m, M_EICR) & interrupt_mask(m);
    if (level == m->irq.level)
        return;
    m->irq.level = level;
    u32 low, data = config_word(m, CONFIG_MSI + 12);
    memcpy(&low, m->config + CONFIG_MSI + 4, 4);
    char line[128];
    if (config_word(m, CONFIG_MSI + 2) & 1) {
        if (level)
            interrupt_message(m, low, data);
    } else if (m->irq.intx[0] && !(config_word(m, 4) & 0x400)) {
        snprintf(line, sizeof(line), "set_irq_in %s unnamed-gpio-in %u %d\n",
                 m->irq.intx, m->irq.gsi, level);
        interrupt_say(m, line);
    }
}

void interrupt_tick(struct x540 *m)
{
    if (!(config_word(m, CONFIG_MSIX_CONTROL) & MSIX_ENABLE)) {
        interrupt_tick_single(m);
        return;
    }
    for (u64 left = m->irq.pending; left; left &= left - 1) {
        u32 vector = (u32)__builtin_ctzll(left);
        if (m->now >= m->irq.next[vector] && interrupt_is_open(m, vector))
            interrupt_fire(m, vector);
    }
}

u64 interrupt_deadline(struct x540 *m)
{
    u64 due = 0;
    for (u64 left = m->irq.pending; left; left &= left - 1) {
        u32 vector = (u32)__builtin_ctzll(left);
        u64 at = m->irq.next[vector];
        if (at > m->now && interrupt_is_open(m, vector) && (!due || at < due))
            due = at;
    }
    return due;
}
