# test_net.py - every NIC, wherever it sits and however it is set up: frames flow,
# are counted, and flow again after a flood.
# SPDX-License-Identifier: MIT
import re

import pytest

from test_programs import frame, results, start
from vmlib.wire import Wire

PLACES = {
    "root-port": ["pcie-root-port,id=b2,chassis=1"],
    "two-bridges": ["pcie-pci-bridge,id=b1", "pci-bridge,id=b2,bus=b1,chassis_nr=2"],
    "second-root-bus": ["pxb-pcie,id=p1,bus_nr=128,bus=pcie.0",
                        "pcie-root-port,id=b2,bus=p1,chassis=2"],
}
KINDS = ["virtio", "e1000", "e1000e"]
VARIANTS = ["disable-legacy=on", "disable-modern=on", "rx_queue_size=512",
            "rx_queue_size=1024", "event_idx=off", "packed=on", "mq=on",
            "host_mtu=9000", "page-per-vq=on,disable-legacy=on",
            "mrg_rxbuf=off", "disable-modern=on,mrg_rxbuf=off", "ctrl_vq=off",
            "indirect_desc=off", "status=off", "csum=off,guest_csum=off"]


@pytest.fixture
def wire():
    one = Wire()
    yield one
    one.close()


def nic(wire, options="", bus=""):
    """QEMU's words for one virtio-net on that wire."""
    words = [f"socket,id=w0,udp=127.0.0.1:{wire.peer},"
             f"localaddr=127.0.0.1:{wire.port}"]
    device = "virtio-net-pci,id=w0nic,netdev=w0,romfile=,mac=52:54:00:12:34:56"
    return ["-netdev", words[0], "-device",
            ",".join(part for part in (device, options, bus) if part)]


def check_echo(m, wire, n=20):
    """n frames there and back, byte for byte."""
    start(m, f"netecho 0 --frames {n} --seconds 30")
    for i in range(n):
        sent = frame(i, 60 + 76 * (i % 20))
        wire.send(sent)
        assert wire.receive(10) == sent[6:12] + sent[:6] + sent[12:]
    assert results(m.wait_prompt(40))[0]["sent"] == str(n)


@pytest.mark.parametrize("place", PLACES)
def test_behind_bridges(machine, wire, place):
    bus = "bus=b2,addr=1" if place == "two-bridges" else "bus=b2"
    bridges = [word for bridge in PLACES[place] for word in ("-device", bridge)]
    m = machine(nic="none", qemu=bridges + nic(wire, bus=bus))
    check_echo(m, wire)


@pytest.mark.parametrize("function", [1, 7])
def test_functions_of_a_slot(machine, wire, function):
    first = ["-device", "pcie-root-port,id=f0,multifunction=on,addr=8.0,chassis=9"]
    m = machine(nic="none", qemu=first + nic(wire, f"addr=8.{function}"))
    check_echo(m, wire)


@pytest.mark.parametrize("options", [{"boot": "uefi"}, {"mem": 5120}],
                         ids=["uefi", "5-gib"])
def test_registers_far_up(machine, wire, options):
    """Firmware puts the BAR at 896 GiB."""
    m = machine(nic="none", qemu=nic(wire, "disable-legacy=on"), **options)
    check_echo(m, wire)


@pytest.mark.parametrize("options", VARIANTS)
def test_variants(machine, wire, options):
    m = machine(nic="none", qemu=nic(wire, options))
    check_echo(m, wire)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [255, 256, 257, 2047, 2048, 2049])
def test_counts_around_the_ring(machine, kind, n):
    m = machine(nic=kind)
    start(m, f"netpoll 0 --frames {n} --seconds 30")
    m.wires[0].send_paced((frame(i) for i in range(n)), 20000)
    result = results(m.wait_prompt(40))[0]
    assert result["frames"] == str(n) and result["bytes"] == str(64 * n)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("length", [64, 1514])
def test_flood_with_nobody_polling(machine, kind, length):
    """The ring is full for long, twice; then frames flow as before."""
    m = machine(nic=kind)
    wire = m.wires[0]
    for _ in range(2):
        for i in range(5000):
            wire.send(frame(i, length))
        m.run("run netpoll 0 --seconds 2")  # what is left of it
        check_echo(m, wire, 10)


@pytest.mark.parametrize("kind", KINDS)
def test_lengths(machine, kind):
    """Too short or too long is dropped whole and counted, and harms nothing."""
    m = machine(nic=kind)
    wire = m.wires[0]
    good = [14, 59, 60, 1514]
    start(m, f"netecho 0 --frames {len(good)} --seconds 30")
    for length in (1519, 2048, 9014, 16110):
        wire.send(frame(1, length))
    for length in good:
        sent = (frame(2, 60))[:length] if length < 18 else frame(2, length)
        wire.send(sent)
        got = wire.receive(10)
        assert got[:length] == (sent[6:12] + sent[:6] + sent[12:])
        assert len(got) == max(60, length)
    m.wait_prompt(40)
    dropped = re.search(r"(\d+) dropped", m.run("net"))
    assert dropped and int(dropped.group(1)) >= 1


@pytest.mark.parametrize("kind", KINDS)
def test_link_down_and_up(machine, kind):
    m = machine(nic=kind)
    check_echo(m, m.wires[0], 3)
    m.qmp("set_link", name="nic0", up=False)
    assert "link is down" in m.run("run netflood 0 60 10")
    m.qmp("set_link", name="nic0", up=True)
    check_echo(m, m.wires[0], 3)


@pytest.mark.parametrize("kinds", [["virtio", "virtio-legacy"],
                                   ["e1000e", "virtio"], ["e1000", "e1000e"]])
def test_two_nics(machine, kinds):
    m = machine(nic=kinds)
    check_echo(m, m.wires[0], 3)
    start(m, "netecho 1 --frames 3 --seconds 20")
    for i in range(3):
        m.wires[1].send(frame(i))
        assert m.wires[1].receive(10)
    assert results(m.wait_prompt(30))[0]["nic"] == "1"
