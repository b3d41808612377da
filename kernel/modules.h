// modules.h - boot modules, readable at their physical addresses.
// SPDX-License-Identifier: MIT
#pragma once
#include "../boot/boot_info.h"

// Between memory_init() and paging_init(): move modules out of the pages whose
// virtual addresses are taken. One that cannot be moved is emptied, with a log
// line.
void modules_settle(struct boot_info *info);
