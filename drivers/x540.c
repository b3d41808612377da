// x540.c - Intel's ten gigabit controllers: X540, 82599, X550.
// SPDX-License-Identifier: MIT
//
// Intel 82599 datasheet 3.3, whose sections are cited. Tried on the model of
// the X540 (tests/models) alone, never on a card.
#include "intel_ring.h"
#include "x540_regs.h"

enum {
    RESET_MS = 1000,
    SETTLE_NS = 10000000, // 4.6.3.2
    EEPROM_MS = 1000,
    DMA_MS = 1000,
    QUEUE_MS = 100,
    FCS_BYTES = 4,
};

// 4.6.3.1: no interrupt, ever.
static void x540_mask_interrupts(const struct intel *intel)
{
    intel_write(intel, X540_EIMC, 0x7FFFFFFF);
    (void)intel_read(intel, X540_EICR);
}

// 4.6.3: reset, then the EEPROM's contents and the DMA engine.
static int x540_reset(struct intel *intel)
{
    // One that is still under way: nothing but CTRL may be read.
    TRY(mmio_wait32(intel->regs + INTEL_CTRL, CTRL_RST | CTRL_LRST, 0,
                    RESET_MS));
    x540_mask_interrupts(intel);
    TRY(intel_reset(intel, CTRL_RST | CTRL_LRST, RESET_MS));
    time_delay_ns(SETTLE_NS);
    x540_mask_interrupts(intel);
    TRY(mmio_wait32(intel->regs + X540_EEC, EEC_AUTO_RD, EEC_AUTO_RD,
                    EEPROM_MS));
    TRY(mmio_wait32(intel->regs + X540_RDRXCTL, RDRXCTL_DMAIDONE,
                    RDRXCTL_DMAIDONE, DMA_MS));
    return intel_set_mac(intel, intel_read(intel, X540_RAL),
                         intel_read(intel, X540_RAH));
}

// 4.6.7, 7.1.10: a queue is enabled, then its tail counts.
static int x540_enable(const struct intel *intel, u32 ring)
{
    u64 control = intel->regs + ring + RING_CONTROL;
    mmio_set32(control, DCTL_ENABLE);
    return mmio_wait32(control, DCTL_ENABLE, DCTL_ENABLE, QUEUE_MS);
}

// 8.2.3.7.1, 4.6.7.
static void x540_filter(const struct intel *intel)
{
    u64 fctrl = FCTRL_BAM;
    if (intel->nic.setting[NET_PROMISCUOUS]) {
        fctrl |= FCTRL_UPE | FCTRL_MPE;
    } else if (intel->nic.setting[NET_MULTICAST]) {
        fctrl |= FCTRL_MPE;
    }
    intel_write(intel, X540_FCTRL, (u32)fctrl);
}

// 8.2.3.22.8, 8.2.3.22.13: 1518 bytes with FCS, or as many as were asked for.
static void x540_limit_frames(const struct intel *intel)
{
    u32 most = intel->nic.setting[NET_FRAME_LIMIT] + FCS_BYTES;
    if (intel->room == FRAME_ROOM_JUMBO) {
        intel_write(intel, X540_MAXFRS, (u32)field_put(MAXFRS_MFS, most));
        mmio_set32(intel->regs + X540_HLREG0, HLREG0_JUMBOEN);
    }
}

// 4.6.7: every good frame, without its FCS, into queue 0.
static int x540_start_receive(struct intel *intel)
{
    u64 regs = intel->regs;
    mmio_clear32(regs + X540_RXCTRL, RXCTRL_RXEN);
    mmio_set32(regs + X540_HLREG0,
               HLREG0_TXCRCEN | HLREG0_RXCRCSTRP | HLREG0_TXPADEN);
    mmio_set32(regs + X540_RDRXCTL,
               RDRXCTL_CRCSTRIP | RDRXCTL_RSCACKC | RDRXCTL_FCOE_WRFIX);
    x540_limit_frames(intel);
    x540_filter(intel);
    intel_write_mac(intel, X540_RAL);
    intel_clear_mta(intel);
    intel_write(intel, X540_SRRCTL,
                (u32)field_put(SRRCTL_BSIZEPACKET, intel->room / 1024));
    intel_set_ring(intel, X540_RX_RING, intel->rx, intel->n_rx);
    mmio_set32(regs + X540_CTRL_EXT, CTRL_EXT_NS_DIS);
    mmio_clear32(regs + X540_DCA_RXCTRL, DCA_RXCTRL_12);
    TRY(x540_enable(intel, X540_RX_RING));
    mmio_set32(regs + X540_RXCTRL, RXCTRL_RXEN);
    return 0;
}

