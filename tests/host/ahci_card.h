// ahci_card.h - an AHCI controller for tests: it checks what it is told, and
// goes wrong on demand.
// SPDX-License-Identifier: MIT
#pragma once
#include "ahci_rig.h"

enum { HBA = 0x10000000 };
enum fault { GOOD, UNC, ABORT, HANG, SHORT_COUNT, UNPLUG, FRAME_ERROR };

struct card_port {
    u8 present, engine_hangs, busy_always, no_link, sleeping;
    u8 signature_after_reset; // unknown before a COMRESET
    u32 signature;
    u64 sectors;
    u32 sector_bytes;
    u16 id[256];
    enum fault fault; // what happens to a command that touches bad_lba
    u64 bad_lba;
    u32 fault_count;
    u32 cmd, is, tfd, sctl, serr, ci, sig, regs[0x80 / 4];
    u32 resets, starts, commands, flushes, most_segments, identifies;
    u64 last_lba, last_count;
    u8 last_code;
    u8 writes[1 << 16]; // what was written, first bytes of the disk
};

static struct card {
    u32 cap, ghc, pi, cap2, bohc;
    u8 gone, firmware_keeps;
    u64 mapped_bytes;
    u32 master_off;
    struct card_port ports[32];
} card;

static u8 pattern(u64 byte)
{
    return (u8)(byte * 7 + (byte >> 9) * 13 + (byte >> 20));
}

static void card_frame(struct card_port *p, u8 error, u64 lba)
{
    u64 at = (u64)p->regs[PORT_FB / 4] | (u64)p->regs[PORT_FBU / 4] << 32;
    u8 *fis = (u8 *)at + 0x40;
    u8 frame[20] = {0x34,
                    0x40,
                    (u8)p->tfd,
                    error,
                    (u8)lba,
                    (u8)(lba >> 8),
                    (u8)(lba >> 16),
                    0x40,
                    (u8)(lba >> 24),
                    (u8)(lba >> 32),
                    (u8)(lba >> 40)};
    if (p->cmd & CMD_FRE) {
        memcpy(fis, frame, sizeof(frame));
    }
}

static void card_error(struct card_port *p, u8 error, u64 lba)
{
    p->tfd = 0x41u | (u32)error << 8;
    p->is |= 1u << 30;
    card_frame(p, error, lba);
}

static void card_move(struct card_port *p, struct ahci_header *header,
                      u64 first_byte, u64 bytes, int identify)
{
    struct ahci_table *table =
        (void *)((u64)header->table_low | (u64)header->table_high << 32);
    u32 n = header->options >> 16;
    u64 done = 0;
    CHECK(n <= 248);
    p->most_segments = n > p->most_segments ? n : p->most_segments;
    for (u32 i = 0; i < n; i++) {
        struct ahci_segment *s = &table->segments[i];
        u8 *memory = (u8 *)((u64)s->low | (u64)s->high << 32);
        u64 len = (s->bytes_less_one & 0x3FFFFF) + 1ul;
        CHECK(s->bytes_less_one & 1);
        CHECK_EQ(s->bytes_less_one >> 22, 0);
        CHECK(card.cap & CAP_S64A || (u64)memory + len <= 1ul << 32);
        for (u64 k = 0; k < len && done < bytes; k++, done++) {
            u64 byte = first_byte + done;
            if (identify) {
                memory[k] = ((u8 *)p->id)[done];
            } else if (!(header->options & HEADER_WRITE)) {
                memory[k] =
                    byte < sizeof(p->writes) ? p->writes[byte] : pattern(byte);
            } else if (byte < sizeof(p->writes)) {
                p->writes[byte] = memory[k];
            } else {
                CHECK_EQ(memory[k], pattern(byte));
            }
        }
        CHECK(len > 0);
    }
    CHECK_EQ(done, bytes);
    header->bytes_done = (u32)done;
}

