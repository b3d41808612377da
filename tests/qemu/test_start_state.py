# test_start_state.py - what a program finds in the processor when it starts, as
# docs/programs.md promises it, on every core and whatever ran before.
# SPDX-License-Identifier: MIT
import pytest

from test_faults import CRASHED
from test_programs import make_image

START = {
    "rbp": 0, "stack": 8, "flags": 0x202, "mxcsr": 0x1F80,
    "x87_control": 0x37F, "x87_status": 0, "x87_tags": 0xFFFF, "upper": 0,
    "fs_base": 0, "gs_is_self": 0, "cs": 8, "ss": 16, "ds": 16, "es": 16,
    "cr8": 0, "dr7": 0x400, "pat": 0x0007040600070106, "idt_limit": 4095,
}
ALIKE = ("cr0", "cr3", "cr4", "efer", "xcr0", "idt", "gdt_limit", "apic_mode")
CR0 = 0x80010033  # PG, WP, NE, ET, MP, PE: neither EM nor TS
EFER = 0xD00      # NXE, LMA, LME: no SCE


def states(text):
    """One dictionary a core."""
    return [{name: int(value) for name, value in
             (word.split("=") for word in line.split()[1:])}
            for line in text.splitlines() if line.startswith("state ")]


def check(found, cores):
    assert [state["core"] for state in found] == list(range(cores))
    for state in found:
        wrong = {name: hex(state[name]) for name in START
                 if state[name] != START[name]}
        differs = {name: (hex(state[name]), hex(found[0][name]))
                   for name in ALIKE if state[name] != found[0][name]}
        assert not wrong and not differs, f"core {state['core']}"
    assert found[0]["cr0"] == CR0 and found[0]["efer"] == EFER


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    return make_image(tmp_path_factory.mktemp("state"), "startstate")


@pytest.mark.parametrize("boot,processor,xcr0", [
    ("direct", "max", 7), ("direct", "qemu64", 0), ("bios", "max", 7),
    ("uefi", "max", 7)])
def test_every_core_is_set_up_alike(vm, image, boot, processor, xcr0):
    out = vm("run startstate", image=image, boot=boot, cpus=4, nic="none",
             qemu=["-cpu", processor])
    found = states(out)
    check(found, 4)
    assert found[0]["xcr0"] == xcr0
    assert found[0]["cr4"] >> 18 & 1 == (xcr0 != 0)  # OSXSAVE
    assert found[0]["cr4"] >> 9 & 3 == 3  # OSFXSR, OSXMMEXCPT


def test_nothing_of_the_last_program_is_left(machine, image):
    """It spoilt both cores and returned, or died on one of them."""
    m = machine(image=image, nic="none", mem=64, cpus=2)
    m.run("load startstate")
    first = states(m.run("exec"))
    check(first, 2)
    assert first[0]["arg"] & 0xFFFFFFFF == 1
    for way, core in (("leave", None), ("die", 0), ("die-there", 1)):
        out = m.run(f"exec {way}")
        if core is None:
            assert "error" not in out and len(states(out)) == 2
        else:
            assert f"invalid opcode (vector 6) on core {core}" in out
            assert CRASHED in out
        after = states(m.run("exec"))
        check(after, 2)
        assert [{n: s[n] for n in ALIKE} for s in after] == \
            [{n: s[n] for n in ALIKE} for s in first], way
