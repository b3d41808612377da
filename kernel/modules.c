// modules.c - boot modules that lie where virtual addresses mean something else
// are moved, so that a program can read every module at its physical address.
// SPDX-License-Identifier: MIT
#include "modules.h"
#include "../lib/string.h"
#include "memory.h"

#define LOG_TAG "modules"
#include "log.h"

#define EARLY_REACH BIT(30) // what the boot tables certainly show

// Page 0 is never mapped; the page at INGOT_TABLE shows the call tables.
static int module_is_hidden(const struct boot_module *module)
{
    u64 table = align_down(INGOT_TABLE, PAGE), end = module->phys + module->len;
    return module->len > 0 && (module->phys < PAGE ||
                               (module->phys < table + PAGE && end > table));
}

void modules_settle(struct boot_info *info)
{
    for (u32 i = 0; i < info->n_modules; i++) {
        struct boot_module *module = &info->modules[i];
        if (!module_is_hidden(module)) {
            continue;
        }
        u64 to = (u64)memory_boot_buffer(module->len, PAGE);
        if (to == 0 || to + module->len > EARLY_REACH) {
            log_error("no room to move %s to", module->name);
            module->len = 0;
            continue;
        }
        memcpy((void *)to, (const void *)module->phys, module->len);
        module->phys = to;
    }
}
