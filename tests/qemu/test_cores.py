# test_cores.py - the other cores: found, started, used, and lost without harm.
# SPDX-License-Identifier: MIT
import os
import re
import subprocess

import pytest

from conftest import ROOT
from test_faults import CRASHED, DEATHS, SIGNS
from test_programs import make_image


def cores(text):
    return int(re.search(r"Cores: +(\d+) started", text).group(1))


@pytest.mark.parametrize("cpus", [1, 2, 8])
def test_every_core_starts(vm, cpus):
    assert cores(vm("cpu", cpus=cpus)) == cpus


def test_sparse_apic_ids(vm):
    out = vm("cpu; run smp 5", qemu=["-smp", "6,sockets=2,cores=3,threads=1"])
    assert cores(out) == 6
    assert "workers=5" in out


def test_disabled_cores_are_left_alone(vm):
    assert cores(vm("cpu", qemu=["-smp", "2,maxcpus=6"])) == 2


@pytest.mark.parametrize("processor,wait", [("max", "MWAIT"),
                                            ("max,-monitor", "HLT")])
def test_idle_cores_wait_and_start(machine, tmp_path, processor, wait):
    """Told by a store alone where they watch for one, else by an interrupt."""
    m = machine(image=make_image(tmp_path, "die"), nic="none", mem=64, cpus=2,
                qemu=["-cpu", processor])
    assert f"smp: 2 of 2 cores run, idle ones in {wait} (0)" in m.boot_text
    for _ in range(2):
        assert "workers=1" in m.run("run smp 1")
        assert "RESULT bench=handoff" in m.run("run handoff 100")
        assert f"error: die.app: {CRASHED}" in m.run("run die ud2 1")


@pytest.mark.parametrize("boot", ["bios", "uefi"])
def test_under_firmware(vm, boot):
    out = vm("cpu; run smp; run handoff 100", cpus=3, boot=boot)
    assert cores(out) == 3
    assert "RESULT bench=handoff" in out


def test_one_core_says_so(vm):
    out = vm("run smp; run handoff", cpus=1, status=1)
    assert "error: smp: not that many other cores: there are 0" in out
    assert "error: handoff: core 1: there is one core only" in out


@pytest.fixture
def die(machine, tmp_path):
    m = machine(image=make_image(tmp_path, "die"), mem=64, cpus=3)
    m.run("load die")  # the shell keeps the latest file
    return m


def free_memory(m):
    return re.search(r"Free +(\d+)", m.run("mem")).group(1)


def test_deaths_on_another_core(die):
    before = free_memory(die)
    for way, (exception, words) in DEATHS.items():
        if way in ("stack-overflow", "execute-stack"):
            words = ""  # another stack, other words
        out = die.run(f"run die {way} 1")
        assert f"*** die.app: {exception}" in out, out
        assert words in out
        assert f"error: die.app: {CRASHED}" in out
    assert free_memory(die) == before
    assert "workers=2" in die.run("run smp 2")


@pytest.mark.parametrize("way", ["spin", "spin-off", "halt", "halt-off", "print"])
def test_ctrl_c_stops_every_core(die, way):
    before = free_memory(die)
    die.type(f"run die {way} 2")
    die.wait_for(SIGNS[way])
    die.send(b"\x03")
    die.wait_for("stopped by Ctrl-C", timeout=20)
    die.wait_prompt()
    assert free_memory(die) == before
    assert "workers=2" in die.run("run smp 2")


def test_exit_on_another_core_ends_the_program(die):
    out = die.run("run die exit-deep 1")
    assert "survived" not in out
    assert "ingot>" in out or "exit status" in out or out.strip() == ""
    assert "workers=2" in die.run("run smp 2")


def test_a_picture_on_many_cores_is_the_same(vm):
    out = vm("run raytrace 64 48 2; run raytrace 64 48 2 --cpus 3; "
             "run raytrace 64 3 1; run raytrace 64 3 1 --cpus 3", cpus=3)
    sums = re.findall(r"checksum=(\w+)", out)
    assert len(sums) == 4
    assert sums[0] == sums[1] and sums[2] == sums[3]


