// x540_regs.h - registers of Intel's ten gigabit controllers.
// SPDX-License-Identifier: MIT
//
// 82599 datasheet 3.3, section 8.2.3; the X540 and X550 share all of these.
#pragma once
#include "intel_regs.h"

enum {
    X540_CTRL_EXT = 0x00018,
    X540_EICR = 0x00800,
    X540_EIAC = 0x00810,
    X540_EIMS = 0x00880,
    X540_EIMC = 0x00888,
    X540_GPIE = 0x00898,
    X540_IVAR = 0x00900,
    X540_RX_RING = 0x01000,
    X540_QPRDC = 0x01430,
    X540_SRRCTL = 0x02100,
    X540_DCA_RXCTRL = 0x02200,
    X540_RDRXCTL = 0x02F00,
    X540_RXCTRL = 0x03000,
    X540_MPC = 0x03FA0,
    X540_HLREG0 = 0x04240,
    X540_MAXFRS = 0x04268,
    X540_AUTOC = 0x042A0,
    X540_LINKS = 0x042A4,
    X540_RTTDCS = 0x04900,
    X540_DMATXCTL = 0x04A80,
    X540_FCTRL = 0x05080,
    X540_TX_RING = 0x06000,
    X540_DTXMXSZRQ = 0x08100,
    X540_RAL = 0x0A200,
    X540_RAH = 0x0A204,
    X540_EEC = 0x10010,
};

#define CTRL_LRST BIT(3)
#define CTRL_EXT_NS_DIS BIT(16)
#define CTRL_EXT_DRV_LOAD BIT(28)
#define SRRCTL_BSIZEPACKET BITS(4, 0) // KiB; legacy descriptors: DESCTYPE is 0
#define DCA_RXCTRL_12 BIT(12)         // to be cleared, says 4.6.7
#define RDRXCTL_CRCSTRIP BIT(1)
#define RDRXCTL_DMAIDONE BIT(3)
#define RDRXCTL_RSCACKC BIT(25) // 8.2.3.8.8: both to be set
#define RDRXCTL_FCOE_WRFIX BIT(26)
#define RXCTRL_RXEN BIT(0)
#define HLREG0_TXCRCEN BIT(0)
#define HLREG0_RXCRCSTRP BIT(1)
#define HLREG0_JUMBOEN BIT(2)
#define HLREG0_TXPADEN BIT(10)
#define MAXFRS_MFS BITS(31, 16)
#define INT_QUEUE_0 BIT(0) // of EIMS, EIMC, EIAC: entry 0
#define GPIE_MSIX BIT(4)
#define GPIE_PBA BIT(31)
#define IVAR_RX_0 BITS(7, 0) // entry of MSI-X, and a bit that says so
#define IVAR_VALID 0x80u
#define AUTOC_RESTART BIT(12)
#define LINKS_SPEED BITS(29, 28)
#define LINKS_UP BIT(30)
#define RTTDCS_ARBDIS BIT(6)
#define DMATXCTL_TE BIT(0)
#define FCTRL_MPE BIT(8)
#define FCTRL_UPE BIT(9)
#define FCTRL_BAM BIT(10)
#define DTXMXSZRQ_MOST 0xFFF
#define EEC_AUTO_RD BIT(9)
#define DCTL_ENABLE BIT(25) // RXDCTL, TXDCTL
#define TXDCTL_PTHRESH BITS(6, 0)
#define TXDCTL_HTHRESH BITS(14, 8) // WTHRESH 0: every frame's DD at once

#define X540_RX_ERRORS (1u << 8) // 7.1.5: RXE; the others are checksums
