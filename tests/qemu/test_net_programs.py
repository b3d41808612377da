# test_net_programs.py - netflood and netdump, seen from the other end of the wire.
# SPDX-License-Identifier: MIT
import pytest


@pytest.mark.parametrize("length", [14, 60, 1514])
def test_netflood_sends_what_it_says(machine, length):
    m = machine(nic="virtio")
    out = m.run(f"run netflood 0 {length} 200")
    assert "Frames sent: 200" in out
    for number in range(200):
        frame = m.wires[0].receive(timeout=10)
        assert len(frame) == max(length, 60)
        assert frame[:6] == b"\xff" * 6 and frame[12:14] == b"\x88\xb5"
        if length >= 18:
            assert int.from_bytes(frame[14:18], "little") == number


def test_netflood_refuses_bad_lengths(machine):
    m = machine(nic="virtio")
    assert "error: netflood: nic 0 after 0 frames: bad frame length" in \
        m.run("run netflood 0 13 1")
    assert "bad frame length" in m.run("run netflood 0 9000 1")
    assert "no such device" in m.run("run netflood 9 60 1")
    assert "error:" in m.run("run netflood 0 99999 1")


def test_netdump_shows_a_line_a_frame(machine):
    m = machine(nic="virtio")
    m.type("run netdump 0 2 --seconds 60")
    m.wait_for("netdump 0 2 --seconds 60\n")
    # The program throws nothing away, so frames sent before it polls count too.
    m.wires[0].send(b"\xff" * 6 + bytes(range(6)) + b"\x08\x06" + b"\xab" * 50)
    m.wires[0].send(b"\x52\x54\x00\x12\x34\x56" + bytes(6) + b"\x08\x00" +
                    bytes(100))
    out = m.wait_prompt(60)
    assert "00:01:02:03:04:05 > ff:ff:ff:ff:ff:ff  type 0806     64 bytes" in out
    assert "type 0800    114 bytes" in out
    assert "Frames: 2" in out
