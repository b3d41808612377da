# test_net_set.py - what a program changes about a NIC: it works, costs nothing,
# and goes back.
# SPDX-License-Identifier: MIT
import re
import time

import pytest

from test_net_intel import NICS, set_link
from test_programs import frame, make_image, results, start
from vmlib.wire import Wire

KINDS = ["virtio", "virtio-legacy", *NICS]
MULTICAST = b"\x01\x00\x5e\x01\x02\x03"
BROADCAST = b"\xff" * 6


@pytest.fixture
def board(machine, tmp_path):
    """A machine with one NIC and netset on its disk."""
    def make(nic, **options):
        return machine(nic=nic, image=make_image(tmp_path, "netset"),
                       **options)
    return make


def states(text):
    return re.findall(r"limit=(\d+) rx=(\d+) tx=(\d+) free=(\d+)", text)


def goes_back(m, before):
    """Everything is as it was, to the byte."""
    after = states(m.run("run netset 0"))
    assert after == before, "left behind"


def echoes(m, command, lengths, lost=()):
    """Runs command, which echoes; frames of these lengths come back."""
    wire = m.wires[0]
    m.type(command)
    out = m.wait_for("echoing\n", 30)
    for i, length in enumerate(lengths):
        sent = frame(i, max(length, 18))[:length]
        wire.send(sent)
        if length in lost:
            continue
        got = wire.receive(10)
        assert got is not None, length
        assert got[:length] == sent[6:12] + sent[:6] + sent[12:], length
    return out + m.wait_prompt(40)


@pytest.mark.parametrize("nic", KINDS)
def test_rings_of_other_sizes(board, nic):
    m = board(nic)
    before = states(m.run("run netset 0"))
    sizes = [(32, 8), (64, 128)]
    sizes += [] if "virtio" in nic else [(2048, 4096)]
    for rx, tx in sizes:
        out = echoes(m, f"run netset 0 rx={rx} tx={tx} echo 200",
                     [60 + i % 1455 for i in range(0, 8000, 40)])
        assert "echoed 200" in out
        assert states(out)[-1][1:3] == (str(rx), str(tx))
        goes_back(m, before)
    again = [60 + 7 * i for i in range(200)]
    assert "echoed 200" in echoes(m, "run netset 0 echo 200", again)


@pytest.mark.parametrize("nic", KINDS)
def test_jumbo_frames(board, nic):
    """Up to the limit they pass whole, longer ones are dropped and counted."""
    m = board(nic)
    before = states(m.run("run netset 0"))
    lengths = [60, 64, 1514, 1515, 1518, 1522, 2048, 4096, 8192, 9013, 9014]
    bad = [9015, 9018, 16110]
    mixed = [one for pair in zip(bad * 4, lengths) for one in pair]
    out = echoes(m, f"run netset 0 limit=9014 echo {len(lengths)}", mixed, bad)
    assert f"echoed {len(lengths)}" in out
    assert states(out)[-1][0] == "9014"
    assert m.wires[0].receive(0.1) is None
    goes_back(m, before)
    counted = int(re.search(r"received .* (\d+) dropped", m.run("net"))[1])
    assert counted == len(lengths)
    out = echoes(m, "run netset 0 limit=100 rx=64 echo 3",
                 [99, 101, 100, 1514, 64], [101, 1514])
    assert "echoed 3" in out
    out = echoes(m, "run netset 0 rx=64 limit=9014 echo 100",
                 [60 + 91 * (i % 99) for i in range(100)])
    assert "echoed 100" in out
    goes_back(m, before)
    assert "echoed 2" in echoes(m, "run netset 0 echo 2",
                                [1515, 60, 9014, 1514], [1515, 9014])


@pytest.mark.parametrize("nic", KINDS)
def test_filters(board, nic):
    m = board(nic)
    mac = bytes.fromhex(re.search(r"(\w\w:){5}\w\w", m.run("net"))[0]
                        .replace(":", ""))
    to = {"own": mac, "other": bytes.fromhex("020304050607"),
          "multicast": MULTICAST, "broadcast": BROADCAST}

    def arrive(words, n):
        m.type(f"run netset 0 {words} echo {n}")
        m.wait_for("echoing\n", 30)
        for name, address in to.items():
            m.wires[0].send(address + b"\2\0\0\0\0\1\x88\xb5" +
                            name.encode().ljust(50))
        came = [m.wires[0].receive(10) for _ in range(n)]
        assert f"echoed {n}" in m.wait_prompt(30)
        assert m.wires[0].receive(0.1) is None
        return {one[14:].split()[0].decode() for one in came}
    assert arrive("promiscuous=0", 3) == {"own", "multicast", "broadcast"}
    assert arrive("promiscuous=0 multicast=0", 2) == {"own", "broadcast"}
    assert arrive("multicast=0 promiscuous=0 rx=64", 2) == {"own", "broadcast"}
    assert arrive("multicast=0", 4) == set(to), "they went back"
    assert arrive("promiscuous=0 promiscuous=1", 4) == set(to)


@pytest.mark.parametrize("nic", KINDS)
def test_what_is_refused_changes_nothing(board, nic):
    m = board(nic)
    before = states(m.run("run netset 0"))
    words = {"promiscuous=2": "bad argument", "rx=0": "bad argument",
             "rx=96": "bad argument", "rx=65536": "bad argument",
             "rx=16": "not supported", "tx=32768": "not supported",
             "limit=63": "bad argument", "limit=9015": "bad argument"}
    out = m.run("run netset 0 " + " ".join(words))
    for word, answer in words.items():
        assert f"{word}: {answer}" in out
    assert set(states(out)) == set(before)
    assert "no such device" in m.run("run netset 3 rx=64")
    goes_back(m, before)


