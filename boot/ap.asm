; ap.asm - how another core comes from its start-up interrupt to C.
; SPDX-License-Identifier: MIT
;
; smp.c copies these bytes to a page below 1 MiB, fills the parameters at their
; end and sends the core there (Intel SDM volume 3, 8.4). The code may run at any
; page: EBX holds the place, and every address is reached through it.

CODE32 equ 0x08
DATA equ 0x10
CODE64 equ 0x18
%define HERE(label) (label - ap_code)

global ap_code, ap_parameters, ap_code_end

section .rodata
align 16
bits 16
ap_code:
    cli
    cld
    xor ebx, ebx
    mov bx, cs
    mov ds, bx
    shl ebx, 4
    lea eax, [ebx + HERE(gdt)]
    mov [HERE(gdt_pointer) + 2], eax
    lea eax, [ebx + HERE(protected)]
    mov [HERE(to_protected)], eax
    lea eax, [ebx + HERE(long_mode)]
    mov [HERE(to_long)], eax
    o32 lgdt [HERE(gdt_pointer)]
    mov eax, cr0
    or al, 1
    mov cr0, eax
    jmp far dword [HERE(to_protected)]

bits 32
protected:
    mov eax, DATA
    mov ds, eax
    mov ss, eax
    mov es, eax
    mov eax, 1 << 5 | 1 << 9 | 1 << 10      ; PAE, OSFXSR, OSXMMEXCPT
    mov cr4, eax
    mov eax, [ebx + HERE(ap_parameters)]    ; CR3
    mov cr3, eax
    mov ecx, 0xC0000080                     ; EFER: LME, NXE
    rdmsr
    or eax, 1 << 8 | 1 << 11
    wrmsr
    mov eax, 1 << 31 | 1 << 16 | 1 << 5 | 1 << 1 | 1 ; PG WP NE MP PE
    mov cr0, eax
    jmp far [ebx + HERE(to_long)]

bits 64
long_mode:
    mov ebx, ebx
    xor edi, edi                ; one core for one set of parameters: who comes
    xchg rdi, [rbx + HERE(ap_parameters) + 24] ; late, or twice, finds none
    test rdi, rdi
    jz late
    mov rsp, [rbx + HERE(ap_parameters) + 16]
    mov rax, [rbx + HERE(ap_parameters) + 8]
    xor ebp, ebp
    call rax
late:
    cli
    hlt
    jmp late

align 8
gdt:
    dq 0
    dq 0x00CF9A000000FFFF
    dq 0x00CF92000000FFFF
    dq 0x00AF9A000000FFFF
gdt_pointer:
    dw gdt_pointer - gdt - 1
    dd 0
to_protected:
    dd 0
    dw CODE32
to_long:
    dd 0
    dw CODE64
align 8
ap_parameters:
    dq 0, 0, 0, 0               ; CR3, entry, stack, argument: struct ap_parameters
ap_code_end:
