// ingot.h - all that a program may see of Ingot: one list of calls, one list
// of errors, and the structs they pass. Nothing is linked: every call is one
// indirect call through a table at a fixed address.
// SPDX-License-Identifier: MIT
//
// The error contract: a call that returns int or i64 returns >= 0 on success
// and one of the negative E_* values below on failure; on failure nothing has
// been written to the caller's memory unless the call says so. A pointer that
// faults when the call touches it ends the program with a report.
//
// The C declarations below, include/ingot.inc for NASM and docs/api.md all come
// from the lists INGOT_ERRORS and INGOT_CALLS (tools/gen_api.py). Both lists
// only ever grow at their end.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;
typedef int i32;
typedef long i64;

#define must_check __attribute__((warn_unused_result))

// ERR(name, value, text)
#define INGOT_ERRORS(ERR)                                                      \
    ERR(E_ARG, -1, "bad argument")                                             \
    ERR(E_FAULT, -2, "bad address")                                            \
    ERR(E_NOMEM, -3, "not enough memory")                                      \
    ERR(E_NODEV, -4, "no such device")                                         \
    ERR(E_RANGE, -5, "past the end")                                           \
    ERR(E_IO, -6, "device error")                                              \
    ERR(E_TIMEOUT, -7, "device does not answer")                               \
    ERR(E_AGAIN, -8, "not now, try again")                                     \
    ERR(E_BUSY, -9, "in use")                                                  \
    ERR(E_LINK, -10, "link is down")                                           \
    ERR(E_SIZE, -11, "bad frame length")                                       \
    ERR(E_FORMAT, -12, "not a program Ingot can run")                          \
    ERR(E_UNSUPPORTED, -13, "not supported")                                   \
    ERR(E_GONE, -14, "device is gone")                                         \
    ERR(E_CRASHED, -15, "program was ended by an exception")                   \
    ERR(E_STOPPED, -16, "program was stopped")

#define INGOT_ERROR_ENUM(name, value, text) name = (value),
enum ingot_error { INGOT_ERRORS(INGOT_ERROR_ENUM) };

// Fixed addresses of the machine (docs/memory.md).
#define INGOT_TABLE 0x100080ul            // struct ingot
#define INGOT_BAREMETAL_TABLE 0x100010ul  // eight BareMetal entries
#define INGOT_WINDOW 0xFFFF800000000000ul // where programs are loaded
#define INGOT_VERSION 1u
#define INGOT_VERSION_TEXT "0.1.0"
#define INGOT_BLOCK 4096u // bytes in a disk block

// ---- console ----
struct con_info {
    u32 columns, rows; // of the text on the screen; 0: no screen is a console
    u32 at_keyboard;   // 1: the latest byte came from a keyboard of this
                       // machine, 0: by the serial line, or none came yet
    u32 reserved;
};

// ---- net ----
enum { NET_MAX_NICS = 16, NET_MIN_FRAME = 14, NET_MAX_FRAME = 1514 };

// A frame without its FCS. On receive, data points into the NIC's ring and
// stays valid until the next receive on that NIC.
struct net_frame {
    void *data;
    u32 len; // bytes
    u32 reserved;
};

// The poll word: the NIC's ring is empty exactly while (*word & mask) == idle.
// Kept current by the driver: read all three again after every receive.
struct net_poll {
    const volatile u32 *word;
    u32 mask;
    u32 idle;
};

struct net_info {
    char driver[16];
    char pci[16]; // "00:02.0"
    u8 mac[6];
    u8 link; // 1 up, 0 down
    u8 reserved;
    u32 speed_mbps; // 0 unknown
    u32 max_frame;  // bytes, without FCS
    u32 rx_ring;    // descriptors
    u32 tx_ring;
    u64 rx_frames, rx_bytes; // handed to programs since boot
    u64 tx_frames, tx_bytes;
    u64 rx_dropped; // bad length, bad index, truncated, or over the limit
    u64 rx_missed;  // the device had no buffer, where the device counts it
    u64 tx_dropped; // refused or lost on transmit
};

// What net_set() sets. All of it goes back when the program ends.
enum net_setting {
    NET_PROMISCUOUS, // 1 (from the start): frames to any address; 0: only its
                     // own, broadcast, and multicast as the next one says
    NET_MULTICAST,   // 1: every multicast frame, 0: none
    NET_RX_RING,     // descriptors, a power of two
    NET_TX_RING,
    NET_FRAME_LIMIT, // bytes without FCS, both ways: 64 to NET_MAX_JUMBO
};
enum { NET_MAX_JUMBO = 9014 };

