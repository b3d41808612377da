; die_flat.asm - die_flat N: ways for a flat program to die, or to come back
; with everything in disorder.
; SPDX-License-Identifier: MIT
bits 64
org 0xFFFF800000000000
%include "ingot.inc"
    jmp start
%include "print.inc"

start:
    mov edx, 1
    mov eax, -1
    call argument
    jc .none
    cmp eax, WAYS
    jae .none
    lea rcx, [rel ways]
    jmp [rcx + rax * 8]
.none:
    print "error: die_flat: no such way", 10
    mov eax, 98
    ret

ways:
    dq undefined, divide, null_read, wild_jump, overflow, kernel_text
    dq return_with_df, return_with_garbage, return_with_mxcsr, lost_stack
    dq call_with_df, past_end, bad_text, call_with_tf
WAYS equ ($ - ways) / 8

undefined:
    ud2
divide:
    xor ecx, ecx
    div rcx
null_read:
    mov rax, [abs 0]
wild_jump:
    mov rax, 0x0BADC0DE0BADC0DE
    jmp rax
overflow:
    push rax
    jmp overflow
kernel_text:
    mov rax, 0xFFFFFFFF80200000
    mov [rax], rax
return_with_df: ; comes back with the direction flag set
    std
    xor eax, eax
    ret
return_with_garbage: ; keeps no register but RSP
    xor eax, eax
    mov rbx, 0x1111111111111111
    mov rbp, rbx
    mov r12, rbx
    mov r13, rbx
    mov r14, rbx
    mov r15, rbx
    mov rdi, rbx
    mov rsi, rbx
    std
    cli
    ret
return_with_mxcsr: ; SSE exceptions unmasked, rounding down, x87 stack full
    push 0x2000
    ldmxcsr [rsp]
    pop rax
%rep 8
    fld1
%endrep
    xor eax, eax
    ret
lost_stack: ; faults with a stack that is no memory
    mov rsp, 0xFFFF900000000000
    push rax
call_with_df: ; a call made with the direction flag set is still a call
    std
    print "printed with DF set", 10
    cld
    xor eax, eax
    ret
past_end: ; runs off the end of what it has, upwards
    lea rax, [rel past_end + 4096]
.write:
    mov [rax], rax
    add rax, 4096
    jmp .write
bad_text: ; through BareMetal's entry
    mov rsi, 0xFFFF900000000000
    mov ecx, 10
    call [abs b_output]
call_with_tf: ; the first trap comes in the kernel
    lea rsi, [rel .text]
    mov ecx, 9
    pushfq
    or qword [rsp], 0x100
    popfq
    call [abs b_output]
    xor eax, eax
    ret
.text: db "stepping", 10
