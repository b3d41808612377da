# accel.py - KVM only where it has been seen to run this kernel.
# SPDX-License-Identifier: MIT
import copy
import json
import os
import sys

from . import model, options as option_list

# A working KVM is at the prompt in a fraction of this. A broken one runs the
# guest's vector instructions, if at all, by emulation, thousands of cycles
# each.
BOOT_SECONDS = 5
COMMAND_SECONDS = 5


def choose(options, say=True):
    """'kvm' or 'tcg' for these options; says which when it had to find out."""
    if options.accel != "auto":
        return options.accel
    if options.icount:
        verdict = "tcg", "--icount counts there"
    elif model.used(options):
        verdict = "tcg", "the model of a NIC takes one thread"
    elif options.boot != "direct" and not os.path.exists(options.kernel):
        verdict = "tcg", "no kernel to try KVM with"
    else:
        verdict = kvm_verdict(options)
    if say:
        print(f"vm: accel {verdict[0]} ({verdict[1]})", file=sys.stderr)
    return verdict[0]


def kvm_verdict(options):
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "tcg", "no usable /dev/kvm"
    path = os.path.join(option_list.ROOT, "build", "kvm-verdict.json")
    key = verdict_key(options.kernel)
    try:
        with open(path, encoding="utf-8") as file:
            known = json.load(file)
        if known["key"] == key:
            return tuple(known["verdict"])
    except (OSError, ValueError, KeyError):
        pass
    verdict = try_kvm(options)
    try:
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"key": key, "verdict": verdict}, file)
    except OSError:
        pass  # no build directory: try again next time
    return verdict


def verdict_key(kernel):
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        boot = file.read().strip()
    return f"{boot} {os.path.realpath(kernel)} {os.stat(kernel).st_mtime_ns}"


def try_kvm(options):
    """Boot the kernel with KVM and let it do a little work."""
    from .machine import Machine, VmStopped, VmTimeout
    trial = copy.copy(options)
    trial.accel, trial.boot, trial.machine = "kvm", "direct", "q35"
    trial.nic, trial.net_udp, trial.pcap = [], [], []
    trial.module, trial.append, trial.qemu = [], None, []
    trial.gdb, trial.cpus, trial.mem = False, 1, 128
    if not os.path.exists(trial.image):
        trial.disk = "none"
    try:
        with Machine(options=trial) as machine:
            machine.wait_prompt(BOOT_SECONDS)
            machine.run("ver", COMMAND_SECONDS)
            if trial.disk != "none":
                machine.run("run raytrace 32 18 1", COMMAND_SECONDS)
            if "internal error" in machine.complaint():
                return "tcg", "KVM failed inside a short boot"
    except (VmTimeout, VmStopped):
        return "tcg", "KVM is there but a short boot with it failed"
    return "kvm", "a short boot with it worked"