// 4.6.8.
static int x540_start_transmit(struct intel *intel)
{
    u64 regs = intel->regs;
    mmio_set32(regs + X540_RTTDCS, RTTDCS_ARBDIS);
    intel_write(intel, X540_DTXMXSZRQ, DTXMXSZRQ_MOST);
    mmio_clear32(regs + X540_RTTDCS, RTTDCS_ARBDIS);
    intel_set_ring(intel, X540_TX_RING, intel->tx, intel->n_tx);
    intel_write(
        intel, X540_TX_RING + RING_CONTROL,
        (u32)(field_put(TXDCTL_PTHRESH, 36) | field_put(TXDCTL_HTHRESH, 8)));
    mmio_set32(regs + X540_DMATXCTL, DMATXCTL_TE);
    return x540_enable(intel, X540_TX_RING);
}

enum { X540_ID = 0x1528, X540_ID_1 = 0x1560, X550_ID = 0x1563 };
enum { I82599_SFP_ID = 0x10FB };

// 4.6.4: the X540's PHY needs nothing; the 82599's link starts by itself too,
// unless someone has left it down.
static int x540_start(struct intel *intel)
{
    TRY(x540_start_receive(intel));
    TRY(x540_start_transmit(intel));
    if (intel->nic.pci->device_id == I82599_SFP_ID) {
        mmio_set32(intel->regs + X540_AUTOC, AUTOC_RESTART);
    }
    mmio_set32(intel->regs + X540_CTRL_EXT, CTRL_EXT_DRV_LOAD);
    return 0;
}

// 8.2.3.22.20.
static u32 x540_link(const struct intel *intel)
{
    static const u16 speeds[] = {0, 100, 1000, 10000};
    u32 links = intel_read(intel, X540_LINKS);
    return links & LINKS_UP ? speeds[field_get(LINKS_SPEED, links)] : 0;
}

// 4.6.6, 7.3.4, 8.2.3.5: entry 0 of MSI-X tells of frames in queue 0.
static int x540_notify(const struct intel *intel, enum nic_notify what)
{
    if (what == NIC_NOTIFY_ON) {
        mmio_set32(intel->regs + X540_GPIE, (u32)(GPIE_MSIX | GPIE_PBA));
        intel_write(intel, X540_IVAR,
                    (u32)field_put(IVAR_RX_0, IVAR_VALID | 0));
        intel_write(intel, X540_EIAC, INT_QUEUE_0);
    }
    int mask = what == NIC_NOTIFY_OFF || what == NIC_NOTIFY_MASK;
    intel_write(intel, mask ? X540_EIMC : X540_EIMS, INT_QUEUE_0);
    return 0;
}

static const struct intel_kind x540_kind = {
    .notify = x540_notify,
    .name = "x540",
    .rx = X540_RX_RING,
    .tx = X540_TX_RING,
    .rx_errors = X540_RX_ERRORS,
    .alive = X540_CTRL_EXT,
    .is_set = CTRL_EXT_DRV_LOAD,
    .missed = {X540_MPC, X540_QPRDC},
    .has_master = 1,
    .reset = x540_reset,
    .start = x540_start,
    .filter = x540_filter,
    .link = x540_link,
};

static int x540_match(const struct pci_device *device)
{
    u16 id = device->device_id;
    return device->vendor == INTEL_VENDOR &&
           (id == X540_ID || id == X540_ID_1 || id == X550_ID ||
            id == I82599_SFP_ID);
}

static int x540_probe(struct pci_device *device)
{
    return intel_probe(device, &x540_kind);
}

const struct driver x540_driver = {
    .name = "x540",
    .match = x540_match,
    .probe = x540_probe,
};