def test_a_picture_on_more_cores_than_there_are(vm):
    out = vm("run raytrace 64 48 2 --cpus 3", cpus=2, status=1)
    assert "error: raytrace: core 2: past the end" in out


def test_jitter_takes_no_interrupts(vm):
    assert re.search(r"RESULT bench=jitter .* interrupts=0\b",
                     vm("run jitter 1"))


def test_an_nmi_for_everybody_ends_only_the_program(die):
    """A server's button: the other cores, idle, have nothing to end."""
    die.type("run die spin-off")
    die.wait_for(SIGNS["spin-off"])
    die.monitor("nmi")
    die.wait_for("*** die.app: NMI", timeout=20)
    die.wait_prompt()
    assert "workers=2" in die.run("run smp 2")


def executed(log, start):
    """Instructions of core 0 from each time it comes to `start` to the next."""
    rounds, n = [], None
    with open(log, encoding="latin-1") as lines:
        for line in lines:
            if not line.startswith("Trace 0:"):
                continue
            if line.split("/")[1] == start:
                rounds += [] if n is None else [n]
                n = 0
            n = None if n is None else n + 1
    return rounds


def addresses(path):
    return [line.split() for line in subprocess.run(
        ["nm", path], capture_output=True, text=True,
        check=True).stdout.splitlines()]


def test_what_four_workers_cost_the_core_that_starts_them(vm, tmp_path):
    """--icount counts every core; QEMU's trace of single instructions names
    the core. What runs is traced: the program, and the calls it makes."""
    calls = ("cpu_start", "cpu_wait", "app_leave_if_stopping",
             "app_is_to_stop", "hook_let_run", "hook_is_due")
    ranges = [f"0x{row[0]}+0xff"
              for row in addresses(os.path.join(ROOT, "build", "ingot.elf"))
              if row[-1] in calls]
    start = [row[0] for row in addresses(
        os.path.join(ROOT, "build", "apps", "smp.app"))
        if row[-1] == "smp_round"][0]
    log = tmp_path / "trace"
    vm("run smp 4", icount=True, cpus=5, nic="none", qemu=[
        "-singlestep", "-d", "exec,nochain", "-D", str(log), "-dfilter",
        ",".join(ranges + ["0xffff800000000000+0x2ff"])])
    rounds = executed(log, start)
    log.unlink()
    assert len(rounds) == 999
    assert 100 < sum(rounds) / len(rounds) <= 600

def spent(log, core, low, high):
    """Instructions of one core at the addresses low..high - 1."""
    with open(log, encoding="latin-1") as lines:
        return sum(low <= int(line.split("/")[1], 16) < high for line in lines
                   if line.startswith(f"Trace {core}:"))


def test_what_a_handoff_costs_each_side(vm, tmp_path):
    at = {row[-1]: int(row[0], 16) for row in addresses(
        os.path.join(ROOT, "build", "apps", "handoff.app"))}
    low, high = at["answer"], at["args_digit"]  # both loops, and main()
    log = tmp_path / "trace"
    out = vm("run handoff 500", icount=True, cpus=2, nic="none", qemu=[
        "-singlestep", "-d", "exec,nochain", "-D", str(log), "-dfilter",
        f"0x{low:x}+0x{high - low - 1:x}"])
    sides = [spent(log, core, low, high) / 500 for core in (0, 1)]
    log.unlink()
    assert "RESULT bench=handoff" in out
    assert all(4 < side <= 100 for side in sides)


def test_all_cores_at_once(machine, tmp_path):
    """They die, or take memory, while the first core leaves the program."""
    m = machine(nic="none", cpus=4, mem=64,
                image=make_image(tmp_path, "together"))
    m.run("load together")
    before = free_memory(m)
    for _ in range(5):
        out = m.run("run together die")
        assert "*** together.app" in out and "*** shell" not in out
        assert out.count("die+0x") == out.count("page fault")
        m.run("run together take")
        assert free_memory(m) == before
