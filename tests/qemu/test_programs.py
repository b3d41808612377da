# test_programs.py - the programs on the image: what they print, what they
# count, and that assembly, C and Linux agree.
# SPDX-License-Identifier: MIT
import glob
import os
import re
import subprocess
import struct
import time

import pytest

from conftest import ROOT

MAC = bytes.fromhex("525400123456")
PEER = bytes.fromhex("020000000001")
ALL = ("run cpuid; run cpuid-asm; run netpoll; run netpoll-asm; run hello-asm; "
       "run raytrace 320 180 4")
CHECKSUM = "03f44435"  # raytrace 320 180 4


def results(text):
    """The RESULT lines as dictionaries."""
    return [dict(pair.split("=", 1) for pair in line.split()[1:])
            for line in text.splitlines() if line.startswith("RESULT ")]


def frame(number, length=64):
    """A frame to the guest that carries its number and a pattern."""
    head = MAC + PEER + b"\x88\xb5" + struct.pack(">I", number)
    return head + bytes((number + i) & 0xFF for i in range(length - len(head)))


def make_image(tmp_path, *files):
    """An image with all programs, those of tests/apps named, and files."""
    image = tmp_path / "test.img"
    files = [os.path.join(ROOT, "build", "tests", f"{name}.app")
             if os.sep not in name else name for name in files]
    subprocess.run(
        [os.path.join(ROOT, "tools", "mkimage.py"), "--kernel",
         os.path.join(ROOT, "build", "ingot.elf"), "--out", str(image),
         *sorted(glob.glob(os.path.join(ROOT, "build", "apps", "*.app"))),
         *[word for name in files for word in ("--add", name)]], check=True)
    return str(image)


# ---- the lines of the benchmarks ----

@pytest.mark.parametrize("options", [
    {"boot": "direct"}, {"boot": "bios"}, {"boot": "uefi"},
    {"boot": "bios", "machine": "pc"},
    {"boot": "uefi", "machine": "pc"},
    {"boot": "bios", "disk": "none"},
], ids=lambda options: "-".join(options.values()))
def test_the_line(vm, options):
    out = vm(ALL, timeout=120, **options)
    found = results(out)
    assert [(r["bench"], r["lang"]) for r in found] == [
        ("cpuid", "c"), ("cpuid", "asm"), ("netpoll", "c"), ("netpoll", "asm"),
        ("raytrace", "c")]
    assert found[-1]["checksum"] == CHECKSUM
    assert "Hello from assembly on Ingot!" in out


def test_benchmark_lines(vm):
    out = vm("run cpuid 1000; run netpoll 0 1000; run netpoll-asm 0 1000; "
             "run callcost 1000; run netpoll 0 1000 --inline")
    assert len(out.lines_with("Iterations: 1000")) == 5
    assert len(re.findall(r"^Average: \d+\.\d\d ns \(\d+\.\d\d cycles\)$", out,
                          re.M)) == 5
    assert len(re.findall(r"^Frames received: 0\nBytes received: 0\n"
                          r"Frames dropped: 0\nFrames missed: 0$", out,
                          re.M)) == 3
    assert len(re.findall(
        r"^RESULT bench=netpoll lang=(?:c|asm) nic=0 iterations=1000 "
        r"ns=\d+\.\d\d cycles=\d+\.\d frames=0 bytes=0 ", out, re.M)) == 3
    for result in results(out):
        assert float(result["ns"]) > 0 and float(result["cycles"]) > 0


@pytest.mark.parametrize("name", ["hello", "hello-asm"])
def test_arguments(vm, name):
    out = vm(f'run {name} one "two words" 3; run {name}')
    assert ("argument 1: one\nargument 2: two words\nargument 3: 3\n" in out)
    assert out.count("Hello from") == 2 and out.count("argument") == 3


