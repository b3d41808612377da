; baremetal.asm - the eight entries of the table at 0x100010, with the register
; conventions that programs built for BareMetal OS expect.
; SPDX-License-Identifier: MIT
;
; Each entry but the fast path of bm_net_rx saves every general register and
; the flags, calls the C function behind Ingot's own table and puts the results
; into the saved places. C in the kernel touches no vector register.

bits 64
default abs ; the kernel lies in the top 2 GiB: addresses are 32 bits, signed

extern baremetal_key
extern baremetal_system
extern console_write
extern disk_read
extern disk_write
extern net_rx
extern net_tx
extern nic_poll_match
extern nic_poll_word

global bm_input
global bm_output
global bm_net_tx
global bm_net_rx
global bm_nvs_read
global bm_nvs_write
global bm_system
global bm_user

NICS equ 16 ; NET_MAX_NICS

; Where enter_c keeps the caller's registers, from RBP.
SAVED_RAX equ -8
SAVED_RCX equ -16
SAVED_RDX equ -24
SAVED_RSI equ -32
SAVED_RDI equ -40
SAVED_FLAGS equ -80

; Save what C may change, and make the stack and the flags fit for C. RBX and
; R12 to R15 are C's to keep.
%macro enter_c 0
    push rbp
    mov rbp, rsp
    push rax
    push rcx
    push rdx
    push rsi
    push rdi
    push r8
    push r9
    push r10
    push r11
    pushfq
    cld
    and rsp, -16
%endmacro

%macro leave_c 0
    lea rsp, [rbp + SAVED_FLAGS]
    popfq
    pop r11
    pop r10
    pop r9
    pop r8
    pop rdi
    pop rsi
    pop rdx
    pop rcx
    pop rax
    pop rbp
    ret
%endmacro

section .text

; OUT AL = key or 0; carry is set when there was one.
bm_input:
    enter_c
    call baremetal_key
    mov [rbp + SAVED_RAX], al
    and byte [rbp + SAVED_FLAGS], ~1
    test al, al
    setnz al
    or [rbp + SAVED_FLAGS], al
    leave_c

; IN RSI = text, RCX = bytes.
bm_output:
    enter_c
    mov rdi, rsi
    mov rsi, rcx
    call console_write
    leave_c

; IN RSI = frame, RCX = bytes, RDX = interface. Nothing tells of a failure.
bm_net_tx:
    enter_c
    movzx edi, dl
    mov rdx, rcx
    call net_tx
    leave_c

; IN RDX = interface. OUT RCX = bytes, 0 when there is nothing; RDI = the frame,
; in the ring until the next receive. Nine instructions when the ring is empty.
align 32
bm_net_rx:
    cmp rdx, NICS
    jae .receive
    mov rcx, [nic_poll_word + rdx * 8]
    mov ecx, [rcx]
    and ecx, [nic_poll_match + rdx * 8]
    cmp ecx, [nic_poll_match + 4 + rdx * 8]
    jne .receive
    xor ecx, ecx
    ret
.receive:
    enter_c
    movzx edi, dl
    sub rsp, 16 ; struct net_frame: data, len
    mov rsi, rsp
    call net_rx
    xor ecx, ecx
    cmp eax, 1
    jne .done
    mov rax, [rsp]
    mov [rbp + SAVED_RDI], rax
    mov ecx, [rsp + 8]
.done:
    mov [rbp + SAVED_RCX], rcx
    leave_c

; IN RAX = first block, RCX = blocks, RDX = drive, RDI = memory.
; OUT RCX = blocks read, 0 on an error.
bm_nvs_read:
    enter_c
    mov rsi, rdi
    lea r8, [rel disk_read]
    jmp nvs_transfer

; The same with RSI = memory.
bm_nvs_write:
    enter_c
    lea r8, [rel disk_write]

; RSI = memory, R8 = the call, the rest as it came.
nvs_transfer:
    movzx edi, dl
    mov rdx, rcx
    mov rcx, rsi
    mov rsi, rax
    call r8
    test rax, rax
    jns .counted
    xor eax, eax
.counted:
    mov [rbp + SAVED_RCX], rax
    leave_c

; IN RCX = function, RAX, RDX = its arguments. OUT RAX = result. Numbers that
; are no function leave everything as it is.
bm_system:
    cmp rcx, 0x80
    jae bm_user
    enter_c
    mov rdi, rcx
    mov rsi, rax
    call baremetal_system
    mov [rbp + SAVED_RAX], rax
    leave_c

bm_user:
    ret
