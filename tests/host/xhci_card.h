// xhci_card.h - an xHCI controller with devices for tests: it checks what it is
// told, and goes wrong on demand.
// SPDX-License-Identifier: MIT
#pragma once
#include "xhci_rig.h"

enum { HC = 0x10000000, HC_OP = 0x40, HC_DOORBELLS = 0x1000 };
enum { HC_RUNTIME = 0x2000, HC_BYTES = 0x10000, HC_LEGACY = 0x800 };
enum { CARD_SLOTS = 32, CARD_PORTS = 8 };

enum answer { ANSWER_DATA, ANSWER_STALL, ANSWER_ERROR, ANSWER_NEVER };

struct card_ring {
    u64 at; // 0: none
    u32 cycle;
};

struct card_slot {
    u8 enabled, addressed, configured;
    u32 port, route, speed;
    struct card_ring control, in;
    u32 in_id, halted;
};

static struct card {
    u32 regs[HC_BYTES / 4];
    u8 gone, keeps_firmware, hangs_reset, ignores_commands;
    u8 fail_command; // type of the command that fails
    u32 failures;    // how often
    struct card_ring commands;
    u32 event, event_cycle; // where it writes next
    struct card_slot slots[CARD_SLOTS];
    u32 n_commands[64], n_no_ops;
    u32 interrupts;
} card;

// What a device says to a request; the test's. Returns bytes, or -answer.
static int device_answer(const struct card_slot *slot, const u8 setup[8],
                         u8 *data, u32 length);

static u32 *card_reg(u64 offset)
{
    return &card.regs[offset / 4];
}

static u64 card_reg64(u64 offset)
{
    return *card_reg(offset) | (u64)*card_reg(offset + 4) << 32;
}

static void card_post(struct xhci_trb event)
{
    u64 table = card_reg64(HC_RUNTIME + XHCI_ERSTBA);
    struct xhci_trb *ring = (void *)*(u64 *)table;
    struct xhci_trb *to = &ring[card.event];
    *to = event;
    to->control = (event.control & ~1u) | card.event_cycle;
    if (++card.event == XHCI_EVENTS) {
        card.event = 0;
        card.event_cycle ^= 1;
    }
    card.interrupts++;
}

static void card_post_port(u32 port)
{
    card_post(xhci_trb(TRB_PORT_EVENT, (u64)port << 24, 1u << 24, 0));
}

// The next TRB that is the card's, links followed. 0: none.
static struct xhci_trb *card_next(struct card_ring *ring)
{
    for (u32 i = 0; i < 2 && ring->at; i++) {
        struct xhci_trb *trb = (void *)ring->at;
        if ((trb->control & 1) != ring->cycle) {
            return 0;
        }
        if (field_get(TRB_TYPE, trb->control) == TRB_LINK) {
            CHECK(trb->control & TRB_TOGGLE);
            ring->at = trb->parameter;
            ring->cycle ^= 1;
            continue;
        }
        ring->at += 16;
        return trb;
    }
    return 0;
}

static struct card_ring card_ring_of(const u32 *endpoint)
{
    u64 at = endpoint[2] | (u64)endpoint[3] << 32;
    return (struct card_ring){at & ~15ul, at & 1};
}

static int card_take_input(struct card_slot *slot, u32 type, u64 input)
{
    u32 bytes = *card_reg(XHCI_HCCPARAMS1) & HCC1_CSZ ? 64 : 32;
    u32 add = ((u32 *)input)[1];
    const u32 *context = (u32 *)(input + bytes);
    if (add & 1) {
        slot->port = field_get(SLOT_ROOT_PORT, context[1]);
        slot->route = context[0] & 0xFFFFF;
        slot->speed = field_get(SLOT_SPEED, context[0]);
    }
    if (type == TRB_ADDRESS_DEVICE) {
        CHECK_EQ(add, 3);
        slot->control = card_ring_of(context + bytes / 4);
        slot->addressed = 1;
    } else if (type == TRB_CONFIGURE_ENDPOINT && add & ~1u) {
        slot->in_id = 31u - (u32)__builtin_clz(add);
        CHECK_EQ(field_get(SLOT_ENTRIES, context[0]), slot->in_id);
        slot->in = card_ring_of(context + slot->in_id * bytes / 4);
        CHECK_EQ(field_get(ENDPOINT_TYPE, context[slot->in_id * bytes / 4 + 1]),
                 7);
        slot->configured = 1;
    }
    return 1;
}

