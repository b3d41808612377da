// app.c - a program's life: loaded into the window, run, and taken away.
// SPDX-License-Identifier: MIT
//
// Two programs exist at most: the shell, in a region of its own, and the
// program it runs, in the window. A program is called on its own stack;
// whatever ends it (return, app_exit, an exception, Ctrl-C) goes back through
// app_leave(), and then all its memory does.
#include "app.h"
#include "../lib/string.h"
#include "apic.h"
#include "app_load.h"
#include "console.h"
#include "core.h"
#include "cpu.h"
#include "disk.h"
#include "fault.h"
#include "hook.h"
#include "machine_check.h"
#include "nic.h"
#include "paging.h"
#include "panic.h"
#include "pci.h"
#include "screen.h"
#include "smp.h"
#include "time.h"

#define LOG_TAG "app"
#include "log.h"

enum {
    VECTOR_DEBUG = 1,
    VECTOR_NMI = 2,
    VECTOR_DOUBLE_FAULT = 8,
    VECTOR_STACK = 12,
    VECTOR_PROTECTION = 13,
    VECTOR_PAGE = 14,
    VECTOR_MACHINE_CHECK = 18
};
enum { EXIT_FAILURE_STATUS = 255, SHELL_RESTARTS = 3 };
#define FLAG_TRAP BIT(8)
#define FLAGS_START (BIT(9) | BIT(1)) // interrupts on

extern const char shell_image[], shell_image_end[];

i64 app_enter(u64 entry, int argc, const char *const *argv, u64 stack,
              u64 *saved);
void app_leave(u64 saved, i64 status);

static struct program shell = {.name = "shell",
                               .owner = MEMORY_SHELL,
                               .window = {SHELL_REGION, SHELL_REGION_END},
                               .stack = SHELL_STACK};
static struct program app = {.owner = MEMORY_APP,
                             .window = {INGOT_WINDOW, WINDOW_END},
                             .stack = WINDOW_STACK};

static struct program *running; // null: the kernel itself
static enum {
    STOP_NO,
    STOP_KEY,    // Ctrl-C
    STOP_NMI,    // came in a call
    STOP_WORKER, // another core ended it
} stopping;

int app_running(void)
{
    return running == &app;
}

// Whose code this core runs: others go on with the program for a moment after
// the first core has left it.
static const struct program *app_current(void)
{
    return running == &shell && core_self()->index != 0 ? &app : running;
}

int app_stopping(void)
{
    return stopping != STOP_NO;
}
enum memory_owner app_owner(void)
{
    return app_current() == &app ? MEMORY_APP : MEMORY_SHELL;
}
const char *app_name(void)
{
    const struct program *program = app_current();
    return program ? program->name : "kernel";
}

i64 app_offset(u64 address)
{
    const struct program *program = app_current();
    if (program == 0 || address < program->image_start ||
        address >= program->image_end) {
        return -1;
    }
    return (i64)(address - program->image_start);
}

int app_symbol(u64 address, struct symbol *symbol)
{
    if (app_offset(address) < 0) {
        return E_FORMAT;
    }
    const struct program *program = app_current();
    return symbols_find(program->file, program->file_len,
                        address - program->bias, symbol);
}

int app_is_stack_guard(u64 address)
{
    return running != 0 && address < running->stack - APP_STACK_BYTES &&
           address >= running->stack - APP_STACK_BYTES - APP_STACK_GUARD;
}

// The machine as the next one may expect it; last the state of the ABI.
static void app_restore(struct core *core)
{
    paging_load();
    interrupt_load();
    core_restore(core);
    if (apic_is_on()) {
        apic_start_core();
    }
    clear_vectors();
}

// Run what app_load() has put in place and return how it ended.
static int app_call(struct program *program)
{
    struct program *before = running;
    struct core *core = core_self();
    u64 saved_before = core->saved;
    program->ended = 0;
    program->status = 0;
    stopping = STOP_NO;
    running = program;
    i64 status = app_enter(program->entry, program->argc, program->argv,
                           program->stack_pointer, &core->saved);
    app_restore(core);
    running = before;
    core->saved = saved_before;
    stopping = STOP_NO;
    if (program->ended != 0) {
        return program->ended;
    }
    return status < 0 ? EXIT_FAILURE_STATUS : (int)status;
}

static void app_take_back(struct program *program)
{
    paging_drop_slot(program->window.start);
    memory_free_owner(program->owner);
    program->image_start = program->image_end = 0;
}

int app_run(const void *image, u64 len, u32 flags, int argc,
            const char *const *argv)
{
    if (running != &shell) {
        return E_BUSY;
    }
    if (image == 0 || len == 0 || argc < 1 || flags & ~(u32)APP_FLAT) {
        return E_ARG;
    }
    string_copy(app.name, argv[0], sizeof(app.name));
    app.argc = argc;
    app.argv = argv;
    int result = app_load(&app, image, len, flags);
    if (result == 0) {
        time_refine();
        result = app_call(&app);
        hook_forbid_all();
        smp_stop_all();
        stopping = STOP_NO; // one of them may have ended it too
        nic_end_calls();
        hook_take_back_all();
        pci_take_back_all();
        console_break_lock();
        screen_take_back();
        console_end_line(); // whatever it wrote last: a prompt starts a line
    }
    app_take_back(&app);
    nic_restore_all();
    nic_recover_all(app.ended != 0);
    if (app.ended != 0) {
        disk_recover_all();
        app.ended = 0;
    }
    return result;
}

// A function on another core ended the program: the first core leaves it, this
// one is done.
static void app_end_from_worker(int why, i64 status)
{
    app.ended = why;
    app.status = status;
    stopping = STOP_WORKER;
    smp_interrupt_first();
}

