# test_hook_irq.py - programs that drive devices by interrupt: MSI (QEMU's edu),
# MSI-X (virtio's serial ports, which no driver of ours takes).
# SPDX-License-Identifier: MIT
import os
import re
import shlex
import subprocess

import pytest

from conftest import ROOT
from test_cores import free_memory
from test_programs import make_image

DEVICES = ["-device", "edu", "-device", "virtio-serial-pci,disable-legacy=on,"
           "ioeventfd=off,vectors=64", "-device", "pci-testdev"]
SOURCES = ("edu", "ports")
# Ways to end, and what is said; those that Ctrl-C ends say so.
ENDS = {
    "in-fault": r"\*\*\* irqdies.app: page fault[^*]*null page[^*]*in a hook",
    "in-exit": r"exit status 7",
    "fault": r"\*\*\* irqdies.app: page fault[^*]*null page",
    "exit": r"exit status 7",
    "off": r"exit status 7",
    "return": r"",
}
STOPPED = ("in-spin", "spin", "print")


THERE = ("in-fault", "fault", "in-spin", "spin")  # enough on another core


def make_variable(name):
    return shlex.split(subprocess.run(
        ["make", "-s", f"print-{name}"], cwd=ROOT, check=True,
        capture_output=True, encoding="utf-8").stdout)


def build_from_page(page, words, app):
    """The C program of a page of docs/ that has these words."""
    with open(os.path.join(ROOT, "docs", page), encoding="utf-8") as f:
        blocks = re.findall(r"```c\n(.*?)```", f.read(), re.S)
    source = app.with_suffix(".c")
    source.write_text(next(block for block in blocks if words in block))
    compiled = app.with_suffix(".o")
    for command in (
            [*make_variable("CC"), *make_variable("AFLAGS"), "-Iapps", "-c",
             str(source), "-o", str(compiled)],
            [*make_variable("LINK_APP"), "-T", "apps/app.ld", "-o", str(app),
             str(compiled), *make_variable("LIB_OBJ")]):
        subprocess.run(command, cwd=ROOT, check=True)
    return str(app)


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    return make_image(tmp_path_factory.mktemp("irq"), "irqhooks", "irqdies")


@pytest.fixture
def devices(machine, image):
    def make(cpus):
        return machine(image=image, cpus=cpus, mem=64, nic="virtio",
                       qemu=DEVICES)
    return make


def good(out, test):
    assert f"irqhooks {test}: good" in out and "BAD" not in out, out


def counts(m, *sources):
    """The machine is quiet, and each interrupt of a device is one call."""
    for source in sources:
        good(m.run(f"run irqhooks count {source}"), "count")


def test_each_interrupt_is_a_call(devices):
    m = devices(2)
    m.run("load irqhooks")  # the shell keeps the latest file
    before = free_memory(m)
    counts(m, "edu", "ports", "edu")
    good(m.run("run irqhooks factorial"), "factorial")
    for source in SOURCES:
        good(m.run(f"run irqhooks merged {source}"), "merged")
        good(m.run(f"run irqhooks removed {source}"), "removed")
    good(m.run("run irqhooks together"), "together")
    good(m.run("run irqhooks refused"), "refused")
    counts(m, "edu", "ports")
    assert free_memory(m) == before


@pytest.mark.parametrize("source", SOURCES)
def test_a_storm(devices, source):
    m = devices(2)
    m.type(f"run irqhooks storm {source}")
    m.wait_for("raging")
    for key in "abc":
        m.type(key, enter=False)
        m.wait_for(f"typed {key}", timeout=20)
    m.send(b"\r")
    good(m.wait_prompt(), "storm")
    counts(m, source)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("core", [0, 2])
def test_the_ends_of_a_storm(devices, source, core):
    m = devices(3)
    m.run("load irqdies")
    before = free_memory(m)
    for way, said in ((w, s) for w, s in ENDS.items() if not core or w in THERE):
        out = m.run(f"run irqdies {way} {source} {core}")
        assert re.search(said, out), f"{way}: {out}"
        counts(m, source)
    for way in (w for w in STOPPED if not core or w in THERE):
        m.type(f"run irqdies {way} {source} {core}")
        m.wait_for("raging", timeout=20)
        m.send(b"\x03")
        m.wait_for("stopped by Ctrl-C", timeout=20)
        m.wait_prompt()
        counts(m, source)
    m.run("load irqdies")
    assert free_memory(m) == before
    assert "workers=2" in m.run("run smp 2")


@pytest.mark.parametrize("way", ["late-factorial", "late-dma"])
def test_a_device_that_outlives_its_program(vm, image, way):
    """Into the memory, and the core, of the next one."""
    out = vm(f"run irqdies {way}; run irqdies look; run irqhooks count edu",
             image=image, mem=64, nic="virtio", qemu=DEVICES)
    assert "0 bytes changed, 0 interrupts" in out
    if way == "late-dma":
        assert len(set(re.findall(r"memory at (\w+)", out))) == 1, out
    good(out, "count")


def test_the_program_in_the_manual(vm, tmp_path):
    app = build_from_page("hooks.md", "0x11E8", tmp_path / "factorial.app")
    out = vm("run factorial", image=make_image(tmp_path, app), nic="none",
             qemu=["-device", "edu"])
    assert "10! = 3628800" in out
