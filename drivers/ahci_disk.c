// ahci_disk.c - the ATA disk behind a port: what it is, read, write, flush.
// SPDX-License-Identifier: MIT
//
// ATA/ATAPI Command Set 3 (ACS-3).
#define LOG_TAG "ahci"
#include "ahci.h"

enum {
    AHCI_IDENTIFY_MS = 5000,
    AHCI_COMMAND_MS = 30000, // a disk may have to spin up first
};

static struct ahci_port *ahci_of(struct disk *disk)
{
    return (struct ahci_port *)disk;
}

// ACS-3 9.3: for these two errors the device names the first bad sector, in the
// frame it sent (SATA 10.5.6).
static void ahci_bad_sector(const struct ahci_port *port, u64 *bad_sector)
{
    const u8 *frame = port->memory->received + FIS_RECEIVED_D2H;
    u32 error = frame[3]; // the error register
    if ((error & (TFD_ERROR_IDNF | TFD_ERROR_UNC) >> 8) == 0) {
        return;
    }
    u64 lba = (u64)frame[4] | (u64)frame[5] << 8 | (u64)frame[6] << 16;
    if (port->lba48) {
        lba |= (u64)frame[8] << 24 | (u64)frame[9] << 32 | (u64)frame[10] << 40;
    } else {
        lba |= (u64)(frame[7] & 15) << 24;
    }
    *bad_sector = lba;
}

static int ahci_command_code(const struct ahci_port *port, int write)
{
    if (port->lba48) {
        return write ? ATA_WRITE_DMA_EXT : ATA_READ_DMA_EXT;
    }
    return write ? ATA_WRITE_DMA : ATA_READ_DMA;
}

static int ahci_run_request(struct ahci_port *port,
                            const struct disk_request *request, u64 *bad_sector)
{
    struct ahci_command command = {
        .lba = request->sector,
        .count = (u32)request->sectors,
        .code = (u8)ahci_command_code(port, request->write),
        .write = request->write,
        .segments = request->segments,
        .n_segments = request->n_segments,
        .ms = AHCI_COMMAND_MS,
    };
    // What an old frame says must not pass for this command's.
    memset(port->memory->received + FIS_RECEIVED_D2H, 0, 20);
    int result = ahci_port_run(port, &command);
    if (result == E_IO) {
        ahci_bad_sector(port, bad_sector);
    }
    return result;
}

static int ahci_reachable(const struct ahci_port *port,
                          const struct disk_request *request)
{
    u64 limit = 1ul << 32;
    for (u32 i = 0; i < request->n_segments && port->bounce; i++) {
        const struct disk_segment *s = &request->segments[i];
        if (s->phys >= limit || s->len > limit - s->phys) {
            return 0;
        }
    }
    return 1;
}

static void ahci_copy(const struct disk_request *request, u8 *bounce, int in)
{
    for (u32 i = 0; i < request->n_segments; i++) {
        void *memory = (void *)request->segments[i].phys; // identity-mapped
        u64 len = request->segments[i].len;
        if (in) {
            memcpy(bounce, memory, len);
        } else {
            memcpy(memory, bounce, len);
        }
        bounce += len;
    }
}

// A controller of 32 bits and memory it cannot reach: by way of the bounce
// buffer, which max_bytes was made to fit.
static int ahci_bounce(struct ahci_port *port,
                       const struct disk_request *request, u64 *bad_sector)
{
    struct disk_segment segment = {(u64)port->bounce,
                                   request->sectors * port->disk.sector_bytes};
    struct disk_request bounced = *request;
    bounced.segments = &segment;
    bounced.n_segments = 1;
    if (request->write) {
        ahci_copy(request, port->bounce, 1);
    }
    TRY(ahci_run_request(port, &bounced, bad_sector));
    if (!request->write) {
        ahci_copy(request, port->bounce, 0);
    }
    return 0;
}

static int ahci_transfer(struct disk *disk, const struct disk_request *request,
                         u64 *bad_sector)
{
    struct ahci_port *port = ahci_of(disk);
    return ahci_reachable(port, request)
               ? ahci_run_request(port, request, bad_sector)
               : ahci_bounce(port, request, bad_sector);
}

static int ahci_flush(struct disk *disk)
{
    struct ahci_port *port = ahci_of(disk);
    struct ahci_command command = {.code = port->flush, .ms = AHCI_COMMAND_MS};
    return port->flush ? ahci_port_run(port, &command) : 0;
}