static u32 card_enable_slot(void)
{
    for (u32 i = 1; i <= *card_reg(HC_OP + XHCI_CONFIG); i++) {
        if (!card.slots[i].enabled) {
            card.slots[i] = (struct card_slot){.enabled = 1};
            return i;
        }
    }
    return 0;
}

static void card_command(const struct xhci_trb *trb)
{
    u32 type = (u32)field_get(TRB_TYPE, trb->control), code = CODE_SUCCESS;
    u32 id = (u32)field_get(TRB_SLOT, trb->control);
    struct card_slot *slot = &card.slots[id % CARD_SLOTS];
    card.n_commands[type]++;
    if (type == card.fail_command && card.failures > 0) {
        card.failures--;
        code = 4;
    } else if (type == TRB_ENABLE_SLOT) {
        id = card_enable_slot();
        code = id ? code : 9;
    } else if (type != TRB_NO_OP && !slot->enabled) {
        code = 11;
        CHECK(0);
    } else if (type == TRB_DISABLE_SLOT) {
        *slot = (struct card_slot){0};
    } else if (type >= TRB_ADDRESS_DEVICE && type <= TRB_EVALUATE_CONTEXT) {
        card_take_input(slot, type, trb->parameter);
    } else if (type == TRB_RESET_ENDPOINT) {
        code = slot->halted ? code : 19;
        slot->halted = 0;
    } else if (type == TRB_SET_DEQUEUE) {
        slot->control =
            (struct card_ring){trb->parameter & ~15ul, trb->parameter & 1};
    }
    card_post(xhci_trb(TRB_COMMAND_EVENT, (u64)trb, code << 24, id << 24));
}

static void card_transfer_event(u32 id, u32 endpoint, u64 trb, u32 code,
                                u32 missing)
{
    card_post(xhci_trb(TRB_TRANSFER_EVENT, trb, code << 24 | missing,
                       id << 24 | endpoint << 16));
}

static void card_control(u32 id)
{
    struct card_slot *slot = &card.slots[id];
    struct xhci_trb *setup, *data = 0, *status;
    while (!slot->halted && (setup = card_next(&slot->control)) != 0) {
        u32 length = (u32)(setup->parameter >> 48);
        CHECK_EQ(field_get(TRB_TYPE, setup->control), TRB_SETUP);
        data = length ? card_next(&slot->control) : 0;
        status = card_next(&slot->control);
        CHECK(status && field_get(TRB_TYPE, status->control) == TRB_STATUS);
        CHECK(!data || (data->status == length && length <= USB_DATA_BYTES));
        int n = device_answer(slot, (const u8 *)&setup->parameter,
                              data ? (u8 *)data->parameter : 0, length);
        if (n == -ANSWER_NEVER) {
            return;
        }
        if (n < 0) {
            slot->halted = 1;
            card_transfer_event(id, 1, (u64)(data ? data : status),
                                n == -ANSWER_STALL ? CODE_STALL : 4, length);
            return;
        }
        if (data && (u32)n < length && data->control & TRB_ISP) {
            card_transfer_event(id, 1, (u64)data, CODE_SHORT_PACKET,
                                length - (u32)n);
        }
        card_transfer_event(id, 1, (u64)status, CODE_SUCCESS, 0);
    }
}

// A report from the device in that slot. Returns 0 when nobody asked for one.
static int card_report(u32 id, const void *bytes, u32 len, u32 code)
{
    struct xhci_trb *trb = card_next(&card.slots[id].in);
    if (!card.slots[id].configured || trb == 0) {
        return 0;
    }
    u32 n = len < trb->status ? len : trb->status;
    memcpy((void *)trb->parameter, bytes, n);
    card_transfer_event(id, card.slots[id].in_id, (u64)trb, code,
                        trb->status - n);
    return 1;
}

// A device comes or (speed 0) goes; before the controller runs nobody is told.
static void card_plug(u32 port, u32 speed)
{
    u32 *sc = card_reg(HC_OP + XHCI_PORTSC + 16 * (port - 1));
    *sc = PORTSC_PP | PORTSC_CSC;
    if (speed) {
        *sc |= PORTSC_CCS | speed << 10;
    }
    if (*card_reg(HC_OP + XHCI_USBCMD) & CMD_RUN) {
        card_post_port(port);
    }
}

static void card_write_port(u32 port, u32 value)
{
    u32 *sc = card_reg(HC_OP + XHCI_PORTSC + 16 * (port - 1));
    CHECK((value & PORTSC_PED) == 0);
    *sc &= ~(value & PORTSC_CHANGES);
    if (value & PORTSC_PR && *sc & PORTSC_CCS) {
        *sc |= PORTSC_PED | 1u << 21;
        card_post_port(port);
    }
}

