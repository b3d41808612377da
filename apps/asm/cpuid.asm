; cpuid.asm - cpuid-asm [n]: what the CPUID instruction costs.
; SPDX-License-Identifier: MIT
bits 64
org 0xFFFF800000000000
%include "ingot.inc"
    jmp start
%include "print.inc"
%include "bench.inc"

; IN RDI = argc, RSI = argv. OUT EAX = exit status.
start:
    push rbx
    push r12
    mov eax, 1000000
    mov edx, 1
    call argument
    jc .fail
    cmp rax, 1
    jb .fail_zero
    mov r12, rax
    call bench_start
    mov rdi, r12
    jmp .loop
align 64, nop
.loop:
    xor eax, eax
    xor ecx, ecx
    cpuid
    dec rdi
    jnz .loop
    call bench_stop
    mov rcx, r12
    call bench_print
    print "RESULT bench=cpuid lang=asm "
    call bench_fields
    print 10
    xor eax, eax
.out:
    pop r12
    pop rbx
    ret
.fail_zero:
    print "error: cpuid-asm: 0 iterations", 10
.fail:
    mov eax, 1
    jmp .out