static void ahci_recover(struct disk *disk)
{
    struct ahci_port *port = ahci_of(disk);
    if (port->in_command) {
        int result = ahci_port_recover(port);
        log_debug("%lx: recovered (%d)", port->regs, result);
    }
}

static const struct disk_ops ahci_ops = {ahci_transfer, ahci_flush,
                                         ahci_recover};

// The model, bytes of each word swapped, without what a console may not like.
static void ahci_read_model(const u16 *id, char *model)
{
    u32 end = 0;
    for (u32 i = 0; i < 2 * ID_MODEL_WORDS; i++) {
        u16 word = id[ID_MODEL + i / 2];
        char c = (char)(i % 2 ? word & 0xFF : word >> 8);
        model[i] = c >= ' ' && c <= '~' ? c : ' ';
        end = model[i] != ' ' ? i + 1 : end;
    }
    model[end] = 0;
}

static u64 ahci_read_sectors(const u16 *id, int lba48)
{
    u64 sectors = (u64)id[ID_SECTORS_28] | (u64)id[ID_SECTORS_28 + 1] << 16;
    if (!lba48) {
        return sectors < 1ul << 28 ? sectors : 1ul << 28;
    }
    sectors = 0;
    for (u32 i = 0; i < 3; i++) { // 48 bits; the fourth word is reserved
        sectors |= (u64)id[ID_SECTORS_48 + i] << 16 * i;
    }
    return sectors;
}

static u32 ahci_read_sector_bytes(const u16 *id)
{
    u16 flags = id[ID_SECTOR_SIZE];
    if ((flags & ID_COMMANDS_VALID) != ID_COMMANDS_VALID_IS ||
        (flags & ID_SECTOR_SIZE_LARGE) == 0) {
        return 512;
    }
    u64 words = (u64)id[ID_SECTOR_WORDS] | (u64)id[ID_SECTOR_WORDS + 1] << 16;
    return words > INGOT_BLOCK ? 0 : (u32)words * 2; // disk_add refuses 0
}

static void ahci_read_limits(struct ahci_port *port)
{
    struct disk *disk = &port->disk;
    u64 most = port->lba48 ? 65536 : 256; // sectors
    disk->max_bytes = most * disk->sector_bytes;
    if (port->bounce && disk->max_bytes > AHCI_BOUNCE_BYTES) {
        disk->max_bytes = AHCI_BOUNCE_BYTES;
    }
    disk->max_segments = AHCI_SEGMENTS;
    disk->max_segment_bytes = AHCI_SEGMENT_BYTES;
}

// What the disk says of itself; disk_add() has the last word on the sizes.
static int ahci_read_identify(struct ahci_port *port)
{
    const u16 *id = port->memory->identify;
    u32 commands = id[ID_COMMANDS];
    if ((id[ID_CAPABILITIES] & ID_CAPABILITIES_LBA_DMA) !=
        ID_CAPABILITIES_LBA_DMA) {
        log_error("%lx: a disk without LBA and DMA", port->regs);
        return E_UNSUPPORTED;
    }
    if ((commands & ID_COMMANDS_VALID) != ID_COMMANDS_VALID_IS) {
        commands = 0;
    }
    port->lba48 = (commands & ID_COMMANDS_48) != 0;
    port->flush = commands & ID_COMMANDS_FLUSH ? ATA_FLUSH : 0;
    if (port->lba48 && commands & ID_COMMANDS_FLUSH_EXT) {
        port->flush = ATA_FLUSH_EXT;
    }
    ahci_read_model(id, port->disk.model);
    port->disk.sectors = ahci_read_sectors(id, port->lba48);
    port->disk.sector_bytes = ahci_read_sector_bytes(id);
    ahci_read_limits(port);
    return 0;
}

int ahci_disk_add(struct ahci_port *port)
{
    struct disk_segment segment = {(u64)port->memory->identify,
                                   sizeof(port->memory->identify)};
    struct ahci_command command = {
        .code = ATA_IDENTIFY,
        .segments = &segment,
        .n_segments = 1,
        .ms = AHCI_IDENTIFY_MS,
    };
    TRY(ahci_port_run(port, &command));
    TRY(ahci_read_identify(port));
    port->disk.ops = &ahci_ops;
    port->disk.driver = "ahci";
    return disk_add(&port->disk);
}
