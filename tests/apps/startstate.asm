; startstate.asm - the processor's state as this program, and a function on every
; other core, find it: startstate [leave | die | die-there]. SPDX-License-Identifier: MIT
;
; One line a core, "state core=N NAME=VALUE ...", in decimal. Then `leave` spoils
; what it can on all cores and returns; `die` does the same and ends in an
; exception on this core, `die-there` on core 1.
bits 64
org 0xFFFF800000000000
%include "ingot.inc"
    jmp start
%include "print.inc"

; The record of a core: one word each.
%assign fields 0
%macro field 1
%1_ equ fields * 8
%assign fields fields + 1
%endmacro
%macro each_field 1
    %1 arg
    %1 argv
    %1 rbp
    %1 stack
    %1 flags
    %1 mxcsr
    %1 x87_control
    %1 x87_status
    %1 x87_tags
    %1 upper
    %1 fs_base
    %1 gs_is_self
    %1 cs
    %1 ss
    %1 ds
    %1 es
    %1 cr0
    %1 cr3
    %1 cr4
    %1 cr8
    %1 dr7
    %1 efer
    %1 pat
    %1 xcr0
    %1 idt
    %1 idt_limit
    %1 gdt_limit
    %1 apic_mode
%endmacro
each_field field
RECORD equ 512 ; room for an x87 environment behind the fields
SCRATCH equ RECORD - 64

MSR_APIC_BASE equ 0x1B
MSR_PAT equ 0x277
MSR_EFER equ 0xC0000080
MSR_FS_BASE equ 0xC0000100
MSR_GS_BASE equ 0xC0000101

%macro msr 2 ; number, field
    mov ecx, %1
    rdmsr
    mov [rdi + %2], eax
    mov [rdi + %2 + 4], edx
%endmacro
%macro msr_set 2 ; number, value
    mov ecx, %1
    mov eax, %2 & 0xFFFFFFFF
    mov edx, %2 >> 32
    wrmsr
%endmacro
%macro print_field 1
    %defstr name %1
    print " ", name, "="
    mov rax, [rbx + %1_]
    call print_decimal
%endmacro

start: ; JMP, MOV, LEA and CALL leave the flags alone
    mov [rel records + arg_], rdi
    lea rdi, [rel records]
    call capture
    mov rdi, [rel records + arg_]
    cmp edi, 2
    jb .chosen
    mov rax, [rsi + 8]
    mov eax, [rax]
    mov [rel way], eax ; leav, die, die-
.chosen:
    push rbp
    mov rbp, rsp
    and rsp, -16
    call [abs INGOT_CPU_COUNT]
    mov [rel cores], eax
    mov ebx, 1
.next:
    cmp ebx, [rel cores]
    jae .print
    mov edi, ebx
    lea rsi, [rel worker]
    imul edx, ebx, RECORD
    lea rax, [rel records]
    add rdx, rax
    call [abs INGOT_CPU_START]
    mov edi, ebx
    call [abs INGOT_CPU_WAIT]
    inc ebx
    jmp .next
.print:
    call print_all
    mov rsp, rbp
    pop rbp
    lea rdi, [rel records]
    mov eax, "die"
    jmp end

worker: ; RDI: its record
    mov [rdi + arg_], rdi
    call capture
    lea rax, [rel records + RECORD]
    cmp rdi, rax ; core 1
    mov eax, "die-"
    je end
    xor eax, eax
end: ; RDI: this core's record, EAX: the way that makes this core die
    cmp dword [rel way], 0
    je .return
    cmp eax, [rel way]
    jne leave_spoilt
    jmp die_spoilt
.return:
    xor eax, eax
    ret

