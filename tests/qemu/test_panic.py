# test_panic.py - when the kernel itself is broken: the report on the console,
# with the stage and the end of the log; then a key reboots.
# SPDX-License-Identifier: MIT
import contextlib
import re
import socket
import time

import pytest

# bank 9, uncorrected, with an address (Intel SDM volume 3, 15.3.2)
MACHINE_CHECK = "mce {} 9 0xbd00000000000000 5 0x1234 0x8c"
SHELL = 0xFFFF810000000000  # its first instruction


def check_report(text, name, core):
    assert f"*** kernel panic: {name} on core {core}" in text
    assert re.search(r"    at   0x[0-9a-f]{16}  (kernel|shell\+0x\w+)\n", text)
    assert re.search(r"    rax [0-9a-f]{16}  rbx ", text)
    log = re.search(r"\*\*\* stage \d+, (?:running|shell); the log ends:\n"
                    r"((?:[a-z0-9]+: .*\n){5,10})\*\*\* press a key", text)
    assert log and "smp: 3 of 3 cores run" in log[1], text


def check_reboot(m):
    assert m.running()
    m.qmp("query-status")
    m.send(b"x")
    assert m.exit_reason(20) == "guest-reset"


@pytest.mark.parametrize("how, name, core", [
    ("nmi", "NMI (vector 2)", 0),
    (MACHINE_CHECK.format(0), "machine check (vector 18)", 0),
    (MACHINE_CHECK.format(1), "machine check (vector 18)", 1),
], ids=["nmi", "machine-check", "machine-check-elsewhere"])
def test_panic(machine, how, name, core):
    m = machine(cpus=3, disk="none", mem=64)
    m.monitor(how)
    check_report(m.wait_for("press a key", 20), name, core)
    if how != "nmi":
        assert "bank 9: status bd00000000000000, address 0000000000001234" \
            in m.text()
    check_reboot(m)


@contextlib.contextmanager
def stopped_at(m, tmp_path, address):
    """A stopped machine, run up to an address: what gdb would do, in
    gdb's remote protocol. It runs on afterwards."""
    path = f"{tmp_path}/gdb"
    m.monitor(f"gdbserver unix:{path},server=on,wait=off")
    with socket.socket(socket.AF_UNIX) as gdb:
        gdb.settimeout(20)
        gdb.connect(path)
        for text, answer in ((f"Z1,{address:x},1", b"OK"), ("c", b"T05"),
                             (f"z1,{address:x},1", b"OK")):
            gdb.sendall(f"${text}#{sum(text.encode()) % 256:02x}".encode())
            got = b""
            while answer not in got:
                got += gdb.recv(4096)
                assert b"$E" not in got
            gdb.sendall(b"+")
        yield
        gdb.sendall(b"$D#44")


def test_an_nmi_in_the_shell(machine, tmp_path):
    """Wherever the button finds core 0: the shell is nobody's program."""
    m = machine(prompt=False, cpus=3, disk="none", mem=64, qemu=["-S"])
    with stopped_at(m, tmp_path, SHELL):
        m.monitor("nmi")
    check_report(m.wait_for("press a key", 20), "NMI (vector 2)", 0)


def is_halted(m, core):
    state = m.qmp("human-monitor-command", cpu_index=core,
                  command_line="info registers")
    flags = int(re.search(r"RFL=([0-9a-f]+)", state)[1], 16)
    return "HLT=1" in state and not flags & 0x200


def test_a_panic_stops_the_other_cores(machine):
    m = machine(cpus=3, disk="none", mem=64)
    m.monitor(MACHINE_CHECK.format(2))
    m.wait_for("press a key", 20)
    deadline = time.monotonic() + 20
    while not (is_halted(m, 0) and is_halted(m, 1)):
        assert time.monotonic() < deadline
    check_reboot(m)
