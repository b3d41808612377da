# Makefile - build, run and test Ingot. `make help` lists what there is.
# SPDX-License-Identifier: MIT
CC ?= gcc
ifeq ($(origin CC),default)
CC := gcc
endif
LD := ld
NASM := nasm
PYTHON := /usr/bin/python3
B := build

WARN := -Wall -Wextra -Werror -Wconversion -Wshadow -Wstrict-prototypes \
  -Wmissing-prototypes -Wcast-qual -Wpointer-arith -Wwrite-strings -Wundef \
  -Wvla -Wformat=2 -Wframe-larger-than=1024
BASE := -std=gnu11 -g -O2 $(WARN) -ffreestanding -fno-stack-protector \
  -fcf-protection=none -fno-asynchronous-unwind-tables -fno-common \
  -ffunction-sections -fdata-sections -MMD -MP
KFLAGS := $(BASE) -DINGOT_KERNEL -mgeneral-regs-only -mno-red-zone -fno-pic \
  -mcmodel=kernel
AFLAGS := $(BASE) -fpie -mno-red-zone -fno-omit-frame-pointer

# Sources, in reading order: power-on to shell.
KERNEL_ASM := $(wildcard boot/*.asm kernel/*.asm)
KERNEL_C := $(wildcard boot/*.c kernel/*.c drivers/*.c lib/*.c)
LIB_C := $(wildcard apps/lib/*.c lib/*.c)
SHELL_C := $(wildcard apps/shell/*.c)
APPS_C := $(wildcard apps/*.c)
APPS_ASM := $(wildcard apps/asm/*.asm)
TEST_APPS_C := $(wildcard tests/apps/*.c)
TEST_APPS_ASM := $(wildcard tests/apps/*.asm)

KERNEL_OBJ := $(KERNEL_ASM:%.asm=$(B)/kernel/%.asm.o) $(KERNEL_C:%.c=$(B)/kernel/%.o)
LIB_OBJ := $(LIB_C:%.c=$(B)/app/%.o)
SHELL_OBJ := $(SHELL_C:%.c=$(B)/app/%.o)
APPS := $(APPS_C:apps/%.c=$(B)/apps/%.app) $(APPS_ASM:apps/asm/%.asm=$(B)/apps/%-asm.app)

$(B)/ingot.elf: $(KERNEL_OBJ) linker.ld
	$(LD) -nostdlib -static --gc-sections -z max-page-size=4096 -T linker.ld -o $@ $(KERNEL_OBJ)

$(B)/kernel/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(KFLAGS) -c $< -o $@
$(B)/kernel/%.asm.o: %.asm Makefile
	@mkdir -p $(@D)
	$(NASM) -f elf64 -g -F dwarf -MD $@.d -i include/ -o $@ $<
$(B)/app/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(AFLAGS) -c $< -o $@

-include $(shell find $(B) -name '*.d' 2>/dev/null)
