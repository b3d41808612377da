// fuzz_acpi.c - any bytes as the firmware's memory.
// SPDX-License-Identifier: MIT
#include "acpi_build.h"

int LLVMFuzzerTestOneInput(const u8 *data, u64 len);

enum { BASE = 0x1000, MARK = 16 };

// Sums cannot be guessed: those of every table named in the input are made
// right first, one table after the other.
static void fuzz_seal_tables(u8 *bytes, u64 len)
{
    static const char names[][5] = {"XSDT", "RSDT", "FACP", "APIC",
                                    "HPET", "MCFG", "DSDT", "SSDT"};
    for (u64 at = 0; at + 36 <= len; at += 4) {
        for (u32 i = 0; i < array_size(names); i++) {
            u32 size;
            memcpy(&size, bytes + at + 4, 4);
            if (memcmp(bytes + at, names[i], 4) == 0 && size >= 36 &&
                size <= len - at) {
                seal(bytes + at, size, 9);
            }
        }
    }
}

int LLVMFuzzerTestOneInput(const u8 *data, u64 len)
{
    if (len < 64 || len > 1 << 16) {
        return 0;
    }
    forget();
    u8 *memory = piece(BASE, data, len);
    memset(&info, 0, sizeof(info));
    info.efi_system_table = data[0] & 1 ? BASE + 64 : 0;
    if (data[0] & 2) {
        info.rsdp_phys = BASE + MARK;
    } else {
        memcpy(info.rsdp_copy, data + MARK, 36);
        info.rsdp_len = data[0] & 4 ? 20 : 36;
    }
    fuzz_seal_tables(memory, len);
    if (memcmp(memory + MARK, "RSD PTR ", 8) == 0) {
        seal(memory + MARK, 20, 8);
        seal(memory + MARK, 36, 32);
        memcpy(info.rsdp_copy, memory + MARK, 36);
    }
    init();
    if (acpi.n_cpus < 1 || acpi.n_cpus > ACPI_CPUS ||
        acpi.n_io_apics > ACPI_IO_APICS || acpi.n_ecams > ACPI_ECAMS ||
        acpi.n_overrides > ACPI_OVERRIDES) {
        abort();
    }
    return 0;
}
