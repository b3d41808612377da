// test_ahci.c - the AHCI driver against a controller that can go wrong.
// SPDX-License-Identifier: MIT
#include "../../kernel/mmio.c"
#include "../../kernel/disk.c"
#undef LOG_TAG
#include "../../drivers/ahci_port.c"
#undef LOG_TAG
#include "../../drivers/ahci_disk.c"
#undef LOG_TAG
#include "../../drivers/ahci.c"
#include <stdarg.h>
#include <sys/mman.h>
#include "test.h"

// ---- what the kernel gives ----

static char last_log[256];

void log_line(enum log_level level, const char *tag, const char *format, ...)
{
    (void)tag;
    va_list args;
    va_start(args, format);
    if (level != LOG_DEBUG) {
        vsnprintf(last_log, sizeof(last_log), format, args);
    }
    va_end(args);
}

static int log_says(const char *part)
{
    return __builtin_strstr(last_log, part) != 0;
}

u64 string_copy(char *to, const char *from, u64 cap)
{
    u64 i = 0;
    for (; i < cap - 1 && from[i]; i++) {
        to[i] = from[i];
    }
    to[i] = 0;
    return i;
}

void pci_name(const struct pci_device *device, char *text)
{
    (void)device;
    string_copy(text, "00:1f.2", 16);
}

static u64 now_ns; // moves when somebody waits

struct deadline deadline_ns(u64 ns)
{
    return (struct deadline){now_ns + ns, 0};
}

int deadline_passed(struct deadline *deadline)
{
    now_ns += 100000;
    return now_ns >= deadline->end;
}

void time_delay_ns(u64 ns)
{
    now_ns += ns;
}

static u64 memory_left; // bytes that memory_boot_alloc still gives

static void *arena[64];
static u32 arena_n;

static void free_arena(void)
{
    while (arena_n > 0) {
        free(arena[--arena_n]);
    }
}

void *memory_boot_alloc(u64 bytes, u64 align)
{
    if (bytes > memory_left) {
        return 0;
    }
    memory_left -= bytes;
    u64 size = align_up(bytes, align);
    void *memory = aligned_alloc(align, size);
    arena[arena_n++] = memory;
    return memset(memory, 0, size);
}

static u64 low_allocations;

