// hook.c - a program's functions that are called by interrupt.
// SPDX-License-Identifier: MIT
//
// An interrupt only notes that a hook is due, in the hooks word of the core
// that asked, and quiets its source. On the way back hook_step() looks at that
// word: a program in its own code goes on in hook_main(), on the core's hook
// stack, and a core that idles comes by itself. So no hook ever runs inside a
// call, and a hook may make every call. A source speaks again when its hook has
// returned: one that never stops leaves the machine room to be stopped itself.
#include "hook.h"
#include "apic.h"
#include "app.h"
#include "fault.h"
#include "hook_device.h"
#include "time.h"

enum { XSAVE_BYTES = 2752 }; // isr.asm; AVX-512 takes 2,688
enum { VECTOR_DEBUG = 1, VECTOR_NMI = 2 };
#define FLAG_TRAP BIT(8)
#define FLAG_INTERRUPTS BIT(9)
#define FLAGS_START (FLAG_INTERRUPTS | BIT(1))
#define NEVER ~0ul
#define BIT_TIMER BIT(63) // not a hook: look at the timer

void hook_enter(void); // isr.asm
void core_call(void (*fn)(void *), void *arg, u64 stack, u64 *saved);

static struct hook hooks[HOOKS];
static u32 hook_allowed;

// ---- slots ----

static struct hook *hook_new(void (*fn)(void *), void *arg)
{
    static u32 count;
    for (u32 i = 0; i < HOOKS; i++) {
        u32 none = HOOK_FREE;
        struct hook *hook = &hooks[i];
        if (!__atomic_compare_exchange_n(&hook->kind, &none, HOOK_TAKEN, 0,
                                         __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            continue;
        }
        u32 turn = __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED) & 0xFFFFFF;
        __atomic_fetch_and(&core_self()->hooks, ~BIT(i), __ATOMIC_SEQ_CST);
        hook->number = turn * HOOKS + i;
        hook->fn = fn;
        hook->arg = arg;
        hook->core = core_self()->index;
        hook->due = NEVER;
        hook->vector = 0;
        return hook;
    }
    return 0;
}

static void hook_free(struct hook *hook)
{
    store_release(&hook->kind, HOOK_FREE);
}

// Hooks are a program's: the shell has none, and a program that ends gets none.
static int hook_begin(void (*fn)(void *), void *arg, struct hook **hook)
{
    if (fn == 0) {
        return E_ARG;
    }
    if (!app_running()) {
        return E_NODEV;
    }
    store_release(&hook_allowed, 1);
    *hook = hook_new(fn, arg);
    return *hook == 0 ? E_NOMEM : 0;
}

int hook_note(const struct hook *hook)
{
    u64 bit = BIT(hook - hooks), *due = &core_self()->hooks;
    return (__atomic_fetch_or(due, bit, __ATOMIC_SEQ_CST) & bit) != 0;
}

int hook_is_taken(int (*is_same)(const struct hook *, const struct hook *),
                  const struct hook *like)
{
    for (u32 i = 0; i < HOOKS; i++) {
        u32 kind = load_acquire(&hooks[i].kind);
        if (&hooks[i] != like && kind >= HOOK_NET && is_same(&hooks[i], like)) {
            return 1;
        }
    }
    return 0;
}

// ---- timers ----

// Set this core's timer to the hook that is due first. Interrupts are off.
static void hook_set_timer(struct core *core)
{
    u64 first = NEVER;
    for (u32 i = 0; i < HOOKS; i++) {
        if (load_acquire(&hooks[i].kind) == HOOK_TIMER &&
            hooks[i].core == core->index && hooks[i].due < first) {
            first = hooks[i].due;
        }
    }
    if (first != NEVER) {
        core->hook_timer = 1;
        apic_timer_set(first);
    } else if (core->hook_timer) {
        core->hook_timer = 0;
        apic_timer_stop();
    }
}

static void hook_set_own_timer(void)
{
    u64 flags = irq_save();
    hook_set_timer(core_self());
    irq_restore(flags);
}

