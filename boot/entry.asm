; entry.asm - from the loader's 32-bit world to kmain() in long mode.
; SPDX-License-Identifier: MIT
;
; Two doors: Multiboot2 (GRUB, BIOS and UEFI) and PVH (qemu -kernel). Both arrive
; in 32-bit protected mode without paging, EBX pointing at what the loader tells.
; The loader chose where the image lies, so the code finds itself first. Until
; kmain() has copied the boot information nothing is written but the image's own
; .bss (and, for four instructions, one word of the information block).

MULTIBOOT2_MAGIC equ 0xE85250D6
MULTIBOOT2_LOADED equ 0x36D76289
BOOT_MULTIBOOT2 equ 1           ; first argument of kmain()
BOOT_PVH equ 2
BOOT_STACK_BYTES equ 8192
PRESENT_WRITE equ 3
LARGE equ 0x80
COM1 equ 0x3F8

; The physical address the linker had in mind: symbol - 0xFFFFFFFF80000000.
%define LINKED(symbol) (symbol + 0x80000000)
; Where it really is; EBP holds the distance.
%define AT(symbol) ebp + LINKED(symbol)

extern kmain, kernel_start, kernel_end
global start_multiboot2, boot_tsc, boot_tables, boot_tables_end, boot_table_high

section .boot progbits alloc exec nowrite align=8
multiboot2_header:
    dd MULTIBOOT2_MAGIC
    dd 0                                        ; i386, 32-bit protected mode
    dd multiboot2_end - multiboot2_header
    dd -(MULTIBOOT2_MAGIC + (multiboot2_end - multiboot2_header))
    align 8
    dw 5, 1                                     ; framebuffer, optional:
    dd 20, 0, 0, 32                             ; any size, 32 bits
    align 8
    dw 6, 0                                     ; modules start on a page
    dd 8
    align 8
    dw 10, 0                                    ; relocatable: range,
    dd 24, 0x100000, 0xFFFFFFFF, 4096, 1        ; alignment, lowest first
    align 8
    dw 0, 0                                     ; end
    dd 8
multiboot2_end:

bits 32
start_multiboot2:
    cmp eax, MULTIBOOT2_LOADED
    jne die
    mov edi, BOOT_MULTIBOOT2
    jmp find_myself
start_pvh:
    mov edi, BOOT_PVH

; Neither loader promises a stack, so the call borrows the word at EBX + 4.
find_myself:
    cli
    cld
    rdtsc
    mov esi, eax                    ; EDX:ESI = TSC at the first instruction
    lea esp, [ebx + 8]
    mov ecx, [ebx + 4]
    call .here
.here:
    pop ebp
    mov [ebx + 4], ecx
    sub ebp, LINKED(.here)
    lea esp, [AT(boot_stack_end)]
    mov [AT(boot_tsc)], esi
    mov [AT(boot_tsc) + 4], edx

    mov [AT(saved_info)], ebx
    mov [AT(saved_kind)], edi
    call check_long_mode
    call build_tables
    jmp enter_long_mode

; CPUID 80000001h EDX: 29 long mode, 20 no-execute.
check_long_mode:
    mov eax, 0x80000000
    cpuid
    cmp eax, 0x80000001
    jb .no
    mov eax, 0x80000001
    cpuid
    bt edx, 29
    jnc .no
    bt edx, 20
    jnc .no
    ret
.no:
    lea esi, [AT(no_long_mode)]
.next:
    lodsb
    test al, al
    jz die
    mov dx, COM1
    out dx, al
    jmp .next
die:
    cli
    hlt
    jmp die

; Identity map of two pieces of 1 GiB by 2 MiB pages: the first, and the one that
; holds the loader's information (often the same); and the image at its linked
; address by 4 KiB pages. paging_init() replaces all of it.
build_tables:
    mov ebx, [AT(saved_info)]       ; CPUID took it
    lea edi, [AT(table_first)]
    xor eax, eax
    call fill_directory
    mov [AT(table_pdpt)], ecx
    lea edi, [AT(table_info)]
    mov eax, ebx
    and eax, 0xC0000000
    call fill_directory
    mov eax, ebx
    shr eax, 30
    jz .image_table
    mov [AT(table_pdpt) + eax * 8], ecx
