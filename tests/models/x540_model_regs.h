// x540_model_regs.h - the register offsets and bits the model of the X540
// knows.
// SPDX-License-Identifier: MIT
//
// Intel X540 / 82599 data sheets, chapter 8 ("Programming Interface"). Written
// for the model alone: no driver includes this file, so that a wrong number in
// a driver cannot agree with itself here.
#pragma once

#define BIT32(n) (1u << (n))
#define BIT64(n) (1ull << (n))

// clang-format off
enum {
    M_CTRL = 0x00000, M_CTRL_ALIAS = 0x00004,
    M_STATUS = 0x00008, M_CTRL_EXT = 0x00018,
    // Interrupts
    M_EICR = 0x00800, M_EICS = 0x00808, M_EIAC = 0x00810, M_EITR0 = 0x00820,
    M_EIMS = 0x00880, M_EIMC = 0x00888, M_EIAM = 0x00890, M_GPIE = 0x00898,
    M_IVAR = 0x00900, M_IVAR_MISC = 0x00A00,
    M_EICS_EX = 0x00A90, M_EIMS_EX = 0x00AA0, M_EIMC_EX = 0x00AB0,
    M_EIAM_EX = 0x00AD0, M_EITR24 = 0x12300,
    // Receive. Per queue: n < 64 at 01000 + 40n, above at 0D000 + 40(n - 64).
    M_RX_LOW = 0x01000, M_RX_HIGH = 0x0D000,
    M_RDBAL = 0x00, M_RDBAH = 0x04, M_RDLEN = 0x08, M_DCA_RXCTRL = 0x0C,
    M_RDH = 0x10, M_SRRCTL = 0x14, M_RDT = 0x18, M_RXDCTL = 0x28,
    M_SRRCTL_ALIAS = 0x02100, M_DCA_RXCTRL_ALIAS = 0x02200,
    M_RQSMR = 0x02300, M_RDRXCTL = 0x02F00, M_RXCTRL = 0x03000,
    M_RXPBSIZE = 0x03C00, M_RXCSUM = 0x05000, M_FCTRL = 0x05080,
    M_VLNCTRL = 0x05088, M_MCSTCTRL = 0x05090, M_MTA = 0x05200,
    M_RAL_ALIAS = 0x05400, M_MRQC = 0x05818, M_RETA = 0x05C00,
    M_RSSRK = 0x05C80, M_VFTA = 0x0A000, M_RAL = 0x0A200, M_RAH = 0x0A204,
    M_SECRXCTRL = 0x08D00, M_SECRXSTAT = 0x08D04,
    // MAC and link
    M_HLREG0 = 0x04240, M_MSCA = 0x0425C, M_MSRWD = 0x04260,
    M_MAXFRS = 0x04268, M_AUTOC = 0x042A0, M_LINKS = 0x042A4,
    // Transmit. Per queue at 06000 + 40n.
    M_RTTDCS = 0x04900, M_DMATXCTL = 0x04A80, M_TX = 0x06000,
    M_TDBAL = 0x00, M_TDBAH = 0x04, M_TDLEN = 0x08, M_TDH = 0x10,
    M_TDT = 0x18, M_TXDCTL = 0x28, M_TDWBAL = 0x38, M_TDWBAH = 0x3C,
    M_DTXMXSZRQ = 0x08100, M_MTQC = 0x08120, M_TQSM = 0x08600,
    M_SECTXCTRL = 0x08800, M_SECTXSTAT = 0x08804, M_TXPBSIZE = 0x0CC00,
    // Memory that outlives a reset, and who may touch it
    M_EEC = 0x10010, M_EERD = 0x10014, M_EEMNGCTL = 0x10110,
    M_SWSM = 0x10140, M_FWSM = 0x10148, M_FACTPS = 0x10150,
    M_SW_FW_SYNC = 0x10160, M_GRC = 0x10200, M_GCR_EXT = 0x11050,
    // Statistics
    M_MPC = 0x03FA0, M_CRCERRS = 0x04000, M_ERRBC = 0x04008,
    M_PRC64 = 0x0405C, M_GPRC = 0x04074, M_BPRC = 0x04078, M_MPRC = 0x0407C,
    M_GPTC = 0x04080, M_GORC = 0x04088, M_GOTC = 0x04090, M_RUC = 0x040A4,
    M_ROC = 0x040AC, M_TOR = 0x040C0, M_TPR = 0x040D0, M_TPT = 0x040D4,
    M_PTC64 = 0x040D8, M_MPTC = 0x040F0, M_BPTC = 0x040F4,
    M_QPRC = 0x01030, M_QBRC = 0x01034, M_QPRDC = 0x01430,
    M_QPTC = 0x06030, M_QBTC = 0x08700,
};

