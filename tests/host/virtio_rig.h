// virtio_rig.h - the virtio-net driver with a card in its slot, and the kernel
// around both, on the host.
// SPDX-License-Identifier: MIT
#pragma once
#include "pci_fake.h"
#include "../../lib/string_copy.c"
#include "../../kernel/nic.c"
#undef LOG_TAG
#include "../../drivers/virtio.c"
#undef LOG_TAG
#include "../../drivers/virtio_net.c"
#undef LOG_TAG
#include "../../drivers/virtio_net_init.c"
#undef LOG_TAG
#include "../../drivers/virtio_net_set.c"

#include "virtio_card.h"
#include <sys/mman.h>

// ---- the kernel around it ----

static u64 card_tsc, card_hz = 1000000000;
static u64 card_ram;    // of the machine
static u64 card_memory; // what a driver can have of it

u64 rdtsc(void)
{
    return card_tsc;
}

u64 time_tsc_hz(void)
{
    return card_hz;
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

static struct {
    u8 *start;
    u64 bytes;
} card_buffers[16];
static u32 card_buffers_n;

// Below 4 GiB, as legacy devices need it, between pages that nobody may touch,
// and full of what was there before.
void *memory_boot_buffer(u64 bytes, u64 align)
{
    (void)align;
    if (bytes > fake_memory_left) {
        return 0;
    }
    fake_memory_left -= bytes;
    u64 room = align_up(bytes, PAGE);
    u8 *start = mmap(0, room + 2 * PAGE, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    card_buffers[card_buffers_n].start = start;
    card_buffers[card_buffers_n++].bytes = room + 2 * PAGE;
    mprotect(start + PAGE, room, PROT_READ | PROT_WRITE);
    return __builtin_memset(start + PAGE, 0xA5, room);
}

static void card_unplug(void)
{
    while (card_buffers_n > 0) {
        card_buffers_n--;
        munmap(card_buffers[card_buffers_n].start,
               card_buffers[card_buffers_n].bytes);
    }
    fake_reset();
}

static u64 card_given;
void memory_give(u64 phys, u64 bytes)
{
    (void)phys;
    card_given += bytes;
}

int memory_ram_piece(u32 index, u64 *phys, u64 *bytes)
{
    *phys = PAGE;
    *bytes = card_ram;
    return index == 0 ? 0 : E_RANGE;
}

// ---- plugging it in ----

static void card_capability(u32 at, u32 next, u32 type, u32 offset, u32 length)
{
    u32 *words = &card.function->words[at / 4];
    words[0] = PCI_CAP_VENDOR | next << 8 | 20u << 16 | type << 24;
    words[1] = 4; // BAR
    words[2] = offset;
    words[3] = length;
    words[4] = CARD_MULTIPLIER;
}

static void card_add_modern(void)
{
    u32 *words = card.function->words;
    words[1] |= 0x00100000;
    words[13] = 0x40;
    card_capability(0x40, 0x58, CAP_TYPE_COMMON, 0, 0x1000);
    card_capability(0x58, 0x6C, CAP_TYPE_DEVICE, CARD_CONFIG, 0x1000);
    card_capability(0x6C, 0, CAP_TYPE_NOTIFY, CARD_NOTIFY, 0x1000);
    words[8] = 0x0000000C;
    words[9] = CARD_BAR >> 32;
    card.function->bar_bytes[4] = CARD_BAR_BYTES;
}

static void card_add_legacy(void)
{
    card.function->words[4] = CARD_PORT | 1;
    card.function->bar_bytes[0] = CARD_PORTS;
}

// A good device of the usual size, not yet probed.
static void card_plug(int modern, int legacy)
{
    card_unplug();
    __builtin_memset(&card, 0, sizeof(card));
    __builtin_memset(&nic_table, 0, sizeof(nic_table));
    card_ram = 512ul << 20;
    card_memory = ~0ul;
    card.function = fake_add(0, 2, 0);
    card.function->words[0] = (legacy ? 0x1000u : 0x1041u) << 16 | 0x1AF4;
    card.function->words[1] = PCI_COMMAND_MASTER | PCI_COMMAND_MEMORY;
    card.offered = VIRTIO_NET_F_MAC | VIRTIO_NET_F_STATUS |
                   VIRTIO_NET_F_MRG_RXBUF | VIRTIO_F_ANY_LAYOUT;
    card.offered |= 0x14F8; // checksums, segmentation, what we do not know
    if (modern) {
        card_add_modern();
        card.offered |= VIRTIO_F_VERSION_1 | BIT(34) | BIT(33);
    }
    if (legacy) {
        card_add_legacy();
    }
    const u8 config[] = {0x52, 0x54, 0, 0x12, 0x34, 0x56, 1, 0};
    __builtin_memcpy(card.config, config, sizeof(config));
    card.config_bytes = NET_CONFIG_BYTES;
    card.kicked_queue = NET_QUEUE_CONTROL;
    card.sizes[0] = card.sizes[1] = 256;
}

static inline int card_probe(void)
{
    static struct acpi acpi;
    pci_init(&acpi);
    fake_memory_left = card_memory;
    struct pci_device *device = pci_get(0);
    return virtio_net_match(device) ? virtio_net_probe(device) : E_UNSUPPORTED;
}
