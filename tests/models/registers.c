// registers.c - the register file: reset values, what may be written, handlers.
// SPDX-License-Identifier: MIT
//
// A register without a row here is plain storage with reset value 0: drivers
// set up much that the model has no use for.
#include "x540.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { WORDS = BAR0_SIZE / 4 };

struct row {
    u32 offset, count, stride, reset, writable;
    u32 (*read)(struct x540 *m, u32 offset);
    void (*write)(struct x540 *m, u32 offset, u32 value);
};

#define RX_ROWS(field, reset, read)                                            \
    {M_RX_LOW + (field), 64, 0x40, reset, ~0u, read, rx_queue_write},          \
    {                                                                          \
        M_RX_HIGH + (field), 64, 0x40, reset, ~0u, read, rx_queue_write        \
    }
#define TX_ROW(field, reset, read)                                             \
    {                                                                          \
        M_TX + (field), QUEUES, 0x40, reset, ~0u, read, tx_queue_write         \
    }
#define COUNTER(offset, n, stride)                                             \
    {                                                                          \
        offset, n, stride, 0, 0, counter_read, NULL                            \
    }
#define PAIR(offset, n, stride)                                                \
    {offset, n, stride, 0, 0, counter_read_low, NULL},                         \
    {                                                                          \
        (offset) + 4, n, stride, 0, 0, counter_read_high, NULL                 \
    }
#define INTERRUPT(offset, n, read)                                             \
    {                                                                          \
        offset, n, 4, 0, ~0u, read, interrupt_write                            \
    }

// clang-format off
static const struct row rows[] = {
    {0, 0, 0, 0, ~0u, NULL, NULL}, // plain storage
    {M_CTRL, 1, 4, 0, ~0u, ctrl_read, ctrl_write},
    {M_STATUS, 1, 4, 0, 0, status_read, NULL},
    INTERRUPT(M_EICR, 1, eicr_read),
    INTERRUPT(M_EICS, 1, eics_read),
    INTERRUPT(M_EIMS, 1, eims_read),
    INTERRUPT(M_EIMC, 1, NULL),
    INTERRUPT(M_EICS_EX, 2, NULL),
    INTERRUPT(M_EIMS_EX, 2, eims_read),
    INTERRUPT(M_EIMC_EX, 2, NULL),
    RX_ROWS(M_RDBAL, 0, NULL),
    RX_ROWS(M_RDBAH, 0, NULL),
    RX_ROWS(M_RDLEN, 0, NULL),
    RX_ROWS(M_DCA_RXCTRL, DCA_RXCTRL_MUST_CLEAR, NULL),
    RX_ROWS(M_RDH, 0, NULL),
    RX_ROWS(M_SRRCTL, 2, NULL),
    RX_ROWS(M_RDT, 0, NULL),
    RX_ROWS(M_RXDCTL, 0, rxdctl_read),
    {M_RDRXCTL, 1, 4, 0, ~RDRXCTL_DMAIDONE, rdrxctl_read, NULL},
    {M_RXCTRL, 1, 4, 0, ~0u, NULL, rxctrl_write},
    {M_RXPBSIZE, 8, 4, 0, ~0u, NULL, rxpbsize_write},
    {M_VLNCTRL, 1, 4, 0x8100, ~0u, NULL, NULL},
    {M_SECRXSTAT, 1, 4, 0, 0, sec_stat_read, NULL},
    {M_SECTXSTAT, 1, 4, 0, 0, sec_stat_read, NULL},
    {M_HLREG0, 1, 4, 0x08012C0B, ~0u, NULL, NULL},
    {M_MSCA, 1, 4, 0, ~0u, NULL, msca_write},
    {M_MAXFRS, 1, 4, 0x05EE0000, 0xFFFF0000, NULL, NULL},
    {M_AUTOC, 1, 4, 0, ~0u, NULL, autoc_write},
    {M_LINKS, 1, 4, 0, 0, links_read, NULL},
    {M_DMATXCTL, 1, 4, 0x81000000, ~0u, NULL, NULL},
    TX_ROW(M_TDBAL, 0, NULL),
    TX_ROW(M_TDBAH, 0, NULL),
    TX_ROW(M_TDLEN, 0, NULL),
    TX_ROW(M_TDH, 0, NULL),
    TX_ROW(M_TDT, 0, NULL),
    TX_ROW(M_TXDCTL, 0, txdctl_read),
    {M_DTXMXSZRQ, 1, 4, 0x10, 0xFFF, NULL, NULL},
    {M_MTQC, 1, 4, 0, ~0u, NULL, mtqc_write},
    {M_TXPBSIZE, 1, 4, 0x28000, 0x000FFC00, NULL, NULL},
    {M_TXPBSIZE + 4, 7, 4, 0, 0x000FFC00, NULL, NULL},
    {M_EEC, 1, 4, 0, 0, eec_read, NULL},
    {M_EERD, 1, 4, 0, ~0u, NULL, eerd_write},
    {M_EEMNGCTL, 1, 4, 0x000C0000, 0, NULL, NULL},
    {M_SWSM, 1, 4, 0, 3, swsm_read, NULL},
    {M_FWSM, 1, 4, 0x8000, 0, NULL, NULL}, // firmware runs, no error
    {M_FACTPS, 1, 4, 0, 0, NULL, NULL},
    {M_SW_FW_SYNC, 1, 4, 0, ~0u, sync_read, sync_write},
    COUNTER(M_MPC, 8, 4),
    COUNTER(M_CRCERRS, 23, 4),   // 4000-4058
    COUNTER(M_PRC64, 10, 4),     // 405C-4080
    PAIR(M_GORC, 2, 8),          // GORC, GOTC
    COUNTER(0x040A0, 8, 4),      // RNBC, RUC, RFC, ROC, RJC
    PAIR(M_TOR, 1, 8),
    COUNTER(M_TPR, 10, 4),       // TPR, TPT, PTC64.., MPTC, BPTC
    COUNTER(M_QPRC, 16, 0x40),
    PAIR(M_QBRC, 16, 0x40),
    COUNTER(M_QPRDC, 16, 0x40),
    COUNTER(M_QPTC, 16, 0x40),
    PAIR(M_QBTC, 16, 8),
};
// clang-format on

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };
static_assert(ROWS < 256, "row_of[] holds bytes");

