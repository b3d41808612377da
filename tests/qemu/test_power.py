# test_power.py - off and reset, on every board and firmware.
# SPDX-License-Identifier: MIT
import pytest

CASES = [(boot, board, keyboard)
         for boot, board in (("direct", "q35"), ("direct", "pc"),
                             ("bios", "q35"), ("bios", "pc"),
                             ("uefi", "q35"), ("uefi", "pc"),
                             ("direct", "microvm"))
         for keyboard in ("on", "off")
         if (board, keyboard) != ("microvm", "off")
         and (boot, board, keyboard) not in (("uefi", "q35", "on"),
                                             ("uefi", "pc", "off"))]


def start(machine, boot, board, keyboard):
    if board != "microvm":
        board += f",i8042={keyboard}"
    m = machine(boot=boot, machine=board)
    m.qmp("query-status")
    return m


@pytest.mark.parametrize("boot,board,keyboard", CASES)
def test_shutdown(machine, boot, board, keyboard):
    m = start(machine, boot, board, keyboard)
    m.type("shutdown")
    assert m.exit_reason() == "guest-shutdown"


@pytest.mark.parametrize("boot,board,keyboard", CASES)
def test_reboot(machine, boot, board, keyboard):
    m = start(machine, boot, board, keyboard)
    m.type("reboot")
    assert m.exit_reason() == "guest-reset"


@pytest.mark.parametrize("boot", ["direct", "bios"])
def test_reboot_comes_back(machine, boot):
    """Three times, and it is a working machine each time."""
    m = machine(boot=boot)
    m.qmp("set-action", reboot="reset")
    for _ in range(3):
        m.type("reboot")
        m.wait_for("[1] ", timeout=30)
        m.wait_prompt(30)
        assert "Hello" in m.run("run hello")


def test_no_acpi(machine):
    """Without the firmware's tables: the known ports, and the shell stays if
    there is no way to power off."""
    m = machine(qemu="-machine acpi=off")
    assert "Hello" in m.run("run hello")
    m.qmp("query-status")
    m.type("reboot")
    assert m.exit_reason() == "guest-reset"
