# test_budgets.py - what things may cost, in guest instructions: under --icount
# one instruction is one nanosecond, so a program's ns are a count.
# SPDX-License-Identifier: MIT
import os
import re
import shutil
import subprocess

import pytest

from conftest import ROOT
from test_programs import results

N = 100000
SLACK = 0.1  # the two calls that read the clock, spread over N

# Guest instructions per iteration, loop included, on an empty ring.
BUDGETS = [
    ("netpoll", f"netpoll 0 {N}", 18),
    ("netpoll-asm", f"netpoll-asm 0 {N}", 14),
    ("netpoll --inline", f"netpoll 0 {N} --inline", 7),
    ("a call that does nothing", f"callcost {N}", 8),
    ("cpuid", f"cpuid {N}", 8),
    ("cpuid-asm", f"cpuid-asm {N}", 5),
]


@pytest.mark.parametrize("nic", ["virtio", "virtio-legacy", "e1000", "e1000e"])
def test_instructions_per_iteration(vm, nic):
    out = vm("; ".join(f"run {line}" for _, line, _ in BUDGETS), icount=True,
             nic=nic)
    found = results(out)
    assert len(found) == len(BUDGETS)
    over = [f"{name}: {result['ns']} of {budget}"
            for (name, _, budget), result in zip(BUDGETS, found)
            if float(result["ns"]) > budget + SLACK
            or float(result["ns"]) < 3]
    assert not over
    assert all(result["iterations"] == str(N) for result in found)


def test_boot_to_the_prompt(vm):
    """From the kernel's first instruction, one core, AHCI and virtio-net."""
    out = vm("time; net; disk", icount=True)
    ready = re.search(r"\((\d+) ns from the kernel's first instruction\)", out)
    assert ready and 100_000 < int(ready[1]) <= 1_000_000
    assert "virtio_net" in out and "ahci" in out


def test_kernel_size():
    """At most 256 KiB loaded, every driver and the shell inside, cleared memory too."""
    rows = subprocess.run(["readelf", "-lW",
                           os.path.join(ROOT, "build", "ingot.elf")],
                          capture_output=True, text=True, check=True).stdout
    loads = [row.split() for row in rows.splitlines()
             if row.strip().startswith("LOAD")]
    start = min(int(row[3], 16) for row in loads)
    end = max(int(row[3], 16) + int(row[5], 16) for row in loads)
    assert 0 < end - start <= 256 * 1024


def test_raytrace_costs_what_it_costs_on_linux(vm, tmp_path):
    """The same object file: callgrind counts the Linux program from its first
    instruction in main() to its last, Ingot's clock counts here."""
    if not shutil.which("valgrind"):
        pytest.skip("no valgrind to count with")
    size = ["160", "90", "4"]
    counts = tmp_path / "counts"
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", f"--callgrind-out-file={counts}",
         "--toggle-collect=main",
         os.path.join(ROOT, "build", "linux", "raytrace"), *size],
        capture_output=True, text=True, check=True)
    linux = int(re.search(r"Collected : (\d+)", done.stderr)[1])
    linux_sum = results(done.stdout)[0]["checksum"]
    ours = results(vm(f"run raytrace {' '.join(size)}", icount=True))[0]
    assert ours["checksum"] == linux_sum
    assert linux > 10_000_000
    assert int(ours["ns"]) <= linux * 1.005
    assert int(ours["ns"]) >= linux * 0.98, "then something was not counted"
