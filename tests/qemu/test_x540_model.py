# test_x540_model.py - the modelled X540 inside QEMU, with a driver of its own.
# SPDX-License-Identifier: MIT
"""The guest stands still (-S): accesses come from here, through QEMU's qtest
socket, and take the way a guest's would: QEMU, the proxy device, the model."""
import os
import re
import socket
import struct

import pytest

from conftest import run_vm
from vmlib import model
from vmlib.options import VmError

pytestmark = pytest.mark.skipif(
    not model.qemu_has_device(), reason="needs x-pci-proxy-dev")

SLOT = 5
BAR = 0xFEA00000
RX_RING, TX_RING, BUFFERS = 0x200000, 0x210000, 0x300000
RING = 64


class Qtest:
    """QEMU's test socket: memory, I/O ports, and the card by both."""

    def __init__(self, path):
        self.path = path
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(path)
        self.server.listen(1)
        self.server.settimeout(30)
        self.file = None

    def say(self, *words):
        if not self.file:
            self.file = self.server.accept()[0].makefile("rw")
            os.unlink(self.path)
        self.file.write(" ".join(
            w if isinstance(w, str) else hex(w) for w in words) + "\n")
        self.file.flush()
        answer = self.file.readline().split()
        assert answer[0] == "OK", answer
        return answer[-1]

    def r(self, offset):
        return int(self.say("readl", BAR + offset), 16)

    def w(self, offset, value):
        self.say("writel", BAR + offset, value)

    def put(self, address, data):
        self.say("write", address, len(data), "0x" + data.hex())

    def get(self, address, n):
        return bytes.fromhex(self.say("read", address, n)[2:])

    def config(self, offset, value=None):
        self.say("outl", 0xCF8, 0x80000000 | SLOT << 11 | offset)
        if value is not None:
            self.say("outl", 0xCFC, value)
        return int(self.say("inl", 0xCFC), 16)

    def wait(self, offset, mask, want):
        for _ in range(10000):
            if self.r(offset) & mask == want:
                return
        pytest.fail(f"register {offset:05x} is {self.r(offset):08x}")


@pytest.fixture
def rig(machine):
    """(machine, its card's Qtest, model)"""
    path = os.path.join("/tmp", f"qtest-{os.getpid()}")
    if os.path.exists(path):
        os.unlink(path)
    card = Qtest(path)
    m = machine(prompt=False, nic=f"x540,addr={SLOT}", mem=64,
                qemu=f"-S -qtest unix:{path} -qtest-log /dev/null")
    yield m, card, m.models[0]
    card.server.close()


def bring_up(q):
    """82599 / X540 data sheet 4.6.3, with advanced descriptors."""
    q.config(0x10, BAR)
    q.config(4, 6)
    q.w(0x888, 0xFFFFFFFF)
    q.w(0x000, 0x04000008)
    q.wait(0x000, 0x04000008, 0)
    q.wait(0x10010, 0x200, 0x200)
    q.wait(0x2F00, 8, 8)
    q.wait(0x42A4, 0x40000000, 0x40000000)
    for offset, value in (
            (0x2F00, q.r(0x2F00) | 2), (0x5080, 0x400), (0x1014, 0x02000002),
            (0x1000, RX_RING), (0x1008, RING * 16), (0x18, 0x10000),
            (0x100C, 0), (0x3000, 1), (0x1028, 0x02000000),
            (0x6000, TX_RING), (0x6008, RING * 16), (0x4A80, 0x81000001),
            (0x6028, 0x02000000)):
        q.w(offset, value)
    q.wait(0x1028, 0x02000000, 0x02000000)
    q.wait(0x6028, 0x02000000, 0x02000000)
    for i in range(RING):
        give(q, i)
    q.w(0x1018, RING - 1)


def give(q, i):
    q.put(RX_RING + 16 * i, struct.pack("<QQ", BUFFERS + 2048 * i, 0))


def receive(q, i):
    """What came into descriptor i, as soon as it is done."""
    for _ in range(10000):
        status = struct.unpack("<Q", q.get(RX_RING + 16 * i + 8, 8))[0]
        if status & 1:
            assert status & 3 == 3
            return q.get(BUFFERS + 2048 * i, status >> 32 & 0xFFFF)
    pytest.fail(f"descriptor {i} is never done")


def transmit(q, i, frame):
    buffer = BUFFERS + 2048 * (RING + i)
    q.put(buffer, frame)
    q.put(TX_RING + 16 * i, struct.pack(
        "<QQ", buffer, len(frame) | 0x2B300000 | len(frame) << 46))
    q.w(0x6018, (i + 1) % RING)


def test_echo(rig):
    m, q, card = rig
    assert q.config(0) == 0x15288086
    bring_up(q)
    mac = struct.pack("<II", q.r(0xA200), q.r(0xA204))[:6]
    for n in range(2 * RING + 5):
        length = 60 + n * 11
        sent = mac + bytes(6) + bytes((n + i) & 0xFF for i in range(length))
        sent = sent[:min(length, 1514)]
        m.wires[0].send(sent)
        came = receive(q, n % RING)
        assert came == sent
        give(q, n % RING)
        q.w(0x1018, n % RING)
        transmit(q, n % RING, came)
        assert m.wires[0].receive() == sent
    stats = card.stats()
    assert stats["rules"] == {} and stats["dma_err"] == 0, card.log()
    assert stats["rx_frames"] == stats["tx_frames"] == 2 * RING + 5


def test_dma_beyond_ram_is_seen(rig):
    m, q, card = rig
    bring_up(q)
    transmit(q, 0, bytes(60))
    m.wires[0].receive()
    q.put(TX_RING + 16, struct.pack("<QQ", 0xF0000000, 60 | 0x2B300000))
    q.w(0x6018, 2)
    stats = card.wait_stats(lambda stats: stats["dma_err"])
    assert stats["rules"].get("2") and "GUEST RULE 2" in card.log()


def test_commands_from_a_test(rig):
    m, q, card = rig
    bring_up(q)
    assert card.command("gen 3 100") == "ok"
    assert [len(receive(q, i)) for i in range(3)] == [100] * 3
    card.command("link down")
    assert not q.r(0x42A4)
    card.command("set removed=1")
    assert q.r(8) == 0xFFFFFFFF
    with pytest.raises(VmError):
        card.command("dance")


def test_death_is_surprise_removal(rig):
    m, q, card = rig
    bring_up(q)
    card.kill()
    assert q.r(8) == 0xFFFFFFFF
    assert q.r(0) == 0xFFFFFFFF
    assert m.running()


def test_it_ends_with_qemu(rig):
    m, q, card = rig
    bring_up(q)
    m.process.kill()
    assert card.process.wait(10) == 0


@pytest.mark.parametrize("boot", ["direct", "bios"])
def test_the_shell_sees_it(vm, boot):
    out = vm("pci", boot=boot, nic=["x540,dev=10fb", "x540", "virtio"])
    assert re.search("8086:10fb .* Ethernet", out)
    assert re.search("8086:1528 .* Ethernet", out)


def test_bad_settings_are_one_line():
    out = run_vm("pci", status=2, nic="x540,no_such_fault=1")
    assert "no_such_fault" in out.stderr
