// xhci.c - xHCI USB controllers: take one over from the firmware, start it.
// SPDX-License-Identifier: MIT
//
// xHCI 1.2, 4.2 (initialisation), 4.22.1 (pre-OS to OS handoff). Tried on QEMU
// 7.2 (qemu-xhci, nec-usb-xhci); the handoff against a fake.
#include "xhci.h"
#include "drivers.h"
#include "../kernel/apic.h"
#include "../kernel/input.h"
#include "../kernel/msi.h"

#define LOG_TAG "xhci"

enum {
    HANDOFF_MS = 500,
    HALT_MS = 20, // 5.4.1: 16
    RESET_MS = 250,
    READY_MS = 250,
    SETTLE_MS = 900,   // for devices that are there at boot
    MODERATION = 4000, // 1 ms between interrupts
    CAPABILITIES = 64,
    INTEL = 0x8086,
    INTEL_RESET_NS = 1000000, // its registers rest after a reset
};

static int xhci_match(const struct pci_device *device)
{
    return device->class_code == 0x0C && device->subclass == 3 &&
           device->prog_if == 0x30;
}

static int xhci_fits(const struct xhci *hc, u64 offset, u64 bytes)
{
    return offset <= hc->bytes && bytes <= hc->bytes - offset;
}

// 4.22.1: ask the firmware to let go; one that does not is told no more. Then
// no SMI of its own stands between a key and us.
static void xhci_take_over(const struct xhci *hc, u64 legacy)
{
    if (mmio_read32(legacy) & LEGSUP_BIOS) {
        mmio_set32(legacy, LEGSUP_OS);
        if (mmio_wait32(legacy, LEGSUP_BIOS, 0, HANDOFF_MS) < 0) {
            log_warn("%s: the firmware does not let go", hc->name);
            mmio_clear32(legacy, LEGSUP_BIOS);
        }
    }
    u32 control = mmio_read32(legacy + XECP_LEGCTLSTS);
    mmio_write32(legacy + XECP_LEGCTLSTS,
                 (control & LEGCTL_KEEP) | LEGCTL_EVENTS);
}

// 7: the list of extended capabilities; bounded, it may run in a circle.
static void xhci_find_legacy(const struct xhci *hc, u32 hccparams1)
{
    u64 offset = field_get(HCC1_XECP, hccparams1) * 4ul;
    for (u32 i = 0; i < CAPABILITIES && offset != 0; i++) {
        if (!xhci_fits(hc, offset, 8)) {
            return;
        }
        u32 capability = mmio_read32(hc->base + offset);
        if ((capability & XECP_ID) == XECP_LEGACY) {
            xhci_take_over(hc, hc->base + offset);
        }
        u64 next = field_get(XECP_NEXT, capability) * 4ul;
        offset = next != 0 ? offset + next : 0;
    }
}

// Intel's 7 to 9 series route ports to an older controller beside until told
// (7 Series PCH datasheet 17.1: USB3_PSSEN, XUSB2PR and what they may hold).
static void xhci_route_ports(const struct pci_device *device)
{
    static const u16 ids[] = {0x1E31, 0x8C31, 0x9C31, 0x8CB1, 0x9CB1};
    for (u32 i = 0; i < array_size(ids); i++) {
        if (device->vendor == INTEL && device->device_id == ids[i]) {
            pci_write32(device, 0xD8, pci_read32(device, 0xDC));
            pci_write32(device, 0xD0, pci_read32(device, 0xD4));
        }
    }
}

// 4.2: halted, reset, ready.
static int xhci_reset(const struct xhci *hc)
{
    u64 command = hc->op + XHCI_USBCMD, status = hc->op + XHCI_USBSTS;
    mmio_clear32(command, CMD_RUN | CMD_INTE);
    TRY(mmio_wait32(status, STS_HCH, STS_HCH, HALT_MS));
    mmio_set32(command, CMD_HCRST);
    if (hc->pci->vendor == INTEL) {
        time_delay_ns(INTEL_RESET_NS);
    }
    TRY(mmio_wait32(command, CMD_HCRST, 0, RESET_MS));
    return mmio_wait32(status, STS_CNR, 0, READY_MS);
}

