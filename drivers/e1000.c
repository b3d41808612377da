// e1000.c - Intel's gigabit controllers: 82540, 82544, 82545, 82546 on PCI, and
// the 82574 on PCI Express (e1000e).
// SPDX-License-Identifier: MIT
//
// 8254x Software Developer's Manual 4.0; 82574 datasheet 3.4. Tried on
// QEMU 7.2: 82540EM, 82544GC, 82545EM, 82574L.
#include "e1000_regs.h"
#include "intel_ring.h"

#define LOG_TAG "e1000"
#include "../kernel/log.h"

enum { RESET_MS = 100, EEPROM_MS = 100, ADDRESS_MS = 20 };

static const struct intel_kind e1000_kind, e1000e_kind;

// 14.3: no interrupt, ever.
static void e1000_mask_interrupts(const struct intel *intel)
{
    intel_write(intel, E1000_IMC, ~0u);
    (void)intel_read(intel, E1000_ICR);
}

// 13.4.4, 82574 10.2.2.4: one word of the EEPROM.
static int e1000_read_eeprom(const struct intel *intel, u32 word, u32 *value)
{
    int late = intel->kind == &e1000e_kind;
    u64 where =
        late ? field_put(EERD_ADDR_82574, word) : field_put(EERD_ADDR, word);
    u32 done = late ? EERD_DONE_82574 : EERD_DONE;
    intel_write(intel, E1000_EERD, (u32)(where | EERD_START));
    TRY(mmio_wait32(intel->regs + E1000_EERD, done, done, EEPROM_MS));
    *value = (u32)field_get(EERD_DATA, intel_read(intel, E1000_EERD));
    return 0;
}

// 13.5.22, 13.5.23: the first address filter holds the card's own address once
// the EEPROM was read; where it does not we read it.
static int e1000_read_mac(struct intel *intel)
{
    if (mmio_wait32(intel->regs + E1000_RAH, RAH_AV, RAH_AV, ADDRESS_MS) == 0) {
        return intel_set_mac(intel, intel_read(intel, E1000_RAL),
                             intel_read(intel, E1000_RAH));
    }
    u32 words[3];
    for (u32 i = 0; i < array_size(words); i++) {
        TRY(e1000_read_eeprom(intel, i, &words[i]));
    }
    return intel_set_mac(intel, words[0] | words[1] << 16, words[2]);
}

// 14.3, 13.4.1; 82574 4.6.1.
static int e1000_reset(struct intel *intel)
{
    e1000_mask_interrupts(intel);
    intel_write(intel, E1000_RCTL, 0);
    intel_write(intel, E1000_TCTL, TCTL_PSP);
    TRY(intel_reset(intel, CTRL_RST, RESET_MS));
    e1000_mask_interrupts(intel);
    return e1000_read_mac(intel);
}

// 14.3, 82574 4.6.3: the PHY finds the speed, the MAC takes it over.
static void e1000_start_link(const struct intel *intel)
{
    u32 ctrl = intel_read(intel, INTEL_CTRL);
    ctrl &= ~(u32)(CTRL_LRST | CTRL_ILOS | CTRL_FRCSPD | CTRL_FRCDPX |
                   CTRL_PHY_RST);
    intel_write(intel, INTEL_CTRL, ctrl | CTRL_SLU | CTRL_ASDE);
}

// 13.4.22: which frames, how long, into which buffers. LPE lets in what fills
// one of 16384 bytes at most.
static void e1000_filter(const struct intel *intel)
{
    u64 rctl = RCTL_EN | RCTL_BAM | RCTL_SECRC;
    if (intel->nic.setting[NET_PROMISCUOUS]) {
        rctl |= RCTL_UPE | RCTL_MPE;
    } else if (intel->nic.setting[NET_MULTICAST]) {
        rctl |= RCTL_MPE;
    }
    if (intel->room == FRAME_ROOM_JUMBO) {
        rctl |= RCTL_LPE | RCTL_16384;
    }
    intel_write(intel, E1000_RCTL, (u32)rctl);
}

// 14.4, 82574 4.6.5: every frame of the wire up to 1522 bytes, bad ones not.
static void e1000_start_receive(struct intel *intel)
{
    intel_write_mac(intel, E1000_RAL);
    intel_clear_mta(intel);
    intel_set_ring(intel, E1000_RX_RING, intel->rx, intel->n_rx);
    e1000_filter(intel);
}

