# test_ixgbe.py - Linux's own driver runs on the model of the X540.
# SPDX-License-Identifier: MIT
import os
import subprocess
import time

import pytest

from conftest import ROOT
import debian
import linux_guest
from vmlib import model

WAIT = 60


def skip_without():
    if not os.path.exists(f"{ROOT}/{debian.HOME}/root/version"):
        pytest.skip("needs a kernel that make bench has fetched")
    if not os.path.exists(model.PROGRAM) or not model.qemu_has_device():
        pytest.skip("needs x-pci-proxy-dev")


@pytest.fixture
def guest(monkeypatch):
    """Linux on one X540."""
    skip_without()
    monkeypatch.chdir(ROOT)
    subprocess.run(["make", "bench-programs"], check=True,
                   capture_output=True, timeout=120)
    kernel = debian.unpacked()
    linux_guest.prepare(kernel)
    with linux_guest.Linux(["--nic", "x540"], kernel) as machine:
        machine.wait_prompt(120)
        yield machine


def carrier_is(machine, wanted):
    end = time.monotonic() + WAIT
    while f"driver=ixgbe carrier={wanted}" not in machine.run("nics"):
        assert time.monotonic() < end, machine.run("log ixgbe")
    return True


def echo(machine, count):
    """tools/flood's figures for count frames of all kinds of sizes."""
    wire = machine.wires[0]
    machine.type(f"echo eth0 {count} {WAIT}")
    machine.wait_for("Echoing on eth0", WAIT)
    done = subprocess.run(
        ["tools/flood", f"{wire.port}:{wire.peer}", "--echo", "--rate",
         "2000", "--count", str(count), "--seconds", str(WAIT),
         "--size", "60,64,600,1514"],
        capture_output=True, encoding="utf-8", timeout=2 * WAIT)
    machine.wait_prompt(WAIT)
    return done


def test_ixgbe_runs_on_the_model(guest):
    card = guest.models[0]
    assert carrier_is(guest, 1), "link"
    guest.wires[0].socket.close()  # tools/flood takes its place
    done = echo(guest, 1000)
    assert done.returncode == 0, done.stdout + card.log()
    card.command("link down")
    assert carrier_is(guest, 0), "link down"
    card.command("link up")
    assert carrier_is(guest, 1), "link up"
    done = echo(guest, 100)
    assert done.returncode == 0, done.stdout + card.log()
    assert not card.stats()["rules"], card.log()