#define CTRL_GIO_DIS BIT32(2)
#define CTRL_LRST BIT32(3)
#define CTRL_RST BIT32(26)
#define STATUS_LINK_UP BIT32(7)
#define STATUS_GIO_MASTER BIT32(19)
#define CTRL_EXT_DRV_LOAD BIT32(28)
#define EICR_QUEUES 0xFFFFu
#define EICR_RX_MISS BIT32(17)
#define EICR_PCI_ERROR BIT32(18)
#define EICR_LSC BIT32(20)
#define EICR_TCP_TIMER BIT32(30)
#define GPIE_MSIX_MODE BIT32(4)
#define GPIE_EIAME BIT32(30)
#define IVAR_VALID 0x80u
#define SRRCTL_BSIZE 0x1Fu
#define SRRCTL_DESCTYPE 0x0E000000u
#define SRRCTL_LEGACY 0x00000000u
#define SRRCTL_ONE_BUFFER 0x02000000u
#define SRRCTL_DROP_EN BIT32(28)
#define RXDCTL_RLPML 0x3FFFu
#define RXDCTL_RLPML_EN BIT32(15)
#define XDCTL_ENABLE BIT32(25)
#define XDCTL_SWFLSH BIT32(26)
#define RXDCTL_VME BIT32(30)
#define DCA_RXCTRL_MUST_CLEAR BIT32(12)
#define RDRXCTL_CRCSTRIP BIT32(1)
#define RDRXCTL_DMAIDONE BIT32(3)
#define RXCTRL_RXEN BIT32(0)
#define RXCSUM_PCSD BIT32(13)
#define HLREG0_TXCRCEN BIT32(0)
#define HLREG0_RXCRCSTRP BIT32(1)
#define HLREG0_JUMBOEN BIT32(2)
#define HLREG0_TXPADEN BIT32(10)
#define HLREG0_LPBK BIT32(15)
#define MSCA_GO BIT32(30)
#define AUTOC_RESTART BIT32(12)
#define LINKS_UP BIT32(30)
#define RTTDCS_ARBDIS BIT32(6)
#define DMATXCTL_TE BIT32(0)
#define FCTRL_SBP BIT32(1)
#define FCTRL_MPE BIT32(8)
#define FCTRL_UPE BIT32(9)
#define FCTRL_BAM BIT32(10)
#define VLNCTRL_VFE BIT32(30)
#define MCSTCTRL_MFE BIT32(2)
#define RAH_AV BIT32(31)
#define MRQC_MRQE 0xFu
#define MRQC_MRQE_RSS 1u
#define MRQC_IPV4_TCP BIT32(16)
#define MRQC_IPV4 BIT32(17)
#define MRQC_IPV6 BIT32(20)
#define MRQC_IPV6_TCP BIT32(21)
#define MRQC_IPV4_UDP BIT32(22)
#define MRQC_IPV6_UDP BIT32(23)
#define SEC_DIS BIT32(1)
#define SEC_READY BIT32(0)
#define EEC_PRESENT BIT32(8)
#define EEC_ARD BIT32(9)
#define EEC_SIZE_2K (5u << 11) // 1 << (5 + 6) words
#define EERD_START BIT32(0)
#define EERD_DONE BIT32(1)
#define SWSM_SMBI BIT32(0)
#define SYNC_REGSMP BIT32(31)
#define TDWBAL_ENABLE BIT32(0)

// Descriptors, chapter 7. Q1: bits of the second quadword.
#define RXD_DD BIT64(0)
#define RXD_EOP BIT64(1)
#define RXD_VP BIT64(3)
#define RXD_UDPCS BIT64(4)
#define RXD_L4CS BIT64(5)
#define RXD_IPCS BIT64(6)
#define RXD_PIF BIT64(7)
#define RXD_RXE BIT64(29)
#define RXD_L4E BIT64(30)
#define RXD_IPE BIT64(31)
#define TXD_EOP BIT64(24)
#define TXD_IFCS BIT64(25)
#define TXD_IC BIT64(26)
#define TXD_RS BIT64(27)
#define TXD_DEXT BIT64(29)
#define TXD_VLE BIT64(30)
#define TXD_TSE BIT64(31)
#define TXD_DD BIT64(32)
#define TXD_CC BIT64(39)
#define TXD_IXSM BIT64(40)
#define TXD_TXSM BIT64(41)
enum { TXD_DTYP_CONTEXT = 2, TXD_DTYP_DATA = 3 };
// clang-format on