static void card_write_op(u32 offset, u32 value)
{
    u32 *reg = card_reg(HC_OP + offset), *status = card_reg(HC_OP + 4);
    if (offset >= XHCI_PORTSC) {
        card_write_port((offset - XHCI_PORTSC) / 16 + 1, value);
        return;
    }
    if (offset == XHCI_USBSTS) {
        *reg &= ~(value & STS_EINT);
        return;
    }
    *reg = value;
    if (offset == XHCI_USBCMD) {
        *status = value & CMD_RUN ? *status & ~1u : *status | STS_HCH;
        *reg &= card.hangs_reset ? ~0u : ~(u32)CMD_HCRST;
    }
    if (offset == XHCI_CRCR && (value & CRCR_CA) == 0) {
        card.commands = (struct card_ring){value & ~63u, value & 1};
    }
    if (offset == XHCI_CRCR + 4 && !(*(reg - 1) & CRCR_CA)) {
        card.commands.at |= (u64)value << 32;
    }
}

static void card_doorbell(u32 slot, u32 id)
{
    struct xhci_trb *trb;
    if (slot != 0) {
        if (id == 1 && card.slots[slot].addressed) {
            card_control(slot);
        }
        return;
    }
    while (!card.ignores_commands && (trb = card_next(&card.commands)) != 0) {
        card_command(trb);
    }
}

u32 mmio_read32(u64 address)
{
    u64 offset = address - HC;
    CHECK(offset < HC_BYTES);
    return card.gone ? ~0u : *card_reg(offset % HC_BYTES);
}

void mmio_write32(u64 address, u32 value)
{
    u64 offset = address - HC;
    CHECK(offset < HC_BYTES);
    if (card.gone || offset >= HC_BYTES) {
        return;
    }
    if (offset >= HC_DOORBELLS && offset < HC_DOORBELLS + 1024) {
        card_doorbell((u32)(offset - HC_DOORBELLS) / 4 % CARD_SLOTS, value);
    } else if (offset >= HC_OP && offset < HC_LEGACY) {
        card_write_op((u32)offset - HC_OP, value);
    } else if (offset == HC_LEGACY && value & LEGSUP_OS &&
               !card.keeps_firmware) {
        *card_reg(offset) = value & ~(u32)LEGSUP_BIOS;
    } else {
        *card_reg(offset) = value;
    }
}

static struct pci_bar the_bar = {HC, HC_BYTES, 0};

struct pci_bar pci_bar(const struct pci_device *device, u32 n)
{
    (void)device;
    CHECK_EQ(n, 0);
    return the_bar;
}

int pci_map_bar(const struct pci_device *device, u32 n, u64 bytes, u64 *address)
{
    struct pci_bar bar = pci_bar(device, n);
    *address = bar.base;
    return bar.bytes >= bytes ? 0 : E_NODEV;
}

static struct pci_device card_function = {
    .class_code = 0x0C, .subclass = 3, .prog_if = 0x30};

static void card_reset(void)
{
    free_arena();
    memset(&card, 0, sizeof(card));
    memset(controllers, 0, sizeof(controllers));
    use_layout("");
    typed_n = 0;
    typed[0] = 0;
    last_log[0] = 0;
    now_ns = low_allocations = master_off = polled = 0;
    the_bar = (struct pci_bar){HC, HC_BYTES, 0};
    card.event_cycle = 1;
    *card_reg(0) = 0x01100000 | HC_OP;
    *card_reg(XHCI_HCSPARAMS1) = (u32)CARD_PORTS << 24 | 1u << 8 | 31;
    *card_reg(XHCI_HCSPARAMS2) = 3u << 27;
    *card_reg(XHCI_HCCPARAMS1) = HC_LEGACY / 4 << 16 | HCC1_AC64;
    *card_reg(XHCI_DBOFF) = HC_DOORBELLS;
    *card_reg(XHCI_RTSOFF) = HC_RUNTIME;
    *card_reg(HC_OP + XHCI_USBSTS) = STS_HCH;
    *card_reg(HC_OP + XHCI_PAGESIZE) = 1;
    *card_reg(HC_LEGACY) = XECP_LEGACY | LEGSUP_BIOS;
    *card_reg(HC_LEGACY + 4) = 0xE000E011;
}

static inline struct xhci *card_hc(void)
{
    return controllers[0];
}

// Time passes, and the interrupts that come with it.
static inline void card_run(u32 ms)
{
    u64 end = now_ns + ms * 1000000ul;
    while (now_ns < end && card_hc()) {
        handler(handler_context);
        now_ns += ms > 10 ? 2000000 : 100000;
    }
}
