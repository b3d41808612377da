// ahci.h - an AHCI port: what its engine (ahci_port.c) and its disk
// (ahci_disk.c) know of each other.
// SPDX-License-Identifier: MIT
#pragma once
#include "ahci_regs.h"

enum { AHCI_BOUNCE_BYTES = 65536 };

struct ahci_port {
    struct disk disk; // first: the kernel's side
    u64 regs;         // of the port
    struct ahci_memory *memory;
    void *bounce;  // below 4 GiB, null when the controller reaches everything
    u8 lba48;      // else 28 bits
    u8 flush;      // ATA command, 0 none
    u8 in_command; // 1 from before a command until it is known to be over
};

struct ahci_command { // one ATA command
    u64 lba;
    u32 count; // its sector count; 65536 (or 256) is sent as 0
    u8 code;
    u8 write;
    const struct disk_segment *segments;
    u32 n_segments;
    u32 ms; // limit
};

// Is there an ATA disk? 1, 0, or an error. memory must be set.
int must_check ahci_port_start(struct ahci_port *port);
// Engine and frame reception off, bounded.
int ahci_port_stop(struct ahci_port *port);
// Run one command to its end. On an error the port has been recovered.
int must_check ahci_port_run(struct ahci_port *port,
                             const struct ahci_command *command);
// Whatever went on is over: the port takes commands again, or E_*.
int ahci_port_recover(struct ahci_port *port);

// IDENTIFY, then disk_add().
int must_check ahci_disk_add(struct ahci_port *port);