capture: ; RDI: the record
    pushfq
    pop qword [rdi + flags_]
    mov [rdi + argv_], rsi
    mov [rdi + rbp_], rbp
    lea rax, [rsp + 8] ; as it was before the call of this
    and eax, 15
    mov [rdi + stack_], rax
    stmxcsr [rdi + mxcsr_]
    fnstenv [rdi + SCRATCH]
    movzx eax, word [rdi + SCRATCH]
    mov [rdi + x87_control_], rax
    movzx eax, word [rdi + SCRATCH + 4]
    mov [rdi + x87_status_], rax
    movzx eax, word [rdi + SCRATCH + 8]
    mov [rdi + x87_tags_], rax
    mov ax, cs
    mov [rdi + cs_], ax
    mov ax, ss
    mov [rdi + ss_], ax
    mov ax, ds
    mov [rdi + ds_], ax
    mov ax, es
    mov [rdi + es_], ax
    mov rax, cr0
    mov [rdi + cr0_], rax
    mov rax, cr3
    mov [rdi + cr3_], rax
    mov rax, cr4
    mov [rdi + cr4_], rax
    mov rax, cr8
    mov [rdi + cr8_], rax
    mov rax, dr7
    mov [rdi + dr7_], rax
    sidt [rdi + SCRATCH]
    mov rax, [rdi + SCRATCH + 2]
    mov [rdi + idt_], rax
    movzx eax, word [rdi + SCRATCH]
    mov [rdi + idt_limit_], rax
    sgdt [rdi + SCRATCH]
    movzx eax, word [rdi + SCRATCH]
    mov [rdi + gdt_limit_], rax
    msr MSR_FS_BASE, fs_base_
    msr MSR_PAT, pat_
    msr MSR_EFER, efer_
    msr MSR_APIC_BASE, apic_mode_
    and qword [rdi + apic_mode_], 0xC00 ; not the first core's own bit
    msr MSR_GS_BASE, gs_is_self_
    mov rax, [gs:0] ; the kernel's own word
    sub [rdi + gs_is_self_], rax ; 0
    bt qword [rdi + cr4_], 18 ; OSXSAVE
    jnc .done
    xor ecx, ecx
    xgetbv
    mov [rdi + xcr0_], eax
    test al, 4
    jz .done
    vextractf128 xmm1, ymm0, 1
    vextractf128 xmm2, ymm15, 1
    vpor xmm1, xmm1, xmm2
    vmovq [rdi + upper_], xmm1
.done:
    ret

; In an order in which each step still works.
leave_spoilt: ; RDI: the record
    call spoil
    mov rbx, [rel junk]
    mov rbp, rbx
    mov r12, rbx
    mov r13, rbx
    mov r14, rbx
    mov r15, rbx
    mov eax, 0 ; XOR would set flags
    std
    ret
die_spoilt:
    call spoil
    msr_set MSR_GS_BASE, 0x1234000
    std
    ud2

spoil:
    ldmxcsr [rel strange_mxcsr]
    fninit
    fldcw [rel strange_control]
    fld1
    fldz
    fdivp ; an exception that waits for the next instruction of its kind
    bt qword [rdi + cr4_], 18
    jnc .no_avx
    test byte [rdi + xcr0_], 4
    jz .no_avx
    vcmpps ymm0, ymm0, ymm0, 15 ; true: all bits
    vmovaps ymm15, ymm0
    mov eax, 1
    xor edx, edx
    xor ecx, ecx
    xsetbv
.no_avx:
    msr_set MSR_FS_BASE, 0x1234000
    msr_set MSR_PAT, 0x0007040600070406
    mov ecx, MSR_EFER
    rdmsr
    or eax, 1 ; SCE
    wrmsr
    xor eax, eax
    mov ds, eax
    mov es, eax
    mov dr0, rdi
    mov eax, 0x702 ; a breakpoint there, by DR0
    mov dr7, rax
    mov rax, cr4
    and eax, ~(1 << 18 | 1 << 9 | 1 << 6) ; OSXSAVE, OSFXSR, MCE
    or eax, 1 << 2 ; TSD
    mov cr4, rax
    mov rax, cr0
    and eax, ~(1 << 16 | 1 << 5) ; WP, NE
    or eax, 1 << 18 | 1 << 3 ; AM, TS
    mov cr0, rax
    mov eax, 15
    mov cr8, rax
    pushfq
    or qword [rsp], 1 << 21 | 1 << 18 | 1 << 14 | 1 << 11 | 0xD5 ; ID AC NT OF
    and qword [rsp], ~(1 << 9)
    popfq
    ret

print_all:
    lea rbx, [rel records]
    xor r12d, r12d
.next:
    print "state core="
    mov eax, r12d
    call print_decimal
    each_field print_field
    print 10
    add rbx, RECORD
    inc r12d
    cmp r12d, [rel cores]
    jb .next
    ret

align 8, db 0
junk: dq 0xDEADBEEFDEADBEEF
strange_mxcsr: dd 0xFFC0 ; flushes to zero, rounds to zero
strange_control: dw 0x0C7B ; dividing by zero unmasked, rounds to zero
align 4, db 0
way: dd 0
cores: dd 0
align 16, db 0
records: times 16 * RECORD db 0
