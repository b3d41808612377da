# test_flood.py - tools/flood tells the truth, and the machine lives through it.
# SPDX-License-Identifier: MIT
import os
import re
import socket
import subprocess
import threading

import pytest

from conftest import ROOT
from test_programs import results, start
from vmlib.wire import hold_udp_port, port_of

FLOOD = os.path.join(ROOT, "tools", "flood")


def flood(ports, *words, status=0):
    """Run tools/flood; its RESULT line as a dictionary."""
    done = subprocess.run([FLOOD, ports, *map(str, words)],
                          capture_output=True, encoding="utf-8", timeout=120)
    assert done.returncode == status, done.stdout + done.stderr
    if status == 2:
        return done.stderr
    return {key: int(value) for key, value in
            (word.split("=") for word in done.stdout.split()[2:])}


@pytest.fixture
def ports():
    """Two UDP ports, QEMU's and tools/flood's. Nobody gets the first; the
    second is free, and only chance can give it away."""
    with hold_udp_port() as qemu:
        with hold_udp_port() as flood_port:
            two = f"{port_of(qemu)}:{port_of(flood_port)}"
        yield two


@pytest.fixture
def echoer(ports):
    """An echo without a machine: every frame's answer is change(frame, i), a
    list of frames."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", int(ports.split(":")[0])))

    def begin(change):
        def loop():
            i = 0
            while True:
                sent, peer = listener.recvfrom(65536)
                if sent == b"end":
                    return
                good = (sent[6:12] + sent[:6] + sent[12:]).ljust(60, b"\0")
                for one in change(good, i):
                    listener.sendto(one, peer)
                i += 1
        thread.append(threading.Thread(target=loop, daemon=True))
        thread[0].start()
        return ports
    thread = []
    yield begin
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ender:
        ender.sendto(b"end", ("127.0.0.1", int(ports.split(":")[0])))
    thread[0].join(10)
    listener.close()


# ---- the tool itself ----

@pytest.mark.parametrize("size", ["18", "64", "18,59,60,1514", "9000"])
def test_echo_is_whole(echoer, size):
    out = flood(echoer(lambda good, i: [good]), "--echo", "--count", 500,
                "--size", size, "--rate", 2000)
    assert (out["sent"], out["back"], out["lost"]) == (500, 500, 0)


CHANGES = {
    "lost": lambda good, i: [] if i == 7 else [good],
    "damaged": lambda good, i: [good[:-1] + bytes([good[-1] ^ 1])]
    if i == 7 else [good],
    "longer": lambda good, i: [good + b"\0"] if i == 7 else [good],
    "addresses": lambda good, i: [bytes(6) + good[6:]] if i == 7 else [good],
    "twice": lambda good, i: [good, good] if i == 7 else [good],
    "another": lambda good, i: [good[:14] + b"\0\0\xff\xff" + good[18:]]
    if i == 7 else [good],
}


@pytest.mark.parametrize("change", CHANGES)
def test_one_bad_frame_is_seen(echoer, change):
    out = flood(echoer(CHANGES[change]), "--echo", "--count", 50, status=1)
    assert out["twice"] == (change == "twice")
    assert out["damaged"] == (change not in ("lost", "twice"))
    assert out["lost"] == (change != "twice")


def test_rate_and_time(echoer):
    where = echoer(lambda good, i: [good])
    out = flood(where, "--rate", 2000, "--seconds", 1, "--echo")
    assert 1000 < out["sent"] <= 2001
    out = flood(where, "--rate", 100, "--seconds", 0.2, "--count", 1000,
                status=1)
    assert 0 < out["sent"] <= 21


def test_bad_options(ports):
    for words in (["--size", "0"], ["--size", "65001"], ["--rate", "0"],
                  ["--seconds", "-1"], ["--pattern", "none"]):
        flood(ports, *words, status=2)
    assert "18 bytes" in flood(ports, "--echo", "--size", "17", status=2)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", int(ports.split(":")[1])))
        assert "in use" in flood(ports, status=2)


# ---- the machine under it ----

NICS = ["virtio", "virtio-legacy"]


@pytest.mark.parametrize("nic", NICS)
@pytest.mark.parametrize("size", ["64", "1514"])
def test_flood_then_ten_frames(machine, ports, nic, size):
    """As fast as it goes, with nobody polling and then with somebody; after it
    the NIC receives as before, and what the driver took it has counted."""
    m = machine(nic=nic, net_udp=ports)
    flood(ports, "--size", size, "--seconds", 3, "--no-wait")
    m.run("run netpoll 0 --seconds 1")
    start(m, "netpoll 0 --seconds 4")
    sent = flood(ports, "--size", size, "--seconds", 2, "--no-wait")
    polled = results(m.wait_prompt(60))[0]
    assert 0 < int(polled["frames"]) <= sent["sent"]
    assert int(polled["bytes"]) == int(polled["frames"]) * int(size)
    assert polled["dropped"] == "0"
    start(m, "netecho 0 --frames 10 --seconds 20")
    assert flood(ports, "--count", 10, "--size", size, "--echo")["back"] == 10
    m.wait_prompt(30)


@pytest.mark.parametrize("nic", NICS)
def test_every_bad_length_is_counted(machine, ports, nic):
    bad = [1, 13, 1515, 1518, 1522, 2048, 9014, 16110, 65000]
    m = machine(nic=nic, net_udp=ports)
    start(m, "netpoll 0 --frames 20 --seconds 30")
    for length in bad:
        flood(ports, "--count", 1, "--size", length)
    flood(ports, "--count", 20, "--size", "14,1514")
    out = m.wait_prompt(60)
    assert results(out)[0]["bytes"] == str(10 * (14 + 1514))
    counted = re.search(r"received (\d+) frames, \d+ bytes, (\d+) dropped",
                        m.run("net"))
    assert counted and counted.groups() == ("20", str(len(bad)))


@pytest.mark.parametrize("options", [{"mem": 6}, {"mem": 16}],
                         ids=["6-mib", "16-mib"])
def test_little_memory(machine, ports, options):
    m = machine(net_udp=ports, disk="none" if options["mem"] < 16 else "ahci",
                **options)
    assert "virtio_net" in m.run("net")
    flood(ports, "--count", 3000, "--size", "64,1514,65000", "--no-wait")
    assert "received" in m.run("net")


def test_any_layout_off(machine, ports):
    """An old legacy device wants the header apart."""
    m = machine(nic="virtio-legacy,any_layout=off,mrg_rxbuf=off",
                net_udp=ports)
    start(m, "netecho 0 --frames 500 --seconds 20")
    out = flood(ports, "--count", 500, "--rate", 5000, "--echo",
                "--size", "18,60,64,65,1514")
    assert out["back"] == 500
    m.wait_prompt(30)


def test_refused_with_a_line(machine):
    """A device that wants what we do not offer: one line, and its neighbour is
    NIC 0."""
    m = machine(nic=["virtio,disable-legacy=on,iommu_platform=on", "virtio"])
    assert "virtio_net at 00:01.0: not supported" in m.boot_text
    nics = m.run("net")
    assert nics.count("virtio_net") == 1 and "00:02.0" in nics