void *memory_boot_alloc_low(u64 bytes, u64 align)
{
    (void)align;
    low_allocations++;
    void *p = mmap(0, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    return p == MAP_FAILED ? 0 : p;
}

u64 phys_run(const void *address, u64 len, int write, u64 *phys)
{
    (void)write;
    u64 run = PAGE - (u64)address % PAGE;
    *phys = (u64)address;
    return run < len ? run : len;
}

// ---- the controller ----

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

// ---- PCI ----

static struct pci_device device = {
    .class_code = 1, .subclass = 6, .prog_if = 1};

void pci_enable(const struct pci_device *d, u16 bits)
{
    CHECK(d == &device);
    CHECK_EQ(bits, 0x406);
}

void pci_disable_master(const struct pci_device *d)
{
    CHECK(d == &device);
    card.master_off++;
}

static u64 bar_bytes;

int pci_map_bar(const struct pci_device *d, u32 n, u64 bytes, u64 *address)
{
    CHECK(d == &device);
    CHECK_EQ(n, 5);
    if (bytes > bar_bytes) {
        return E_NODEV;
    }
    card.mapped_bytes = bytes;
    *address = HBA;
    return 0;
}

// ---- helpers ----

static void reset(void)
{
    memset(&card, 0, sizeof(card));
    card.cap = 0x80000000u | 31 << 8 | 5;
    card.pi = 0x3F;
    bar_bytes = 0x1100;
    free_arena();
    memory_left = 1 << 20;
    low_allocations = 0;
    now_ns = 0;
    disk_n = 0;
    disk_segments = 0;
    disk_lock = 0;
    last_log[0] = 0;
    for (u32 i = 0; i < 32; i++) {
        card.ports[i].tfd = 0x7F;
    }
}

static struct card_port *plug(u32 n, u32 signature, u64 sectors)
{
    struct card_port *p = &card.ports[n];
    p->present = 1;
    p->tfd = 0x50;
    p->signature = signature;
    p->sectors = sectors;
    p->sector_bytes = 512;
    static const char model[] = "FAKE \033[2JDISK";
    for (u32 i = 0; i < 40; i++) {
        char c = i < sizeof(model) - 1 ? model[i] : ' ';
        p->id[27 + i / 2] |= (u16)((u8)c << (i % 2 ? 0 : 8));
    }
    p->id[49] = 0x300;
    p->id[60] = (u16)(sectors > 0xFFFFFFF ? 0xFFFF : sectors);
    p->id[61] = (u16)(sectors > 0xFFFFFFF ? 0x0FFF : sectors >> 16);
    p->id[83] = 0x4000 | 0x3400;
    for (u32 i = 0; i < 4; i++) {
        p->id[100 + i] = (u16)(sectors >> 16 * i);
    }
    return p;
}

static struct card_port *one_disk(u64 sectors)
{
    reset();
    struct card_port *p = plug(0, SIG_ATA, sectors);
    CHECK_EQ(ahci_probe(&device), 0);
    CHECK_EQ(disk_count(), 1);
    p->commands = p->starts = p->resets = 0;
    return p;
}

static void reads(u64 block, u64 n, u32 offset)
{
    u8 *buf = malloc(n * 4096 + offset);
    i64 got = disk_read(0, block, n, buf + offset);
    CHECK_EQ(got, n);
    u64 wrong = 0;
    for (u64 i = 0; i < n * 4096 && got > 0; i++) {
        u64 byte = block * 4096 + i;
        wrong += byte >= 65536 && buf[offset + i] != pattern(byte);
    }
    CHECK_EQ(wrong, 0);
    free(buf);
}

static i64 tries(u64 block, u64 n)
{
    u8 *buf = malloc(n * 4096);
    i64 got = disk_read(0, block, n, buf);
    free(buf);
    return got;
}

// ---- tests ----

static void test_a_disk(void)
{
    struct card_port *p = one_disk(100000);
    struct disk_info info;
    CHECK_EQ(disk_info(0, &info), 0);
    CHECK_EQ(info.blocks, 12500);
    CHECK_EQ(info.sector_bytes, 512);
    CHECK_EQ(info.max_blocks, 8192);
    CHECK(strcmp(info.model, "FAKE  [2JDISK") == 0);
    CHECK_EQ(now_ns, 100000); // one look at the clock, for IDENTIFY
    CHECK_EQ(p->resets, 0);
    CHECK_EQ(card.ghc, 0x80000000u);
    reads(100, 1, 0);
    CHECK_EQ(p->commands, 1);
    CHECK_EQ(now_ns, 200000);
}

static void test_a_mebibyte_is_few_commands(void)
{
    struct card_port *p = one_disk(100000);
    reads(16, 256, 0);
    CHECK(p->commands <= 2);
    p->commands = 0;
    reads(16, 256, 4);
    CHECK(p->commands <= 2);
    CHECK(p->most_segments <= 248);
}

static void test_write_and_flush(void)
{
    struct card_port *p = one_disk(100000);
    u8 *buf = malloc(8192), *back = malloc(8192);
    for (u32 i = 0; i < 8192; i++) {
        buf[i] = (u8)(i * 3);
    }
    CHECK_EQ(disk_write(0, 3, 2, buf), 2);
    CHECK_EQ(p->flushes, 1);
    CHECK_EQ(p->last_code, 0xEA);
    CHECK_EQ(disk_read(0, 3, 2, back), 2);
    CHECK(memcmp(buf, back, 8192) == 0);
    free(buf);
    free(back);
}

static void test_48_bits(void)
{
    struct card_port *p = one_disk(1ul << 47);
    reads((1ul << 44) - 1, 1, 0);
    CHECK_EQ(p->last_lba, (1ul << 47) - 8);
    CHECK_EQ(tries(1ul << 44, 1), E_RANGE);
}

static void test_28_bits(void)
{
    reset();
    struct card_port *p = plug(0, SIG_ATA, 1ul << 28);
    p->id[83] = 0x4000 | 0x1000;
    p->id[60] = 0;
    p->id[61] = 0x1000;
    CHECK_EQ(ahci_probe(&device), 0);
    reads((1 << 25) - 40, 40, 0); // 320 sectors
    CHECK_EQ(p->last_code, 0xC8);
    CHECK_EQ(p->last_lba, (1 << 28) - 64);
    CHECK_EQ(p->commands, 3); // IDENTIFY, 256, 64
    u8 *buf = calloc(1, 4096);
    CHECK_EQ(disk_write(0, 1, 1, buf), 1);
    CHECK_EQ(p->last_code, 0xE7);
    free(buf);
}

static void test_no_valid_word_83_means_28_bits(void)
{
    reset();
    struct card_port *p = plug(0, SIG_ATA, 1000000);
    p->id[83] = 0xFFFF;
    CHECK_EQ(ahci_probe(&device), 0);
    reads(100, 1, 0);
    CHECK_EQ(p->last_code, 0xC8);
}

static void test_4096_byte_sectors(void)
{
    reset();
    struct card_port *p = plug(0, SIG_ATA, 5000);
    p->sector_bytes = 4096;
    p->id[106] = 0x5000;
    p->id[117] = 2048;
    CHECK_EQ(ahci_probe(&device), 0);
    struct disk_info info;
    CHECK_EQ(disk_info(0, &info), 0);
    CHECK_EQ(info.blocks, 5000);
    CHECK_EQ(info.sector_bytes, 4096);
    reads(4900, 100, 0);
    CHECK_EQ(p->last_lba, 4900);
    CHECK_EQ(p->last_count, 100);
}

static void test_other_devices_come_first(void)
{
    reset();
    struct card_port *cd = plug(0, SIG_ATAPI, 1);
    plug(1, 0x96690101, 1);
    plug(2, 0xC33C0101, 1);
    struct card_port *p = plug(5, SIG_ATA, 80000);
    CHECK_EQ(ahci_probe(&device), 0);
    CHECK_EQ(disk_count(), 1);
    CHECK_EQ(cd->commands, 0);
    CHECK_EQ(cd->cmd & (CMD_ST | CMD_FRE), 0); // nothing writes to our memory
    reads(100, 5, 0);
    CHECK_EQ(p->commands, 2);
    CHECK_EQ(now_ns, 200000);
}

static void test_32_ports(void)
{
    reset();
    card.pi = ~0u;
    plug(31, SIG_ATA, 80000);
    CHECK_EQ(ahci_probe(&device), 0);
    CHECK_EQ(disk_count(), 1);
    CHECK_EQ(card.mapped_bytes, 0x1100);
    reads(100, 5, 0);
    reset();
    card.pi = ~0u; // more ports than the BAR has room for
    bar_bytes = 0x400;
    CHECK_EQ(ahci_probe(&device), E_NODEV);
    CHECK_EQ(card.master_off, 1);
}

static void test_no_ports_and_no_registers(void)
{
    reset();
    card.pi = 0;
    CHECK_EQ(ahci_probe(&device), 0);
    CHECK_EQ(disk_count(), 0);
    bar_bytes = 0;
    CHECK_EQ(ahci_probe(&device), E_NODEV);
    reset();
    card.gone = 1;
    CHECK_EQ(ahci_probe(&device), E_GONE);
}

static void test_match(void)
{
    struct pci_device d = {.class_code = 1, .subclass = 6, .prog_if = 1};
    CHECK(ahci_match(&d));
    d.prog_if = 0;
    CHECK(!ahci_match(&d));
}

static void test_bad_identify(void)
{
    for (u32 i = 0; i < 9; i++) {
        reset();
        struct card_port *p = plug(2, SIG_ATA, 80000);
        struct card_port *good = plug(3, SIG_ATA, 90000);
        u32 size = (const u32[]){0, 3, 128, 4096, 0x80000000u, ~0u}[i % 6];
        if (i < 6) { // logical sectors of so many words
            p->id[106] = 0x5000;
            p->id[117] = (u16)size;
            p->id[118] = (u16)(size >> 16);
        } else if (i == 6) {
            memset(&p->id[60], 0, 4);
            memset(&p->id[100], 0, 8);
        } else if (i == 7) {
            p->id[49] = 0;
        } else {
            memset(p->id, 0, 512);
        }
        CHECK_EQ(ahci_probe(&device), 0);
        CHECK_EQ(disk_count(), 1);
        CHECK_EQ(p->cmd & (CMD_ST | CMD_FRE), 0);
        reads(9000, 1, 0);
        CHECK_EQ(good->last_lba, 72000);
    }
}

static void test_identify_fails(void)
{
    for (u32 i = UNC; i <= FRAME_ERROR; i++) {
        reset();
        struct card_port *p = plug(0, SIG_ATA, 80000);
        plug(1, SIG_ATA, 90000);
        p->fault = (enum fault)i;
        p->fault_count = ~0u;
        CHECK_EQ(ahci_probe(&device), 0);
        CHECK_EQ(disk_count(), i == SHORT_COUNT ? 1 : 1);
        CHECK(now_ns < 20000000000);
    }
}

static void test_a_bad_sector_that_the_disk_names(void)
{
    struct card_port *p = one_disk(100000);
    p->fault = UNC;
    p->bad_lba = 8 * 333 + 5;
    p->fault_count = ~0u;
    CHECK_EQ(tries(300, 100), E_IO);
    CHECK_EQ(p->commands, 1);
    CHECK_EQ(disk_get(0)->error_block, 333);
    CHECK(log_says("read of block 333 "));
    CHECK_EQ(p->starts, 1); // stopped and started again
    CHECK_EQ(p->resets, 0);
    reads(300, 33, 0);
    reads(334, 100, 0);
}

static void test_a_bad_sector_above_2_to_the_32(void)
{
    u64 bad = 0x123456789ABC;
    struct card_port *p = one_disk(1ul << 47);
    p->fault = UNC;
    p->bad_lba = bad;
    p->fault_count = ~0u;
    CHECK_EQ(tries(bad / 8 - 20, 64), E_IO);
    CHECK_EQ(p->commands, 1);
    CHECK_EQ(disk_get(0)->error_block, bad / 8);
}

static void test_a_bad_sector_that_it_does_not_name(void)
{
    static const enum fault faults[] = {ABORT, FRAME_ERROR, SHORT_COUNT};
    for (u32 i = 0; i < 3; i++) {
        struct card_port *p = one_disk(100000);
        p->fault = faults[i];
        p->bad_lba = 8 * 333 + 5;
        p->fault_count = ~0u;
        CHECK_EQ(tries(300, 100), E_IO);
        CHECK_EQ(disk_get(0)->error_block, 333);
        CHECK(p->commands < 12);
        reads(334, 100, 0);
    }
}

static void test_a_command_that_never_ends(void)
{
    struct card_port *p = one_disk(100000);
    p->fault = HANG;
    p->bad_lba = 8 * 20;
    p->fault_count = 1;
    CHECK_EQ(tries(20, 5), E_TIMEOUT);
    CHECK_EQ(disk_get(0)->error_block, 20);
    CHECK_EQ(p->commands, 1);
    CHECK_EQ(p->resets, 1); // it was still busy
    CHECK(now_ns >= 30000000000 && now_ns < 40000000000);
    reads(20, 5, 0);
}

static void test_an_engine_that_never_stops(void)
{
    for (u32 hang = 1; hang < 3; hang++) { // 2: not even after a COMRESET
        struct card_port *p = one_disk(100000);
        p->engine_hangs = (u8)hang;
        p->fault = ABORT;
        p->bad_lba = 8 * 20;
        p->fault_count = ~0u;
        CHECK(tries(20, 1) < 0);
        CHECK(now_ns < 10000000000);
        CHECK_EQ(disk_lock, 0);
    }
    reset();
    struct card_port *p = plug(0, SIG_ATA, 80000);
    plug(1, SIG_ATA, 90000);
    p->engine_hangs = 2;
    p->cmd = CMD_CR | CMD_ST | CMD_FRE | CMD_FR;
    CHECK_EQ(ahci_probe(&device), 0);
    CHECK_EQ(disk_count(), 1); // the other one
    CHECK(now_ns < 2000000000);
}

static void test_firmware_left_the_engine_running(void)
{
    reset();
    struct card_port *p = plug(0, SIG_ATA, 80000);
    p->cmd = CMD_CR | CMD_ST | CMD_FRE | CMD_FR | CMD_SUD | CMD_POD;
    CHECK_EQ(ahci_probe(&device), 0);
    CHECK_EQ(disk_count(), 1);
    CHECK_EQ(now_ns, 100000);
    reads(30, 1, 0);
}

static void test_unplugged(void)
{
    struct card_port *p = one_disk(100000);
    p->fault = UNPLUG;
    p->bad_lba = 8 * 20;
    p->fault_count = 1;
    CHECK_EQ(tries(20, 5), E_GONE);
    CHECK(tries(20, 5) < 0);
    CHECK(now_ns < 5000000000);
    one_disk(100000);
    card.gone = 1;
    CHECK_EQ(tries(20, 5), E_GONE);
    CHECK(now_ns < 100000000);
    disk_recover_all();
}

static void test_no_link_and_always_busy(void)
{
    reset();
    plug(0, SIG_ATA, 80000)->no_link = 1;
    struct card_port *p = plug(1, SIG_ATA, 80000);
    p->busy_always = 1;
    p->tfd = 0x80;
    plug(2, SIG_ATA, 90000);
    CHECK_EQ(ahci_probe(&device), 0);
    CHECK_EQ(disk_count(), 1);
    CHECK_EQ(p->resets, 1);
    CHECK(now_ns < 30000000000);
}

static void test_a_signature_only_after_a_reset(void)
{
    reset();
    struct card_port *p = plug(0, SIG_ATA, 80000);
    p->signature_after_reset = 1;
    CHECK_EQ(ahci_probe(&device), 0);
    CHECK_EQ(p->resets, 1);
    CHECK_EQ(disk_count(), 1);
}

static void test_staggered_spin_up(void)
{
    reset();
    card.cap |= 1u << 27;
    plug(4, SIG_ATA, 80000)->sleeping = 1;
    CHECK_EQ(ahci_probe(&device), 0);
    CHECK_EQ(disk_count(), 1);
    CHECK(now_ns < 50000000);
}

static void test_handoff(void)
{
    reset();
    plug(0, SIG_ATA, 80000);
    card.cap2 = 1;
    card.bohc = 1;
    CHECK_EQ(ahci_probe(&device), 0);
    CHECK_EQ(card.bohc, 2);
    CHECK_EQ(now_ns, 100000); // IDENTIFY's
    reset();
    plug(0, SIG_ATA, 80000);
    card.cap2 = 1;
    card.bohc = 1;
    card.firmware_keeps = 1;
    CHECK_EQ(ahci_probe(&device), 0);
    CHECK_EQ(disk_count(), 1);
    CHECK(now_ns < 2200000000);
}

static void test_a_controller_of_32_bits(void)
{
    reset();
    card.cap &= 0x7FFFFFFF;
    struct card_port *p = plug(0, SIG_ATA, 80000);
    CHECK_EQ(ahci_probe(&device), 0);
    CHECK_EQ(low_allocations, 2);
    reads(100, 40, 4); // the heap lies above 4 GiB: 16 blocks at a time
    CHECK_EQ(p->commands, 4);
    u8 *buf = malloc(40 * 4096);
    for (u64 i = 0; i < 40 * 4096; i++) {
        buf[i] = pattern(i + 100 * 4096);
    }
    CHECK_EQ(disk_write(0, 100, 40, buf), 40);
    free(buf);
    u8 *low = memory_boot_alloc_low(65536, PAGE);
    CHECK_EQ(disk_read(0, 100, 16, low), 16);
    CHECK_EQ(low[0], pattern(100 * 4096));
    CHECK_EQ(p->most_segments, 16); // straight there
}

static void test_no_memory(void)
{
    reset();
    plug(0, SIG_ATA, 80000);
    memory_left = 100;
    CHECK_EQ(ahci_probe(&device), 0);
    CHECK_EQ(disk_count(), 0);
    CHECK(log_says("port 0"));
}

static void test_a_program_ended_in_mid_call(void)
{
    struct card_port *p = one_disk(100000);
    struct ahci_port *port = ahci_of(disk_get(0));
    disk_recover_all();
    CHECK_EQ(p->starts, 0); // nothing went on: nothing is touched
    port->in_command = 1;
    p->tfd = 0xD0;
    p->ci = 1;
    disk_recover_all();
    CHECK_EQ(p->starts, 1);
    CHECK_EQ(port->in_command, 0);
    reads(40, 3, 0);
}

int main(void)
{
    RUN(test_a_disk);
    RUN(test_a_mebibyte_is_few_commands);
    RUN(test_write_and_flush);
    RUN(test_48_bits);
    RUN(test_28_bits);
    RUN(test_no_valid_word_83_means_28_bits);
    RUN(test_4096_byte_sectors);
    RUN(test_other_devices_come_first);
    RUN(test_32_ports);
    RUN(test_no_ports_and_no_registers);
    RUN(test_match);
    RUN(test_bad_identify);
    RUN(test_identify_fails);
    RUN(test_a_bad_sector_that_the_disk_names);
    RUN(test_a_bad_sector_above_2_to_the_32);
    RUN(test_a_bad_sector_that_it_does_not_name);
    RUN(test_a_command_that_never_ends);
    RUN(test_an_engine_that_never_stops);
    RUN(test_firmware_left_the_engine_running);
    RUN(test_unplugged);
    RUN(test_no_link_and_always_busy);
    RUN(test_a_signature_only_after_a_reset);
    RUN(test_staggered_spin_up);
    RUN(test_handoff);
    RUN(test_a_controller_of_32_bits);
    RUN(test_no_memory);
    RUN(test_a_program_ended_in_mid_call);
    free_arena();
    return TEST_RESULT();
}
