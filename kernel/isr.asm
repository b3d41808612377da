; isr.asm - interrupt stubs, and the doors into a program and out of it.
; SPDX-License-Identifier: MIT

extern interrupt_dispatch
global interrupt_stubs, interrupt_stub_spurious
extern hook_main
global app_enter, app_leave, core_call, hook_enter

STUBS equ 0x80
STUB_BYTES equ 16

section .text
; One stub a vector: the processor pushed an error code for some, the others push
; a zero, so that struct registers always looks the same.
align STUB_BYTES
interrupt_stubs:
%assign vector 0
%rep STUBS
    align STUB_BYTES
    %if vector = 8 || (vector >= 10 && vector <= 14) || vector = 17 || vector = 21 || vector = 29 || vector = 30
    %else
    push 0
    %endif
    push vector
    jmp interrupt_common
    %assign vector vector + 1
%endrep

align STUB_BYTES
interrupt_stub_spurious:        ; no end of interrupt, nothing to do
    iretq

interrupt_common:
    push rax
    push rbx
    push rcx
    push rdx
    push rsi
    push rdi
    push rbp
    push r8
    push r9
    push r10
    push r11
    push r12
    push r13
    push r14
    push r15
    cld
    mov rdi, rsp
    call interrupt_dispatch
interrupt_return:
    pop r15
    pop r14
    pop r13
    pop r12
    pop r11
    pop r10
    pop r9
    pop r8
    pop rbp
    pop rdi
    pop rsi
    pop rdx
    pop rcx
    pop rbx
    pop rax
    add rsp, 16                 ; vector and error code
    iretq

CORE_SAVED equ 16               ; struct core, through GS
CORE_XCR0 equ 24
XCR0_AVX equ 4
FLAGS_START equ 1 << 9 | 1 << 1 ; interrupts on, all else clear
MXCSR_ABI equ 0x1F80            ; all floating-point exceptions masked

; Registers that C keeps, and where the stack was for app_leave(): %1 gets it.
%macro SAVE_CALLER 1
    push rbx
    push rbp
    push r12
    push r13
    push r14
    push r15
    mov [%1], rsp
%endmacro

; The state that the ABI promises a function; the end of every backtrace.
%macro ABI_STATE 0
    xor ebp, ebp
    fninit
    push MXCSR_ABI
    ldmxcsr [rsp]
    add rsp, 8
%endmacro

%macro START_FLAGS 0
    push FLAGS_START
    popfq
%endmacro

XSAVE_BYTES equ 2752            ; hook.c
XSAVE_HEADER equ 512

; A program was interrupted, and hooks are due: RSP = XSAVE_BYTES, 64-byte
; aligned, RBX = its registers, as interrupt_common pushed them. Its vector
; registers are still as they were.
hook_enter:
    mov r12, rsp
    mov r13d, [gs:CORE_XCR0]
    test r13d, r13d
    jz .old
    lea rdi, [r12 + XSAVE_HEADER]
    mov ecx, 8
    xor eax, eax
    rep stosq
    mov eax, r13d
    xor edx, edx
    xsave64 [r12]
    test r13d, XCR0_AVX
    jz .call
    vzeroupper
    jmp .call
.old:
    fxsave64 [r12]
.call:
    ABI_STATE
    call hook_main
    test r13d, r13d
    jz .old_back
    mov eax, r13d
    xor edx, edx
    xrstor64 [r12]
    jmp .back
.old_back:
    fxrstor64 [r12]
.back:
    mov rsp, rbx
    jmp interrupt_return

; void core_call(void (*fn)(void *), void *arg, u64 stack, u64 *saved)
; Call fn(arg) on its own stack.
core_call:
    SAVE_CALLER rcx
    mov rax, rdi
    mov rdi, rsi
    mov rsp, rdx
    jmp call_program

; i64 app_enter(u64 entry, int argc, const char **argv, u64 stack, u64 *saved)
; Call entry(argc, argv) on its own stack; *saved is what app_leave() needs.
app_enter:
    SAVE_CALLER r8
    mov rax, rdi
    mov edi, esi
    mov rsi, rdx
    mov rsp, rcx
call_program:
    ABI_STATE
    test dword [gs:CORE_XCR0], XCR0_AVX
    jz .no_avx
    vzeroupper                  ; what is left there makes SSE code slow
.no_avx:
    START_FLAGS
    call rax
    mov rdi, [gs:CORE_SAVED]
    movsxd rsi, eax
    ; fall through: the program returned

; _Noreturn void app_leave(u64 saved, i64 status): app_enter returns status.
app_leave:
    mov rsp, rdi
    mov rax, rsi
    START_FLAGS                 ; of all that a program may have left
    pop r15
    pop r14
    pop r13
    pop r12
    pop rbp
    pop rbx
    ret
