// smp.c - the other cores: started at boot, idle until a program calls.
// SPDX-License-Identifier: MIT
//
// Intel SDM volume 3, 8.4.4 (start-up), 8.10 (MONITOR and MWAIT). A mailbox is
// taken by whoever sets busy first, and given back by its core when the
// function has returned.
#include "smp.h"
#include "../lib/string.h"
#include "apic.h"
#include "app.h"
#include "core.h"
#include "cpu.h"
#include "hook.h"
#include "mmio.h"
#include "paging.h"
#include "time.h"

#define LOG_TAG "smp"
#include "log.h"

enum { INIT_FAST_NS = 10000, START_FAST_NS = 1000000, START_TRIES = 20 };
enum {
    INIT_NS = 10000000,
    START_SLOW_NS = 1000000000
}; // SDM 8.4.4.1, generous
enum { STOP_NS = 2000000 };
#define STOP_ALL_NS 3000000000ul    // a virtual core may wait for a real one
#define STOP_WHOLE_NS 10000000000ul // a call that is not to be stepped
#define LOW_MEMORY_END 0xA0000ul

struct ap_parameters { // at the end of ap.asm's code
    u64 root, entry, stack;
    struct core *core;
};

extern const char ap_code[], ap_parameters[], ap_code_end[];
void core_call(void (*fn)(void *), void *arg, u64 stack, u64 *saved);

static struct {
    u32 n;      // cores that run
    u8 mwait;   // idle cores watch their mailbox, no interrupt is needed
    u8 *code;   // the start-up page
    u32 online; // index of the latest core that reported
} smp = {.n = 1};

u32 smp_count(void)
{
    return smp.n;
}

// ---- on the other cores ----

// Interrupts go on together with the wait: what one of them says cannot slip in
// before it.
static void smp_idle(struct core *core)
{
    while (load_acquire(&core->fn) == 0) {
        if (hook_is_due(core)) {
            hook_run_idle(core);
        }
        cli();
        if (smp.mwait) {
            monitor(&core->fn);
        }
        if (load_acquire(&core->fn) == 0 && !hook_is_due(core)) {
            if (smp.mwait) {
                sti_mwait();
            } else {
                sti_hlt();
            }
        }
        sti();
    }
}

// What smp_stop_all() sends; smp_work() knows it.
static void smp_restore(void *core)
{
    paging_load();
    interrupt_load();
    core_restore(core);
    apic_start_core();
}

static void smp_work(struct core *core)
{
    write_cr3(read_cr3()); // programs come and go in the same window
    if (core->fn == smp_restore) {
        smp_restore(core); // here, where the program's state does no harm
    } else {
        core->used = 1;
        core_call(core->fn, core->arg, core_stack_top(core->index, STACK_WORK),
                  &core->saved);
    }
    core->saved = 0;
    core->stop = 0;
    core->hook_runs = 0;
    core->fn = 0;
    store_release(&core->busy, 0);
}

static _Noreturn void smp_main(struct core *core)
{
    core_load(core);
    interrupt_load();
    apic_start_core();
    store_release(&smp.online, core->index);
    sti();
    for (;;) {
        smp_idle(core);
        smp_work(core);
    }
}

// ---- on the first core, at boot ----

static void smp_vector(void *context)
{
    (void)context; // waking is all; app_stop_step() follows every interrupt
}

// A page below 1 MiB: never page 0, and clear of what BIOSes keep at its end.
static u8 *smp_low_page(void)
{
    u64 phys, bytes, found = 0;
    for (u32 i = 0; memory_ram_piece(i, &phys, &bytes) == 0; i++) {
        u64 end = phys + bytes > LOW_MEMORY_END ? LOW_MEMORY_END : phys + bytes;
        if (phys < end && end - phys >= 2 * PAGE) {
            found = align_down(end, PAGE) - PAGE;
        }
    }
    return (u8 *)found;
}

static int smp_prepare(void)
{
    u64 bytes = (u64)(ap_code_end - ap_code);
    smp.code = smp_low_page();
    if (smp.code == 0) {
        return E_NOMEM;
    }
    memcpy(smp.code, ap_code, bytes);
    interrupt_set_handler(VECTOR_CORE, smp_vector, 0);
    smp.mwait = (cpuid(1, 0).ecx & BIT(3)) != 0;
    return paging_map((u64)smp.code, (u64)smp.code, PAGE,
                      PAGE_WRITE | PAGE_EXEC, MEMORY_KERNEL);
}

static void smp_pause(u64 ns)
{
    struct deadline limit = deadline_ns(ns);
    while (!deadline_passed(&limit)) {
        pause();
    }
}

static int smp_is_online(u32 index, u64 ns)
{
    struct deadline limit = deadline_ns(ns);
    while (load_acquire(&smp.online) != index) {
        if (deadline_passed(&limit)) {
            return 0;
        }
        pause();
    }
    return 1;
}

// What the next core to come finds. Filled again for every INIT, because one
// that came and was sent back has taken it.
static void smp_fill(struct core *core)
{
    struct ap_parameters *parameters =
        (struct ap_parameters *)(smp.code + (ap_parameters - ap_code));
    *parameters = (struct ap_parameters){
        .root = read_cr3(),
        .entry = (u64)smp_main,
        .stack = core_stack_top(core->index, STACK_IDLE),
        .core = core,
    };
}

static int smp_startup(const struct core *core, u64 ns)
{
    TRY(apic_send_startup(core->apic_id, (u8)((u64)smp.code / PAGE)));
    return smp_is_online(core->index, ns) ? 0 : E_TIMEOUT;
}

