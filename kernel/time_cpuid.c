// time_cpuid.c - the TSC's rate where the processor says it.
// SPDX-License-Identifier: MIT
//
// Intel SDM volume 3, "Determining the Processor Base Frequency"; the
// hypervisor leaf is VMware's, KVM and others have it too.
#include "time_cpuid.h"
#include "cpu.h"

enum {
    LEAF_CRYSTAL = 0x15,
    LEAF_BASE_MHZ = 0x16,
    LEAF_HYPERVISOR = 0x40000000,
    LEAF_HYPERVISOR_KHZ = 0x40000010,
    LEAF_HYPERVISOR_LAST = 0x400000ff,
};
static const u32 HYPERVISOR_PRESENT = 1u << 31; // leaf 1, ECX

// The crystals Intel uses. Nominal MHz round the crystal to within 1%.
static u64 time_cpuid_crystal(u64 near)
{
    static const u64 crystals[] = {19200000, 24000000, 25000000, 38400000};
    for (u32 i = 0; i < array_size(crystals); i++) {
        u64 off = near > crystals[i] ? near - crystals[i] : crystals[i] - near;
        if (off <= crystals[i] / 100) {
            return crystals[i];
        }
    }
    return near;
}

static struct time_cpuid time_cpuid_intel(u32 last)
{
    struct time_cpuid rate = {0, "cpuid", 0};
    struct cpuid ratio = {0, 0, 0, 0};
    u64 base_mhz = 0;
    if (last >= LEAF_CRYSTAL) {
        ratio = cpuid(LEAF_CRYSTAL, 0);
    }
    if (last >= LEAF_BASE_MHZ) {
        base_mhz = cpuid(LEAF_BASE_MHZ, 0).eax & 0xffff;
    }
    rate.hz = base_mhz * 1000000;
    if (ratio.eax != 0 && ratio.ebx != 0) {
        rate.exact = ratio.ecx != 0;
        u64 crystal = rate.exact
                          ? ratio.ecx
                          : time_cpuid_crystal(rate.hz * ratio.eax / ratio.ebx);
        rate.hz = crystal * ratio.ebx / ratio.eax;
    }
    return rate;
}

static struct time_cpuid time_cpuid_hypervisor(void)
{
    struct time_cpuid rate = {0, "hypervisor", 1};
    if (!(cpuid(1, 0).ecx & HYPERVISOR_PRESENT)) {
        return rate;
    }
    u32 last = cpuid(LEAF_HYPERVISOR, 0).eax;
    if (last >= LEAF_HYPERVISOR_KHZ && last <= LEAF_HYPERVISOR_LAST) {
        rate.hz = cpuid(LEAF_HYPERVISOR_KHZ, 0).eax * 1000ul;
    }
    return rate;
}

struct time_cpuid time_cpuid_read(void)
{
    struct time_cpuid rate = time_cpuid_intel(cpuid(0, 0).eax);
    if (!time_hz_sane(rate.hz)) {
        rate = time_cpuid_hypervisor();
    }
    if (!time_hz_sane(rate.hz)) {
        rate = (struct time_cpuid){0, "none", 0};
    }
    return rate;
}
