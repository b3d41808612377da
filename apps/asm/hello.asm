; hello.asm - the smallest assembly program: greets, and shows its arguments.
; SPDX-License-Identifier: MIT
bits 64
org 0xFFFF800000000000
%include "ingot.inc"
    jmp start
%include "print.inc"

; IN RDI = argc, RSI = argv. OUT EAX = exit status. RBX, RBP and R12 to R15 are
; the caller's.
start:
    push rbx
    print "Hello from assembly on Ingot!", 10
    mov rbx, rsi
    mov eax, 1
.next:
    cmp eax, edi
    jae .done
    print "argument "
    call print_decimal
    print ": "
    mov rsi, [rbx + rax * 8]
    call print_string
    print 10
    inc eax
    jmp .next
.done:
    xor eax, eax
    pop rbx
    ret
