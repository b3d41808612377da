; shell_image.asm - the shell's ELF file, carried inside the kernel.
; SPDX-License-Identifier: MIT
global shell_image, shell_image_end
section .rodata
align 16
shell_image: incbin "shell.elf"
shell_image_end:
