// machine_check.c - what the processor says of its own errors.
// SPDX-License-Identifier: MIT
//
// Intel SDM volume 3, 15.3 (the registers), 15.8 (how to switch them on).
#include "machine_check.h"
#include "console.h"
#include "cpu.h"

enum {
    MSR_MCG_CAP = 0x179,
    MCG_BANKS = 0xFF,
    MSR_MCG_STATUS = 0x17A,
    MCG_IN_PROGRESS = 1 << 2,
    MSR_BANK = 0x400, // four a bank: control, status, address, miscellaneous
    CPUID1_MCA = 1 << 14,
};
#define STATUS_VALID BIT(63)
#define STATUS_ADDRESS BIT(58)

static u32 machine_check_banks(void)
{
    return cpuid(1, 0).edx & CPUID1_MCA ? rdmsr(MSR_MCG_CAP) & MCG_BANKS : 0;
}

// Bank 0 is firmware's own on old processors (SDM 15.3.2.1).
void machine_check_enable(void)
{
    u32 n = machine_check_banks();
    for (u32 bank = 1; bank < n; bank++) {
        wrmsr(MSR_BANK + 4 * bank, ~0ul);
    }
}

int machine_check_is_real(void)
{
    return machine_check_banks() == 0 ||
           (rdmsr(MSR_MCG_STATUS) & MCG_IN_PROGRESS) != 0;
}

void machine_check_print(void)
{
    u32 n = machine_check_banks();
    for (u32 bank = 0; bank < n; bank++) {
        u32 msr = MSR_BANK + 4 * bank;
        u64 status = rdmsr(msr + 1);
        if (status & STATUS_VALID) {
            console_printf("    bank %u: status %016lx, address %016lx\n", bank,
                           status,
                           status & STATUS_ADDRESS ? rdmsr(msr + 2) : 0);
        }
    }
}
