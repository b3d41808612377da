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
LIB_OBJ := $(B)/app/apps/start.o $(LIB_C:%.c=$(B)/app/%.o)
SHELL_OBJ := $(SHELL_C:%.c=$(B)/app/%.o)
APPS := $(patsubst apps/%.c,$(B)/apps/%.app,$(filter-out apps/start.c,$(APPS_C))) \
  $(APPS_ASM:apps/asm/%.asm=$(B)/apps/%-asm.app)
TEST_APPS := $(TEST_APPS_C:tests/apps/%.c=$(B)/tests/%.app) \
  $(TEST_APPS_ASM:tests/apps/%.asm=$(B)/tests/%.app)
LINK_APP := $(LD) -nostdlib -static --no-relax --gc-sections -z max-page-size=4096 -z noexecstack

.PHONY: all kernel image apps
.SECONDARY:
all: kernel
kernel: $(B)/ingot.elf ## the kernel: build/ingot.elf
apps: $(APPS) $(TEST_APPS) $(B)/linux/raytrace ## the programs: build/apps/*.app

# What programs call in their loops is compiled for speed; the rest runs once, or
# only when something went wrong, and is compiled for size.
HOT := drivers/intel_ring.% drivers/virtio_net.% kernel/nic.% lib/string.%
$(filter-out $(HOT:%=$(B)/kernel/%),$(KERNEL_OBJ)): SIZE := -Os
$(B)/ingot.elf: $(KERNEL_OBJ) linker.ld
	@echo "  LD   $@"
	@$(LD) -nostdlib -static --gc-sections -z max-page-size=4096 -z noexecstack \
	  -T linker.ld -o $@ $(KERNEL_OBJ)
# The shell travels in the kernel image: small counts more than fast, and -n keeps
# the file free of page padding.
$(SHELL_OBJ): SIZE := -Os
$(B)/shell.elf: $(SHELL_OBJ) $(LIB_OBJ) apps/app.ld apps/shell/shell.ld
	@echo "  LD   $@"
	@$(LINK_APP) -n -s -T apps/shell/shell.ld -o $@ $(SHELL_OBJ) $(LIB_OBJ)
$(B)/kernel/kernel/shell_image.asm.o: $(B)/shell.elf

# A program is apps/NAME.c and, when there is one, the folder apps/NAME/.
.SECONDEXPANSION:
$(B)/apps/%.app: $(B)/app/apps/%.o $$(addprefix $(B)/app/,$$(subst .c,.o,$$(wildcard apps/$$*/*.c))) $(LIB_OBJ) apps/app.ld
	@mkdir -p $(@D)
	@echo "  LD   $@"
	@$(LINK_APP) -T apps/app.ld -o $@ $(filter %.o,$^)
$(B)/apps/%-asm.app: apps/asm/%.asm $(wildcard apps/asm/*.inc) include/ingot.inc
	@mkdir -p $(@D)
	@echo "  NASM $<"
	@$(NASM) -f bin -i include/ -i apps/asm/ -o $@ $<
# Where code lies swings a tracer's time by a fifth: start its loops evenly.
$(B)/app/apps/raytrace/%.o: SIZE := -falign-functions=64 -falign-loops=32
# The tracer on Linux: the very object file that the program on Ingot is made of.
$(B)/linux/raytrace: tools/bench/raytrace_linux.c $(B)/app/apps/raytrace/render.o
	@mkdir -p $(@D)
	@echo "  CC   $@"
	@$(CC) -std=gnu11 -O2 $(WARN) -pie -o $@ $^
$(B)/tests/%.app: $(B)/app/tests/apps/%.o $(LIB_OBJ) apps/app.ld
	@mkdir -p $(@D)
	@echo "  LD   $@"
	@$(LINK_APP) -T apps/app.ld -o $@ $(filter %.o,$^)
$(B)/tests/%.app: tests/apps/%.asm include/ingot.inc
	@mkdir -p $(@D)
	@echo "  NASM $<"
	@$(NASM) -f bin -i include/ -i apps/asm/ -o $@ $<

include tools/images.mk
include tests/models/Makefile
include tools/bench/Makefile
.PHONY: models
models: $(B)/models/x540 ## what stands in for hardware: build/models/x540

$(B)/kernel/%.o: %.c Makefile
	@mkdir -p $(@D)
	@echo "  CC   $<"
	@$(CC) $(KFLAGS) $(SIZE) -c $< -o $@
$(B)/kernel/%.asm.o: %.asm Makefile
	@mkdir -p $(@D)
	@echo "  NASM $<"
	@$(NASM) -f elf64 -g -F dwarf -MD $@.d -i include/ -i $(B)/ -o $@ $<
$(B)/app/%.o: %.c Makefile
	@mkdir -p $(@D)
	@echo "  CC   $< (app)"
	@$(CC) $(AFLAGS) $(SIZE) -c $< -o $@

-include $(shell find $(B) -name '*.d' 2>/dev/null)

# ---- running and testing ----
.PHONY: setup run debug test check deaths fuzz soak help clean
setup: ## install what building and testing takes
	@tools/setup
run: ## the shell in this terminal, Ctrl-A X quits; VM="--mem 64 --boot uefi"
	@tools/setup
	@$(MAKE) image
	@tools/vm $(VM)
debug: ## QEMU waiting at the first instruction, gdb with the kernel's symbols
	@tools/setup
	@$(MAKE) image
	@tools/vm --gdb $(VM) </dev/null & \
	 trap "kill $$! 2>/dev/null" EXIT; \
	 gdb -q $(B)/ingot.elf -iex "set tcp connect-timeout 20" \
	   -ex "target remote :1234" $(GDB)
test: ## build and run every test; T="host qemu" chooses stages
	@tools/setup
	@$(PYTHON) tests/run.py $(T)
check: ## the gates for the source alone (they are part of test)
	@tools/setup
	@$(if $(filter test,$(MAKECMDGOALS)),:,$(PYTHON) tools/check.py $(GATES))
deaths: image apps ## programs die a thousand times, in every way
	@$(PYTHON) tests/deaths.py
soak: models image ## a minute of echo under flood for every kind of NIC, and a million frames
	@$(PYTHON) tests/soak.py
fuzz: ## every fuzz target for a minute
	@tools/setup
	@$(PYTHON) tests/run.py --fuzz-seconds 60 fuzz
clean: ## forget everything built
	@rm -rf $(B)
help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):[^#]*## /\1\t/p' Makefile tools/images.mk tools/bench/Makefile | expand -t 9
print-%: # a variable's value, for tools/check.py
	@echo '$($*)'
