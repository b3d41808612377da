// baremetal.h - the C side of BareMetal's entries (baremetal.asm).
// SPDX-License-Identifier: MIT
#pragma once
#include "../include/ingot.h"

// The entries of the table at INGOT_BAREMETAL_TABLE. Their arguments are in
// registers of BareMetal's choice: only their addresses mean something in C.
void bm_input(void);
void bm_output(void);
void bm_net_tx(void);
void bm_net_rx(void);
void bm_nvs_read(void);
void bm_nvs_write(void);
void bm_system(void);
void bm_user(void);

// A typed character in BareMetal's coding, 0 when there is none.
u8 baremetal_key(void);
// b_system: RCX, RAX, RDX in, the new RAX out; a itself when function is none.
u64 baremetal_system(u64 function, u64 a, u64 d);
