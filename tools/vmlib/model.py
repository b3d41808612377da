# model.py - a NIC that QEMU does not have, played by a process of its own.
# SPDX-License-Identifier: MIT
import functools
import json
import os
import socket
import subprocess
import time

from .options import ROOT, VmError, need_file

KINDS = ("x540",)
PROGRAM = os.path.join(ROOT, "build", "models", "x540")
DEVICE = "x-pci-proxy-dev"
# Properties of --nic x540,... that are QEMU's, and options of the model; any
# other is one of the model's settings.
QEMU_PROPERTIES = ("addr", "bus", "multifunction")
MODEL_OPTIONS = ("dev", "mac", "trace")
ANSWER_SECONDS = 20


def is_model(nic):
    return nic.split(",")[0] in KINDS


def used(options):
    return any(is_model(nic) for nic in options.nic)


@functools.lru_cache
def qemu_has_device():
    done = subprocess.run(["qemu-system-x86_64", "-device", "help"],
                          capture_output=True, encoding="utf-8", timeout=60)
    return f'"{DEVICE}"' in done.stdout


def check(options):
    """Refuse what cannot work, in one line."""
    if not used(options):
        return
    need_file(PROGRAM, "model", "make models")
    if not qemu_has_device():
        raise VmError(f"skipped: needs {DEVICE}")
    if options.machine.split(",")[0] == "microvm":
        raise VmError("--nic x540 needs --machine q35 or pc")


def split_properties(nic):
    """(what the model is told, what QEMU's device is told)"""
    words, properties = [], []
    for text in nic.split(",")[1:]:
        name = text.partition("=")[0]
        if name in QEMU_PROPERTIES:
            properties.append(text)
        elif name in MODEL_OPTIONS:
            words += [f"--{name}", text.partition("=")[2]]
        else:
            words += ["--set", text if "=" in text else f"{text}=1"]
    return words, properties


class Model:
    """One modelled NIC. It ends when QEMU does; QEMU outlives it. QEMU has one
    socket through which interrupts come in: the first model has it."""

    def __init__(self, nic, temp, index, wire, pcap=None,
                 interrupts=False):
        self.path = os.path.join(temp, f"model{index}")
        self.link = None
        words, self.properties = split_properties(nic)
        ours, self.theirs = socket.socketpair()
        self.stderr = open(f"{self.path}.stderr", "wb")
        words = [PROGRAM, "--fd", str(ours.fileno()), "--control", self.path,
                 "--net", f"udp:{wire.port}:{wire.peer}", *words]
        self.qtest = f"{self.path}.qtest" if interrupts else None
        if interrupts:
            words += ["--qtest", self.qtest]
        if pcap:
            words += ["--pcap", pcap]
        self.process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stderr=self.stderr,
            pass_fds=[ours.fileno()])
        ours.close()
        self.wait_ready()

    def wait_ready(self):
        """Until its control socket is there; VmError when it gives up."""
        self.link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.link.settimeout(ANSWER_SECONDS)
        deadline = time.monotonic() + ANSWER_SECONDS
        while self.link.connect_ex(self.path):
            if self.process.poll() is not None \
                    or time.monotonic() > deadline:
                raise VmError(self.log() or "the model does not start")
            time.sleep(0.002)

    def device_words(self, index):
        """What QEMU is told about it."""
        device = f"{DEVICE},id=nic{index},fd={self.theirs.fileno()}"
        words = ["-device", ",".join([device, *self.properties])]
        if self.qtest:
            words += ["-qtest", f"unix:{self.qtest}",
                      "-qtest-log", "/dev/null"]
        return words

    def given(self):
        """QEMU has its end now: nobody else keeps it open."""
        self.theirs.close()

    def command(self, line):
        """A control command, as command("set rx_err=1"); its answer. What a
        command may be stands in tests/models/README.md."""
        self.link.send(line.encode())
        answer = self.link.recv(1 << 16).decode()
        if not answer or answer.startswith("error: "):
            raise VmError(f"model: {line}: {answer or 'gone'}")
        return answer

    def stats(self):
        """The model's counters and rings as a dictionary."""
        return json.loads(self.command("stats"))

    def wait_stats(self, condition, timeout=20):
        """Poll until condition(stats); returns them, or the last ones when
        they never were so."""
        deadline = time.monotonic() + timeout
        while True:
            stats = self.stats()
            if condition(stats) or time.monotonic() > deadline:
                return stats
            time.sleep(0.005)

    def log(self):
        """What it said: rules the guest broke, above all."""
        with open(self.stderr.name, encoding="utf-8", errors="replace") as f:
            return f.read().strip()

    def kill(self):
        """Surprise removal."""
        self.process.kill()
        self.process.wait()

    def close(self):
        self.kill()
        self.stderr.close()
        self.theirs.close()
        if self.link:
            self.link.close()
