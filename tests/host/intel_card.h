// intel_card.h - a gigabit card of Intel's that can lie, for test_intel_*.c.
// SPDX-License-Identifier: MIT
#pragma once
#include "pci_fake.h"
#include "../../lib/string_copy.c"
#include "../../kernel/nic.c"
#undef LOG_TAG
#include "../../kernel/nic_set.c"
#undef LOG_TAG
#include "../../drivers/intel_ring.c"
#undef LOG_TAG
#include "../../drivers/intel_ring_init.c"
#undef LOG_TAG
#include "../../drivers/intel_ring_set.c"
#undef LOG_TAG
#include "../../drivers/e1000.c"
#undef LOG_TAG
#include "../../kernel/mmio.c"

#define CARD_BAR 0xFE000000ul
enum { CARD_WORDS = 0x20000 / 4, CARD_HZ = 1000000000 };
enum { DONE = INTEL_DD | INTEL_EOP };

static struct {
    u32 words[CARD_WORDS];
    u32 resets, misuses, tails[2];
    int gone, stuck;
    void (*tail_written)(void);
    u32 no_address, eeprom_dead; // RAH.AV stays 0; EERD never answers
    u16 eeprom[3];
    u32 rx_at, tx_at; // descriptors done
    struct fake_function *function;
} card;
static u64 card_tsc, card_ram = 256ul << 20;

// ---- the kernel around it ----

u64 rdtsc(void)
{
    return card_tsc += 100;
}
u64 time_tsc_hz(void)
{
    return CARD_HZ;
}
void time_delay_ns(u64 ns)
{
    card_tsc += ns;
}
struct deadline deadline_ns(u64 ns)
{
    return (struct deadline){card_tsc + ns, 0};
}
int deadline_passed(struct deadline *deadline)
{
    card_tsc += 100000;
    return card_tsc > deadline->end;
}
u64 phys_of(const void *address)
{
    return (u64)address;
}
void *memory_boot_buffer(u64 bytes, u64 align)
{
    return memory_boot_alloc(bytes, align);
}
void app_call_whole(int on)
{
    (void)on;
}
static u64 given_bytes;
void memory_give(u64 phys, u64 bytes)
{
    (void)phys;
    given_bytes += bytes;
}
int memory_ram_piece(u32 index, u64 *phys, u64 *bytes)
{
    *phys = PAGE;
    *bytes = card_ram;
    return index == 0 ? 0 : E_RANGE;
}
const char *sys_error(int error)
{
    return error == E_TIMEOUT ? "timeout" : "error";
}

// ---- the card ----

static u32 *word(u64 at)
{
    return &card.words[at / 4];
}

static void card_reset(void)
{
    card.resets++;
    __builtin_memset(card.words, 0, sizeof(card.words));
    card.rx_at = card.tx_at = 0;
    *word(E1000_RAL) = 0x12005452;
    *word(E1000_RAH) = card.no_address ? 0 : 0x80005634;
    *word(INTEL_STATUS) = STATUS_LU | field_put(STATUS_SPEED, 2);
}

// 8254x 13.4.4, 82574 10.2.2.4: where word and done bit stand differs.
static void card_read_eeprom(u32 value)
{
    int late = card.function->words[0] == 0x10D38086;
    u32 at = late ? value >> 2 & 0x3FFF : value >> 8 & 0xFF;
    card.misuses += at >= array_size(card.eeprom) || !(value & 1);
    if (!card.eeprom_dead && at < array_size(card.eeprom)) {
        *word(E1000_EERD) =
            (u32)card.eeprom[at] << 16 | (late ? 1u << 1 : 1u << 4);
    }
}

u64 other_read(u64 address, u32 bytes, int is_port)
{
    u64 at = address - CARD_BAR;
    if (is_port || bytes != 4 || at >= sizeof(card.words) || at % 4) {
        card.misuses++;
        return ~0ul;
    }
    return card.gone ? ~0u : *word(at);
}

void other_write(u64 address, u64 value, u32 bytes, int is_port)
{
    u64 at = address - CARD_BAR;
    if (is_port || bytes != 4 || at >= sizeof(card.words) || at % 4) {
        card.misuses++;
        return;
    }
    card.tails[0] += at == E1000_RX_RING + RING_TAIL;
    card.tails[1] += at == E1000_TX_RING + RING_TAIL;
    *word(at) = (u32)value;
    if ((at == E1000_RX_RING + RING_TAIL || at == E1000_TX_RING + RING_TAIL) &&
        card.tail_written) {
        card.tail_written();
    }
    if (at == E1000_EERD) {
        card_read_eeprom((u32)value);
    }
    if (at == INTEL_CTRL && (value & CTRL_RST) && !card.stuck) {
        card_reset();
    }
}

static struct intel_desc *card_ring(u32 ring, u32 at)
{
    u64 base = *word(ring + RING_BAL) | (u64)*word(ring + RING_BAH) << 32;
    return (struct intel_desc *)base + at % (*word(ring + RING_LEN) / 16);
}

// One receive descriptor filled; 0 when the driver has left none.
static int card_fill(u32 len, u32 status, u8 byte)
{
    u32 n = *word(E1000_RX_RING + RING_LEN) / 16;
    if (card.rx_at % n == *word(E1000_RX_RING + RING_TAIL)) {
        return 0;
    }
    struct intel_desc *desc = card_ring(E1000_RX_RING, card.rx_at++);
    card.misuses += desc->word != 0;
    __builtin_memset((u8 *)desc->address, byte, FRAME_ROOM);
    desc->length = (u16)len;
    desc->status = status;
    *word(E1000_RX_RING + RING_HEAD) = card.rx_at % n;
    return 1;
}

// Take one frame off the transmit ring; its length, 0 when there is none.
static u32 card_send(void)
{
    u32 n = *word(E1000_TX_RING + RING_LEN) / 16;
    if (card.tx_at % n == *word(E1000_TX_RING + RING_TAIL)) {
        return 0;
    }
    struct intel_desc *desc = card_ring(E1000_TX_RING, card.tx_at++);
    card.misuses += (desc->status & INTEL_DD) != 0;
    desc->status |= INTEL_DD;
    return desc->length;
}

static int card_try(u32 id, int no_address, int eeprom_dead)
{
    static struct acpi acpi;
    fake_reset();
    __builtin_memset(&card, 0, sizeof(card));
    card.no_address = (u32)no_address;
    card.eeprom_dead = (u32)eeprom_dead;
    card.eeprom[0] = 0x2202;
    card.eeprom[1] = 0x4433;
    card.eeprom[2] = 0x6655;
    __builtin_memset(&nic_table, 0, sizeof(nic_table));
    struct fake_function *f = fake_add(0, 2, 0);
    card.function = f;
    f->words[0] = id;
    f->words[4] = CARD_BAR;
    f->bar_bytes[0] = 0x20000;
    card_reset();
    pci_init(&acpi);
    return e1000_match(pci_get(0)) ? e1000_probe(pci_get(0))
                                   : e1000e_probe(pci_get(0));
}

static struct intel *card_plug(void)
{
    CHECK_EQ(card_try(0x100E8086, 0, 0), 0);
    CHECK(e1000_match(pci_get(0)));
    return (struct intel *)nic_get(0);
}

static struct net_frame frames[256];
static u8 data[16384];
