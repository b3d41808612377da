# test_net_many.py - many NICs, many places, many cores: numbered by address, all
# of them usable, each by a core of its own.
# SPDX-License-Identifier: MIT
import re
import time

import pytest

from test_net import PLACES
from test_programs import frame, make_image, results, start
from vmlib.wire import Wire

MIX = ["virtio", "e1000", "e1000e", "virtio-legacy"]
NAMES = {"virtio": "virtio_net", "virtio-legacy": "virtio_net",
         "virtio-net-pci": "virtio_net"}


def check_echo(m, wire, nic, lengths=(60, 64, 700, 1514)):
    start(m, f"netecho {nic} --frames {len(lengths)} --seconds 30")
    for i, length in enumerate(lengths):
        sent = frame(i + nic, length)
        wire.send(sent)
        assert wire.receive(10) == sent[6:12] + sent[:6] + sent[12:]
    assert results(m.wait_prompt(40))[0]["sent"] == str(len(lengths))


def test_sixteen_and_one_more(machine):
    kinds = MIX * 4
    m = machine(nic=kinds + ["e1000"])
    rows = re.findall(r"^ +(\d+)  (\w+) +00:(\w\w)\.0", m.run("net"), re.M)
    assert rows == [(str(i), NAMES.get(kind, kind), f"{i + 1:02x}")
                    for i, kind in enumerate(kinds)]
    log = m.run("log")
    said = [line for line in log.splitlines() if "00:11.0" in line]
    assert len(said) == 1 and "e1000 at 00:11.0: not supported" in said[0]
    assert "more than 16 NICs" in log
    for nic in range(16):
        check_echo(m, m.wires[nic], nic)
    # Once more: what the others did has harmed none.
    for nic in (0, 7, 15):
        check_echo(m, m.wires[nic], nic)


def device(kind, wire, name, options):
    return ["-netdev", f"socket,id={name},udp=127.0.0.1:{wire.peer},"
                       f"localaddr=127.0.0.1:{wire.port}",
            "-device", f"{kind},netdev={name},romfile=,{options}"]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ["e1000", "e1000e"])
def test_behind_bridges(machine, place, kind):
    wire = Wire()
    words = [word for bridge in PLACES[place] for word in ("-device", bridge)]
    bus = "bus=b2,addr=1" if place == "two-bridges" else "bus=b2"
    m = machine(nic="none", qemu=words + device(kind, wire, "w0", bus))
    check_echo(m, wire, 0)
    wire.close()


def test_a_mix_in_all_places(machine):
    """Functions of a slot, a root port, two bridges: order is by address."""
    wires = [Wire() for _ in range(5)]
    words = ["-device", "pcie-root-port,id=rp,chassis=1,addr=6",
             "-device", "pcie-pci-bridge,id=b1,addr=7",
             "-device", "pci-bridge,id=b2,bus=b1,chassis_nr=2,addr=3"]
    at = [("virtio-net-pci", "bus=b2,addr=4"), ("e1000e", "bus=rp"),
          ("e1000", "addr=5.7"), ("virtio-net-pci", "addr=5.2"),
          ("e1000", "addr=5.0,multifunction=on")]
    for i, (kind, options) in enumerate(at):
        words += device(kind, wires[i], f"w{i}", options)
    m = machine(nic="none", qemu=words)
    drivers = re.findall(r"^ +\d+  (\w+) +(\S+)", m.run("net"), re.M)
    assert [driver for driver, _ in drivers] == [
        "e1000", "virtio_net", "e1000", "e1000e", "virtio_net"]
    assert [address for _, address in drivers] == \
        sorted(address for _, address in drivers)
    for nic, wire in enumerate(reversed(wires)):
        order = [4, 3, 2, 1, 0]
        check_echo(m, wires[order[nic]], nic)
        wire.drain()
    for wire in wires:
        wire.close()


def test_registers_far_up(machine):
    """Firmware with room above 4 GiB, and RAM there: DMA reaches it."""
    m = machine(nic=["e1000", "e1000e"], boot="uefi", mem=5120,
                boot_timeout=150)
    for nic in range(2):
        check_echo(m, m.wires[nic], nic)


# ---- cores ----

@pytest.mark.parametrize("kinds", [("virtio", "e1000"), ("e1000e", "virtio"),
                                   ("virtio", "virtio-legacy")],
                         ids="-".join)
def test_a_nic_for_every_core(machine, tmp_path, kinds):
    """Both busy at once: every frame comes back, whole and in order."""
    n, ahead = 3000, 48
    m = machine(nic=list(kinds), cpus=2, image=make_image(tmp_path, "cores"))
    m.type(f"run cores own {n}")
    m.wait_for("working\n", 30)
    sent, back = [0, 0], [0, 0]
    until = time.monotonic() + 60
    while min(back) < n and time.monotonic() < until:
        for nic in (0, 1):
            wire = m.wires[nic]
            while sent[nic] < n and sent[nic] - back[nic] < ahead:
                wire.send(frame(sent[nic], 64 + sent[nic] % 1451))
                sent[nic] += 1
            while (got := wire.receive(0.001)) is not None:
                want = frame(back[nic], 64 + back[nic] % 1451)
                assert got == want[6:12] + want[:6] + want[12:]
                back[nic] += 1
    found = results(m.wait_prompt(90))
    assert back == [n, n]
    assert [one["received"] for one in found] == [str(n)] * 2
    assert [one["sent"] for one in found] == [str(n)] * 2


def share(m, what="", frames=3000, dies=False):
    """Two cores at NIC 0, while frames come; returns what the program said."""
    m.type(f"run cores share {what}")
    m.wait_for("working\n", 30)
    m.wires[0].send_paced((frame(i) for i in range(frames)), 6000)
    if not dies:
        m.send(b"q")
    return m.wait_prompt(60)


def echoes_again(m):
    """One frame, behind those that the program left."""
    start(m, "netecho 0")
    sent = frame(77, 500)
    m.wires[0].send(sent)
    until = time.monotonic() + 20
    got = b""
    while time.monotonic() < until and got[12:] != sent[12:]:
        got = m.wires[0].receive(1) or b""
    m.send(b"\x03")
    m.wait_prompt(30)
    assert got[12:] == sent[12:]


@pytest.mark.parametrize("kind", ["virtio", "virtio-legacy", "e1000", "e1000e"])
def test_two_cores_at_one_nic(machine, tmp_path, kind):
    """An error of the program, and only its own. No frame is handed out twice,
    and nothing needs a reset, unless one core dies in a call."""
    m = machine(nic=kind, cpus=2, image=make_image(tmp_path, "cores"))
    m.run("load cores")
    memory = m.run("mem")
    found = results(share(m))
    assert [one["error"] for one in found] == ["0", "0"]
    net = m.run("net")
    for what in ("received", "sent"):
        count = int(re.search(rf"{what} +(\d+) frames", net)[1])
        assert sum(int(one[what]) for one in found) == count > 0
    echoes_again(m)
    asks = results(share(m, "info"))
    # QEMU's e1000 is deaf for a second after every reset.
    sets = results(share(m, "set", 60 if kind == "e1000" else 3000))
    for found in asks, sets:
        assert [one["error"] for one in found] == ["0", "0"]
        assert int(found[1]["sent"]) > 0, "nothing was asked or set"
    assert "nic 0: reset" not in m.run("log")
    for _ in range(3):
        assert "net_tx" in share(m, "die", 60, dies=True)
        echoes_again(m)
    m.run("load cores")
    assert m.run("mem") == memory
