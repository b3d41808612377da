// ahci_port.c - a port's engine: start, stop, one command at a time, recovery.
// SPDX-License-Identifier: MIT
//
// AHCI 1.3.1. One slot, slot 0, is used, and no interrupt: programs wait for
// their data anyway.
#define LOG_TAG "ahci"
#include "ahci.h"

enum {                      // limits
    AHCI_ENGINE_MS = 500,   // 10.1.2: ST, FRE to CR, FR
    AHCI_LINK_MS = 1000,    // COMRESET to a link
    AHCI_READY_MS = 10000,  // a device that still spins up
    AHCI_RESET_NS = 1000000 // 10.4.2: COMRESET is held 1 ms
};

static u32 ahci_read(const struct ahci_port *port, u32 reg)
{
    return mmio_read32(port->regs + reg);
}

static void ahci_write(const struct ahci_port *port, u32 reg, u32 value)
{
    mmio_write32(port->regs + reg, value);
}

static int ahci_has_device(const struct ahci_port *port)
{
    return (ahci_read(port, PORT_SSTS) & SSTS_DET) == DET_READY;
}

// 10.3.2
static int ahci_stop_commands(struct ahci_port *port)
{
    mmio_clear32(port->regs + PORT_CMD, CMD_ST);
    return mmio_wait32(port->regs + PORT_CMD, CMD_CR, 0, AHCI_ENGINE_MS);
}

int ahci_port_stop(struct ahci_port *port)
{
    TRY(ahci_stop_commands(port));
    mmio_clear32(port->regs + PORT_CMD, CMD_FRE);
    return mmio_wait32(port->regs + PORT_CMD, CMD_FR, 0, AHCI_ENGINE_MS);
}

// 10.3.1: ST only when the device is there and not busy.
static int ahci_start_commands(struct ahci_port *port)
{
    ahci_write(port, PORT_SERR, ~0u);
    ahci_write(port, PORT_IS, ~0u);
    TRY(mmio_wait32(port->regs + PORT_TFD, TFD_BSY | TFD_DRQ, 0,
                    AHCI_READY_MS));
    mmio_set32(port->regs + PORT_CMD, CMD_ST);
    return 0;
}

// 10.4.2: COMRESET, with the engine off and reception on.
static int ahci_port_reset(struct ahci_port *port)
{
    u64 control = port->regs + PORT_SCTL;
    mmio_clear32(control, SCTL_DET);
    mmio_set32(control, SCTL_NO_SLEEP | SCTL_DET_RESET);
    time_delay_ns(AHCI_RESET_NS);
    mmio_clear32(control, SCTL_DET);
    return mmio_wait32(port->regs + PORT_SSTS, SSTS_DET, DET_READY,
                       AHCI_LINK_MS);
}

// 10.1.2: our memory, reception on. The signature comes by it.
static int ahci_receive(struct ahci_port *port)
{
    u64 list = (u64)port->memory->list;
    u64 received = (u64)port->memory->received;
    ahci_write(port, PORT_IE, 0);
    TRY(ahci_port_stop(port));
    ahci_write(port, PORT_CLB, (u32)list);
    ahci_write(port, PORT_CLBU, (u32)(list >> 32));
    ahci_write(port, PORT_FB, (u32)received);
    ahci_write(port, PORT_FBU, (u32)(received >> 32));
    mmio_set32(port->regs + PORT_SCTL, SCTL_NO_SLEEP);
    ahci_write(port, PORT_SERR, ~0u);
    mmio_set32(port->regs + PORT_CMD, CMD_FRE);
    return 0;
}

static int ahci_wait_device(struct ahci_port *port)
{
    if ((ahci_read(port, PORT_SSTS) & SSTS_IPM) != IPM_ACTIVE) {
        mmio_set32(port->regs + PORT_CMD, CMD_ICC_ACTIVE);
    }
    TRY(mmio_wait32(port->regs + PORT_SSTS, SSTS_DET, DET_READY, AHCI_LINK_MS));
    return mmio_wait32(port->regs + PORT_TFD, TFD_BSY | TFD_DRQ, 0,
                       AHCI_READY_MS);
}

int ahci_port_start(struct ahci_port *port)
{
    TRY(ahci_receive(port));
    int ready = ahci_wait_device(port);
    if (ready < 0 || ahci_read(port, PORT_SIG) == SIG_NONE) {
        // Left busy by whoever had it before, or its frame was lost.
        TRY(ahci_port_reset(port));
        TRY(ahci_wait_device(port));
    }
    u32 signature = ahci_read(port, PORT_SIG);
    if (signature != SIG_ATA) { // ATAPI, port multiplier, enclosure
        log_debug("%lx: signature %08x is no disk", port->regs, signature);
        return 0;
    }
    TRY(ahci_start_commands(port));
    return 1;
}

