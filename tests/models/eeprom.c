// eeprom.c - EEPROM, the semaphores that guard it, and MDIO to the PHY.
// SPDX-License-Identifier: MIT
//
// X540 data sheet 6 (NVM map), 10.5.4 (semaphores), 8.2.3.22.11 (MDIO).
#include "x540.h"

enum {
    EEPROM_CHECKSUM = 0x3F,
    EEPROM_SUM = 0xBABA,
    PHY_ID1 = 0x0154,
    PHY_ID2 = 0x0200,
};

// Words 0 to 3F and the check word add up to BABA. Section pointers are 0:
// there are no sections to add.
void eeprom_fill(struct x540 *m)
{
    for (u32 i = 0; i < EEPROM_WORDS; i++)
        m->eeprom[i] = i < 0x40 ? 0 : 0xFFFF;
    m->eeprom[0x2D] = 0x8000; // image version, for a look
    u32 sum = 0;
    for (u32 i = 0; i < EEPROM_CHECKSUM; i++)
        sum += m->eeprom[i];
    m->eeprom[EEPROM_CHECKSUM] = (u16)(EEPROM_SUM - sum);
    if (m->fault.eeprom_bad)
        m->eeprom[EEPROM_CHECKSUM] ^= 1;
}

u32 eec_read(struct x540 *m, u32 offset)
{
    bool done = !m->ready_at && !m->fault.ard_never;
    return *reg(m, offset) | EEC_PRESENT | EEC_SIZE_2K | (done ? EEC_ARD : 0);
}

void eerd_write(struct x540 *m, u32 offset, u32 value)
{
    u32 word = value >> 2 & 0x3FFF;
    u32 data = word < EEPROM_WORDS ? m->eeprom[word] : 0xFFFF;
    *reg(m, offset) = value & 0xFFFC;
    if (value & EERD_START)
        *reg(m, offset) |= EERD_DONE | data << 16;
}

// Reading takes the semaphore: a 0 means that it is yours now.
u32 swsm_read(struct x540 *m, u32 offset)
{
    u32 value = *reg(m, offset);
    *reg(m, offset) |= SWSM_SMBI;
    return fault_take(&m->fault.swsm_held) ? value | SWSM_SMBI : value;
}

u32 sync_read(struct x540 *m, u32 offset)
{
    u32 value = *reg(m, offset) | (u32)m->fault.fw_holds;
    if (m->device_id != 0x10FB) {
        value |= m->regsmp ? SYNC_REGSMP : 0;
        m->regsmp = true;
    }
    return value;
}

void sync_write(struct x540 *m, u32 offset, u32 value)
{
    m->regsmp = value & SYNC_REGSMP;
    *reg(m, offset) = value & ~SYNC_REGSMP;
}

// Clause 45: device 1 PMA/PMD, 3 PCS, 4 PHY XS, 7 AN.
static u16 phy_read(struct x540 *m, u32 device, u32 number)
{
    bool up = link_is_up(m);
    switch (number) {
    case 1: // status: link, and for AN that it is complete
        return (u16)((up ? 4 : 0) | (up && device == 7 ? 0x28 : 0));
    case 2:
        return PHY_ID1;
    case 3:
        return PHY_ID2;
    case 5: // devices in this package: AN, PHY XS, PCS, PMA
        return 0x9A;
    case 8: // a device answers here
        return 0x8000;
    default:
        return 0;
    }
}

void msca_write(struct x540 *m, u32 offset, u32 value)
{
    u32 device = value >> 16 & 31, phy = value >> 21 & 31;
    u32 op = value >> 26 & 3;
    *reg(m, offset) = value & ~MSCA_GO; // done at once
    if (!(value & MSCA_GO))
        return;
    if (op == 0)
        m->mdio_reg[device] = (u16)value;
    if (op < 2) // address, write
        return;
    bool there = !phy && m->device_id != 0x10FB; // an SFP is not on this bus
    u16 data = there ? phy_read(m, device, m->mdio_reg[device]) : 0xFFFF;
    *reg(m, M_MSRWD) = (*reg(m, M_MSRWD) & 0xFFFF) | (u32)data << 16;
    if (op == 2)
        m->mdio_reg[device]++;
}