def test_a_device_without_a_filter(board, machine, tmp_path):
    m = board("virtio,ctrl_vq=off")
    out = m.run("run netset 0 promiscuous=0 rx=64")
    assert "promiscuous=0: not supported" in out and "rx=64: set" in out


@pytest.mark.parametrize("nic", ["virtio", "x540"])
def test_not_enough_memory(board, nic):
    m = board("virtio,rx_queue_size=1024" if nic == "virtio" else nic, mem=16)
    before = states(m.run("run netset 0"))
    big = "4096 rx=4096" if nic == "x540" else "128 rx=1024"
    out = m.run(f"run netset 0 limit=9014 tx={big}")
    assert "not enough memory" in out
    assert "echoed 5" in echoes(m, "run netset 0 echo 5", [60] * 5)
    goes_back(m, before)


def test_virtio_rings_as_long_as_the_device_has(board):
    m = board("virtio,rx_queue_size=1024")
    before = states(m.run("run netset 0"))
    out = m.run("run netset 0 rx=1024 limit=9014")
    assert states(out)[-1][:2] == ("9014", "1024")
    assert int(states(out)[-1][3]) < int(before[0][3]) - (16 << 20)
    assert "echoed 2000" in echoes(m, "run netset 0 rx=1024 echo 2000",
                                   [60 + i % 1455 for i in range(2000)])
    goes_back(m, before)


@pytest.mark.parametrize("nic", KINDS)
@pytest.mark.parametrize("end", ["die", "spin", "core"])
def test_it_goes_back_however_the_program_ends(board, nic, end):
    if nic == "x540" and end == "core":
        pytest.skip("one vCPU thread may touch the model")
    m = board(nic, cpus=2 if end == "core" else 1)
    before = states(m.run("run netset 0"))
    for i in range(3):
        m.type(f"run netset 0 promiscuous=0 limit=9014 tx=64 rx=512 {end}")
        if end == "spin":
            m.wait_for("spinning\n", 30)
            m.send(b"\x03")
        assert re.search("page fault|Ctrl-C", m.wait_prompt(60))
        goes_back(m, before)
    assert "echoed 20" in echoes(m, "run netset 0 echo 20", [60] * 20)


@pytest.mark.parametrize("nic", ["virtio", *NICS])
def test_what_was_sent_before_is_not_lost(board, nic):
    """Frames leave before the reset that ends them, and before it goes back."""
    m = board(nic)
    m.run("run netset 0 rx=64 burst tx rx=128")
    net = m.run("net")
    sent = int(re.search(r"sent +(\d+) frames", net)[1])
    assert sent >= 32 and "0 dropped" in net.splitlines()[-1]
    if nic == "x540":
        assert m.models[0].stats()["tx_frames"] == sent


@pytest.mark.parametrize("nic", ["virtio", *NICS])
def test_budgets_hold_with_other_settings(board, nic):
    m = board(nic, icount=True)
    for words in ("", "rx=128 tx=64", "limit=9014", "limit=100 promiscuous=0"):
        cost = results(m.run(f"run netset 0 {words} poll"))[0]
        assert 500 < int(cost["centi"]) <= 1810, words
        sent = results(m.run(f"run netset 0 {words} burst tx"))[0]
        assert int(sent["frames"]) >= 320 and 1000 < int(sent["centi"]) <= 5000
        if "promiscuous" in words or "rx" in words:
            continue
        m.run("run netpoll 0 1000")
        assert receive_cost(m, words) <= 4000


def receive_cost(m, words):
    """The ring is full beforehand: frames came while the program waited."""
    m.type(f"run netset 0 {words} wait burst rx")
    m.wait_for("waiting\n", 30)
    for i in range(250):
        m.wires[0].send(frame(i))
    until = time.monotonic() + 10
    while m.wires[0].backlog()[0] and time.monotonic() < until:
        time.sleep(0.001)
    m.qmp("query-status")
    m.send(b"\n")
    received = results(m.wait_prompt(30))[0]
    assert int(received["frames"]) >= 64, received
    return int(received["centi"])


@pytest.mark.parametrize("nic", NICS[-1:])
def test_a_reset_that_fails(board, nic):
    """The model does not come back: an error, and all of it heals later."""
    m = board(nic)
    before = states(m.run("run netset 0"))
    m.models[0].command("set reset_stuck=1")
    assert "rx=512: device does not answer" in m.run("run netset 0 rx=512")
    m.models[0].command("set reset_stuck=0")
    until = time.monotonic() + 20
    while not re.search(r"\bup\b", m.run("net")) and time.monotonic() < until:
        m.run("run callcost 1000000")
    goes_back(m, before)
    assert "echoed 5" in echoes(m, "run netset 0 rx=512 echo 5", [60] * 5)
    m.type("run netset 0 rx=1024 limit=9014 spin")
    m.wait_for("spinning\n", 30)
    m.models[0].kill()
    m.send(b"\x03")
    m.wait_prompt(30)
    after = states(m.run("run netset 0"))
    assert after[0][3] == before[0][3], "its memory came back all the same"
