; netpoll.asm - netpoll-asm [nic] [n]: what it costs to look whether a frame
; has come, through the entry that programs built for BareMetal use.
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
    push rbp
    push r12 ; frames
    push r13 ; bytes
    push r14 ; nic
    push r15 ; polls
    sub rsp, 8
    call arguments
    jc .fail
    call describe
    jc .fail
    call drain
    call describe
    mov rax, [rel info + net_info_rx_dropped]
    mov [rel dropped], rax
    mov rax, [rel info + net_info_rx_missed]
    mov [rel missed], rax
    print "Polling nic "
    mov rax, r14
    call print_decimal
    print 10
    call bench_start
    call poll
    call bench_stop
    call describe
    mov rax, [rel dropped]
    sub [rel info + net_info_rx_dropped], rax
    mov rax, [rel missed]
    sub [rel info + net_info_rx_missed], rax
    call report
    xor eax, eax
.out:
    add rsp, 8
    pop r15
    pop r14
    pop r13
    pop r12
    pop rbp
    pop rbx
    ret
.fail:
    mov eax, 1
    jmp .out

; Poll R15 times; count into R12 and R13. At most 13 instructions a poll while
; nothing comes: call, nine in b_net_rx, and three here.
align 64, nop
poll:
    mov rdx, r14
    mov rbx, r15
    xor r12d, r12d
    xor r13d, r13d
    jmp .next
align 64, nop
.next:
    call [abs b_net_rx]
    jrcxz .empty
    inc r12
    add r13, rcx
.empty:
    dec rbx
    jnz .next
    ret

; Empty the ring, once round: under a flood it never stays empty.
drain:
    mov rdx, r14
    mov ebx, [rel info + net_info_rx_ring]
.next:
    call [abs b_net_rx]
    jrcxz .done
    dec ebx
    jnz .next
.done:
    ret

; OUT R14 = nic, R15 = polls. Carry: an error line is printed.
arguments:
    xor eax, eax
    mov edx, 1
    call argument
    jc .out
    cmp rax, NET_MAX_NICS
    jae no_device
    mov r14, rax
    mov eax, 1000000
    mov edx, 2
    call argument
    jc .out
    mov r15, rax
    cmp rax, 1
    jae .out
    print "error: netpoll-asm: 0 iterations", 10
    stc
.out:
    ret

; Fill info. Carry: there is no such NIC, and an error line is printed.
describe:
    mov edi, r14d
    lea rsi, [rel info]
    push rbp
    mov rbp, rsp
    and rsp, -16
    call [abs INGOT_NET_INFO]
    mov rsp, rbp
    pop rbp
    test eax, eax
    js no_device
    clc
    ret

no_device:
    print "error: netpoll-asm: no such device", 10
    stc
    ret

report:
    mov rcx, r15
    call bench_print
    print "Frames received: "
    mov rax, r12
    call print_decimal
    print 10, "Bytes received: "
    mov rax, r13
    call print_decimal
    print 10, "Frames dropped: "
    mov rax, [rel info + net_info_rx_dropped]
    call print_decimal
    print 10, "Frames missed: "
    mov rax, [rel info + net_info_rx_missed]
    call print_decimal
    print 10, "RESULT bench=netpoll lang=asm nic="
    mov rax, r14
    call print_decimal
    print " "
    call bench_fields
    print " frames="
    mov rax, r12
    call print_decimal
    print " bytes="
    mov rax, r13
    call print_decimal
    print " dropped="
    mov rax, [rel info + net_info_rx_dropped]
    call print_decimal
    print " missed="
    mov rax, [rel info + net_info_rx_missed]
    call print_decimal
    print " mode=baremetal", 10
    ret

dropped: dq 0
missed: dq 0
align 8, db 0
info: times net_info_size db 0
