// nvme_regs.h - registers and shared structures of an NVMe controller.
// SPDX-License-Identifier: MIT
//
// NVM Express Base Specification 1.4, 10 June 2019.
#pragma once
#include "../kernel/driver.h"

enum { NVME_DOORBELLS = 0x1000 };

enum { // 3.1: controller registers, BAR 0
    NVME_CAP = 0x00,
    NVME_VS = 0x08,
    VS_1_1 = 0x10100, // from here on, namespaces can be listed
    NVME_CC = 0x14,
    NVME_CSTS = 0x1C,
    NVME_AQA = 0x24,
    NVME_ASQ = 0x28,
    NVME_ACQ = 0x30,
};
// 3.1.1: controller capabilities
#define CAP_MQES BITS(15, 0)    // entries of a queue, less one
#define CAP_TO BITS(31, 24)     // limit of 3.1.5's changes, in 500 ms
#define CAP_DSTRD BITS(35, 32)  // doorbells are 4 << DSTRD apart
#define CAP_CSS_NVM BIT(37)     // knows reads and writes
#define CAP_MPSMIN BITS(51, 48) // smallest page: 4096 << MPSMIN
// 3.1.5: controller configuration; the page size field stays 0, 4096 bytes
#define CC_EN 1u
#define CC_IOSQES BITS(19, 16) // log2 of an entry's bytes
#define CC_IOCQES BITS(23, 20)
// 3.1.6: controller status
#define CSTS_RDY 1u
#define CSTS_CFS 2u // fatal: only a reset helps

struct nvme_command { // 4.2
    u32 opcode_id;    // the identifier in the upper half
    u32 nsid;
    u32 reserved[2];
    u64 metadata;
    u64 prp[2];   // 4.3
    u32 dword[6]; // "command dword" 10 to 15
};
_Static_assert(sizeof(struct nvme_command) == 64, "NVMe 4.2");
enum { NVME_COMMAND_LOG2 = 6, NVME_COMPLETION_LOG2 = 4 };

struct nvme_completion { // 4.6
    u32 result;
    u32 reserved;
    u16 sq_head;
    u16 sq_id;
    u16 id;
    u16 status; // 4.6.1; bit 0: the phase
};
_Static_assert(sizeof(struct nvme_completion) == 16, "NVMe 4.6");
enum { // status, without the phase: code, and type from bit 8 on
    STATUS_CODE = 0x7FF,
    STATUS_WRITE_PROTECTED = 0x20,
};

enum { // 5: admin commands
    ADMIN_CREATE_SQ = 0x01,
    ADMIN_LOG = 0x02,
    ADMIN_CREATE_CQ = 0x05,
    ADMIN_IDENTIFY = 0x06,
    ADMIN_SET_FEATURES = 0x09,
};
enum { QUEUE_CONTIGUOUS = 1, FEATURE_QUEUES = 7, LOG_ERRORS = 1 };
enum { // 5.15: CNS
    IDENTIFY_NAMESPACE = 0,
    IDENTIFY_CONTROLLER = 1,
    IDENTIFY_LIST = 2,
};
enum { NVM_FLUSH = 0x00, NVM_WRITE = 0x01, NVM_READ = 0x02 }; // 6

enum { // 5.15.2.2: offsets in what a controller says of itself
    CONTROLLER_MODEL = 24,
    CONTROLLER_MODEL_BYTES = 40,
    CONTROLLER_MDTS = 77, // most bytes of a command: 4096 << MDTS, 0: any
    CONTROLLER_NN = 516,  // largest namespace ID
    CONTROLLER_VWC = 525, // bit 0: has a cache to be flushed
};
enum { // 5.15.2.1: ... and of a namespace
    NAMESPACE_NSZE = 0,
    NAMESPACE_NLBAF = 25, // formats, less one
    NAMESPACE_FLBAS = 26, // the one in use
    NAMESPACE_LBAF = 128, // u16 metadata bytes, u8 log2 of a sector, u8
};
enum { // 5.14.1.1: the latest entry of the error log
    ERROR_COUNT = 0,
    ERROR_SQ_ID = 8,
    ERROR_COMMAND_ID = 10,
    ERROR_LBA = 16,
    ERROR_NSID = 24,
    ERROR_BYTES = 64,
};
