# trials.py - one boot of one system, and what is measured in it.
# SPDX-License-Identifier: MIT
import collections
import subprocess
import time

import figures
from linux_guest import Linux
from vmlib.machine import Machine

FLOOD = "build/bench/flood"
FRAME_BYTES = 1500
MORE_SECONDS = 2  # that a flood lasts longer than its receiver
MOST_FRAMES = 20000000
BOOT_SECONDS, COMMAND_SECONDS = 120, 120

# What one boot is for: system, name, options of tools/vm.
Trial = collections.namedtuple("Trial", "system name words")


def trials():
    return [Trial(system, name, words) for system in ("ingot", "linux")
            for name, words in (("virtio", ["--nic", "virtio"]),
                                ("e1000", ["--nic", "e1000"]),
                                ("cores", ["--cpus", "2"]))]


class Boot:
    """One trial under way. `keep(line)` is given every RESULT line."""

    def __init__(self, trial, keep, kernel=None, seconds=3):
        self.trial, self.keep = trial, keep
        self.seconds = seconds  # of a flood
        words = trial.words
        self.machine = Linux(words, kernel) if trial.system == "linux" \
            else Machine([*words, "--accel", "tcg"])

    def line(self, bench, **fields):
        """A RESULT line of our own."""
        words = "".join(f" {key}={value}" for key, value in fields.items())
        self.note(f"RESULT bench={bench}{words}\n")

    def note(self, text):
        for line in text.splitlines():
            if line.startswith("RESULT "):
                self.keep(self.trial, line)

    def run(self, command):
        """The last RESULT line of a command."""
        return self.results(command)[-1]

    def results(self, command):
        text = self.machine.run(command, COMMAND_SECONDS)
        self.note(text)
        return figures.parse(text)

    def flood(self, command, started):
        """Frames a second that reached the program."""
        machine = self.machine
        machine.type(command)
        machine.wait_for(started, COMMAND_SECONDS)
        words = [FLOOD, machine.wires[0].port, FRAME_BYTES,
                 self.seconds + MORE_SECONDS, MOST_FRAMES]
        with subprocess.Popen(map(str, words), stdout=subprocess.PIPE,
                              encoding="utf-8") as sender:
            try:
                text = machine.wait_prompt(COMMAND_SECONDS)
            finally:
                sender.kill()
        self.note(text)
        return int(figures.parse(text)[-1]["frames"]) / self.seconds

    def all(self):
        """{measure: value} of this trial."""
        try:
            start = time.monotonic()
            self.machine.start()
            self.machine.wait_prompt(BOOT_SECONDS)
            found = {"boot": time.monotonic() - start}
            self.line("boot", os=self.trial.system, s=f"{found['boot']:.3f}")
            found.update(MEASURED[self.trial.system, self.trial.name](self))
            return found
        finally:
            self.machine.stop()


# ---- Ingot ----

def ingot_flood(boot, nic):
    # QEMU's e1000 takes nothing for a second after it was switched on, which
    # Linux has long passed when its first prompt comes.
    boot.flood("run netpoll 0 --frames 1 --seconds 20", "Polling")
    seconds = f"run netpoll 0 --seconds {boot.seconds}"
    return {
        f"flood {nic}": boot.flood(f"{seconds} --burst 32", "Polling"),
        f"flood {nic}, one at a time": boot.flood(seconds, "Polling"),
    }


def ingot_virtio(boot):
    return {
        "empty poll, inline": boot.run("run netpoll 0 10000000 --inline")["ns"],
        "empty poll, call": boot.run("run netpoll 0 1000000")["ns"],
        "call that does nothing": boot.run("run callcost")["ns"],
        "raytrace": float(boot.run("run raytrace 640 360 1")["ns"]) / 1e6,
        **ingot_flood(boot, "virtio"),
    }


def ingot_cores(boot):
    hand = boot.run("run handoff 10000")["ns"]
    return {"start to join": boot.run("run smp 1")["ns"],
            "handoff, futex": hand, "handoff, spinning": hand}


# ---- Linux ----

def linux_flood(boot, nic):
    rate = boot.flood(f"ring eth0 {boot.seconds}", "Receiving")
    return {f"flood {nic}": rate, f"flood {nic}, one at a time": rate}


def linux_virtio(boot):
    ring, receive, call = boot.results("cost eth0 1000000")
    return {
        "empty poll, inline": ring["ns"], "empty poll, call": receive["ns"],
        "call that does nothing": call["ns"],
        "raytrace": float(boot.run("raytrace 640 360 1")["ns"]) / 1e6,
        **linux_flood(boot, "virtio"),
    }


def linux_cores(boot):
    thread, futex, spin = boot.results("threads 1000")
    return {"start to join": thread["ns"], "handoff, futex": futex["ns"],
            "handoff, spinning": spin["ns"]}


MEASURED = {
    ("ingot", "virtio"): ingot_virtio,
    ("ingot", "e1000"): lambda boot: ingot_flood(boot, "e1000"),
    ("ingot", "cores"): ingot_cores,
    ("linux", "virtio"): linux_virtio,
    ("linux", "e1000"): lambda boot: linux_flood(boot, "e1000"),
    ("linux", "cores"): linux_cores,
}
