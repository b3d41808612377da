// model.c - life and time of the modelled NIC: power, resets, link, work.
// SPDX-License-Identifier: MIT
#include "x540.h"
#include <stdlib.h>
#include <string.h>

static const u8 default_mac[6] = {0x02, 0x49, 0x4E, 0x58, 0x54, 0x00};

bool model_init(struct x540 *m, u16 device_id)
{
    memset(m, 0, sizeof(*m));
    m->now = 1;
    m->device_id = device_id;
    memcpy(m->mac, default_mac, 6);
    m->regs = calloc(BAR0_SIZE / 4, sizeof(u32));
    m->counter = calloc(BAR0_SIZE / 4, sizeof(u64));
    m->late = calloc(LATE_CAP, sizeof(struct writeback));
    m->net.looped = calloc(LOOP_FRAMES, sizeof(struct frame));
    m->net.fd = m->net.pcap = m->irq.qtest = m->trace = -1;
    m->link_wanted = true;
    faults_default(m);
    return m->regs && m->counter && m->late && m->net.looped;
}

void model_free(struct x540 *m)
{
    free(m->regs);
    free(m->counter);
    free(m->late);
    free(m->net.looped);
}

void model_power_on(struct x540 *m)
{
    config_power_on(m);
    eeprom_fill(m);
    model_reset(m);
}

// 4.2: everything but the PCI configuration goes to its reset value. The
// double reset of the errata frees a stuck master.
void model_reset(struct x540 *m)
{
    m->total.resets++;
    if (m->fault.master_stuck && ++m->stuck_resets >= 2) {
        m->fault.master_stuck = 0;
        m->stuck_resets = 0;
    }
    m->tx_hung = false;
    m->late_n = 0;
    m->regsmp = false;
    m->in_reset = true;
    m->reset_end = m->now + m->fault.reset_us * 1000;
    m->ready_at = m->reset_end + m->fault.init_us * 1000 + 1;
    m->link_at = m->reset_end + m->fault.link_us * 1000 + 1;
    memset(m->counter, 0, BAR0_SIZE / 4 * sizeof(u64));
    queues_reset(m);
    interrupt_reset(m);
    registers_reset(m);
}

bool link_is_up(struct x540 *m)
{
    return m->link_wanted && !m->link_at;
}

void link_restart(struct x540 *m)
{
    m->link_at = m->now + m->fault.link_us * 1000;
    if (!m->fault.link_us)
        m->link_at = 0;
}

void link_set(struct x540 *m, bool up)
{
    if (up && !m->link_wanted)
        link_restart(m);
    m->link_wanted = up;
}

static void model_pass_time(struct x540 *m)
{
    if (m->in_reset && m->now >= m->reset_end && !m->fault.reset_stuck)
        m->in_reset = false;
    if (!m->in_reset && m->ready_at && m->now >= m->ready_at)
        m->ready_at = 0;
    if (!m->in_reset && m->link_at && m->now >= m->link_at)
        m->link_at = 0;
    if (m->link_seen != link_is_up(m)) {
        m->link_seen = !m->link_seen;
        interrupt_cause(m, EICR_LSC);
    }
}

bool model_receiving(struct x540 *m)
{
    return !m->in_reset && link_is_up(m) && !m->fault.rx_stall &&
           *reg(m, M_RXCTRL) & RXCTRL_RXEN &&
           !(*reg(m, M_SECRXCTRL) & SEC_DIS) &&
           !(*reg(m, M_CTRL) & CTRL_GIO_DIS);
}

bool model_work(struct x540 *m)
{
    model_pass_time(m);
    if (m->fault.removed)
        return false;
    queues_tick(m);
    dma_late_run(m);
    bool more = false;
    if (!m->in_reset) {
        more = tx_work(m);
        more |= net_work(m);
    }
    interrupt_tick(m);
    return more;
}

static u64 model_sooner(u64 a, u64 b)
{
    return !a || (b && b < a) ? b : a;
}

u64 model_deadline(struct x540 *m)
{
    u64 due = m->late_n ? m->late[m->late_head].due : 0;
    due = model_sooner(due, queues_deadline(m));
    due = model_sooner(due, interrupt_deadline(m));
    if (m->in_reset)
        return m->fault.reset_stuck ? due : model_sooner(due, m->reset_end);
    return model_sooner(model_sooner(due, m->ready_at), m->link_at);
}