// ---- disk ----
struct disk_info {
    char driver[16];
    char pci[16];
    char model[41];
    u8 reserved[7];
    u64 blocks;       // of INGOT_BLOCK bytes
    u32 sector_bytes; // the device's own logical sector
    u32 max_blocks;   // most blocks one device command moves
    u64 error_block;  // block of the latest error, ~0 when there was none
    u64 reads, writes, errors; // device commands
};

// ---- memory ----
enum {
    MEM_BELOW_4G = 1, // physical address below 4 GiB
    MEM_2M = 2,       // aligned to 2 MiB (else 4 KiB)
    MEM_ZERO = 4,     // cleared
};

enum { PAGE_WRITE = 1, PAGE_EXEC = 2, PAGE_UNCACHED = 4 };

struct mem_page { // what a virtual address stands for
    u64 phys;
    u64 bytes; // size of the mapping's page: 4 KiB, 2 MiB or 1 GiB
    u32 flags; // PAGE_*
    u32 reserved;
};

struct mem_info {    // bytes
    u64 ram;         // usable RAM the loader reported
    u64 free;        // now
    u64 largest;     // largest contiguous free piece
    u64 kernel;      // image, tables and drivers
    u64 modules;     // boot modules
    u64 window_free; // what a flat program would get at INGOT_WINDOW
};

enum {
    MEM_USABLE = 1,
    MEM_RESERVED = 2,
    MEM_ACPI = 3,
    MEM_NVS = 4,
    MEM_BAD = 5
};

struct mem_region { // the firmware's memory map, sorted
    u64 start, bytes;
    u32 type; // MEM_USABLE ..
    u32 reserved;
};

// ---- time ----
struct time_info {
    u64 tsc_hz;      // 0: no clock was found
    char source[16]; // what the TSC was measured against: "cpuid", "hpet", ..
    u64 boot_ns;     // from the kernel's first instruction to the first prompt
    i64 wall;        // seconds since 1970-01-01 UTC, -1 unknown
};

// ---- cpu ----
struct cpu_info {
    char vendor[16];
    char brand[52];
    u32 family, model, stepping;
    u32 apic_id;
    u32 cores;      // started, owned by Ingot
    u32 present;    // enabled in the firmware's tables
    u64 xcr0;       // state components switched on, 0 without XSAVE
    u64 interrupts; // device interrupts taken since boot
};

// ---- screen ----
struct screen_info {
    void *pixels; // the first row, write-combining: write, do not read
    u32 width, height;
    u32 pitch;                 // bytes from one row to the next
    u32 bits;                  // per pixel: 24 or 32
    u8 red_position, red_bits; // bit number in a pixel, and how many
    u8 green_position, green_bits;
    u8 blue_position, blue_bits;
    u8 reserved[2];
};

// ---- pci ----
struct pci_info {
    u16 segment;
    u8 bus, device, function;
    u8 class_code, subclass, prog_if;
    u16 vendor, device_id;
    char driver[16]; // "" when none took it
};

// ---- app ----
struct module_info {
    char name[64]; // last part of the module's path
    const void *data;
    u64 len;
};

enum { APP_FLAT = 1 }; // app_run flag: not ELF, run from the first byte

// ---- system ----
struct sys_info {
    char version[32];
    char loader[32]; // who loaded the kernel
    char command_line[256];
    u64 kernel_phys;  // where the kernel lies
    u64 kernel_bytes; // loaded size
    u32 log_lost;     // log lines overwritten
    u32 modules;
};

