# test_vm.py - tools/vm keeps its word: exit statuses, one-line errors, wires.
# SPDX-License-Identifier: MIT
import glob
import os
import pty
import select
import signal
import struct
import subprocess
import tempfile
import time

import pytest

from conftest import ROOT, VM
from vmlib import accel, options, terminal
from vmlib.wire import Wire


def test_status_0_and_transcript(vm):
    out = vm("ver; run hello")
    assert out.splitlines()[-1].startswith("Hello")
    assert "ingot> run hello" in out


def test_status_1_goes_on(vm):
    out = vm("run nosuch; run hello", status=1)
    assert "error: " in out and "Hello" in out


def test_status_124(vm):
    out = vm("run netpoll 0 1000000000000", status=124, timeout=8)
    assert out.seconds < 30
    assert "timed out" in out.stderr


def test_shutdown_is_a_command(vm):
    vm("ver; shutdown")
    vm("reboot")
    out = vm("shutdown; run hello", status=1)
    assert "not run: run hello" in out.stderr


@pytest.mark.parametrize("words,said", [
    (["--disk", "floppy"], "floppy"),
    (["--screenshot", "x.png", "--vga", "none"], "--vga"),
    (["--screenshot", "x.png"], "--boot bios"),
    (["--", "-serial", "none"], "-serial"),
    (["--video", "800x600"], "--video"),
    (["--image", "/nosuch.img"], "make image"),
    (["--kernel", "/nosuch.elf"], "make"),
    (["--module", "/nosuch"], "no module"),
    (["--machine", "microvm", "--boot", "bios"], "direct"),
    (["--nic", "token-ring"], "token-ring"),
    (["--cpus", "0"], "--cpus"),
    (["--nic", "none", "--pcap", "x"], "--pcap"),
])
def test_status_2_in_one_line(words, said):
    done = subprocess.run([VM, "--accel", "tcg", "--run", "ver", *words],
                          capture_output=True, encoding="utf-8", timeout=60)
    assert done.returncode == 2 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and said in done.stderr


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM,
                                    signal.SIGKILL])
def test_killed_it_leaves_no_qemu(ending):
    with tempfile.TemporaryDirectory() as temp:
        process = subprocess.Popen(
            [VM, "--run", "run netpoll 0 1000000000000"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, "TMPDIR": temp}, encoding="utf-8")
        while "run netpoll" not in process.stdout.readline():
            pass
        process.send_signal(ending)
        process.wait(20)
        # Its pipes close only when QEMU is gone too.
        process.stdout.read()
        mine = [path for path in glob.glob("/proc/[0-9]*/cmdline")
                if temp.encode() in read_bytes(path)]
        deadline = time.monotonic() + 10
        while any(b"qemu" in read_bytes(path) for path in mine):
            assert time.monotonic() < deadline
        if ending != signal.SIGKILL:
            assert not os.listdir(temp)


def read_bytes(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def test_shell_on_a_terminal():
    """Typed on a terminal; Ctrl-A X quits, and the terminal is as before."""
    pid, terminal_fd = pty.fork()
    if pid == 0:
        os.execv(VM, ["vm"])
    shown = b""

    def wait_for(text):
        nonlocal shown
        deadline = time.monotonic() + 60
        while text not in shown:
            assert time.monotonic() < deadline, shown
            if select.select([terminal_fd], [], [], 1)[0]:
                shown += os.read(terminal_fd, 4096)
    wait_for(b"ingot> ")
    os.write(terminal_fd, b"run hello\r")
    wait_for(b"Hello")
    os.write(terminal_fd, b"\x01x")
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    os.close(terminal_fd)


def test_image_is_never_changed(vm, machine):
    """What the guest writes is thrown away unless --writable."""
    image = os.path.join(ROOT, "build", "ingot.img")
    before = os.stat(image).st_mtime_ns
    assert "snapshot=on" in machine().command
    assert os.stat(image).st_mtime_ns == before


def test_net_udp_and_pcap(machine, tmp_path):
    """Frames go both ways through the ports asked for, and into the file."""
    path = tmp_path / "frames.pcap"
    wire = Wire()
    m = machine(net_udp=f"{wire.port}:{wire.peer}", pcap=path)
    frame = bytes.fromhex("525400123456020000000001") + b"\x88\xb5" + b"x" * 50
    wire.send(frame)
    m.run("run netpoll 0 100000")
    assert "received 1 frames, 64 bytes" in m.run("net")
    m.stop()
    data = path.read_bytes()
    assert struct.unpack_from("<I", data)[0] == 0xA1B2C3D4
    assert frame in data
    wire.close()


@pytest.mark.parametrize("boot", ["direct", "bios", "uefi"])
def test_command_line_and_module(vm, tmp_path, boot):
    module = tmp_path / "notes.txt"
    module.write_bytes(b"remember\n")
    out = vm("ver; ls", boot=boot, append="loglevel=3 mark=here",
             module=f"{module}:renamed.txt")
    assert "loglevel=3 mark=here" in out
    name = "" if boot == "direct" else "renamed.txt"
    assert [line for line in out.splitlines() if name in line
            and " 9  RAM" in line], out


def test_kvm_is_not_believed_but_tried():
    trial = options.parse(["--run", "ver"])
    name, why = accel.try_kvm(trial)
    assert name in ("kvm", "tcg") and why
    if not os.path.exists("/dev/kvm"):
        assert name == "tcg"


# ---- the parts, without a machine ----
def test_split_commands():
    split = options.split_commands
    assert split("a; b 'c;d' ;;e\"f;\"") == ["a", "b 'c;d'", 'e"f;"']
    assert split(" ; ") == []


def test_terminal_shows_what_a_person_sees():
    t = terminal.Terminal()
    for piece in ("abc\b\b", "X\x1b[", "K", "\r\nline two\rL", "\n",
                  "12345\x1b[3D", "\x1b[P!\n", "a\x1b[2J\x1b[Hb"):
        t.feed(piece)
    assert t.lines == ["aX", "Line two", "12!5"]
    assert t.current == "b"


def test_prompt_inside_a_line_is_no_prompt(machine):
    m = machine()
    with m.changed:
        m.terminal.feed("x ingot> ")
        assert not m.at_prompt()
