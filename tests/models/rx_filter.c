// rx_filter.c - which frames the receive path lets in (7.1.1).
// SPDX-License-Identifier: MIT
#include "x540.h"

static bool filter_exact(struct x540 *m, const u8 *mac)
{
    u32 low = mac[0] | (u32)mac[1] << 8 | (u32)mac[2] << 16 | (u32)mac[3] << 24;
    u32 high = mac[4] | (u32)mac[5] << 8 | RAH_AV;
    for (u32 i = 0; i < 128; i++)
        if (*reg(m, M_RAL + 8 * i) == low &&
            (*reg(m, M_RAH + 8 * i) & (RAH_AV | 0xFFFF)) == high)
            return true;
    return false;
}

// MCSTCTRL.MO: which 12 of the address's upper 16 bits are the hash.
static bool filter_hash(struct x540 *m, const u8 *mac)
{
    u32 control = *reg(m, M_MCSTCTRL);
    if (!(control & MCSTCTRL_MFE))
        return false;
    u32 upper = mac[4] | (u32)mac[5] << 8;
    u32 hash = upper >> (4 - (control & 3)) & 0xFFF;
    if ((control & 3) == 3)
        hash = upper & 0xFFF;
    return *reg(m, M_MTA + hash / 32 * 4) >> hash % 32 & 1;
}

static bool filter_address(struct x540 *m, const u8 *mac)
{
    u32 control = *reg(m, M_FCTRL);
    bool broadcast =
        (mac[0] & mac[1] & mac[2] & mac[3] & mac[4] & mac[5]) == 0xFF;
    if (broadcast)
        return control & FCTRL_BAM;
    if (mac[0] & 1)
        return control & FCTRL_MPE || filter_hash(m, mac) ||
               filter_exact(m, mac);
    return control & FCTRL_UPE || filter_exact(m, mac);
}

bool filter_is_tagged(struct x540 *m, const u8 *frame, u32 len)
{
    return len >= 18 && be16(frame + 12) == (*reg(m, M_VLNCTRL) & 0xFFFF);
}

bool filter_accepts(struct x540 *m, const u8 *frame, u32 len)
{
    if (!filter_address(m, frame))
        return false;
    if (!(*reg(m, M_VLNCTRL) & VLNCTRL_VFE) || !filter_is_tagged(m, frame, len))
        return true;
    u32 id = be16(frame + 14) & 0xFFF;
    return *reg(m, M_VFTA + id / 32 * 4) >> id % 32 & 1;
}
