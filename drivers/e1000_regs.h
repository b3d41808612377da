// e1000_regs.h - registers of Intel's gigabit controllers.
// SPDX-License-Identifier: MIT
//
// PCI/PCI-X Family of Gigabit Ethernet Controllers (8254x) Software Developer's
// Manual 4.0, section 13; 82574 datasheet 3.4, section 10.
#pragma once
#include "intel_regs.h"

enum {
    E1000_CTRL_EXT = 0x00018,
    E1000_EERD = 0x00014, // 13.4.4
    E1000_ICR = 0x000C0,
    E1000_IMS = 0x000D0,
    E1000_IMC = 0x000D8,
    E1000_EIAC = 0x000DC, // this and IVAR: 82574 10.2.4
    E1000_IVAR = 0x000E4,
    E1000_RCTL = 0x00100,
    E1000_TCTL = 0x00400,
    E1000_TIPG = 0x00410,
    E1000_RX_RING = 0x02800,
    E1000_TX_RING = 0x03800,
    E1000_MPC = 0x04010,
    E1000_RAL = 0x05400,
    E1000_RAH = 0x05404,
};

#define CTRL_LRST BIT(3)
#define CTRL_ASDE BIT(5)
#define CTRL_SLU BIT(6)
#define CTRL_ILOS BIT(7)
#define CTRL_FRCSPD BIT(11)
#define CTRL_FRCDPX BIT(12)
#define CTRL_PHY_RST BIT(31)

#define STATUS_LU BIT(1)
#define STATUS_SPEED BITS(7, 6)

#define INT_RXQ0 BIT(20)     // of IMS, IMC, EIAC with MSI-X
#define IVAR_RXQ0 BITS(3, 0) // entry of MSI-X, and a bit that says so
#define IVAR_VALID 8u
#define CTRL_EXT_PBA_CLR BIT(31)
#define EERD_START BIT(0)
#define EERD_DATA BITS(31, 16)
// The 8254x, and the 82574.
#define EERD_DONE BIT(4)
#define EERD_ADDR BITS(15, 8)
#define EERD_DONE_82574 BIT(1)
#define EERD_ADDR_82574 BITS(15, 2)

#define RCTL_EN BIT(1)
#define RCTL_UPE BIT(3)
#define RCTL_MPE BIT(4)
#define RCTL_LPE BIT(5)
#define RCTL_BAM BIT(15)
#define RCTL_16384 (BIT(25) | BIT(16)) // BSEX and BSIZE 01; both 0: 2048
#define RCTL_SECRC BIT(26)

#define TCTL_EN BIT(1)
#define TCTL_PSP BIT(3)
#define TCTL_CT BITS(11, 4)
#define TCTL_COLD BITS(21, 12)

#define TIPG_IPGT BITS(9, 0)
#define TIPG_IPGR1 BITS(19, 10)
#define TIPG_IPGR2 BITS(29, 20)

#define TXDCTL_82574 BIT(22) // must be set

// 3.2.3.2: receive errors CE, SE, SEQ, CXE, RXE, behind the status byte
#define E1000_RX_ERRORS (0x97u << 8)