BAD = ["cpuid x", "cpuid 0", "cpuid -1", "cpuid 99999999999999999999",
       "cpuid-asm x", "cpuid-asm 0", "cpuid-asm 9999999999999999",
       "netpoll 15", "netpoll 16", "netpoll 0 0", "netpoll 0 1 2",
       "netpoll --what", "netpoll --frames", "netpoll --frames 0",
       "netpoll --seconds x", "netpoll-asm 15", "netpoll-asm 16",
       "netpoll-asm x", "netpoll-asm 0 0", "netecho 9", "netecho --frames",
       "netecho 0 0", "raytrace 0", "raytrace 1 1 0", "raytrace 16384 16384",
       "raytrace x", "callcost 0"]


def test_bad_arguments(machine):
    """One line that says error from the program, then the shell's about its
    exit status; and the machine goes on."""
    m = machine(mem=256)
    for line in BAD:
        out = m.run(f"run {line}").splitlines()
        assert len([one for one in out if one.startswith("error: ")]) == 2, \
            (line, out)
        assert out[-1] == f"error: {line.split()[0]}.app: exit status 1"
    assert "Hello" in m.run("run hello")


# ---- raytrace ----

@pytest.mark.parametrize("size", ["1 1 1", "7 5 3", "320 180 4", "200 300 2"])
def test_raytrace_is_the_same_on_linux(vm, size):
    linux = subprocess.run(
        [os.path.join(ROOT, "build", "linux", "raytrace"), *size.split()],
        capture_output=True, text=True, check=True).stdout
    assert results(linux)[0]["checksum"] == \
        results(vm(f"run raytrace {size}"))[0]["checksum"]


def test_raytrace_full_picture_in_16_mib(vm):
    out = vm("run raytrace; run raytrace", mem=16, timeout=240)
    found = results(out)
    assert [r["checksum"] for r in found] == ["6f96c64f"] * 2
    assert found[0]["width"] == "1920" and found[0]["height"] == "1080"


def test_hello_in_6_mib(vm):
    assert "Hello from C" in vm("run hello", mem=6)


# ---- frames ----

def start(m, line):
    """Start a program that waits for frames; returns when it does."""
    m.type(f"run {line}")
    m.wait_for(re.compile(r"^(Polling|Echoing on) nic .*\n", re.M), 20)


@pytest.mark.parametrize("line", ["netpoll 0 --frames 70000 --seconds 60",
                                  "netpoll 0 --frames 70000 --seconds 60 "
                                  "--inline"])
def test_70000_frames_counted(machine, line):
    lengths = [60, 64, 100, 590, 1514]
    m = machine()
    start(m, line)
    m.wires[0].send_paced((frame(i, lengths[i % len(lengths)])
                           for i in range(70000)), 20000)
    out = m.wait_prompt(70)
    result = results(out)[0]
    assert int(result["frames"]) == 70000
    assert int(result["bytes"]) == sum(lengths) * 14000
    assert int(result["dropped"]) == int(result["missed"]) == 0


def test_70000_frames_echoed(machine):
    """Every frame comes back with its addresses swapped and its bytes
    exact, in order."""
    m = machine()
    start(m, "netecho 0 --frames 70000 --seconds 60")
    back = []
    m.wires[0].socket.setblocking(False)
    m.wires[0].send_paced(sent_frames(m.wires[0], 70000, back), 20000)
    out = m.wait_prompt(70)
    take(m.wires[0], back)
    result = results(out)[0]
    assert int(result["frames"]) == int(result["sent"]) == 70000
    assert len(back) == 70000
    for i, got in enumerate(back):
        sent = frame(i)
        assert got == sent[6:12] + sent[:6] + sent[12:]


def sent_frames(wire, n, back):
    """n frames to send; what has come back meanwhile goes into back."""
    for i in range(n):
        take(wire, back)
        yield frame(i)


def take(wire, back):
    try:
        while True:
            back.append(wire.socket.recv(2048))
    except BlockingIOError:
        pass


