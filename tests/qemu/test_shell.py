# test_shell.py - the shell on a real machine: files, start, history, completion.
# SPDX-License-Identifier: MIT
import os
import struct

import pytest

from conftest import ROOT
from test_programs import make_image


def with_file(tmp_path, name, content):
    """The image with one more file."""
    path = tmp_path / name
    path.write_bytes(content)
    return make_image(tmp_path, str(path))


def test_exec_twice_is_the_same_twice(machine):
    m = machine()
    m.run("load hello")
    first, second = m.run("exec one two"), m.run("exec one two")
    assert first == second
    assert "Hello from C on Ingot!" in first


def test_load_by_number(machine):
    m = machine()
    line = next(text for text in m.run("ls").splitlines() if "hello.app" in text)
    m.run("load " + line.split()[0])
    assert "Hello from C on Ingot!" in m.run("exec")


@pytest.mark.parametrize("boot", ["direct", "bios"])
def test_run_option(vm, boot):
    out = vm("ver", boot=boot, append='run="run hello; net"')
    assert "Hello from C on Ingot!" in out and "virtio_net" in out


def test_autorun(vm, tmp_path):
    image = with_file(tmp_path, "autorun",
                      b"# start\nver\nrun hello from autorun\n")
    assert "Hello from C on Ingot!" in vm("time", image=image)


def test_autorun_that_fails_leaves_a_prompt(machine, tmp_path):
    image = with_file(tmp_path, "autorun", b"run nosuch\n")
    m = machine(image=image)
    m.wait_for("error: run: no file 'nosuch'")
    m.wait_prompt()
    assert "Hello from C on Ingot!" in m.run("run hello")


def test_init_app(machine, tmp_path):
    with open(os.path.join(ROOT, "build/apps/hello.app"), "rb") as file:
        image = with_file(tmp_path, "init.app", file.read())
    machine(image=image).wait_for("Hello from C on Ingot!")


def test_history_and_editing(machine):
    m = machine()
    m.run("run hello first")
    m.send(b"\x1b[A")
    m.send(b"\x7f" * 5 + b"again\r")
    m.wait_for("argument 1: again")


def test_completion(machine):
    m = machine()
    m.send(b"run hello.\t\r")
    m.wait_for("Hello from C on Ingot!")
    m.send(b"shut\tnow\r")
    m.wait_for("error: usage: shutdown")


def test_ctrl_c_at_the_prompt(machine):
    m = machine()
    m.send(b"run nosuch\x03")
    m.wait_for("^C")
    assert "Hello from C on Ingot!" in m.run("run hello")


def shell_pointer(m):
    """Where the shell keeps the address of one of its own functions."""
    with open(os.path.join(ROOT, "build/shell.elf"), "rb") as file:
        elf = file.read()
    offset, size, n = (struct.unpack_from("<Q", elf, 32)[0],
                       *struct.unpack_from("<HH", elf, 54))
    loads = [struct.unpack_from("<IIQQQQQ", elf, offset + size * i)
             for i in range(n)]
    text = next(h for h in loads if h[0] == 1 and h[1] == 5)
    data = next(h for h in loads if h[0] == 1 and h[1] == 6)
    dump = m.run(f"dump {data[3]:#x} {data[6] & ~15}", timeout=60)
    for line in dump.splitlines():
        words = line.split()
        for at in (1, 9):
            value = int("".join(reversed(words[at:at + 8])), 16)
            if text[3] <= value < text[3] + text[6]:
                return int(words[0], 16) + at - 1
    raise AssertionError("no pointer in the shell's data")


def test_a_crashed_shell_is_started_afresh(machine):
    """Its fresh copy works, and does not type run= once more."""
    m = machine(append="run=ver", prompt=False)
    m.wait_for("Command line: run=ver\n")
    m.wait_quiet()
    m.type(f"poke {shell_pointer(m):#x} 0")
    m.wait_for("***")
    m.wait_quiet()
    assert "Hello from C on Ingot!" in m.run("run hello")
    assert m.text().count("ingot> ver") == 1


def test_the_prompt_starts_a_line(vm, tmp_path):
    """Also after a program whose last line has no end (BareMetal's b_output)."""
    code = bytes.fromhex("488d350f000000"    # lea rsi, [rip + 15]
                         "b903000000"        # mov ecx, 3
                         "ff142518001000"    # call [0x100018]
                         "31c0c3") + b"abc"  # xor eax, eax; ret
    image = with_file(tmp_path, "open.app", code)
    out = vm("run open; run open; ver", image=image, timeout=60)
    assert out.count("\nabc\n") == 2


def test_keys_pressed_while_it_boots(machine):
    """The first of them lies in the port before anybody has set it up."""
    m = machine(prompt=False)
    m.send(b"run hello early\r")
    assert "error" not in m.wait_for("argument 1: early", timeout=60)


def test_keys_without_a_meaning_leave_no_stray_characters(machine):
    m = machine()
    keys = [b"\x1b[2~", b"\x1b[5~", b"\x1b[15~", b"\x1bOP", b"\x1b[[A",
            b"\x1b[1;5P", b"\x1b]0;title\x07", b"\x1b[?1;2c",
            b"\xff", b"\x00", b"\x02\x06\x1c\x1d", b"\x1bx", b"\x1b[Z"]
    for key in keys:
        m.send(key)
    m.send(b"vr\x1b[De\x1b[C\x1b[C;ru hello\x1b[D\x1b[D\x1b[D\x1b[D\x1b[D"
           b"\x1b[Dn\x01\x1b[3~v\x05\r")
    m.wait_for("Hello from C on Ingot!")
    assert "ingot> ver;run hello\n" in m.text()
    assert "error" not in m.text()