int app_exit(int status)
{
    struct core *core = core_self();
    i64 result = status < 0 ? EXIT_FAILURE_STATUS : status;
    if (core->index != 0) {
        cli(); // the first core may send NMIs, which want whole tables
        app_restore(core);
        app_end_from_worker(0, result);
    }
    app_leave(core->saved, result);
    return 0;
}

_Noreturn void app_run_shell(void)
{
    static const char *const first[] = {"shell"};
    static const char *const again[] = {"shell", "again"};
    for (int run = 0;; run++) {
        shell.argc = run == 0 ? 1 : 2;
        shell.argv = run == 0 ? first : again;
        u64 len = (u64)(shell_image_end - shell_image);
        int result = app_load(&shell, shell_image, len, 0);
        if (result != 0) {
            panic("the shell cannot be loaded (%d)", result);
        }
        result = app_call(&shell);
        nic_end_calls();
        nic_recover_all(1);
        console_break_lock();
        screen_take_back();
        app_take_back(&shell);
        log_warn("the shell ended (%d), starting it again", result);
    }
}

// What was interrupted never goes on: its registers now lead to app_leave().
static void app_abandon(struct registers *regs, i64 status)
{
    struct core *core = core_self();
    if (core->index == 0) {
        stopping = STOP_NO;
    }
    core->stop = 0;
    core->whole = 0;
    regs->rip = (u64)app_leave;
    regs->cs = SELECTOR_CODE;
    regs->ss = SELECTOR_DATA;
    regs->rdi = core->saved;
    regs->rsi = (u64)status;
    regs->rsp = core->saved;
    regs->rflags = FLAGS_START;
}

// What a program brings about in a call is its own: a bad pointer, or (it can
// jump anywhere) any exception at all. The shell is trusted not to.
static int app_fault_is_kernels(const struct registers *regs)
{
    int pointer = regs->vector == VECTOR_PAGE ||
                  regs->vector == VECTOR_PROTECTION ||
                  regs->vector == VECTOR_STACK;
    if (regs->vector == VECTOR_MACHINE_CHECK && machine_check_is_real()) {
        return 1;
    }
    if (regs->vector == VECTOR_NMI && running != &app) {
        return 1; // somebody's button, wherever the shell happened to be
    }
    return fault_in_kernel(regs->rip) && !pointer &&
           (running != &app || regs->vector == VECTOR_DOUBLE_FAULT ||
            regs->vector == VECTOR_NMI);
}

int app_fault(struct registers *regs)
{
    struct core *core = core_self();
    if (running == 0 || core->saved == 0 || app_fault_is_kernels(regs)) {
        return 0;
    }
    if (core->reporting) { // of what a program left, anything may be damaged
        console_printf("\n*** the report itself met vector %lu\n",
                       regs->vector);
    } else {
        core->reporting = 1;
        fault_report(regs, app_name());
    }
    core->reporting = 0;
    console_give_lock();
    if (core->index == 0) {
        running->ended = E_CRASHED;
    } else {
        app_end_from_worker(E_CRASHED, 0);
    }
    app_abandon(regs, 0);
    return 1;
}

int app_stop(void)
{
    if (running != &app) {
        return 0;
    }
    stopping = STOP_KEY;
    return 1;
}

// The first core leaves the program when it is to be stopped, any other when
// the first has told it to.
static int app_is_to_stop(const struct core *core)
{
    return core->index == 0 ? stopping != STOP_NO && running == &app
                            : core->stop && core->saved != 0;
}

// Kernel code that steps with nothing to stop: the program ended while it was
// being stopped, or made a call with the trap flag or a breakpoint set. It runs
// on.
static int app_end_step(struct registers *regs)
{
    if (regs->vector != VECTOR_DEBUG || !fault_in_kernel(regs->rip)) {
        return 0;
    }
    regs->rflags &= ~FLAG_TRAP;
    clear_debug();
    return 1;
}

// What the user is told, and what app_run() will return.
static void app_note_stop(void)
{
    if (stopping == STOP_KEY || stopping == STOP_NMI) {
        console_printf("\n*** %s: stopped by %s\n", app.name,
                       stopping == STOP_KEY ? "Ctrl-C" : "an NMI");
        app.ended = E_STOPPED;
    }
    stopping = STOP_NO;
}

void app_leave_if_stopping(void)
{
    const struct core *core = core_self();
    if (app_is_to_stop(core)) {
        if (core->index == 0) {
            app_note_stop();
        }
        app_leave(core->saved, app.status);
    }
}

void app_call_whole(int on)
{
    struct core *core = core_self();
    core->whole = (u32)on;
    if (!on && (app_is_to_stop(core) || hook_is_due(core))) {
        irq_restore(irq_save() | FLAG_TRAP); // in steps to the call's end
    }
}

int app_stop_step(struct registers *regs)
{
    const struct core *core = core_self();
    if (regs->vector == VECTOR_NMI && core->index == 0 && running == &app &&
        stopping == STOP_NO && fault_in_kernel(regs->rip)) {
        stopping = STOP_NMI;
    }
    if (!app_is_to_stop(core)) {
        return hook_step(regs) || app_end_step(regs);
    }
    if (fault_in_kernel(regs->rip)) {
        // An NMI may find a handler at work, whose stack a step would use
        // again; what that one returns to is looked at when it does.
        int steps = !core->whole && !core_is_interrupt_stack(regs->rsp);
        regs->rflags |= steps ? FLAG_TRAP : 0;
        return 1;
    }
    if (core->index == 0) {
        app_note_stop();
    }
    app_abandon(regs, app.status);
    return 1;
}
