# test_x540_walk.py - faults of the X540 in random order, while frames flow.
# SPDX-License-Identifier: MIT
"""A walk is its seed: X540_SEED=N X540_STEPS=N repeats or lengthens one."""
import os
import random
import re
import time

import pytest

from test_programs import frame, results, start
from vmlib import model

pytestmark = pytest.mark.skipif(
    not model.qemu_has_device(), reason="needs x-pci-proxy-dev")

STEPS = int(os.environ.get("X540_STEPS", "8"))
SEEDS = [int(word) for word in os.environ.get("X540_SEED", "1 2 3").split()]

# What is switched on, and what switches it off where it does not end by itself.
FAULTS = [
    ("set reset_stuck=1", "set reset_stuck=0"),
    ("set ard_never=1", "set ard_never=0"),
    ("set dmaidone_never=1", "set dmaidone_never=0"),
    ("set rxen_never=1", "set rxen_never=0"),
    ("set txen_never=1", "set txen_never=0"),
    ("set qen_us=20000", "set qen_us=0"),
    ("set reset_us=50000", "set reset_us=100"),
    ("set master_stuck=1", "set master_stuck=0"),
    ("set tx_hang={n}", "set tx_hang=0"),
    ("set tx_stall=1", "set tx_stall=0"),
    ("set rx_stall=1", "set rx_stall=0"),
    ("set tx_drop_dd={n}", "set tx_drop_dd=0"),
    ("set tx_dd_us=300", "set tx_dd_us=0"),
    ("set rx_dd_us=300", "set rx_dd_us=0"),
    ("set rx_err={n}", "set rx_err=0"),
    ("set rx_err={n} rx_err_force=1", "set rx_err=0 rx_err_force=0"),
    ("set rx_len={n} rx_len_val={len}", "set rx_len=0"),
    ("set rx_noeop={n}", "set rx_noeop=0"),
    ("set rx_split={n} rx_split_at={cut}", "set rx_split=0"),
    ("set rx_skip={n}", "set rx_skip=0"),
    ("set prefetch=64", "set prefetch=0"),
    ("set lossy=1", "set lossy=0"),
    ("link down", "link up"),
    ("selfreset", None),
    ("set speed=100", "set speed=10000"),
]
# Programs that use the card meanwhile, with other rings and frame sizes.
PROGRAMS = ["netecho 0 --seconds 1", "netflood 0 {size} 500",
            "netpoll 0 --seconds 1", "net", "netpoll 0 --burst 7 --seconds 1"]
HEALED_SECONDS = 30


def step(m, walk, text):
    numbers = {"n": walk.randint(1, 300), "cut": walk.choice([1, 16, 64, 100]),
               "len": walk.choice([0, 13, 1515, 2048, 2049, 65535]),
               "size": walk.choice([14, 60, 64, 500, 1514])}
    on, off = text
    m.models[0].command(on.format(**numbers))
    return off, numbers


def meanwhile(m, walk, numbers, echoes):
    """A program runs; frames of all sizes come. What comes back was sent."""
    program = walk.choice(PROGRAMS).format(**numbers)
    m.type(program if program == "net" else f"run {program}")
    sent = [frame(i, walk.randint(18, 1514)) for i in range(walk.randint(1, 80))]
    for one in sent:
        m.wires[0].send(one)
    m.wait_prompt(60)
    echoes |= {one[6:12] + one[:6] + one[12:].ljust(48, b"\0") for one in sent}
    while (got := m.wires[0].receive(0.02)) is not None:
        assert got in echoes or got[12:14] == b"\x88\xb5" and \
            got[:6] == b"\xff" * 6, "a frame that nobody sent"


def flows(m, echoes):
    """Within its limit, once nothing is wrong any more."""
    one = frame(0x7FFFFFFF, 300)
    echoes.add(one[6:12] + one[:6] + one[12:])
    until = time.monotonic() + HEALED_SECONDS
    while time.monotonic() < until:
        m.run("net")
        m.wires[0].drain()
        start(m, "netecho 0 --seconds 1")
        m.wires[0].send(one)
        got = m.wires[0].receive(1)
        m.wait_prompt(30)
        m.wires[0].drain()
        if got and got[12:] == one[12:]:
            return
    pytest.fail("frames do not flow again")


@pytest.mark.parametrize("seed", SEEDS)
def test_walk(machine, seed):
    walk = random.Random(seed)
    m = machine(nic="x540")
    before = re.search(r"Free +\d+ KiB", m.run("run netecho 0 --frames 1 "
                                               "--seconds 1") + m.run("mem"))
    trace, to_end, echoes = [], [], set()
    for _ in range(STEPS):
        fault = walk.choice(FAULTS)
        trace.append(fault[0])
        print("walk", seed, trace)  # shown when it fails
        off, numbers = step(m, walk, fault)
        to_end.append(off)
        meanwhile(m, walk, numbers, echoes)
        if walk.random() < 0.6:  # else the next one comes on top
            for one in to_end:
                if one:
                    m.models[0].command(one)
            to_end.clear()
            flows(m, echoes)
    for one in to_end:
        if one:
            m.models[0].command(one)
    flows(m, echoes)
    rules = m.models[0].stats()["rules"]
    assert not rules, (trace, rules, m.models[0].log()[-2000:])
    assert before is None or before[0] in m.run("mem")
    assert "netecho" in m.run("ls")
