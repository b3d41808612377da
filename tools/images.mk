# images.mk - what boots: a disk image, a CD, the formats of other virtual
# machines, and the stick.
# SPDX-License-Identifier: MIT
.PHONY: image iso qcow2 vmdk vdi usb
image: $(B)/ingot.img ## one bootable disk image: build/ingot.img
iso: $(B)/ingot.iso ## a CD image, good for a stick too: build/ingot.iso
qcow2: $(B)/ingot.qcow2 ## the image for QEMU: build/ingot.qcow2
vmdk: $(B)/ingot.vmdk ## the image for VMware: build/ingot.vmdk
vdi: $(B)/ingot.vdi ## the image for VirtualBox: build/ingot.vdi
usb: ## write a USB stick: DEV=/dev/sdX; shows it and asks first
	@$(if $(DEV),$(MAKE) --no-print-directory image,:)
	@tools/usb $(DEV)

$(B)/ingot.img: $(B)/ingot.elf $(APPS) tools/mkimage.py tools/fat32.py tools/bmfs.py boot/grub.cfg
	@echo "  IMG  $@"
	@$(PYTHON) tools/mkimage.py --kernel $(B)/ingot.elf --out $@ $(APPS)
$(B)/ingot.iso: $(B)/ingot.elf $(APPS) tools/mkiso.py tools/mkimage.py tools/bmfs.py boot/grub.cfg
	@tools/setup
	@echo "  ISO  $@"
	@$(PYTHON) tools/mkiso.py --kernel $(B)/ingot.elf --out $@ $(APPS)
$(B)/ingot.qcow2 $(B)/ingot.vmdk $(B)/ingot.vdi: $(B)/ingot.%: $(B)/ingot.img
	@tools/setup
	@echo "  IMG  $@"
	@qemu-img convert -f raw -O $* $< $@.tmp && mv $@.tmp $@
