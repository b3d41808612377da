// hook_device.h - hooks of devices: the interrupt of a NIC, or of any function.
// SPDX-License-Identifier: MIT
#pragma once
#include "core.h"
#include "nic.h"

enum { HOOKS = 32 };
enum hook_kind { HOOK_FREE, HOOK_TAKEN, HOOK_TIMER, HOOK_NET, HOOK_IRQ };

struct hook {
    u32 kind;
    u32 number; // that the program knows it by
    u32 core;
    void (*fn)(void *);
    void *arg;
    u64 due, ideal, period; // timers, TSC: armed for; without delays; 0: once
    struct nic *nic;
    const struct pci_device *pci;
    u32 entry;
    u8 vector; // 0: none
    u64 mask;  // address of the MSI-X entry's mask; 0: it has none
};

// Take a vector and make the device send it here. E_BUSY, E_UNSUPPORTED, ..
int must_check hook_device_start(struct hook *hook, enum hook_kind kind);
void hook_device_stop(struct hook *hook);
void hook_device_again(struct hook *hook); // its function has returned
// Hooks are about to be called: devices that were told to wait may speak.
void hook_device_listen(struct core *core);

// hook.c: this one is due on this core. Returns 1 when it was already.
int hook_note(const struct hook *hook);
// 1 when another device's hook is the same as this one.
int hook_is_taken(int (*is_same)(const struct hook *, const struct hook *),
                  const struct hook *like);