// 6.2.2.1, without NCQ: stop, clear, COMRESET when the device or the engine
// stayed busy, restart.
int ahci_port_recover(struct ahci_port *port)
{
    int stopped = ahci_stop_commands(port);
    port->in_command = 0;
    if (stopped == E_GONE) {
        return E_GONE;
    }
    u32 busy = ahci_read(port, PORT_TFD) & (TFD_BSY | TFD_DRQ);
    if (stopped < 0 || busy || !ahci_has_device(port)) {
        ahci_write(port, PORT_SERR, ~0u);
        int result = ahci_port_reset(port);
        if (result < 0) {
            return (ahci_read(port, PORT_SSTS) & SSTS_DET) == DET_NONE ? E_GONE
                                                                       : result;
        }
    }
    return ahci_start_commands(port);
}

static void ahci_fill_fis(u8 *fis, const struct ahci_command *command,
                          int lba48)
{
    u64 lba = command->lba;
    memset(fis, 0, 64);
    fis[0] = FIS_H2D;
    fis[1] = FIS_IS_COMMAND;
    fis[2] = command->code;
    fis[4] = (u8)lba;
    fis[5] = (u8)(lba >> 8);
    fis[6] = (u8)(lba >> 16);
    fis[7] = FIS_DEVICE_LBA;
    fis[12] = (u8)command->count;
    if (lba48) {
        fis[8] = (u8)(lba >> 24);
        fis[9] = (u8)(lba >> 32);
        fis[10] = (u8)(lba >> 40);
        fis[13] = (u8)(command->count >> 8);
    } else {
        fis[7] |= (u8)(lba >> 24 & 15);
    }
}

// 5.5.1: build the command in slot 0. Returns the bytes it moves.
static u64 ahci_build(struct ahci_port *port,
                      const struct ahci_command *command)
{
    struct ahci_table *table = &port->memory->table;
    struct ahci_header *header = &port->memory->list[0];
    u64 bytes = 0;
    ahci_fill_fis(table->fis, command, port->lba48);
    for (u32 i = 0; i < command->n_segments; i++) {
        const struct disk_segment *from = &command->segments[i];
        table->segments[i] = (struct ahci_segment){
            (u32)from->phys, (u32)(from->phys >> 32), 0, (u32)from->len - 1};
        bytes += from->len;
    }
    header->options = FIS_H2D_DWORDS |
                      (command->write ? (u32)HEADER_WRITE : 0u) |
                      (u32)field_put((u32)HEADER_SEGMENTS, command->n_segments);
    header->bytes_done = 0;
    header->table_low = (u32)(u64)table;
    header->table_high = (u32)((u64)table >> 32);
    return bytes;
}

// 5.5.3: PxCI falls when the device is done; an error stops the engine.
static int ahci_wait_command(struct ahci_port *port, u32 ms)
{
    struct deadline deadline = deadline_ms(ms);
    for (;;) {
        int late = deadline_passed(&deadline);
        u32 busy = ahci_read(port, PORT_CI);
        u32 status = ahci_read(port, PORT_IS);
        if (status == ~0u && busy == ~0u) {
            return E_GONE;
        }
        if (status & IS_ERRORS) {
            return ahci_has_device(port) ? E_IO : E_GONE;
        }
        if ((busy & 1) == 0) {
            return ahci_read(port, PORT_TFD) & (TFD_ERR | TFD_DF) ? E_IO : 0;
        }
        if (late) {
            return E_TIMEOUT;
        }
        pause();
    }
}

int ahci_port_run(struct ahci_port *port, const struct ahci_command *command)
{
    if (port->in_command || (ahci_read(port, PORT_CMD) & CMD_ST) == 0) {
        TRY(ahci_port_recover(port));
    }
    u64 bytes = ahci_build(port, command);
    port->in_command = 1;
    ahci_write(port, PORT_IS, ~0u);
    fence(); // the command is in memory before the device hears of it
    ahci_write(port, PORT_CI, 1);
    int result = ahci_wait_command(port, command->ms);
    // The device's count, and behind it the data: only now.
    u32 done = load_acquire(&port->memory->list[0].bytes_done);
    if (result == 0 && !command->write && done != bytes) {
        log_error("%lx: %u bytes came, not %lu", port->regs, done, bytes);
        result = E_IO;
    }
    if (result == 0) {
        port->in_command = 0;
        return 0;
    }
    log_debug("%lx: command %02x: IS %08x TFD %04x SERR %08x", port->regs,
              command->code, ahci_read(port, PORT_IS),
              ahci_read(port, PORT_TFD), ahci_read(port, PORT_SERR));
    int recovered = ahci_port_recover(port);
    return recovered == E_GONE ? E_GONE : result;
}