@pytest.mark.parametrize("nic", ["virtio", "virtio-legacy"])
def test_echo_of_every_length(machine, nic):
    m = machine(nic=nic)
    wire = m.wires[0]
    lengths = list(range(18, 1515, 11)) + [59, 60, 61, 1513, 1514]
    start(m, f"netecho 0 --frames {len(lengths)} --seconds 30")
    for i, length in enumerate(lengths):
        sent = frame(i, length)
        wire.send(sent)
        got = wire.receive(5)
        want = sent[6:12] + sent[:6] + sent[12:]
        assert got == want.ljust(60, b"\0"), length
    assert results(m.wait_prompt())[0]["bytes"] == str(sum(lengths))


@pytest.mark.parametrize("program", ["netpoll", "netpoll-asm"])
def test_netpoll_drains_first(machine, program):
    m = machine()
    for i in range(20):
        m.wires[0].send(frame(i))
    m.wait(lambda: m.wires[0].backlog()[0] == 0, 10, "frames read by QEMU")
    m.qmp("query-status")  # behind the last of them in QEMU's main loop
    out = m.run(f"run {program} 0 1000")
    assert results(out)[0]["frames"] == "0"
    assert "received 20 frames, 1280 bytes" in m.run("net")


def test_netpoll_asm_counts(machine):
    m = machine()
    start(m, "netpoll-asm 0 100000000")
    m.wires[0].send_paced((frame(i, 100) for i in range(300)), 20000)
    result = results(m.wait_prompt(60))[0]
    assert (result["frames"], result["bytes"]) == ("300", "30000")


def test_netpoll_and_netecho_end_in_time(machine):
    m = machine()
    for line in ("netpoll 0 --seconds 1", "netecho 0 --seconds 1",
                 "netpoll 0 --seconds 1 --inline"):
        begin = time.monotonic()
        out = m.run(f"run {line}")
        assert 0.9 < time.monotonic() - begin < 10
        assert results(out)[0]["frames"] == "0"


# ---- programs built for BareMetal ----

@pytest.mark.parametrize("options", [{}, {"machine": "pc", "boot": "bios",
                                          "disk": "ahci"}],
                         ids=["q35", "pc"])
def test_baremetal_entries(machine, tmp_path, options):
    m = machine(image=make_image(tmp_path, "baremetal"), **options)
    m.type("run baremetal")
    m.wait_for("type k")
    m.send(b"k")
    m.wait_for("send a frame")
    sent = m.wires[0].receive(5)
    assert sent is not None and len(sent) == 64
    assert sent[:14] == b"\xff" * 6 + bytes.fromhex("02000000000188b5")
    assert sent[14:].startswith(b"a frame through b_net_txwwww")
    m.wires[0].send(frame(0, 200))
    m.wait_prompt()
    out = m.text()
    assert "FAIL" not in out, m.tail(80)
    assert "text through b_output\n" in out and "\ndone\n" in out
    assert f"mac {int.from_bytes(MAC, 'big')}\n" in out
    assert f"frame 200 136 {frame(0, 200)[-1]}\n" in out
    with open(os.path.join(ROOT, "tests/apps/baremetal.asm")) as file:
        steps = file.read().count("\n    attempt ")
    assert out.count("\ndid ") == steps > 30


def test_mem(vm):
    """Both page sizes, and nothing is kept: the second run finds as much."""
    out = vm("run mem 16 2; run mem 16 2; run mem 8 1", mem=64, nic="none",
             icount=True)
    found = results(out)
    assert [(r["piece"], r["mib"]) for r in found] == [
        ("4096", "16"), ("2097152", "16")] * 2 + [("4096", "8"),
                                                  ("2097152", "8")]
    assert all(float(r["alloc_ns"]) > 0 and float(r["touch_ns"]) > 0
               for r in found)


@pytest.mark.parametrize("words", ["1", "65537", "-2", "16 0", "16 x", "32768"])
def test_mem_refuses(vm, words):
    assert "error: mem: " in vm(f"run mem {words}", mem=64, nic="none",
                                status=1).replace("error: mem.app: '",
                                                  "error: mem: '")
