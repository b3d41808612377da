# test_boot.py - every way to start, every size of memory.
# SPDX-License-Identifier: MIT
import os
import re

import pytest

from conftest import BOOTS, ROOT

MIB = 1 << 20
GIB = 1 << 30


def test_microvm(vm):
    """No MCFG and no configuration ports there: a program comes as a module,
    and QEMU gives PVH modules no name."""
    hello = os.path.join(ROOT, "build/apps/hello.app")
    out = vm("ver; loadr 1; exec", machine="microvm", module=hello)
    assert "Hello" in out


@pytest.mark.parametrize("boot", ["bios", "uefi"])
def test_usb_stick(vm, boot):
    """No disk that we can read: the programs come as boot modules."""
    out = vm("ls; run hello", boot=boot, disk="none")
    assert "Hello" in out


@pytest.mark.parametrize("boot", BOOTS)
def test_stages_are_numbered(machine, boot):
    m = machine(boot=boot)
    numbers = [int(n) for n in re.findall(r"^\[(\d+)\] ", m.boot_text, re.M)]
    assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) > 4


# ---- memory (sizes, holes, above 4 GiB) ----
def regions(text):
    """(first, last, kind) of each line of the map that `mem` prints."""
    return [(int(a, 16), int(b, 16), kind) for a, b, kind in re.findall(
        r"^(0x[0-9a-f]+)\s+(0x[0-9a-f]+)\s+\d+\s+(\w+)$", text, re.M)]


def ram_mib(text):
    return int(re.search(r"^RAM .*\((\d+) MiB\)", text, re.M).group(1))


def check_memory(text, mem, most=0):
    """The map makes sense for that much memory; returns its usable pieces."""
    found = regions(text)
    assert found, text
    for before, after in zip(found, found[1:]):
        assert before[1] < after[0], "sorted, no overlap"
    usable = [(a, b) for a, b, kind in found if kind == "usable"]
    total = sum(b - a + 1 for a, b in usable)
    assert total // MIB == ram_mib(text)
    assert mem - max(2, most) <= total / MIB <= mem
    return usable


SIZES = [16, 64, 1024, 2048, 4096, 8192]


@pytest.mark.parametrize("machine_name", ["q35", "pc"])
@pytest.mark.parametrize("mem", SIZES)
def test_memory_direct(vm, mem, machine_name):
    out = vm("mem; run hello", mem=mem, machine=machine_name)
    assert "Ingot " in out
    usable = check_memory(out, mem)
    above = [a for a, b in usable if a >= 4 * GIB]
    low_end = {"q35": 2048, "pc": 3072}[machine_name]
    assert bool(above) == (mem > (low_end if mem > 3500 else 3500))


@pytest.mark.parametrize("boot,machine_name,mem", [
    ("bios", "q35", 64), ("bios", "q35", 4096), ("bios", "pc", 8192),
    ("uefi", "q35", 256), ("uefi", "q35", 4096), ("uefi", "pc", 8192)])
def test_memory_grub(vm, boot, machine_name, mem):
    out = vm("mem; run hello", mem=mem, machine=machine_name, boot=boot)
    check_memory(out, mem, most=64 if boot == "uefi" else 2)


@pytest.mark.parametrize("machine_name", ["q35", "pc"])
def test_memory_above_4_gib_is_there(vm, machine_name):
    """Written and read back at both ends of what lies above 4 GiB, and the
    hole below it is no memory."""
    first = vm("mem", mem=8192, machine=machine_name)
    start, last = [(a, b) for a, b, kind in regions(first)
                   if kind == "usable" and a >= 4 * GIB][0]
    words = [start, start + GIB, last - 7]
    pokes = "; ".join(f"poke {a:#x} {a ^ 0x5A5A:#x}; peek {a:#x}"
                      for a in words)
    out = vm(pokes, mem=8192, machine=machine_name)
    for a in words:
        assert f"{a ^ 0x5A5A:x}" in "\n".join(
            line for line in out.lower().splitlines()
            if not line.startswith("ingot> "))


def test_memory_is_what_there_is(vm):
    """A program that asks for more than there is gets an error."""
    out = vm("run raytrace 16000 16000 1; mem", mem=64, status=1)
    assert "not enough memory" in out
    assert "RAM " in out, "the shell is still there"
