#!/usr/bin/python3
# deaths.py - `make deaths`: programs die a thousand times in every way, while
# frames pour in and other cores run; then everything still works.
# SPDX-License-Identifier: MIT
import argparse
import os
import pathlib
import random
import re
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "qemu"))

from test_faults import DEATHS, FLAT_DEATHS, SIGNS  # noqa: E402
from test_hostile import ENDS, LEAVES  # noqa: E402
from test_programs import make_image  # noqa: E402
from vmlib.machine import Machine  # noqa: E402

CORES = 3
FRAME = bytes.fromhex("ffffffffffff 020000000001 88b5") + bytes(50)
NOT_HERE = ("leave-idt",)  # an interrupt between its two instructions is fatal


def lines():
    """Every way to die, as (command, sign to wait for before Ctrl-C)."""
    cores = [""] + [f" {core}" for core in range(1, CORES)]
    ways = [f"die {way}" for way in DEATHS] + [f"hostile {way}" for way in ENDS]
    ways += [f"hostile leave-{way}" for way in LEAVES
             if f"leave-{way}" not in NOT_HERE]
    result = [(way + core, None) for way in ways for core in cores]
    result += [(f"die_flat {n}", None) for n in range(len(FLAT_DEATHS))]
    result += [(f"die {way}{core}", sign) for way, sign in SIGNS.items()
               for core in cores if core or not way.endswith("-off")]
    result += [(f"busydie {way}", sign) for way, sign in
               (("disk", "reading"), ("net", "sending"), ("cores", "running"))]
    return result


class Flood:
    """Frames into a NIC until told to stop."""

    def __init__(self, wire):
        self.wire, self.on = wire, True
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while self.on:
            for _ in range(8):
                self.wire.send(FRAME)
            time.sleep(0.005)  # a rate, not a wait

    def stop(self):
        self.on = False
        self.thread.join()


def free_bytes(m):
    return re.search(r"Free +(\d+)", m.run("mem"))[1]


def die_once(m, line, sign):
    if sign is None:
        out = m.run(f"run {line}")
    else:
        m.type(f"run {line}")
        m.wait_for(sign.strip())
        m.send(b"\x03")
        out = m.wait_for(re.compile("stopped by Ctrl-C|by an exception"), 30)
        out += m.wait_prompt(30)
    assert "kernel panic" not in out and "not used again" not in out, out


def check_alive(m, wire):
    assert "workers=2" in m.run("run smp 2")
    assert "Hello from C" in m.run("run hello")  # off the disk
    m.type("run netecho 0 --frames 5 --seconds 20")
    deadline = time.monotonic() + 20
    while not m.at_prompt() and time.monotonic() < deadline:
        wire.send(FRAME)
        wire.receive(0.2)
    assert "sent=5" in m.wait_prompt(30)


def die_often(m, n, seed, flood=True):
    """n deaths in an order that the seed says; returns the kinds."""
    wire = m.wires[0]
    m.run("run hello")
    free = free_bytes(m)
    order = lines()
    dice = random.Random(seed)
    dice.shuffle(order)
    frames = Flood(wire) if flood else None
    for i in range(n):
        die_once(m, *order[i % len(order)])
    if frames:
        frames.stop()
    m.run("run hello")  # the shell keeps the latest file
    assert free_bytes(m) == free
    check_alive(m, wire)
    return min(n, len(order))


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--deaths", type=int, default=1000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--nic", default="virtio")
    options = options.parse_args()
    with tempfile.TemporaryDirectory() as temp:
        image = make_image(pathlib.Path(temp), "die", "die_flat", "hostile",
                           "busydie")
        with Machine(["--image", image, "--mem", "64", "--cpus", str(CORES),
                      "--nic", options.nic]) as m:
            m.wait_prompt(60)
            start = time.monotonic()
            kinds = die_often(m, options.deaths, options.seed)
            print(f"{options.deaths} deaths of {kinds} kinds in "
                  f"{time.monotonic() - start:.0f} s: free memory the same, "
                  "shell, disk, NIC and cores work")


if __name__ == "__main__":
    main()
