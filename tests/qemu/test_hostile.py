# test_hostile.py - programs that turn the processor itself against the kernel:
# each ends in its report, or leaves nothing behind.
# SPDX-License-Identifier: MIT
import os
import re

import pytest

from conftest import ROOT
from test_cores import addresses
from test_faults import CRASHED, check_alive
from test_panic import check_reboot, stopped_at
from test_programs import make_image

GP = "general protection (vector 13)"
PF = "page fault (vector 14)"
UD = "invalid opcode (vector 6)"

# `hostile WAY`: the exception, and words of the report.
ENDS = {
    "end-xsetbv": (GP, ""),
    "end-sysret": (UD, ""),
    "end-iretq": (GP, ""),
    "end-stack": ("", ""),  # vector 12, 13 under QEMU
    "end-segment": (GP, ""),
    "end-kernel-middle": (PF, "null page"),
    "end-kernel-divide": ("divide error (vector 0)", "kernel"),
    "end-kernel-data": (PF, "not executable"),
    "end-frame-loop": (UD, "end_frame_loop+0x0"),
    "end-frame-wild": (UD, "end_frame_wild+0x"),
    "end-frame-last": (UD, "end_frame_last+0x"),
    "end-frame-device": (UD, "end_frame_device+0x"),
    "end-x87": ("x87 error (vector 16)", ""),
    "end-no-fpu": ("no FPU (vector 7)", ""),
    "end-no-sse": (UD, ""),
    "end-int-double": ("double fault (vector 8)", "end_int_double+0x"),
    "end-int-protection": (GP, "end_int_protection+0x"),
    "end-int-page": (PF, "end_int_page+0x"),
    "end-int-machine": ("machine check (vector 18)", ""),
    "end-gs": (PF, "null page"),
    "end-watchpoint": ("debug trap (vector 1)", ""),
    "end-double-fault": ("double fault (vector 8)", "end_double_fault+0x"),
    "leave-gs": (PF, "unmapped"),
}
LEAVES = ("int-device", "alignment", "write-protect", "no-fpu", "cr4",
          "nested-task", "watchpoint", "task-priority", "apic", "idt", "gdt",
          "root", "xcr0", "syscall")


@pytest.fixture
def hostile(machine, tmp_path):
    m = machine(image=make_image(tmp_path, "hostile", "die"), mem=64, cpus=3)
    m.run("load hostile")
    return m


def free_memory(m):
    return re.search(r"Free +(\d+)", m.run("mem"))[1]


@pytest.mark.parametrize("core", [0, 2])
def test_hostile_ends(hostile, core):
    free = free_memory(hostile)
    for way, (exception, words) in ENDS.items():
        out = hostile.run(f"exec {way}" + (f" {core}" if core else ""))
        assert f"*** hostile.app: {exception}" in out, f"{way}: {out}"
        assert f"on core {core}" in out and words in out, f"{way}: {out}"
        assert CRASHED in out and "survived" not in out, f"{way}: {out}"
    assert free_memory(hostile) == free
    assert "workers=2" in hostile.run("run smp 2")
    check_alive(hostile)


@pytest.mark.parametrize("core", [0, 2])
def test_hostile_leaves_nothing(hostile, core):
    free = free_memory(hostile)
    for way in LEAVES:
        out = hostile.run(f"exec leave-{way}" + (f" {core}" if core else ""))
        assert "error" not in out and "***" not in out, f"{way}: {out}"
        # Floating point and every core in a program, a key for the shell.
        assert "Checksum: " in hostile.run("run raytrace 8 8 1 --cpus 3"), way
        out = hostile.run("run die kernel-text" + (f" {core}" if core else ""))
        assert "kernel text, read-only" in out, f"{way}: {out}"
        hostile.run("load hostile")
    assert free_memory(hostile) == free
    hostile.type("run die spin")
    hostile.wait_for("spinning\n")
    hostile.send(b"\x03")
    assert "program was stopped" in hostile.wait_prompt(20)
    check_alive(hostile)


def test_an_nmi_on_the_way_out(hostile, tmp_path):
    """Another core has ended the program and left its tables broken; it is
    told to stop before it has left."""
    hostile.qmp("stop")
    hostile.type("exec leave-gdt 1")
    leave = {row[-1]: int(row[0], 16) for row in addresses(
        os.path.join(ROOT, "build", "ingot.elf"))}["app_leave"]
    with stopped_at(hostile, tmp_path, leave):
        hostile.monitor("nmi")
    hostile.wait_prompt(20)
    check_alive(hostile)


def test_an_nmi_in_a_call(hostile):
    """The program ends when its call is over: no lock is left taken."""
    hostile.type("run die wait")
    hostile.wait_for("waiting\n")
    hostile.monitor("nmi")
    out = hostile.wait_prompt(20)
    assert "*** die.app: stopped by an NMI" in out
    check_alive(hostile)


@pytest.mark.parametrize("core", ["", "1"])
def test_double_fault_in_a_call_is_a_panic(hostile, core):
    hostile.type(f"exec panic-double-fault {core}")
    out = hostile.wait_for("press a key", 20)
    assert "*** kernel panic: double fault (vector 8) on core" in out
    check_reboot(hostile)