static void card_done(struct card_port *p)
{
    p->ci = 0;
    p->tfd = 0x50;
    p->is |= 1;
    card_frame(p, 0, 0);
}

// 1: the command went wrong, as told.
static int card_fault(struct card_port *p, struct ahci_header *header, u64 lba,
                      u64 count)
{
    if (p->fault == GOOD || p->fault_count == 0 || p->bad_lba < lba ||
        p->bad_lba >= lba + count) {
        return 0;
    }
    p->fault_count--;
    switch (p->fault) {
    case UNC:
        card_error(p, 0x40, p->bad_lba);
        break;
    case ABORT:
        card_error(p, 0x04, 0x123456);
        break;
    case HANG:
        p->tfd = 0xD0;
        break;
    case SHORT_COUNT:
        card_done(p);
        header->bytes_done = 512;
        break;
    case UNPLUG:
        p->present = 0;
        p->is |= 1u << 22;
        break;
    default:
        p->is |= 1u << 27;
    }
    return 1;
}

static void card_command(struct card_port *p)
{
    u64 at = (u64)p->regs[PORT_CLB / 4] | (u64)p->regs[PORT_CLBU / 4] << 32;
    struct ahci_header *header = (void *)at;
    u8 *fis = (u8 *)((u64)header->table_low | (u64)header->table_high << 32);
    CHECK_EQ(at % 1024, 0);
    CHECK_EQ((u64)fis % 128, 0);
    CHECK_EQ(header->options & 0x1F, 5);
    CHECK(fis[0] == 0x27 && fis[1] == 0x80 && (fis[7] & 0x40 || fis[2] > 0xE0));
    p->commands++;
    p->last_code = fis[2];
    u64 lba = (u64)fis[4] | (u64)fis[5] << 8 | (u64)fis[6] << 16;
    u64 count = fis[12];
    if (fis[2] == 0x25 || fis[2] == 0x35) {
        lba |= (u64)fis[8] << 24 | (u64)fis[9] << 32 | (u64)fis[10] << 40;
        count |= (u64)fis[13] << 8;
        count = count ? count : 65536;
    } else {
        lba |= (u64)(fis[7] & 15) << 24;
        count = count ? count : 256;
    }
    if (fis[2] == 0xEC) {
        p->identifies++;
        if (!card_fault(p, header, 0, 1)) {
            card_move(p, header, 0, 512, 1);
            card_done(p);
        }
        return;
    }
    if (fis[2] == 0xEA || fis[2] == 0xE7) {
        p->flushes++;
        CHECK_EQ(header->options >> 16, 0);
        card_done(p);
        return;
    }
    CHECK(fis[2] == 0x25 || fis[2] == 0x35 || fis[2] == 0xC8 || fis[2] == 0xCA);
    CHECK_EQ((header->options & HEADER_WRITE) != 0,
             fis[2] == 0x35 || fis[2] == 0xCA);
    CHECK(lba + count <= p->sectors);
    p->last_lba = lba;
    p->last_count = count;
    if (!card_fault(p, header, lba, count)) {
        card_move(p, header, lba * p->sector_bytes, count * p->sector_bytes, 0);
        card_done(p);
    }
}

static u32 card_ssts(const struct card_port *p)
{
    if (!p->present || p->sleeping) {
        return 0;
    }
    return p->no_link ? 1 : 0x123;
}

