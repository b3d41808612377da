# test_typing.py - what people and their terminals type.
# SPDX-License-Identifier: MIT
import re
import time

import pytest

KIB = 1024


def test_4_kib_pasted_at_once(machine):
    """Every byte arrives: each word comes back in its error line, in order."""
    m = machine()
    words = [f"w{n:03}" for n in range(900)]
    text = "".join(word + "\r" for word in words)
    assert len(text) > 4 * KIB
    m.send(text.encode())
    m.wait(lambda: f"'{words[-1]}'" in "\n".join(m.terminal.lines[-9:]), 60,
           "the last word")
    m.wait_prompt()
    got = re.findall(r"^error: .*'(w\d+)'", m.text(), re.M)
    assert got == words


def test_4_kib_pasted_while_a_program_runs(machine):
    m = machine()
    m.type("run netpoll 0 5000000")
    m.wait_for("\n")
    words = [f"x{n:03}" for n in range(820)]
    m.send("".join(word + "\r" for word in words).encode())
    m.wait(lambda: f"'{words[-1]}'" in "\n".join(m.terminal.lines[-9:]), 120,
           "the last word")
    m.wait_prompt()
    got = re.findall(r"^error: .*'(x\d+)'", m.text(), re.M)
    assert got == words


def test_line_too_long(machine):
    """An error and not an overflow, and the next line is a fresh one."""
    m = machine()
    m.send(b"a" * 5000 + b"\r")
    m.wait_for("error: ", timeout=30)
    m.wait_prompt()
    assert "Hello" in m.run("run hello")


def test_500_backspaces(machine):
    m = machine()
    for byte in (b"\x7f", b"\b"):
        m.send(b"xy" + byte * 500)
        m.type("ver")
        m.wait_for("Loaded by")
        m.wait_prompt()
    assert m.text().count("ingot> ver") == 2


@pytest.mark.parametrize("boot", ["direct", "bios", "uefi"])
def test_no_serial_port(machine, boot):
    """It comes up without one: told so on its command line, it powers off."""
    m = machine(boot=boot, append='run="shutdown"', prompt=False,
                qemu="-serial none")
    m.qmp("query-status")
    assert m.exit_reason(timeout=60) == "guest-shutdown"


@pytest.mark.parametrize("seconds", [1, 7])
def test_reader_that_stops(machine, seconds):
    """Ctrl-S on a terminal: short, and nothing is lost; longer than the port
    waits, and the shell is there afterwards all the same."""
    m = machine()
    m.hold_output(True)
    m.type("dump 0x200000 8192")
    time.sleep(seconds)
    m.hold_output(False)
    if seconds == 1:
        m.wait_prompt()
        assert "0000000000201ff0" in m.text()
    m.wait_quiet()
    assert "Hello" in m.run("run hello")


BAD = [
    "peek", "peek 0", "peek 0x11112222333344445", "peek -1", "peek zebra",
    "peek 0xdead00000000", "peek 0x8000000000000000", "peek 0x1000 3",
    "peek 0xffffffffffffffff 8", "poke", "poke 0x1000", "poke 0 1",
    "poke 0x100000 1", "poke 0x1000 0x1ffffffffffffffff", "dump", "dump 0",
    "dump 0xfffffffffffffff0 64", "dump 0x1000 0", "dump 0x1000 -1",
    "load nosuch", "load 0", "load 99", "load -1",
    "load 99999999999999999999", "loadr nosuch", "loadr 0", "loadr 99", "exec",
    "run", "run nosuch", "run 0", "run 99", "help nosuch", "ver 1", "ls 1 2",
    "nosuch", "\"unclosed", "run \"\"", "12345",
]


@pytest.mark.parametrize("boot", ["direct", "bios"])
def test_bad_input_is_one_error_line(machine, boot):
    m = machine(boot=boot)
    for command in BAD:
        lines = m.run(command).strip().splitlines()
        assert len(lines) == 1 and lines[0].startswith("error: "), command
    assert "Hello" in m.run("run hello")


@pytest.mark.parametrize("answer", ["", "0", "99", "-1", "zebra",
                                    "99999999999999999999"])
def test_load_asks_for_a_number(machine, answer):
    m = machine()
    m.type("load")
    m.wait_for("Enter file number: ")
    m.type(answer)
    m.wait_for("error: ")
    m.wait_prompt()
    m.type("load")
    m.wait_for("Enter file number: ")
    m.type("1")
    m.wait_for("Loaded ")
    m.wait_prompt()


def test_several_commands_on_a_line(machine):
    m = machine()
    text = m.run("ver; nosuch; run hello")
    assert "Loaded by" in text and "error: " in text and "Hello" in text
