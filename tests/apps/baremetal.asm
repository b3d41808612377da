; baremetal.asm - calls BareMetal's eight entries with every register set and
; says which came back different from what their conventions promise.
; SPDX-License-Identifier: MIT
;
; Prints "did NAME" for each step and "FAIL NAME" where it went wrong. It needs
; NIC 0, a disk 0 that may be written to, one typed "k" after "type k", and one
; frame into NIC 0 after "send a frame"; it sends one frame of 64 bytes itself.
bits 64
org 0xFFFF800000000000
%include "ingot.inc"
    jmp start
%include "print.inc"
%include "tests/apps/registers.inc"

BLOCK equ 300

start:
    mov [rel result], dword 0
    call test_output
    call test_input
    call test_system
    call test_disk
    call test_net
    print "done", 10
    mov eax, [rel result]
    ret

test_output:
    fresh
    with rsi, text
    with rcx, text_end - text
    attempt "b_output", b_output, 0
    fresh
    with rcx, 0
    with rsi, 0xBAD000
    attempt "b_output of nothing", b_output, 0
    fresh
    attempt "b_user", b_user, 0
    ret

test_input:
    fresh
    attempt "b_input without a key", b_input, RAX_
    mov rax, [rel in_rax]
    xor al, al
    cmp rax, [rel out_rax]
    expect e
    test byte [rel out_flags], 1 ; carry
    expect z
    print "type k", 10
.wait:
    call [abs b_input]
    jnc .wait
    cmp al, 'k'
    expect e
    ret

test_system:
    fresh
    with rcx, TIMECOUNTER
    attempt "TIMECOUNTER", b_system, RAX_
    mov r12, [rel out_rax]
    fresh
    with rcx, DELAY
    with rax, 2000
    attempt "DELAY", b_system, 0
    fresh
    with rcx, TIMECOUNTER
    attempt "2 ms later", b_system, RAX_
    mov rax, [rel out_rax]
    sub rax, r12
    cmp rax, 2000000
    expect ae
    cmp rax, 2000000000
    expect b
    fresh
    with rcx, TSC
    attempt "TSC", b_system, RAX_
    mov r12, [rel out_rax]
    fresh
    with rcx, TSC
    attempt "TSC again", b_system, RAX_
    cmp [rel out_rax], r12
    expect a
    fresh
    with rcx, FREE_MEMORY
    attempt "FREE_MEMORY", b_system, RAX_
    cmp qword [rel out_rax], 0
    expect a
    fresh
    with rcx, SMP_NUMCORES
    attempt "SMP_NUMCORES", b_system, RAX_
    cmp qword [rel out_rax], 1
    expect ae
    fresh
    with rcx, SMP_ID
    attempt "SMP_ID", b_system, RAX_
    cmp qword [rel out_rax], 0
    expect e
    fresh
    with rcx, MAC_GET
    with rdx, 0
    attempt "MAC_GET", b_system, RAX_
    print "mac "
    mov rax, [rel out_rax]
    call print_decimal
    print 10
    fresh
    with rcx, MAC_GET
    with rdx, 9
    attempt "MAC_GET of nothing", b_system, RAX_
    cmp qword [rel out_rax], 0
    expect e
    fresh
    with rcx, BUS_READ
    with rdx, 0
    attempt "BUS_READ", b_system, RAX_
    cmp word [rel out_rax], 0x8086 ; the host bridge of q35 and pc
    expect e
    fresh
    with rcx, BUS_READ
    with rdx, 0x00FF0000 ; bus 0, device 31, function 7
    attempt "BUS_READ of nothing", b_system, RAX_
    mov eax, 0xFFFFFFFF
    cmp [rel out_rax], rax
    expect e
    fresh
    with rcx, SCREEN_LFB_GET
    attempt "SCREEN_LFB_GET", b_system, RAX_
    fresh
    with rcx, 0x05
    attempt "function 5", b_system, 0
    fresh
    with rcx, 0x80
    attempt "function 80", b_system, 0
    fresh
    with rcx, -1
    attempt "function -1", b_system, 0
    ret