static void card_write_cmd(struct card_port *p, u32 value)
{
    u32 was = p->cmd;
    u32 status = was & (CMD_CR | CMD_FR);
    CHECK(!(~was & value & CMD_ST) || (value & CMD_FRE)); // ST needs FRE
    CHECK(!(was & ~value & CMD_FRE) || !(was & CMD_CR));  // FRE off after CR
    p->cmd = (value & ~(u32)(CMD_CR | CMD_FR)) | status;
    if (value & CMD_SUD) {
        p->sleeping = 0;
    }
    if (value & CMD_FRE) {
        p->cmd |= CMD_FR;
        p->sig = p->signature_after_reset ? ~0u : p->signature;
    } else {
        p->cmd &= ~(u32)CMD_FR;
    }
    if (value & CMD_ST && !(was & CMD_ST)) {
        p->starts++;
        CHECK_EQ(p->tfd & 0x88, 0);
        p->cmd |= CMD_CR;
    } else if (!(value & CMD_ST)) {
        p->ci = 0;
        if (!p->engine_hangs) {
            p->cmd &= ~(u32)CMD_CR;
        }
    }
}

static void card_write_sctl(struct card_port *p, u32 value)
{
    if ((value & 15) == 1) {
        CHECK(!(p->cmd & CMD_ST)); // 10.4.2
        p->resets++;
        p->signature_after_reset = 0;
    } else if ((p->sctl & 15) == 1) {
        p->sig = p->signature;
        p->tfd = p->busy_always ? 0x80 : 0x50;
        p->serr |= 1u << 26;
        p->cmd &= ~(u32)(p->engine_hangs > 1 ? 0 : CMD_CR);
    }
    p->sctl = value;
}

static u32 card_read_port(struct card_port *p, u32 reg)
{
    switch (reg) {
    case PORT_IS:
        return p->is;
    case PORT_CMD:
        return p->cmd;
    case PORT_TFD:
        return p->tfd;
    case PORT_SIG:
        return p->sig;
    case PORT_SSTS:
        return card_ssts(p);
    case PORT_SCTL:
        return p->sctl;
    case PORT_SERR:
        return p->serr;
    case PORT_CI:
        return p->ci;
    default:
        return p->regs[reg / 4];
    }
}

static void card_write_port(struct card_port *p, u32 reg, u32 value)
{
    switch (reg) {
    case PORT_IS:
        p->is &= ~value;
        break;
    case PORT_SERR:
        p->serr &= ~value;
        break;
    case PORT_CMD:
        card_write_cmd(p, value);
        break;
    case PORT_SCTL:
        card_write_sctl(p, value);
        break;
    case PORT_CI:
        CHECK(p->cmd & CMD_ST);
        CHECK_EQ(value, 1);
        p->ci |= value;
        card_command(p);
        break;
    default:
        // Addresses stay while they are in use.
        CHECK(reg >= PORT_IS || !(p->cmd & CMD_FRE));
        p->regs[reg / 4] = value;
    }
}

u32 mmio_read32(u64 address)
{
    u32 reg = (u32)(address - HBA);
    CHECK(reg < card.mapped_bytes);
    if (card.gone) {
        return ~0u;
    }
    if (reg >= 0x100) {
        u32 port = (reg - 0x100) / 0x80;
        CHECK(card.pi >> port & 1);
        CHECK(card.ghc >> 31);
        return card_read_port(&card.ports[port], reg % 0x80);
    }
    switch (reg) {
    case AHCI_CAP:
        return card.cap;
    case AHCI_GHC:
        return card.ghc;
    case AHCI_PI:
        return card.pi;
    case AHCI_CAP2:
        return card.cap2;
    case AHCI_BOHC:
        return card.bohc;
    default:
        CHECK(0);
        return 0;
    }
}

void mmio_write32(u64 address, u32 value)
{
    u32 reg = (u32)(address - HBA);
    CHECK(reg < card.mapped_bytes);
    if (card.gone) {
        return;
    }
    if (reg >= 0x100) {
        card_write_port(&card.ports[(reg - 0x100) / 0x80], reg % 0x80, value);
        return;
    }
    if (reg == AHCI_GHC) {
        CHECK_EQ(value & 1, 0); // no HBA reset
        card.ghc = value;
    } else if (reg == AHCI_BOHC && value & 2) {
        card.bohc = card.firmware_keeps ? value | 0x10 : value & ~1u;
    } else {
        CHECK(0);
    }
}