// INIT was sent to all long ago in a processor's terms. Processors of this
// century need no pause after it and one STARTUP, which QEMU loses when the
// core has not yet seen the INIT; for a core that does not come the manual's
// times are kept. One that never comes is put back to sleep, so that it cannot
// come later.
static int smp_start(struct core *core)
{
    smp_fill(core);
    for (u32 try = 0; try < START_TRIES; try++) {
        if (smp_startup(core, START_FAST_NS) == 0) {
            return 0;
        }
    }
    TRY(apic_send_init(core->apic_id));
    time_delay_ns(INIT_NS);
    smp_fill(core);
    if (smp_startup(core, START_SLOW_NS) == 0) {
        return 0;
    }
    TRY(apic_send_init(core->apic_id));
    return E_TIMEOUT;
}

static int smp_add(u32 apic_id_wanted)
{
    TRY(core_make(smp.n, apic_id_wanted));
    TRY(smp_start(core_get(smp.n)));
    smp.n++;
    return 0;
}

void smp_init(const struct acpi *acpi)
{
    core_self()->apic_id = apic_id();
    if (acpi->n_cpus < 2 || !apic_is_on()) {
        return;
    }
    int result = smp_prepare();
    for (u32 i = 0; result == 0 && i < acpi->n_cpus; i++) {
        if (acpi->cpu_apic_ids[i] != core_self()->apic_id) {
            apic_send_init(acpi->cpu_apic_ids[i]);
        }
    }
    smp_pause(INIT_FAST_NS);
    for (u32 i = 0; result == 0 && i < acpi->n_cpus && smp.n < CORES; i++) {
        u32 id = acpi->cpu_apic_ids[i];
        if (id == core_self()->apic_id) {
            continue;
        }
        int added = smp_add(id);
        if (added < 0) {
            log_error("core with APIC id %u is left out (%d)", id, added);
        }
    }
    if (smp.code != 0) {
        result = paging_map((u64)smp.code, (u64)smp.code, PAGE, PAGE_WRITE,
                            MEMORY_KERNEL);
    }
    log_info("%u of %u cores run, idle ones in %s (%d)", smp.n, acpi->n_cpus,
             smp.mwait ? "MWAIT" : "HLT", result);
}

// ---- for programs ----

int cpu_id(void)
{
    return (int)core_self()->index;
}

int cpu_start(u32 cpu, void (*fn)(void *), void *arg)
{
    struct core *core = cpu < smp.n ? core_get(cpu) : 0;
    if (core == 0) {
        return E_RANGE;
    }
    if (fn == 0 || core == core_self()) {
        return E_ARG;
    }
    if (cpu == 0 || __atomic_exchange_n(&core->busy, 1, __ATOMIC_ACQUIRE)) {
        return E_BUSY;
    }
    core->arg = arg;
    store_release(&core->fn, fn);
    return smp.mwait ? 0 : apic_send(core->apic_id, VECTOR_CORE);
}

int cpu_busy(u32 cpu)
{
    if (cpu >= smp.n) {
        return E_RANGE;
    }
    return cpu == 0 || load_acquire(&core_get(cpu)->busy) != 0;
}

int cpu_wait(u32 cpu)
{
    if (cpu == 0 || cpu >= smp.n || core_get(cpu) == core_self()) {
        return cpu >= smp.n ? E_RANGE : E_ARG;
    }
    const struct core *core = core_get(cpu);
    while (load_acquire(&core->busy) != 0) {
        app_leave_if_stopping();
        hook_let_run();
        pause();
    }
    return 0;
}

// ---- when a program ends ----

// It runs what was sent to it, or a hook.
static int smp_is_busy(const struct core *core)
{
    return load_acquire(&core->busy) != 0 || load_acquire(&core->saved) != 0;
}

static int smp_is_idle(const struct core *core, u64 ns)
{
    struct deadline limit =
        deadline_ns(load_acquire(&core->whole) ? STOP_WHOLE_NS : ns);
    while (smp_is_busy(core)) {
        if (deadline_passed(&limit)) {
            return 0;
        }
        pause();
    }
    return 1;
}

// Told again and again: what comes before the core has begun its function, or
// in the kernel, does not end it.
static void smp_stop(struct core *core)
{
    struct deadline limit = deadline_ns(STOP_ALL_NS);
    if (!smp_is_busy(core)) {
        return;
    }
    store_release(&core->stop, 1);
    (void)apic_send(core->apic_id, VECTOR_CORE);
    while (!smp_is_idle(core, STOP_NS) && !deadline_passed(&limit)) {
        apic_send_nmi(core->apic_id); // it may run with interrupts off
    }
}

void smp_stop_all(void)
{
    for (u32 i = 1; i < smp.n; i++) {
        struct core *core = core_get(i);
        if (core->lost && load_acquire(&core->busy) != 0) {
            continue;
        }
        smp_stop(core);
        if (core->used && !smp_is_busy(core)) {
            core->used = cpu_start(i, smp_restore, core) < 0;
        }
        core->lost = !smp_is_idle(core, STOP_ALL_NS);
        if (core->lost) {
            log_error("core %u does not stop: not used again", i);
        }
    }
}

void smp_halt_others(void)
{
    for (u32 i = 0; i < smp.n; i++) {
        if (core_get(i) != core_self()) {
            apic_send_nmi(core_get(i)->apic_id); // interrupt.c: they halt
        }
    }
    smp_pause(INIT_FAST_NS);
}

void smp_interrupt_first(void)
{
    apic_send(core_get(0)->apic_id, VECTOR_CORE);
}
