// xhci_regs.h - eXtensible Host Controller Interface, revision 1.2 (Intel,
// May 2019): registers, contexts, TRBs.
// SPDX-License-Identifier: MIT
#pragma once
#include "../kernel/driver.h"

enum { XHCI_BAR = 0, XHCI_BAR_LEAST = 0x1000, XHCI_BAR_MOST = 0x100000 };

enum { // 5.3, capability registers: from the BAR
    XHCI_CAPLENGTH = 0x00,
    CAPLENGTH = 0xFF,
    XHCI_HCSPARAMS1 = 0x04,
    HCS1_SLOTS = 0xFF,
    XHCI_HCSPARAMS2 = 0x08,
    HCS2_SCRATCH_HIGH = 0x1F << 21,
    XHCI_HCCPARAMS1 = 0x10,
    HCC1_AC64 = 1 << 0,
    HCC1_CSZ = 1 << 2,
    HCC1_PPC = 1 << 3,
    XHCI_DBOFF = 0x14,
    XHCI_RTSOFF = 0x18,
};
#define HCS1_PORTS 0xFF000000u
#define HCS2_SCRATCH_LOW 0xF8000000u
#define HCC1_XECP 0xFFFF0000u

enum { // 5.4, operational registers: behind the capability registers
    XHCI_USBCMD = 0x00,
    CMD_RUN = 1 << 0,
    CMD_HCRST = 1 << 1,
    CMD_INTE = 1 << 2,
    XHCI_USBSTS = 0x04,
    STS_HCH = 1 << 0,
    STS_HSE = 1 << 2,
    STS_EINT = 1 << 3,
    STS_CNR = 1 << 11,
    STS_HCE = 1 << 12,
    XHCI_PAGESIZE = 0x08,
    PAGESIZE_4K = 1,
    XHCI_CRCR = 0x18,
    CRCR_RCS = 1 << 0,
    CRCR_CA = 1 << 2,
    XHCI_DCBAAP = 0x30,
    XHCI_CONFIG = 0x38,
    XHCI_PORTSC = 0x400, // of port 1; 16 bytes a port
    PORTSC_CCS = 1 << 0,
    PORTSC_PED = 1 << 1, // writing 1 switches the port off
    PORTSC_PR = 1 << 4,
    PORTSC_PP = 1 << 9,
    PORTSC_SPEED = 15 << 10,
    PORTSC_PIC = 3 << 14,
    PORTSC_CSC = 1 << 17,
    PORTSC_CHANGES = 0x7F << 17,
    PORTSC_KEEP = PORTSC_PP | PORTSC_PIC, // written back as they are
};

enum { // 5.5, of interrupter 0: from RTSOFF
    XHCI_IMAN = 0x20,
    IMAN_IP = 1 << 0,
    IMAN_IE = 1 << 1,
    XHCI_IMOD = 0x24, // in units of 250 ns
    XHCI_ERSTSZ = 0x28,
    XHCI_ERSTBA = 0x30,
    XHCI_ERDP = 0x38,
    ERDP_EHB = 1 << 3,
    XHCI_RUNTIME_BYTES = 0x40,
};

enum { // 7.1, extended capability 1: who owns the controller
    XECP_ID = 0xFF,
    XECP_NEXT = 0xFF00, // in words of 4 bytes, 0: the last
    XECP_LEGACY = 1,
    LEGSUP_BIOS = 1 << 16,
    LEGSUP_OS = 1 << 24,
    XECP_LEGCTLSTS = 4, // behind it: its SMIs
    LEGCTL_KEEP = 7 << 1 | 0xFF << 5 | 7 << 17,
};
#define LEGCTL_EVENTS 0xE0000000u // 1 clears

struct xhci_trb { // 4.11.1
    u64 parameter;
    u32 status;
    u32 control;
};
_Static_assert(sizeof(struct xhci_trb) == 16, "the controller's TRB");

enum { // xhci_trb.control
    TRB_CYCLE = 1 << 0,
    TRB_TOGGLE = 1 << 1, // of a link
    TRB_ISP = 1 << 2,
    TRB_IOC = 1 << 5,
    TRB_IMMEDIATE = 1 << 6,
    TRB_TYPE = 0x3F << 10,
    TRB_IN = 1 << 16, // data and status stage
    TRB_SETUP_OUT = 2 << 16,
    TRB_SETUP_IN = 3 << 16,
    TRB_ENDPOINT = 0x1F << 16,
};
#define TRB_SLOT 0xFF000000u
enum { EVENT_LENGTH = 0xFFFFFF }; // status: bytes not transferred
#define EVENT_CODE 0xFF000000u    // status
#define EVENT_PORT 0xFF000000u    // parameter

enum trb_type { // 6.4.6
    TRB_NORMAL = 1,
    TRB_SETUP = 2,
    TRB_DATA = 3,
    TRB_STATUS = 4,
    TRB_LINK = 6,
    TRB_ENABLE_SLOT = 9,
    TRB_DISABLE_SLOT = 10,
    TRB_ADDRESS_DEVICE = 11,
    TRB_CONFIGURE_ENDPOINT = 12,
    TRB_EVALUATE_CONTEXT = 13,
    TRB_RESET_ENDPOINT = 14,
    TRB_STOP_ENDPOINT = 15,
    TRB_SET_DEQUEUE = 16,
    TRB_NO_OP = 23,
    TRB_TRANSFER_EVENT = 32,
    TRB_COMMAND_EVENT = 33,
    TRB_PORT_EVENT = 34,
};

enum { // 6.4.5, completion codes
    CODE_SUCCESS = 1,
    CODE_STALL = 6,
    CODE_SHORT_PACKET = 13,
    CODE_RING_STOPPED = 24,
    CODE_STOPPED = 26,
    CODE_STOPPED_SHORT = 28,
};

enum { // 6.2.2, the slot context's words
    SLOT_SPEED = 15 << 20,
    SLOT_HUB = 1 << 26,
    SLOT_ROOT_PORT = 0xFF << 16, // word 1
    SLOT_TT_HUB = 0xFF,          // word 2
    SLOT_TT_PORT = 0xFF << 8,
    SLOT_TT_THINK = 3 << 16,
};
#define SLOT_ENTRIES 0xF8000000u
#define SLOT_HUB_PORTS 0xFF000000u // word 1

enum { // 6.2.3, the endpoint context's words
    ENDPOINT_INTERVAL = 0xFF << 16,
    ENDPOINT_ERRORS = 3 << 1, // word 1
    ENDPOINT_TYPE = 7 << 3,
    ENDPOINT_CONTROL = 4,
    ENDPOINT_INTERRUPT_IN = 7,
    ENDPOINT_DEQUEUE_CYCLE = 1, // word 2
};
#define ENDPOINT_PACKET 0xFFFF0000u // word 1