static void *xhci_alloc(const struct xhci *hc, u64 bytes)
{
    return hc->wide ? memory_boot_alloc(bytes, PAGE)
                    : memory_boot_alloc_low(bytes, PAGE);
}

// 4.20: pages for the controller's own use, as many as it says.
static int xhci_give_scratchpad(struct xhci *hc)
{
    u32 params = mmio_read32(hc->base + XHCI_HCSPARAMS2);
    u32 n = (u32)(field_get(HCS2_SCRATCH_HIGH, params) << 5 |
                  field_get(HCS2_SCRATCH_LOW, params));
    u64 *pages = n > 0 ? xhci_alloc(hc, n * 8ul) : 0;
    for (u32 i = 0; pages != 0 && i < n; i++) {
        void *page = xhci_alloc(hc, PAGE);
        if (page == 0) {
            return E_NOMEM;
        }
        pages[i] = (u64)page;
    }
    hc->contexts[0] = (u64)pages;
    return n > 0 && pages == 0 ? E_NOMEM : 0;
}

static int xhci_give_memory(struct xhci *hc)
{
    u8 *devices = xhci_alloc(hc, sizeof(struct usb_memory) * XHCI_DEVICES);
    u8 *commands = xhci_alloc(hc, PAGE);
    hc->events = xhci_alloc(hc, XHCI_EVENTS * sizeof(struct xhci_trb));
    hc->contexts = xhci_alloc(hc, PAGE);
    hc->input = xhci_alloc(hc, PAGE);
    if (!devices || !commands || !hc->events || !hc->contexts || !hc->input) {
        return E_NOMEM;
    }
    xhci_ring_init(&hc->commands, commands, XHCI_COMMANDS);
    for (u32 i = 0; i < XHCI_DEVICES; i++) {
        hc->devices[i].hc = hc;
        hc->devices[i].memory =
            (struct usb_memory *)(void *)(devices +
                                          i * sizeof(struct usb_memory));
    }
    return xhci_give_scratchpad(hc);
}

// 6.5: one segment of events; its table lies behind the device contexts.
static void xhci_set_rings(struct xhci *hc)
{
    u64 *segment = hc->contexts + 256;
    u64 interrupter = hc->runtime;
    segment[0] = (u64)hc->events;
    segment[1] = XHCI_EVENTS;
    mmio_write32(hc->op + XHCI_CONFIG, hc->n_slots);
    xhci_write64(hc->op + XHCI_DCBAAP, (u64)hc->contexts);
    xhci_write64(hc->op + XHCI_CRCR, (u64)hc->commands.trbs | CRCR_RCS);
    mmio_write32(interrupter + XHCI_ERSTSZ, 1);
    xhci_write64(interrupter + XHCI_ERDP, (u64)hc->events | ERDP_EHB);
    xhci_write64(interrupter + XHCI_ERSTBA, (u64)segment);
    mmio_write32(interrupter + XHCI_IMOD, MODERATION);
}

static void xhci_interrupt(void *context)
{
    struct xhci *hc = context;
    if (hc->dead) {
        return;
    }
    mmio_write32(hc->op + XHCI_USBSTS, STS_EINT);
    mmio_write32(hc->runtime + XHCI_IMAN, IMAN_IP | IMAN_IE);
    xhci_run(hc);
}

// Without interrupts whoever waits for keys asks.
static void xhci_start_interrupts(struct xhci *hc)
{
    int vector = interrupt_take_vector(VECTOR_DRIVERS, xhci_interrupt, hc);
    int result = vector;
    if (vector >= 0) {
        result = msi_route(hc->pci, 0, (u8)vector, apic_id());
    }
    if (result < 0) {
        log_warn("%s is polled (%d)", hc->name, result);
        input_use_polling();
        return;
    }
    hc->by_interrupt = 1;
    mmio_write32(hc->runtime + XHCI_IMAN, IMAN_IP | IMAN_IE);
    mmio_set32(hc->op + XHCI_USBCMD, CMD_INTE);
}

