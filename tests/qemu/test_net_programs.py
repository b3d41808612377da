# test_net_programs.py - netflood and netdump, seen from the other end of the wire.
# SPDX-License-Identifier: MIT
import os
import shutil
import struct
import subprocess
import time

import pytest

from conftest import ROOT
from test_programs import frame, results


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


def records(data):
    """A capture's frames; every field of it is looked at."""
    magic, major, minor, _, _, longest, link = struct.unpack_from("<IHHiIII",
                                                                  data)
    assert (magic, major, minor, link) == (0xA1B23C4D, 2, 4, 1)
    at, frames, before = 24, [], 0
    while at < len(data):
        seconds, ns, kept, whole = struct.unpack_from("<IIII", data, at)
        assert kept == whole <= longest and ns < 10**9
        assert abs(seconds - time.time()) < 3600
        assert before <= seconds * 10**9 + ns
        before = seconds * 10**9 + ns
        frames.append(data[at + 16:at + 16 + kept])
        at += 16 + kept
    assert at == len(data)
    return frames


def pcap(text):
    return subprocess.run([os.path.join(ROOT, "tools", "pcap")],
                          input=text if isinstance(text, bytes)
                          else text.encode(), capture_output=True)


def test_netdump_makes_a_capture(machine, tmp_path):
    m = machine(nic="virtio")
    sent = [frame(i, 60 + 121 * i) for i in range(13)]
    m.type("run netdump 0 13 --pcap --seconds 60")
    text = m.wait_for("PCAP 0 ")
    for one in sent:
        m.wires[0].send(one)
    text += m.wait_prompt(60)
    assert "Frames: 13" in text
    made = pcap(text)
    assert made.returncode == 0, made.stderr
    assert records(made.stdout) == sent
    if shutil.which("tcpdump"):
        path = tmp_path / "it.pcap"
        path.write_bytes(made.stdout)
        assert subprocess.run(["tcpdump", "-nr", path],
                              capture_output=True).stdout.count(b"\n") == 13
    # Without a line, or with half of one: as far as it is good, and an error.
    lines = text.splitlines()
    for bad in (lines[:30] + lines[31:],
                lines[:30] + [lines[30][:-1]] + lines[31:]):
        made = pcap("\n".join(bad))
        assert made.returncode == 1 and made.stderr.count(b"\n") == 1
        got = records(made.stdout)
        assert got == sent[:len(got)] and 0 < len(got) < 13
    assert b"no capture" in pcap("hello\n").stderr
    # Bytes that are no text pass by; half a header is no capture.
    noise = b"\xff\xfe\x80 noise\r\n"
    made = pcap(noise + b"\r\n".join(one.encode() + b"\r\n" + noise
                                      for one in lines))
    assert made.returncode == 0 and records(made.stdout) == sent
    assert b"not whole" in pcap("PCAP 0 d4c3\n").stderr


@pytest.mark.parametrize("nic", ["virtio", "e1000"])
def test_netpoll_in_bursts(machine, nic):
    m = machine(nic=nic)
    m.type("run netpoll 0 --burst 32 --frames 500 --seconds 30")
    m.wait_for("Polling nic 0")
    m.wires[0].send_paced((frame(i) for i in range(600)), 20000)
    out = results(m.wait_prompt(40))[0]
    assert 500 <= int(out["frames"]) < 532 and out["mode"] == "burst"
    assert int(out["bytes"]) == 64 * int(out["frames"])


def test_bad_options_are_one_line(machine):
    m = machine(nic="virtio")
    for words in ("netpoll 0 --burst 0", "netpoll 0 --burst 100000",
                  "netpoll --burst", "netpoll 0 --bursts 3", "netdump --pcaps",
                  "netdump 0 0 --pcap", "netdump 16", "netdump 0 1 2",
                  "netdump 3 --pcap"):
        out = m.run(f"run {words}")
        errors = [line for line in out.splitlines() if "error: net" in line and "exit status" not in line]
        assert len(errors) == 1, (words, out)
        assert "RESULT" not in out and "PCAP" not in out and "Frames" not in out