test_disk:
    fresh
    with rax, BLOCK
    with rcx, 2
    with rdx, 0
    with rdi, buffer
    attempt "b_nvs_read", b_nvs_read, RCX_
    cmp qword [rel out_rcx], 2
    expect e
    not qword [rel buffer + 4096 + 8]
    mov r12, [rel buffer + 4096 + 8]
    fresh
    with rax, BLOCK + 1
    with rcx, 1
    with rdx, 0
    with rsi, buffer + 4096
    attempt "b_nvs_write", b_nvs_write, RCX_
    cmp qword [rel out_rcx], 1
    expect e
    mov qword [rel buffer + 4096 + 8], 0
    fresh
    with rax, BLOCK
    with rcx, 2
    with rdx, 0
    with rdi, buffer
    attempt "b_nvs_read again", b_nvs_read, RCX_
    cmp [rel buffer + 4096 + 8], r12
    expect e
    fresh
    with rcx, 1
    with rdx, 13
    with rdi, buffer
    attempt "b_nvs_read of no drive", b_nvs_read, RCX_
    cmp qword [rel out_rcx], 0
    expect e
    fresh
    with rcx, 0
    with rdx, 0
    with rdi, buffer
    attempt "b_nvs_read of nothing", b_nvs_read, RCX_
    fresh
    with rax, 1 << 60
    with rcx, 1
    with rdx, 0
    with rsi, buffer
    attempt "b_nvs_write past the end", b_nvs_write, RCX_
    cmp qword [rel out_rcx], 0
    expect e
    ret

test_net:
    fresh
    with rdx, 0
    attempt "b_net_rx without a frame", b_net_rx, RCX_
    cmp qword [rel out_rcx], 0
    expect e
    fresh
    with rdx, 9
    attempt "b_net_rx of no interface", b_net_rx, RCX_
    cmp qword [rel out_rcx], 0
    expect e
    fresh
    with rdx, 0x1FF
    attempt "b_net_rx of interface 255", b_net_rx, RCX_
    cmp qword [rel out_rcx], 0
    expect e
    fresh
    with rsi, frame
    with rcx, 64
    with rdx, 0
    attempt "b_net_tx", b_net_tx, 0
    fresh
    with rsi, frame
    with rcx, 5
    with rdx, 0
    attempt "b_net_tx too short", b_net_tx, 0
    fresh
    with rsi, frame
    with rcx, 64
    with rdx, 9
    attempt "b_net_tx of no interface", b_net_tx, 0
    print "send a frame", 10
.wait: ; until the poll word says so: then the very call can be looked at
    xor edi, edi
    push rbp
    mov rbp, rsp
    and rsp, -16
    call [abs INGOT_NET_POLL]
    mov rsp, rbp
    pop rbp
    mov rcx, [rax + net_poll_word]
    mov ecx, [rcx]
    and ecx, [rax + net_poll_mask]
    cmp ecx, [rax + net_poll_idle]
    je .wait
    fresh
    with rdx, 0xABCD00 ; the low eight bits count
    attempt "b_net_rx", b_net_rx, RCX_ | RDI_
    cmp qword [rel out_rcx], 0
    expect a
    mov rsi, [rel out_rdi]
    mov rcx, [rel out_rcx]
    print "frame "
    mov rax, rcx
    call print_decimal
    print " "
    movzx eax, byte [rsi + 12]
    call print_decimal
    print " "
    movzx eax, byte [rsi + rcx - 1]
    call print_decimal
    print 10
    ret

text: db "text through b_output", 10
text_end:
frame:
    times 6 db 0xFF
    db 2, 0, 0, 0, 0, 1
    db 0x88, 0xB5
    db "a frame through b_net_tx"
    times 64 - ($ - frame) db 0x77

align 4096, db 0
buffer: ; two blocks, behind the image: a flat program gets more than its bytes
