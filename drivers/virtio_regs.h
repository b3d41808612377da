// virtio_regs.h - registers and shared structures of virtio devices on PCI.
// SPDX-License-Identifier: MIT
//
// Virtual I/O Device (VIRTIO) Version 1.1, OASIS, 11 April 2019.
#pragma once
#include "../kernel/driver.h"

enum { VIRTIO_VENDOR = 0x1AF4 };

enum { // 4.1.4: the vendor capability of a modern device
    CAP_TYPE = 3,
    CAP_BAR = 4,
    CAP_OFFSET = 8,
    CAP_LENGTH = 12,
    CAP_NOTIFY_MULTIPLIER = 16,
};
enum { CAP_TYPE_COMMON = 1, CAP_TYPE_NOTIFY = 2, CAP_TYPE_DEVICE = 4 };

enum { // 4.1.4.3: common configuration
    COMMON_DEVICE_FEATURE_SELECT = 0,
    COMMON_DEVICE_FEATURE = 4,
    COMMON_DRIVER_FEATURE_SELECT = 8,
    COMMON_DRIVER_FEATURE = 12,
    COMMON_CONFIG_MSIX_VECTOR = 16,
    COMMON_DEVICE_STATUS = 20,
    COMMON_QUEUE_SELECT = 22,
    COMMON_QUEUE_SIZE = 24,
    COMMON_QUEUE_MSIX_VECTOR = 26,
    COMMON_QUEUE_ENABLE = 28,
    COMMON_QUEUE_NOTIFY_OFF = 30,
    COMMON_QUEUE_DESC = 32,
    COMMON_QUEUE_DRIVER = 40,
    COMMON_QUEUE_DEVICE = 48,
    COMMON_BYTES = 56,
};

enum { // 4.1.4.8: legacy interface, ports of BAR 0
    LEGACY_DEVICE_FEATURES = 0,
    LEGACY_DRIVER_FEATURES = 4,
    LEGACY_QUEUE_PFN = 8,
    LEGACY_QUEUE_SIZE = 12,
    LEGACY_QUEUE_SELECT = 14,
    LEGACY_QUEUE_NOTIFY = 16,
    LEGACY_DEVICE_STATUS = 18,
    LEGACY_DEVICE_CONFIG = 20, // with MSI-X on, behind two vectors
    LEGACY_QUEUE_VECTOR = 22,
    LEGACY_VECTORS_BYTES = 4,
};

// 2.1: device status
#define STATUS_ACKNOWLEDGE 1u
#define STATUS_DRIVER 2u
#define STATUS_DRIVER_OK 4u
#define STATUS_FEATURES_OK 8u
#define STATUS_NEEDS_RESET 64u
#define STATUS_FAILED 128u
#define STATUS_GONE 0xFFu // what a removed device reads as

// 6: feature bits of every device
#define VIRTIO_F_ANY_LAYOUT BIT(27)
#define VIRTIO_F_VERSION_1 BIT(32)

struct virtq_desc { // 2.6.5
    u64 addr;
    u32 len;
    u16 flags;
    u16 next;
};
enum { DESC_NEXT = 1, DESC_WRITE = 2 };

struct virtq_avail { // 2.6.6
    u16 flags;
    u16 idx;
    u16 ring[];
};
enum { AVAIL_NO_INTERRUPT = 1 };

struct virtq_used_elem { // 2.6.8
    u32 id;
    u32 len;
};
struct virtq_used {
    u16 flags;
    u16 idx;
    struct virtq_used_elem ring[];
};
enum { USED_NO_NOTIFY = 1 };

_Static_assert(sizeof(struct virtq_desc) == 16, "virtio 2.6.5");
_Static_assert(sizeof(struct virtq_used_elem) == 8, "virtio 2.6.8");

// 5.1: network device
enum { VIRTIO_NET_LEGACY_ID = 0x1000, VIRTIO_NET_ID = 0x1041 };
#define VIRTIO_NET_F_MAC BIT(5)
#define VIRTIO_NET_F_MRG_RXBUF BIT(15)
#define VIRTIO_NET_F_STATUS BIT(16)
#define VIRTIO_NET_F_CTRL_VQ BIT(17)
#define VIRTIO_NET_F_CTRL_RX BIT(18)
enum { NET_CONFIG_MAC = 0, NET_CONFIG_STATUS = 6, NET_CONFIG_BYTES = 8 };
#define NET_STATUS_LINK_UP 1u
enum { NET_QUEUE_RX = 0, NET_QUEUE_TX = 1, NET_QUEUE_CONTROL = 2 };
// 5.1.6: header of a frame; the last two bytes, the number of buffers, are not
// there on a legacy device without MRG_RXBUF.
enum { NET_HEADER = 12, NET_HEADER_SHORT = 10, NET_HEADER_BUFFERS = 10 };
// 5.1.6.5: the control queue, and of it the receive filter.
enum { NET_CTRL_RX = 0, NET_CTRL_RX_PROMISC = 0, NET_CTRL_RX_ALLMULTI = 1 };
enum { NET_CTRL_OK = 0 };

// 5.2: block device
enum { VIRTIO_BLK_LEGACY_ID = 0x1001, VIRTIO_BLK_ID = 0x1042 };
#define VIRTIO_BLK_F_SIZE_MAX BIT(1)
#define VIRTIO_BLK_F_SEG_MAX BIT(2)
#define VIRTIO_BLK_F_RO BIT(5)
#define VIRTIO_BLK_F_BLK_SIZE BIT(6)
#define VIRTIO_BLK_F_FLUSH BIT(9)
enum {                       // 5.2.4
    BLK_CONFIG_CAPACITY = 0, // in 512 bytes, whatever a sector has
    BLK_CONFIG_SIZE_MAX = 8,
    BLK_CONFIG_SEG_MAX = 12,
    BLK_CONFIG_BLK_SIZE = 20,
    BLK_CONFIG_BYTES = 24,
};
struct virtio_blk_header { // 5.2.6
    u32 type;
    u32 reserved;
    u64 sector; // in 512 bytes
};
enum { BLK_T_IN = 0, BLK_T_OUT = 1, BLK_T_FLUSH = 4 };
enum { BLK_S_OK = 0, BLK_S_UNSUPP = 2, BLK_S_NONE = 0xFF };
