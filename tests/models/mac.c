// mac.c - registers that do something when they are touched.
// SPDX-License-Identifier: MIT
#include "x540.h"

u32 ctrl_read(struct x540 *m, u32 offset)
{
    u32 value = *reg(m, offset);
    return m->in_reset ? value | CTRL_RST | CTRL_LRST : value;
}

// 4.2.1.6: either bit resets; software sets both and waits for both.
void ctrl_write(struct x540 *m, u32 offset, u32 value)
{
    if (!(value & (CTRL_RST | CTRL_LRST))) {
        *reg(m, offset) = value;
        return;
    }
    m->forgiving = false;
    if (tx_is_busy(m) && !m->tx_hung && !m->fault.tx_stall)
        rule(m, 5, "reset while transmit descriptors are not done");
    model_reset(m);
}

u32 status_read(struct x540 *m, u32 offset)
{
    bool master = !(*reg(m, M_CTRL) & CTRL_GIO_DIS) || m->fault.master_stuck;
    return *reg(m, offset) | (link_is_up(m) ? STATUS_LINK_UP : 0) |
           (master ? STATUS_GIO_MASTER : 0);
}

u32 links_read(struct x540 *m, u32 offset)
{
    (void)offset;
    if (!link_is_up(m))
        return 0;
    u32 speed = m->fault.speed >= 10000 ? 3 : m->fault.speed >= 1000 ? 2 : 1;
    return LINKS_UP | speed << 28;
}

u32 rdrxctl_read(struct x540 *m, u32 offset)
{
    bool done = !m->ready_at && !m->fault.dmaidone_never;
    return *reg(m, offset) | (done ? RDRXCTL_DMAIDONE : 0);
}

// SECRXSTAT, SECTXSTAT: the path is empty, the moment it is closed.
u32 sec_stat_read(struct x540 *m, u32 offset)
{
    return *reg(m, offset - 4) & SEC_DIS ? SEC_READY : 0;
}

void rxctrl_write(struct x540 *m, u32 offset, u32 value)
{
    if (value & ~*reg(m, offset) & RXCTRL_RXEN &&
        !(rdrxctl_read(m, M_RDRXCTL) & RDRXCTL_DMAIDONE))
        rule(m, 18, "RXCTRL.RXEN set before RDRXCTL.DMAIDONE");
    *reg(m, offset) = value;
}

void rxpbsize_write(struct x540 *m, u32 offset, u32 value)
{
    if (*reg(m, M_RXCTRL) & RXCTRL_RXEN)
        rule(m, 8, "RXPBSIZE written with RXCTRL.RXEN set");
    *reg(m, offset) = value & 0x000FFC00;
}

void mtqc_write(struct x540 *m, u32 offset, u32 value)
{
    if (!(*reg(m, M_RTTDCS) & RTTDCS_ARBDIS))
        rule(m, 7, "MTQC written without RTTDCS.ARBDIS");
    *reg(m, offset) = value & 0xF;
}

// The 82599 starts its link here; the X540's PHY does not listen.
void autoc_write(struct x540 *m, u32 offset, u32 value)
{
    *reg(m, offset) = value & ~AUTOC_RESTART;
    if (value & AUTOC_RESTART && m->device_id == 0x10FB)
        link_restart(m);
}