// 5.3: where the registers are, and how many of everything.
static int xhci_read_capabilities(struct xhci *hc)
{
    u32 length = mmio_read32(hc->base) & CAPLENGTH;
    u32 params1 = mmio_read32(hc->base + XHCI_HCSPARAMS1);
    u32 hcc = mmio_read32(hc->base + XHCI_HCCPARAMS1);
    u64 doorbells = mmio_read32(hc->base + XHCI_DBOFF) & ~3u;
    u64 runtime = mmio_read32(hc->base + XHCI_RTSOFF) & ~31u;
    u32 slots = params1 & HCS1_SLOTS;
    hc->n_ports = (u32)field_get(HCS1_PORTS, params1);
    hc->n_slots = slots < XHCI_DEVICES ? slots : XHCI_DEVICES;
    hc->context_bytes = hcc & HCC1_CSZ ? 64 : 32;
    hc->wide = (hcc & HCC1_AC64) != 0;
    hc->op = hc->base + length;
    hc->doorbells = hc->base + doorbells;
    hc->runtime = hc->base + runtime;
    if (hcc == ~0u) {
        return E_GONE;
    }
    if (length < 0x20 || slots == 0 || hc->n_ports == 0 ||
        !xhci_fits(hc, length, XHCI_PORTSC + 16ul * hc->n_ports) ||
        !xhci_fits(hc, doorbells, 4ul * (hc->n_slots + 1)) ||
        !xhci_fits(hc, runtime, XHCI_RUNTIME_BYTES)) {
        return E_UNSUPPORTED;
    }
    xhci_find_legacy(hc, hcc);
    return 0;
}

static int xhci_map(struct xhci *hc)
{
    struct pci_bar bar = pci_bar(hc->pci, XHCI_BAR);
    hc->bytes = XHCI_BAR_LEAST;
    if (bar.bytes > XHCI_BAR_LEAST) {
        hc->bytes = bar.bytes < XHCI_BAR_MOST ? (u32)bar.bytes : XHCI_BAR_MOST;
    }
    return pci_map_bar(hc->pci, XHCI_BAR, hc->bytes, &hc->base);
}

static int xhci_start(struct xhci *hc)
{
    TRY(xhci_map(hc));
    TRY(xhci_read_capabilities(hc));
    xhci_route_ports(hc->pci);
    TRY(xhci_reset(hc));
    if ((mmio_read32(hc->op + XHCI_PAGESIZE) & PAGESIZE_4K) == 0) {
        return E_UNSUPPORTED;
    }
    TRY(xhci_give_memory(hc));
    pci_enable(hc->pci, PCI_COMMAND_MASTER);
    xhci_set_rings(hc);
    xhci_start_interrupts(hc);
    mmio_set32(hc->op + XHCI_USBCMD, CMD_RUN);
    return mmio_wait32(hc->op + XHCI_USBSTS, STS_HCH, 0, HALT_MS);
}

// What is plugged in already is there when the prompt is, as a rule; what
// takes longer comes by itself.
static void xhci_settle(struct xhci *hc)
{
    struct deadline limit = deadline_ms(SETTLE_MS);
    hc->settling = 1;
    xhci_ports_start(hc);
    do {
        xhci_run(hc);
        pause();
    } while (usb_is_busy(hc) && !deadline_passed(&limit));
    hc->settling = 0;
    xhci_run(hc);
}

static const struct input_source xhci_source = {"usb", xhci_poll_all, 0};

static int xhci_probe(struct pci_device *device)
{
    static u8 is_source;
    struct xhci *hc = memory_boot_alloc(sizeof(*hc), 8);
    if (hc == 0) {
        return E_NOMEM;
    }
    hc->pci = device;
    pci_name(device, hc->name);
    pci_enable(device, PCI_COMMAND_MEMORY | PCI_COMMAND_INTX_OFF);
    int result = xhci_start(hc);
    if (result < 0) {
        hc->dead = 1;
        pci_disable_master(device);
        return result;
    }
    keyboard_init();
    keyboard_add_leds(xhci_run_all);
    xhci_add(hc);
    if (!is_source) {
        is_source = 1;
        input_add_source(&xhci_source);
    }
    log_info("%s: %u ports, %s", hc->name, hc->n_ports,
             hc->by_interrupt ? "by interrupt" : "polled");
    xhci_settle(hc);
    return 0;
}

const struct driver xhci_driver = {"xhci", xhci_match, xhci_probe};
