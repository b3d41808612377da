# conftest.py - what every QEMU test gets: vm() and machine().
# SPDX-License-Identifier: MIT
import os
import shlex
import subprocess
import sys
import time

import pytest

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))

from vmlib.machine import Machine  # noqa: E402
from vmlib.options import VmError  # noqa: E402

VM = os.path.join(ROOT, "tools", "vm")
BOOTS = ("direct", "bios", "uefi")
BOOT_SECONDS = 60  # for the slowest of them on a busy host


def words(qemu=(), **options):
    """Keyword arguments as words of tools/vm: mem=64 is --mem 64, a list
    repeats its option, True is a bare switch, False and None are left out."""
    result = []
    for name, value in options.items():
        switch = "--" + name.replace("_", "-")
        values = value if isinstance(value, (list, tuple)) else [value]
        for one in values:
            if one is True:
                result.append(switch)
            elif one is not None and one is not False:
                result += [switch, str(one)]
    qemu = shlex.split(qemu) if isinstance(qemu, str) else list(qemu)
    return result + (["--", *qemu] if qemu else [])


class Output(str):
    """The transcript of a run; also .status, .stderr, .seconds."""
    status = 0
    stderr = ""
    seconds = 0.0

    def lines_with(self, text):
        return [line for line in self.splitlines() if text in line]


def skip_if_told(text):
    """tools/vm says so when this host's QEMU lacks a device."""
    if text.startswith("skipped: "):
        pytest.skip(text.strip())


def run_vm(commands, status=0, timeout=120, qemu=(), **options):
    """Boot, type commands, power off, through tools/vm; returns its Output.
    Fails the test when the exit status is not the expected one (None: any).

        out = vm("run hello; ver", mem=64, boot="bios", nic=["e1000"],
                 append="loglevel=3", qemu="-machine hpet=off")
    """
    command = [VM, "--run", commands, "--timeout", str(timeout),
               *words(qemu=qemu, **options)]
    start = time.monotonic()
    done = subprocess.run(command, stdin=subprocess.DEVNULL,
                          capture_output=True, encoding="utf-8",
                          errors="replace", timeout=timeout + 60)
    output = Output(done.stdout)
    output.status, output.stderr = done.returncode, done.stderr
    output.seconds = time.monotonic() - start
    skip_if_told(done.stderr.partition("vm: ")[2])
    if status is not None and done.returncode != status:
        pytest.fail(f"exit status {done.returncode}, want {status}\n"
                    f"{done.stdout}\n{done.stderr}\n"
                    f"repeat: {shlex.join(command)}", pytrace=False)
    return output


@pytest.fixture
def vm():
    """run_vm() as a fixture."""
    return run_vm


@pytest.fixture
def machine():
    """A maker of running machines, each stopped when the test ends:

        m = machine(mem=64, nic="virtio")    # started, at its prompt
        print(m.run("ls"))                   # a command's output
        m.type("run echo")                   # ... or by hand
        m.wait_for("ready")
        m.wires[0].send(frame)               # into --nic number 0
        reply = m.wires[0].receive(timeout=2)
        m.qmp("set_link", name="nic0", up=False)

    prompt=False: do not wait for the prompt. boot_timeout: seconds for it.
    What Machine can do stands in tools/vmlib/machine.py.
    """
    made = []

    def make(prompt=True, boot_timeout=BOOT_SECONDS, qemu=(), **options):
        one = Machine(words(qemu=qemu, **options))
        made.append(one)
        try:
            one.start()
        except VmError as error:
            skip_if_told(str(error))
            raise
        if prompt:
            one.boot_text = one.wait_prompt(boot_timeout)
        return one
    yield make
    for one in made:
        one.stop()
