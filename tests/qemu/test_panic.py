# test_panic.py - when the kernel itself is broken: the report on the console,
# with the stage and the end of the log; then a key reboots.
# SPDX-License-Identifier: MIT
import re
import time

import pytest

# bank 9, uncorrected, with an address (Intel SDM volume 3, 15.3.2)
MACHINE_CHECK = "mce {} 9 0xbd00000000000000 5 0x1234 0x8c"


def check_report(text, name, core):
    assert f"*** kernel panic: {name} on core {core}" in text
    assert re.search(r"    at   0x[0-9a-f]{16}  kernel\n", text)
    assert re.search(r"    rax [0-9a-f]{16}  rbx ", text)
    log = re.search(r"\*\*\* stage \d+, running; the log ends:\n"
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