static u8 row_of[WORDS];

static void registers_index(void)
{
    for (u32 i = 1; i < ROWS; i++)
        for (u32 n = 0; n < rows[i].count; n++)
            row_of[(rows[i].offset + n * rows[i].stride) / 4] = (u8)i;
}

// The one offset a register with several is stored at.
static u32 register_home(u32 offset)
{
    if (offset == M_CTRL_ALIAS)
        return M_CTRL;
    if (offset >= M_SRRCTL_ALIAS && offset < M_SRRCTL_ALIAS + 0x40)
        return rx_base((offset - M_SRRCTL_ALIAS) / 4) + M_SRRCTL;
    if (offset >= M_DCA_RXCTRL_ALIAS && offset < M_DCA_RXCTRL_ALIAS + 0x40)
        return rx_base((offset - M_DCA_RXCTRL_ALIAS) / 4) + M_DCA_RXCTRL;
    if (offset >= M_RAL_ALIAS && offset < M_RAL_ALIAS + 0x80)
        return M_RAL + (offset - M_RAL_ALIAS);
    return offset;
}

void registers_reset(struct x540 *m)
{
    registers_index();
    memset(m->regs, 0, BAR0_SIZE);
    for (u32 i = 1; i < ROWS; i++)
        for (u32 n = 0; n < rows[i].count; n++)
            *reg(m, rows[i].offset + n * rows[i].stride) = rows[i].reset;
    *reg(m, M_RXPBSIZE) = m->device_id == 0x10FB ? 512 << 10 : 384 << 10;
    const u8 *mac = m->mac; // the automatic read of the EEPROM
    *reg(m, M_RAL) =
        mac[0] | (u32)mac[1] << 8 | (u32)mac[2] << 16 | (u32)mac[3] << 24;
    *reg(m, M_RAH) = mac[4] | (u32)mac[5] << 8 | RAH_AV;
}

static void register_trace(struct x540 *m, char what, u32 offset, u32 value)
{
    if (m->trace < 0)
        return;
    dprintf(m->trace, "%llu %c %05x %08x\n", (unsigned long long)m->now / 1000,
            what, offset, value);
}

u32 register_read(struct x540 *m, u32 offset)
{
    u32 home = register_home(offset);
    const struct row *row = &rows[row_of[home / 4]];
    m->total.reads++;
    if (m->in_reset && home != M_CTRL && home != M_STATUS)
        rule(m, 3, "register %05x read during reset", offset);
    u32 value = row->read ? row->read(m, home) : *reg(m, home);
    register_trace(m, 'r', offset, value);
    return value;
}

void register_write(struct x540 *m, u32 offset, u32 value)
{
    u32 home = register_home(offset);
    const struct row *row = &rows[row_of[home / 4]];
    m->total.writes++;
    register_trace(m, 'w', offset, value);
    if (m->in_reset && home != M_CTRL) {
        rule(m, 4, "register %05x written during reset", offset);
        return;
    }
    if (row->write)
        row->write(m, home, value);
    else
        *reg(m, home) =
            (*reg(m, home) & ~row->writable) | (value & row->writable);
}

u32 register_peek(struct x540 *m, u32 offset)
{
    u32 home = register_home(offset);
    const struct row *row = &rows[row_of[home / 4]];
    if (row->read == counter_read_high)
        return (u32)(m->counter[home / 4 - 1] >> 32);
    if (row->read == counter_read || row->read == counter_read_low)
        return (u32)m->counter[home / 4];
    bool clean = row->read && row->read != eicr_read &&
                 row->read != swsm_read && row->read != sync_read;
    return clean ? row->read(m, home) : *reg(m, home);
}

u64 bar0_read(struct x540 *m, u64 offset, u32 size)
{
    if (m->fault.removed || offset >= BAR0_SIZE || size > BAR0_SIZE - offset)
        return ~0ull;
    if (size == 4 && offset % 4 == 0)
        return register_read(m, (u32)offset);
    rule(m, 30, "read of %u bytes at %05llx", size, (unsigned long long)offset);
    u64 value = register_read(m, (u32)offset & ~3u);
    if (size == 8 && offset % 8 == 0)
        value |= (u64)register_read(m, (u32)offset + 4) << 32;
    return value >> 8 * (offset % 4);
}

void bar0_write(struct x540 *m, u64 offset, u64 value, u32 size)
{
    if (m->fault.removed || offset >= BAR0_SIZE || size > BAR0_SIZE - offset)
        return;
    if (size == 4 && offset % 4 == 0) {
        register_write(m, (u32)offset, (u32)value);
        return;
    }
    rule(m, 31, "write of %u bytes at %05llx", size,
         (unsigned long long)offset);
    if (size == 8 && offset % 8 == 0) {
        register_write(m, (u32)offset, (u32)value);
        register_write(m, (u32)offset + 4, (u32)(value >> 32));
    }
}
