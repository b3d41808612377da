// ahci_regs.h - registers and shared structures of an AHCI controller.
// SPDX-License-Identifier: MIT
//
// Serial ATA AHCI 1.3.1 Specification, Intel, 2011. Frames and commands:
// Serial ATA 3.x 10.5, ATA/ATAPI Command Set 3 (ACS-3).
#pragma once
#include "../kernel/driver.h"

enum { AHCI_BAR = 5, AHCI_PORTS = 32, AHCI_BAR_LEAST = 0x180 };

enum { // 3.1: generic host control
    AHCI_CAP = 0x00,
    CAP_SSS = BIT(27), // staggered spin-up
    AHCI_GHC = 0x04,
    GHC_IE = BIT(1),
    AHCI_PI = 0x0C,
    AHCI_CAP2 = 0x24,
    CAP2_BOH = BIT(0),
    AHCI_BOHC = 0x28,
    BOHC_BOS = BIT(0), // firmware owns it
    BOHC_OOS = BIT(1), // we do
    BOHC_BB = BIT(4),  // firmware is busy cleaning up
};
#define CAP_S64A 0x80000000u
#define GHC_AE 0x80000000u

enum { AHCI_PORT_BASE = 0x100, AHCI_PORT_BYTES = 0x80 };

enum { // 3.3: one port
    PORT_CLB = 0x00,
    PORT_CLBU = 0x04,
    PORT_FB = 0x08,
    PORT_FBU = 0x0C,
    PORT_IS = 0x10,
    PORT_IE = 0x14,
    PORT_CMD = 0x18,
    CMD_ST = BIT(0),
    CMD_SUD = BIT(1),
    CMD_POD = BIT(2),
    CMD_FRE = BIT(4),
    CMD_FR = BIT(14),
    CMD_CR = BIT(15),
    CMD_ICC_ACTIVE = 1 << 28,
    PORT_TFD = 0x20,
    TFD_ERR = BIT(0),
    TFD_DRQ = BIT(3),
    TFD_DF = BIT(5),
    TFD_BSY = BIT(7),
    TFD_ERROR_IDNF = BIT(12), // the device's error register from bit 8 on
    TFD_ERROR_UNC = BIT(14),
    PORT_SIG = 0x24,
    PORT_SSTS = 0x28,
    SSTS_DET = 15,
    DET_NONE = 0,
    DET_READY = 3,
    DET_OFF = 4,
    SSTS_IPM = 0xF00,
    IPM_ACTIVE = 0x100,
    PORT_SCTL = 0x2C,
    SCTL_NO_SLEEP = 0x300, // neither Partial nor Slumber
    SCTL_DET = 15,
    SCTL_DET_RESET = 1,
    PORT_SERR = 0x30,
    PORT_CI = 0x38,
};

// 3.3.5: PxIS bits that end a command: TFES, HBFS, HBDS, IFS, OFS, and PRCS,
// PCS for a device that went away.
#define IS_ERRORS 0x79400040u

enum { // 5.3.1 and ATA: what a port's signature says
    SIG_ATA = 0x00000101,
};
#define SIG_ATAPI 0xEB140101u
#define SIG_NONE 0xFFFFFFFFu

enum { // ATA commands
    ATA_READ_DMA = 0xC8,
    ATA_READ_DMA_EXT = 0x25,
    ATA_WRITE_DMA = 0xCA,
    ATA_WRITE_DMA_EXT = 0x35,
    ATA_FLUSH = 0xE7,
    ATA_FLUSH_EXT = 0xEA,
    ATA_IDENTIFY = 0xEC,
};

enum { // words of IDENTIFY DEVICE's answer, ACS-3 7.12.7
    ID_MODEL = 27,
    ID_MODEL_WORDS = 20,
    ID_CAPABILITIES = 49,
    ID_CAPABILITIES_LBA_DMA = 0x300,
    ID_SECTORS_28 = 60,
    ID_COMMANDS = 83,
    ID_COMMANDS_VALID = 0xC000, // these two bits are 01
    ID_COMMANDS_VALID_IS = 0x4000,
    ID_COMMANDS_48 = 0x400,
    ID_COMMANDS_FLUSH = 0x1000,
    ID_COMMANDS_FLUSH_EXT = 0x2000,
    ID_SECTORS_48 = 100,
    ID_SECTOR_SIZE = 106,
    ID_SECTOR_SIZE_LARGE = 0x1000,
    ID_SECTOR_WORDS = 117,
    ID_WORDS = 256,
};

enum { // SATA 10.5.5: register frame, host to device
    FIS_H2D = 0x27,
    FIS_IS_COMMAND = 0x80,
    FIS_H2D_DWORDS = 5,
    FIS_DEVICE_LBA = 0x40,
    FIS_RECEIVED_D2H = 0x40, // 4.2.1: where it lies in the received area
};

enum { AHCI_SEGMENTS = 248, AHCI_SEGMENT_BYTES = 4 << 20 };

struct ahci_header { // 4.2.2: a slot of the command list
    u32 options;
    u32 bytes_done;
    u32 table_low, table_high;
    u32 reserved[4];
};
enum {
    HEADER_FIS_DWORDS = 0x1F,
    HEADER_WRITE = BIT(6),
    HEADER_SEGMENTS = 0x7FFF0000,
};
_Static_assert(sizeof(struct ahci_header) == 32, "AHCI 4.2.2");

struct ahci_segment { // 4.2.3.3
    u32 low, high;
    u32 reserved;
    u32 bytes_less_one; // bits 21:0; odd
};

struct ahci_table { // 4.2.3
    u8 fis[64];
    u8 atapi[64];
    struct ahci_segment segments[AHCI_SEGMENTS];
};
_Static_assert(sizeof(struct ahci_table) == 4096, "one page");

struct ahci_memory {             // all that a port shares with us, in two pages
    struct ahci_header list[32]; // 1 KiB aligned
    u8 received[256];            // 4.2.1, 256-byte aligned
    u8 unused[768];
    u16 identify[ID_WORDS];
    u8 unused2[1536];
    struct ahci_table table; // 128-byte aligned
};
_Static_assert(sizeof(struct ahci_memory) == 8192, "two pages");