static void hook_timer_interrupt(void *context)
{
    (void)context;
    struct core *core = core_self();
    u64 now = rdtsc();
    for (u32 i = 0; i < HOOKS; i++) {
        if (load_acquire(&hooks[i].kind) == HOOK_TIMER &&
            hooks[i].core == core->index && hooks[i].due <= now) {
            hooks[i].due = NEVER;
            (void)hook_note(&hooks[i]);
        }
    }
    hook_set_timer(core);
}

// The next moment of a periodic one; those that have passed are left out.
static void hook_next(struct hook *hook)
{
    u64 now = rdtsc();
    u64 late = now > hook->ideal ? now - hook->ideal : 0;
    u64 more = hook->period * (late / hook->period + 1);
    hook->ideal = more < NEVER - hook->ideal ? hook->ideal + more : NEVER;
    hook->due = hook->ideal;
    hook_set_own_timer();
}

int hook_timer(u64 first_ns, u64 period_ns, void (*fn)(void *), void *arg)
{
    struct hook *hook;
    TRY(hook_begin(fn, arg, &hook));
    int result = apic_timer_init();
    if (result < 0) {
        hook_free(hook);
        return result;
    }
    u64 now = rdtsc(), first = time_ticks(first_ns);
    hook->ideal = first < NEVER - now ? now + first : NEVER;
    hook->period = period_ns != 0 ? time_ticks(period_ns) : 0;
    interrupt_set_handler(VECTOR_TIMER, hook_timer_interrupt, 0);
    int number = (int)hook->number;
    hook->due = hook->ideal;
    store_release(&hook->kind, HOOK_TIMER);
    hook_set_own_timer();
    return number;
}

// ---- devices ----

static int hook_finish(struct hook *hook, enum hook_kind kind)
{
    int number = (int)hook->number;
    int result = hook_device_start(hook, kind);
    if (result < 0) {
        hook_free(hook);
        return result;
    }
    return number;
}

int hook_net(u32 nic, void (*fn)(void *), void *arg)
{
    struct hook *hook;
    if (fn != 0 && nic_get(nic) == 0) {
        return E_NODEV;
    }
    TRY(hook_begin(fn, arg, &hook));
    hook->nic = nic_get(nic);
    hook->pci = hook->nic->pci;
    hook->entry = 0;
    return hook_finish(hook, HOOK_NET);
}

int hook_irq(u32 index, u32 entry, void (*fn)(void *), void *arg)
{
    struct hook *hook;
    if (fn != 0 && pci_get(index) == 0) {
        return E_RANGE;
    }
    TRY(hook_begin(fn, arg, &hook));
    hook->nic = 0;
    hook->pci = pci_get(index);
    pci_get(index)->lent = 1;
    hook->entry = entry;
    return hook_finish(hook, HOOK_IRQ);
}