// CALL(group, result, name, parameters, text)
// clang-format off
#define INGOT_CALLS(CALL) \
    CALL(console, i64, con_write, (const void *text, u64 len), \
        "Write len bytes to every console. Returns len.") \
    CALL(console, i64, con_read, (void *text, u64 cap, i64 wait_ns), \
        "Read what was typed: at least one byte and at most cap. Waits wait_ns nanoseconds (0: not at all, -1: for ever). Returns the bytes read, 0 when none came. E_ARG: cap is 0.") \
    CALL(net, int, net_rx, (u32 nic, struct net_frame *frame), \
        "Take the next frame off a NIC's ring, without a copy: frame->data stays valid until the next receive on this NIC. Returns 1, or 0 when the ring is empty. E_NODEV: no such NIC. E_GONE: the device was removed. E_BUSY: another core is in a call on this NIC, which is the program's error.") \
    CALL(net, int, net_rx_burst, (u32 nic, struct net_frame *frames, u32 n), \
        "Take up to n frames (at most half the ring) as net_rx does; all stay valid until the next receive on this NIC. Returns how many. E_NODEV, E_GONE, E_BUSY; E_ARG: n is 0.") \
    CALL(net, int, net_tx, (u32 nic, const void *data, u64 len), \
        "Queue one frame (14 to max_frame bytes, without FCS); shorter than 60 is padded with zeros. The frame is copied: data is the caller's again on return. Returns 1. E_NODEV, E_SIZE, E_LINK, E_GONE, E_BUSY; E_AGAIN: the ring is full.") \
    CALL(net, int, net_tx_burst, (u32 nic, const struct net_frame *frames, u32 n), \
        "Queue up to n frames as net_tx does, telling the device once. Returns how many were queued, in order; an error only when the first was refused: errors as net_tx.") \
    CALL(net, const struct net_poll *, net_poll, (u32 nic), \
        "The NIC's poll word, kept current by the driver: the ring is empty exactly while (*word & mask) == idle. Null: no such NIC.") \
    CALL(net, int, net_info, (u32 nic, struct net_info *info), \
        "Describe a NIC: MAC, link, counters. NICs are numbered from 0 by PCI address. E_NODEV: no such NIC. E_BUSY: as net_rx.") \
    CALL(disk, i64, disk_read, (u32 disk, u64 block, u64 n, void *buf), \
        "Read n blocks of 4096 bytes straight into buf (4-byte aligned). Returns n. E_ARG: n is 0 or buf is not aligned. E_NODEV; E_RANGE: past the end of the disk; E_FAULT: buf is not writable memory; E_IO, E_TIMEOUT: see disk_info's error_block, buf may be partly written.") \
    CALL(disk, i64, disk_write, (u32 disk, u64 block, u64 n, const void *buf), \
        "Write n blocks of 4096 bytes from buf and flush the device's cache. Errors as disk_read; E_UNSUPPORTED: it is write-protected.") \
    CALL(disk, int, disk_info, (u32 disk, struct disk_info *info), \
        "Describe a disk. Disks are numbered from 0. E_NODEV: no such disk.") \
    CALL(memory, int, mem_alloc, (u64 bytes, u32 flags, void **memory), \
        "Allocate physically contiguous memory, rounded up to 4 KiB (MEM_2M: aligned to 2 MiB). Virtual address = physical address. Goes back when the program ends. E_ARG: bytes is 0 or a flag is unknown. E_NOMEM.") \
    CALL(memory, int, mem_free, (void *memory, u64 bytes), \
        "Give back what mem_alloc gave: all of it, or any whole pages of it. E_ARG: not memory of this program.") \
    CALL(memory, int, mem_phys, (const void *address, struct mem_page *page), \
        "What a virtual address stands for: physical address, page size, permissions. E_FAULT: nothing is mapped there.") \
    CALL(memory, int, mem_info, (struct mem_info *info), \
        "How much memory there is. Returns 0.") \
    CALL(memory, int, mem_region, (u32 index, struct mem_region *region), \
        "Entry index of the firmware's memory map, sorted by address. E_RANGE: no such entry.") \
    CALL(memory, int, mmio_map, (u64 phys, u64 bytes, void **address), \
        "Make device registers at phys readable and writable, uncached, at the same virtual address. E_ARG: not canonical, bytes is 0, or RAM.") \
    CALL(time, u64, time_ns, (void), \
        "Nanoseconds since the kernel started, never going back. 0 when the machine has no clock.") \
    CALL(time, int, time_info, (struct time_info *info), \
        "The clock: TSC frequency, what it was measured against, wall-clock time. Returns 0.") \
    CALL(cpu, int, cpu_count, (void), \
        "How many cores Ingot has started.") \
    CALL(cpu, int, cpu_info, (struct cpu_info *info), \
        "Describe the processor and the calling core. Returns 0.") \
    CALL(pci, int, pci_info, (u32 index, struct pci_info *info), \
        "Describe PCI function number index, in the order of their addresses. E_RANGE: no such function.") \
    CALL(pci, int, pci_read, (u32 index, u32 offset, u32 *value), \
        "Read 32 bits of configuration space of function number index. E_RANGE, E_ARG: offset is not a multiple of 4 or past the space.") \
    CALL(pci, int, pci_write, (u32 index, u32 offset, u32 value), \
        "Write 32 bits of configuration space. Errors as pci_read.") \
    CALL(app, int, app_run, (const void *image, u64 len, u32 flags, int argc, const char *const *argv), \
        "Load a program into the window, run it, take back all it held, and return its exit status (>= 0). An ELF64 image is loaded by its program headers; APP_FLAT: the bytes are copied to the window and called. E_FORMAT: the log says what is wrong with the image. E_NOMEM; E_BUSY: a program is running already; E_CRASHED, E_STOPPED.") \
    CALL(app, int, app_exit, (int status), \
        "End this program now, from any depth, as if main had returned status (negative counts as failure 255). Does not return.") \
    CALL(app, int, app_module, (u32 index, struct module_info *info), \
        "Describe boot module number index; its bytes are readable at info->data. E_RANGE: no such module.") \
    CALL(system, int, sys_info, (struct sys_info *info), \
        "Version, loader, kernel command line. Returns 0.") \
    CALL(system, i64, sys_log, (u64 position, char *text, u64 cap), \
        "Copy kernel log text from position (0: the oldest kept) into text; returns the bytes copied, 0 at the end. E_ARG: cap is 0.") \
    CALL(system, const char *, sys_error, (int error), \
        "The text of an E_* value; \"unknown error\" for any other.") \
    CALL(system, int, sys_reboot, (void), \
        "Reset the machine. Returns only when every known way failed: E_UNSUPPORTED.") \
    CALL(system, int, sys_shutdown, (void), \
        "Power the machine off. Returns only when every known way failed: E_UNSUPPORTED.") \
    CALL(system, int, sys_null, (void), \
        "Do nothing and return 0: what a call costs.") \
    CALL(system, int, sys_ready, (void), \
        "The shell's word that the prompt is up: stamps boot_ns, once. Returns 0.") \
    CALL(cpu, int, cpu_id, (void), \
        "Index of the calling core: 0 to cpu_count() - 1.") \
    CALL(cpu, int, cpu_start, (u32 cpu, void (*fn)(void *), void *arg), \
        "Run fn(arg) on another core, on a stack of 60 KiB, and return at once. Memory written before is visible to fn. E_RANGE: no such core. E_ARG: fn is null or it is the calling core. E_BUSY: core 0, or it is running something.") \
    CALL(cpu, int, cpu_wait, (u32 cpu), \
        "Wait until what cpu_start sent to a core has returned; what it wrote is visible then. Returns 0. E_RANGE: no such core. E_ARG: core 0 or the calling core.") \
    CALL(cpu, int, cpu_busy, (u32 cpu), \
        "1 while a core runs something (core 0 always does), else 0. E_RANGE: no such core.") \
    CALL(net, int, net_set, (u32 nic, u32 setting, u64 value), \
        "Change a NIC (enum net_setting); frames in its rings are lost when a ring or the frame limit changes. Goes back when the program ends. Returns 0. E_NODEV, E_GONE; E_ARG: no such setting or value; E_UNSUPPORTED: this device cannot; E_BUSY: another core is at it; E_NOMEM, E_TIMEOUT: it is as it was.") \
    CALL(hook, int, hook_timer, (u64 first_ns, u64 period_ns, void (*fn)(void *), void *arg), \
        "Call fn(arg) on the calling core first_ns nanoseconds from now, then every period_ns (0: once), by interrupt and on a stack of its own. Returns a hook's number. Gone when the program ends. E_ARG: fn is null; E_NODEV: no timer; E_NOMEM: too many hooks.") \
    CALL(hook, int, hook_net, (u32 nic, void (*fn)(void *), void *arg), \
        "Call fn(arg) on the calling core, by interrupt, when frames have come to a NIC whose ring was empty; receive until it is. E_ARG, E_NODEV; E_UNSUPPORTED: this NIC cannot interrupt; E_BUSY: it has a hook, or another core is at it; E_NOMEM.") \
    CALL(hook, int, hook_irq, (u32 index, u32 entry, void (*fn)(void *), void *arg), \
        "Call fn(arg) on the calling core when PCI function number index signals MSI-X entry `entry` (entry 0 of MSI where it has no MSI-X). E_ARG; E_RANGE: no such function or entry; E_UNSUPPORTED: it has neither; E_BUSY: a driver or a hook has it; E_NOMEM.") \
    CALL(hook, int, hook_remove, (u32 hook), \
        "End a hook. E_RANGE: no such hook.") \
    CALL(screen, int, screen_info, (struct screen_info *info), \
        "Describe the framebuffer. E_NODEV: there is none.") \
    CALL(screen, int, screen_claim, (int on), \
        "1: the screen is the program's, console text stays off it; 0: text again, as it was. Text again when the program ends. E_NODEV: there is no screen.") \
    CALL(console, int, con_info, (struct con_info *info), \
        "Describe the consoles: whether a person sits before them. Returns 0.")
// clang-format on

#define INGOT_CALL_MEMBER(group, result, name, parameters, text)               \
    result(*name) parameters;

struct ingot {
    u32 version; // INGOT_VERSION
    u32 count;   // calls that follow
    INGOT_CALLS(INGOT_CALL_MEMBER)
};

#ifndef INGOT_KERNEL
// The call table, at its fixed address: os->time_ns().
#define os ((const struct ingot *)INGOT_TABLE)
#endif