// 14.5, 82574 4.6.6: as full duplex copper wants it.
static void e1000_start_transmit(struct intel *intel)
{
    intel_set_ring(intel, E1000_TX_RING, intel->tx, intel->n_tx);
    if (intel->kind == &e1000e_kind) {
        mmio_set32(intel->regs + E1000_TX_RING + RING_CONTROL, TXDCTL_82574);
    }
    intel_write(intel, E1000_TIPG,
                (u32)(field_put(TIPG_IPGT, 8) | field_put(TIPG_IPGR1, 8) |
                      field_put(TIPG_IPGR2, 6)));
    intel_write(intel, E1000_TCTL,
                (u32)(TCTL_EN | TCTL_PSP | field_put(TCTL_CT, 15) |
                      field_put(TCTL_COLD, 64)));
}

static int e1000_start(struct intel *intel)
{
    e1000_start_link(intel);
    e1000_start_receive(intel);
    e1000_start_transmit(intel);
    return 0;
}

// 13.4.2.
static u32 e1000_link(const struct intel *intel)
{
    static const u16 speeds[] = {10, 100, 1000, 1000};
    u32 status = intel_read(intel, INTEL_STATUS);
    return status & STATUS_LU ? speeds[field_get(STATUS_SPEED, status)] : 0;
}

// 82574 7.4: entry 0 of MSI-X tells of frames, and of nothing else. EIAC clears
// the cause as the message leaves.
static int e1000e_notify(const struct intel *intel, enum nic_notify what)
{
    if (what == NIC_NOTIFY_ON) {
        mmio_set32(intel->regs + E1000_CTRL_EXT, (u32)CTRL_EXT_PBA_CLR);
        intel_write(intel, E1000_IVAR,
                    (u32)field_put(IVAR_RXQ0, IVAR_VALID | 0));
        intel_write(intel, E1000_EIAC, INT_RXQ0);
    }
    int mask = what == NIC_NOTIFY_OFF || what == NIC_NOTIFY_MASK;
    intel_write(intel, mask ? E1000_IMC : E1000_IMS, INT_RXQ0);
    return 0;
}

#define E1000_FAMILY                                                           \
    .rx = E1000_RX_RING, .tx = E1000_TX_RING, .rx_errors = E1000_RX_ERRORS,    \
    .alive = E1000_RCTL, .is_set = RCTL_EN, .missed = {E1000_MPC},             \
    .reset = e1000_reset, .start = e1000_start, .filter = e1000_filter,        \
    .link = e1000_link

static const struct intel_kind e1000_kind = {.name = "e1000", E1000_FAMILY};
static const struct intel_kind e1000e_kind = {
    .name = "e1000e", .has_master = 1, .notify = e1000e_notify, E1000_FAMILY};

// 82544 1008 1009 100C 100D, 82540 100E 1015 1016 1017 101E,
// 82545 100F 1011 1026 1027, 82546 1010 1012 101D 1079 107A.
static int e1000_match(const struct pci_device *device)
{
    static const u16 ids[] = {0x1008, 0x1009, 0x100C, 0x100D, 0x100E, 0x100F,
                              0x1010, 0x1011, 0x1012, 0x1015, 0x1016, 0x1017,
                              0x101D, 0x101E, 0x1026, 0x1027, 0x1079, 0x107A};
    for (u32 i = 0; device->vendor == INTEL_VENDOR && i < array_size(ids);
         i++) {
        if (device->device_id == ids[i]) {
            return 1;
        }
    }
    return 0;
}

static int e1000_probe(struct pci_device *device)
{
    return intel_probe(device, &e1000_kind);
}

static int e1000e_match(const struct pci_device *device) // 82574L, 82574LA
{
    return device->vendor == INTEL_VENDOR &&
           (device->device_id == 0x10D3 || device->device_id == 0x10F6);
}

static int e1000e_probe(struct pci_device *device)
{
    return intel_probe(device, &e1000e_kind);
}

const struct driver e1000_driver = {
    .name = "e1000",
    .match = e1000_match,
    .probe = e1000_probe,
};

const struct driver e1000e_driver = {
    .name = "e1000e",
    .match = e1000e_match,
    .probe = e1000e_probe,
};