// Whoever makes it free is the one who stops it.
static int hook_end(struct hook *hook)
{
    u32 kind = load_acquire(&hook->kind);
    if (kind <= HOOK_TAKEN ||
        !__atomic_compare_exchange_n(&hook->kind, &kind, HOOK_TAKEN, 0,
                                     __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        return E_RANGE;
    }
    if (kind != HOOK_TIMER) {
        hook_device_stop(hook);
    }
    hook_free(hook);
    return 0;
}

int hook_remove(u32 number)
{
    struct hook *hook = &hooks[number % HOOKS];
    if (hook->number != number || hook_end(hook) < 0) {
        return E_RANGE;
    }
    if (hook->core == core_self()->index) {
        hook_set_own_timer();
    }
    return 0;
}

// ---- running them ----

static void hook_call(struct hook *hook)
{
    u32 number = hook->number, kind = load_acquire(&hook->kind);
    void (*fn)(void *) = hook->fn;
    void *arg = hook->arg;
    if (kind <= HOOK_TAKEN || hook->core != core_self()->index ||
        !load_acquire(&hook_allowed)) {
        return;
    }
    int once = kind == HOOK_TIMER && hook->period == 0;
    if (once && hook_end(hook) < 0) {
        return; // removed a moment ago
    }
    fn(arg);
    __asm__ volatile("cld"); // what C expects, whatever it left
    clear_vectors();
    if (once || hook->number != number || load_acquire(&hook->kind) != kind) {
        return;
    }
    if (kind == HOOK_TIMER) {
        hook_next(hook);
    } else {
        hook_device_again(hook);
    }
}

static void hook_run_due(struct core *core)
{
    u64 due;
    while ((due = __atomic_exchange_n(&core->hooks, 0, __ATOMIC_SEQ_CST)) !=
           0) {
        hook_device_listen(core);
        for (u32 i = 0; i < HOOKS; i++) {
            if (due & BIT(i)) {
                hook_call(&hooks[i]);
            }
        }
        if (due & BIT_TIMER) {
            hook_set_own_timer();
        }
    }
}

// Called by isr.asm on the hook stack; returns with interrupts off, and then
// goes on where the core was.
void hook_main(void);
void hook_main(void)
{
    struct core *core = core_self();
    do {
        sti();
        hook_run_due(core);
        app_leave_if_stopping();
        cli();
    } while (core->hooks != 0);
    core->hook_runs = 0;
}

void hook_deliver(struct registers *regs)
{
    struct core *core = core_self();
    if (!hook_is_due(core) || core->saved == 0) {
        return;
    }
    u64 top = core_stack_top(core->index, STACK_HOOK);
    struct registers *kept = (struct registers *)top - 1;
    *kept = *regs;
    core->hook_runs = 1;
    regs->rip = (u64)hook_enter;
    regs->rsp = align_down((u64)kept, 64) - XSAVE_BYTES;
    regs->rbx = (u64)kept;
    regs->rflags = FLAGS_START;
}

int hook_step(struct registers *regs)
{
    struct core *core = core_self();
    int in_kernel = fault_in_kernel(regs->rip);
    int due = hook_is_due(core) && core->saved != 0;
    if (regs->vector == VECTOR_NMI) {
        return 0; // it ends the program
    }
    if (due && in_kernel && core->whole) {
        return regs->vector == VECTOR_DEBUG; // app_call_whole() asks again
    }
    if (due && in_kernel) {
        core->hook_steps = 1;
        regs->rflags |= FLAG_TRAP;
        return 1;
    }
    int ours = core->hook_steps;
    if (ours) {
        core->hook_steps = 0;
        regs->rflags &= ~FLAG_TRAP;
    }
    if (due && regs->rflags & FLAG_INTERRUPTS &&
        (ours || regs->vector != VECTOR_DEBUG)) {
        hook_deliver(regs);
    }
    return ours;
}

void hook_let_run(void)
{
    if (hook_is_due(core_self())) {
        __asm__ volatile("int %0" : : "i"(VECTOR_HOOK) : "memory");
    }
}

static void hook_idle(void *context)
{
    struct core *core = context;
    core->hook_runs = 1;
    hook_run_due(core);
    core->hook_runs = 0;
}

void hook_run_idle(struct core *core)
{
    write_cr3(read_cr3()); // programs come and go in the same window
    core->used = 1;
    core_call(hook_idle, core, core_stack_top(core->index, STACK_WORK),
              &core->saved);
    core->saved = 0;
    core->stop = 0;
    core->hook_runs = 0; // also when it was left in the middle
}

// ---- the end ----

void hook_forbid_all(void)
{
    __atomic_exchange_n(&hook_allowed, 0, __ATOMIC_SEQ_CST);
}

// Cores whose timer may still be set stop it themselves.
static void hook_clear_core(struct core *core)
{
    __atomic_fetch_and(&core->hooks, BIT_TIMER, __ATOMIC_SEQ_CST);
    if (core == core_self()) {
        core->hook_runs = core->hook_steps = 0;
        hook_set_own_timer();
    } else if (load_acquire(&core->hook_timer)) {
        __atomic_fetch_or(&core->hooks, BIT_TIMER, __ATOMIC_SEQ_CST);
        if (apic_send(core->apic_id, VECTOR_CORE) < 0) {
            return; // it will find out when it wakes
        }
    }
}

void hook_take_back_all(void)
{
    for (u32 i = 0; i < HOOKS; i++) {
        if (hook_end(&hooks[i]) < 0) {
            hook_free(&hooks[i]); // half made
        }
    }
    for (u32 i = 0; i < CORES && core_get(i) != 0; i++) {
        hook_clear_core(core_get(i));
    }
}
