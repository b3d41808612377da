// xhci_port.c - the controller's own ports.
// SPDX-License-Identifier: MIT
//
// xHCI 1.2, 4.19 and 5.4.8. Most bits of PORTSC do something when a one is
// written back: every write says exactly what it means.
#include "xhci.h"

static u64 xhci_portsc(const struct xhci *hc, u32 port)
{
    return hc->op + XHCI_PORTSC + 16ul * (port - 1);
}

u32 xhci_port_read(const struct xhci *hc, u32 port)
{
    return mmio_read32(xhci_portsc(hc, port));
}

u32 xhci_port_take(const struct xhci *hc, u32 port)
{
    u32 status = xhci_port_read(hc, port);
    u32 changes = status & PORTSC_CHANGES;
    if (changes != 0 && status != ~0u) {
        mmio_write32(xhci_portsc(hc, port), (status & PORTSC_KEEP) | changes);
    }
    return status;
}

void xhci_port_reset(const struct xhci *hc, u32 port)
{
    u32 status = xhci_port_read(hc, port);
    mmio_write32(xhci_portsc(hc, port), (status & PORTSC_KEEP) | PORTSC_PR);
}

void xhci_port_event(struct xhci *hc, u32 port)
{
    if (port > 0 && port < XHCI_PORTS && port <= hc->n_ports) {
        hc->port_changed[port] = 1;
        hc->any_changed = 1;
    }
}

// Power where the controller switches it, and a first look at every port.
void xhci_ports_start(struct xhci *hc)
{
    for (u32 port = 1; port <= hc->n_ports; port++) {
        u32 status = xhci_port_read(hc, port);
        if ((status & PORTSC_PP) == 0) {
            mmio_write32(xhci_portsc(hc, port),
                         (status & PORTSC_KEEP) | PORTSC_PP);
        }
        xhci_port_event(hc, port);
    }
}

// Two halves: some controllers know no wider access (5.1).
void xhci_write64(u64 address, u64 value)
{
    mmio_write32(address, (u32)value);
    mmio_write32(address + 4, (u32)(value >> 32));
}
