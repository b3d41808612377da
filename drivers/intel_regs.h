// intel_regs.h - registers that are the same in every Intel network device
// here. SPDX-License-Identifier: MIT
//
// PCI/PCI-X Family of Gigabit Ethernet Controllers (8254x) Software Developer's
// Manual 4.0; 82574 datasheet 3.4; 82599 datasheet 3.3.
#pragma once
#include "../kernel/driver.h"

enum { INTEL_VENDOR = 0x8086, INTEL_BAR_BYTES = 0x20000 };

enum {
    INTEL_CTRL = 0x00000,
    INTEL_STATUS = 0x00008,
    INTEL_CRCERRS = 0x04000, // counters, cleared by reading
    INTEL_RUC = 0x040A4,
    INTEL_RFC = 0x040A8,
    INTEL_ROC = 0x040AC,
    INTEL_RJC = 0x040B0,
    INTEL_MTA = 0x05200,
    INTEL_MTA_WORDS = 128,
};
#define CTRL_MASTER_OFF BIT(2)
#define CTRL_RST BIT(26)
#define STATUS_MASTER_ON BIT(19)
#define RAH_AV BIT(31)
