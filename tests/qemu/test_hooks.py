# test_hooks.py - a program's functions that are called by interrupt.
# SPDX-License-Identifier: MIT
import re

import pytest

from test_cores import free_memory
from test_programs import frame, make_image

CRASHED = "program was ended by an exception"
QUICK = ("once", "periodic", "inside", "no-cut", "reenter", "cores", "many",
         "arguments", "left")
# Ways to end inside a hook, and what is said.
ENDS = {
    "fault": r"\*\*\* hooks.app: page fault[^*]*null page[^*]*in a hook",
    "wild": r"\*\*\* hooks.app: page fault[^*]*execute 0xffff9[^*]*in a hook",
    "exit": r"exit status 7",
    "overflow": r"\*\*\* hooks.app: page fault[^*]*in a hook",
    "fault-idle": r"\*\*\* hooks.app: page fault[^*]*null page[^*]*in a hook",
}
STOPPED = ("spin", "storm", "wait", "spin-idle")
SIGNS = {"spin": "spinning", "storm": "raging", "wait": "waiting",
         "spin-idle": "spinning"}


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    return make_image(tmp_path_factory.mktemp("hooks"), "hooks", "nethooks", "vectors")


def interrupts(m):
    return re.search(r"interrupts=(\d+)", m.run("run jitter 1")).group(1)


def good(out, test):
    assert f"hooks {test}: good" in out and "BAD" not in out, out


def test_timers(machine, image):
    m = machine(image=image, cpus=2, mem=64, nic="none")
    m.run("load hooks")  # the shell keeps the latest file
    before = free_memory(m)
    for test in QUICK:
        good(m.run(f"run hooks {test}"), test)
    assert free_memory(m) == before
    assert interrupts(m) == "0"  # "left" and others have timers set


def test_inside_calls(machine, image):
    m = machine(image=image, mem=64, nic="none")
    m.type("run hooks in-calls")
    m.wait_for("three")
    m.send(b"x")
    good(m.wait_prompt(), "in-calls")


def test_the_ends_of_a_hook(machine, image):
    m = machine(image=image, cpus=2, mem=64, nic="none")
    m.run("load hooks")  # the shell keeps the latest file
    before = free_memory(m)
    for way, said in ENDS.items():
        assert re.search(said, m.run(f"run hooks {way}")), way
    for way in STOPPED:
        m.type(f"run hooks {way}")
        m.wait_for(SIGNS[way])
        m.send(b"\x03")
        m.wait_for("stopped by Ctrl-C", timeout=20)
        m.wait_prompt()
    assert free_memory(m) == before
    assert interrupts(m) == "0"
    good(m.run("run hooks cores"), "cores")


def ping(m, n, first=0):
    """Each frame waits for the one before to come back: a wake-up that is lost
    is one that never does."""
    for i in range(first, first + n):
        m.wires[0].send(frame(i))
        assert m.wires[0].receive(timeout=10) == frame(i), i


def rules_kept(m):
    for card in m.models.values():
        assert not card.stats()["rules"], card.log()


@pytest.mark.parametrize("nic", ["virtio", "virtio-legacy", "e1000e", "x540"])
def test_frames(machine, image, nic):
    m = machine(image=image, cpus=2, mem=64, nic=nic)
    m.type("run nethooks net")
    m.wait_for("listening")
    ping(m, 200)
    m.send(b"x")
    m.wait_for("frames 200")
    m.wait_for("listening")
    m.wires[0].send_paced([frame(i) for i in range(20)], rate=500)
    m.send(b"x")
    m.wait_for("polled 20")  # no hook, and nothing is lost
    m.wait_for("listening")
    ping(m, 20)
    m.send(b"x")
    m.wait_for("frames 20")
    good(m.wait_prompt(), "net")
    m.type("run nethooks net-late")
    m.wait_for("listening")
    m.wires[0].send(frame(7))
    m.send(b"x")
    m.wait_for("listening")
    assert m.wires[0].receive(timeout=10) == frame(7)
    ping(m, 10)
    m.send(b"x")
    m.wait_for("frames 11")
    good(m.wait_prompt(), "net-late")
    m.type("run jitter 1")
    m.wires[0].send_paced([frame(i) for i in range(20)], rate=100)
    assert "interrupts=0" in m.wait_prompt()
    rules_kept(m)


@pytest.mark.parametrize("nic", ["virtio", "virtio-legacy", "e1000e", "x540"])
def test_masked_meanwhile(machine, image, nic):
    m = machine(image=image, mem=64, nic=nic)
    m.type("run nethooks net-held")
    m.wait_for("listening")
    m.wires[0].send(frame(0))
    m.wait_for("holding")
    m.wires[0].send_paced([frame(i) for i in range(1, 21)], rate=500)
    m.send(b"x")
    for i in range(21):  # as many as a small ring takes
        assert m.wires[0].receive(timeout=10) == frame(i), i
    m.send(b"x")
    m.wait_for("frames 21")
    good(m.wait_prompt(), "net-held")
    rules_kept(m)


@pytest.mark.parametrize("nic", ["virtio", "e1000e", "x540"])
@pytest.mark.parametrize("test", ["net-busy", "net-idle"])
def test_a_flood(machine, image, nic, test):
    m = machine(image=image, cpus=2, mem=64, nic=nic)
    m.type(f"run nethooks {test}")
    m.wait_for("listening")
    m.wires[0].send_paced([frame(i) for i in range(2000)], rate=4000)
    while m.wires[0].receive(timeout=0.5):
        pass  # a program that was drowned once wakes for each that comes later
    ping(m, 50, 5000)
    m.send(b"x")
    m.wait_for("frames ")
    good(m.wait_prompt(), test)
    assert interrupts(m) == "0"
    rules_kept(m)


@pytest.mark.parametrize("nic", ["virtio", "virtio-legacy", "e1000e", "x540"])
def test_settings_under_a_hook(machine, image, nic):
    m = machine(image=image, mem=64, nic=nic)
    m.type("run nethooks net-set")
    for change in range(6):
        m.wait_for("listening")
        for i in range(5):
            one = b"\xff" * 6 + frame(10 * change + i)[6:]
            m.wires[0].send(one)
            assert m.wires[0].receive(timeout=10) == one, (change, i)
        m.send(b"x")
        m.wait_for(f"frames {5 * (change + 1)}")
    good(m.wait_prompt(), "net-set")
    rules_kept(m)


def test_a_card_without_messages(vm, image):
    good(vm("run nethooks net-refused", image=image, nic="e1000"), "net-refused")


@pytest.mark.parametrize("cpu", ["max", "qemu64", "max,-avx"])
def test_vector_registers(vm, image, cpu):
    out = vm("run vectors; run vectors 1; run vectors", image=image, cpus=2,
             nic="none", qemu=["-cpu", cpu])
    kind = "avx" if cpu == "max" else "sse"
    found = re.findall(r"vectors (\w+): (\w+), (\d+) hooks", out)
    assert [f[:2] for f in found] == [(kind, "good")] * 3
    assert all(int(f[2]) >= 40 for f in found)