.image_table:
    lea eax, [AT(kernel_start) + PRESENT_WRITE]
    lea edi, [AT(table_image)]
    mov ecx, LINKED(kernel_end)
    sub ecx, LINKED(kernel_start)
    shr ecx, 12
.image:
    mov [edi], eax
    add edi, 8
    add eax, 4096
    loop .image

    lea eax, [AT(table_image) + PRESENT_WRITE]
    mov [AT(boot_table_high) + 8], eax           ; 2 MiB into the last 2 GiB
    lea eax, [AT(boot_table_high) + PRESENT_WRITE]
    mov [AT(table_pdpt) + 510 * 8], eax
    lea eax, [AT(table_pdpt) + PRESENT_WRITE]
    mov [AT(table_pml4)], eax               ; one table serves both ends: its
    mov [AT(table_pml4) + 511 * 8], eax     ; slots do not collide
    ret

; The directory at EDI maps 1 GiB from EAX on; ECX becomes its entry.
fill_directory:
    lea edx, [edi + PRESENT_WRITE]
    or eax, PRESENT_WRITE | LARGE
    mov ecx, 512
.next:
    mov [edi], eax
    add edi, 8
    add eax, 0x200000
    loop .next
    mov ecx, edx
    ret

enter_long_mode:
    lea eax, [AT(table_pml4)]
    mov cr3, eax
    mov eax, 1 << 5 | 1 << 9 | 1 << 10      ; PAE, OSFXSR, OSXMMEXCPT
    mov cr4, eax
    mov ecx, 0xC0000080                     ; EFER: LME, NXE
    rdmsr
    or eax, 1 << 8 | 1 << 11
    wrmsr
    mov eax, 1 << 31 | 1 << 16 | 1 << 5 | 1 << 1 | 1 ; PG WP NE MP PE
    mov cr0, eax
    lea eax, [AT(boot_gdt)]
    mov [AT(boot_gdt_pointer) + 2], eax
    lgdt [AT(boot_gdt_pointer)]
    lea eax, [AT(long_mode)]
    push dword 8
    push eax
    retf

bits 64
long_mode:
    mov eax, 16
    mov ss, eax
    mov ds, eax
    mov es, eax
    xor eax, eax
    mov fs, eax
    mov gs, eax
    mov rax, high_half
    jmp rax
high_half:
    mov rsp, boot_stack_end
    mov edi, [saved_kind]
    mov esi, [saved_info]
    mov edx, ebp
    add edx, LINKED(kernel_start)   ; where the image lies
    xor ebp, ebp
    call kmain
.halt:
    cli
    hlt
    jmp .halt

; Xen's note that tells PVH loaders the 32-bit entry (type 18).
section .note.pvh note alloc noexec nowrite align=4
    dd 4, 4, 18
    db "Xen", 0
    dd LINKED(start_pvh)

section .rodata
no_long_mode: db "Ingot needs a 64-bit processor with NX", 13, 10, 0

section .data
align 8
boot_gdt:
    dq 0
    dq 0x00AF9A000000FFFF           ; 64-bit code
    dq 0x00CF92000000FFFF           ; data
boot_gdt_pointer:
    dw boot_gdt_pointer - boot_gdt - 1
    dq 0

; These pages come first in .bss (linker.ld) and join free memory later.
section .bss.pages nobits alloc noexec write align=4096
boot_tables:
table_pml4: resb 4096
table_pdpt: resb 4096
table_first: resb 4096
table_info: resb 4096
boot_table_high: resb 4096
table_image: resb 4096
boot_tables_end:

section .bss nobits alloc noexec write align=16
boot_stack: resb BOOT_STACK_BYTES
boot_stack_end:
boot_tsc: resq 1
saved_info: resd 1
saved_kind: resd 1
