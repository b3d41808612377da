#!/usr/bin/python3
# soak.py - `make soak`: a minute of echo under flood for every kind of NIC.
# SPDX-License-Identifier: MIT
"""Sends frames of all sizes as fast as the machine takes them while netecho runs
there, and checks every one that comes back. At the end: what netecho says it
sent has arrived, undamaged; received, missed and dropped add up; the machine has
as much free memory as before. For the X540, on its model, also a million frames,
one by one, none lost, none damaged, no rule broken."""
import argparse
import os
import re
import struct
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "tools"))

from vmlib import model  # noqa: E402
from vmlib.machine import Machine  # noqa: E402

KINDS = ("virtio", "virtio-legacy", "e1000", "e1000e", "x540")
SIZES = (60, 64, 65, 128, 590, 1023, 1513, 1514)
MILLION = 1_000_000
AHEAD = 64         # frames on their way: what socket and ring hold
STILL_SECONDS = 2  # nothing comes: what is missing is lost


def frame(number):
    head = bytes.fromhex("525400123456 020000000001 88b5") + bytes(4)
    pattern = bytes((number + 7 * i) & 0xFF for i in range(256)) * 6
    return (head + pattern)[:SIZES[number % len(SIZES)]]


class Flood:
    """Frames out, frames back; at most `ahead` of them on their way."""

    def __init__(self, wire, ahead):
        self.wire, self.ahead = wire, ahead
        self.sent = self.back = self.damaged = self.given_up = 0
        self.next = 0  # the number that comes next when none is lost
        wire.socket.setblocking(False)
        self.frames = [frame(i) for i in range(len(SIZES) * 256)]

    def one(self, number):
        base = self.frames[number % len(self.frames)]
        return base[:14] + struct.pack("<I", number) + base[18:]

    def take(self):
        """What has come back; each is checked, and in order."""
        try:
            while True:
                got = self.wire.socket.recv(65536)
                number = struct.unpack_from("<I", got, 14)[0]
                sent = self.one(number)
                if got != sent[6:12] + sent[:6] + sent[12:] or \
                        number < self.next:
                    self.damaged += 1
                self.next = number + 1
                self.back += 1
                self.last = time.monotonic()
        except BlockingIOError:
            return

    def run(self, seconds, most):
        self.last = start = time.monotonic()
        while self.sent < most and time.monotonic() - start < seconds:
            self.take()
            room = self.ahead - (self.sent - self.back - self.given_up)
            for _ in range(min(room, 16, most - self.sent)):
                self.wire.send(self.one(self.sent))
                self.sent += 1
            if room <= 0 and time.monotonic() - self.last > STILL_SECONDS:
                self.given_up = self.sent - self.back
        self.last = time.monotonic()
        while self.back < self.sent and \
                time.monotonic() - self.last < STILL_SECONDS:
            self.take()
        return time.monotonic() - start


def counters(m):
    text = m.run("net")
    received = re.search(r"received +(\d+) frames, +(\d+) bytes, +(\d+) "
                         r"dropped, +(\d+) missed", text)
    sent = re.search(r"sent +(\d+) frames, +(\d+) bytes, +(\d+) dropped", text)
    return [int(word) for word in received.groups() + sent.groups()]


def free(m):
    return re.search(r"Free +(\d+) KiB", m.run("mem"))[1]


def soak(kind, seconds, most, ahead):
    m = Machine(["--nic", kind, "--accel", "tcg"])
    m.start()
    m.wait_prompt(60)
    m.run("run netecho 0 --seconds 1")
    memory, before = free(m), counters(m)
    frames = f" --frames {most}" if most < 1 << 40 else ""
    m.type(f"run netecho 0{frames} --seconds {seconds + 6}")
    m.wait_for("Echoing")
    flood = Flood(m.wires[0], ahead)
    took = flood.run(seconds, most)
    out = m.wait_prompt(seconds + 60)
    flood.take()
    said = dict(word.split("=") for word in
                re.search(r"RESULT (.*)", out)[1].split())
    after = counters(m)
    got, got_bytes, dropped, missed, sent = (
        b - a for a, b in list(zip(before, after))[:5])
    bad = []

    def want(what, is_so):
        if not is_so:
            bad.append(what)
    want("something came back", flood.back > 0)
    want("none damaged or out of order", not flood.damaged)
    want("what was acknowledged arrived", flood.back == int(said["sent"]))
    want("the program and the driver agree",
         got == int(said["frames"]) and got_bytes == int(said["bytes"])
         and sent == int(said["sent"]))
    host_lost = m.wires[0].backlog()[1]
    want("counters add up",
         got + dropped + missed + host_lost >= flood.sent)
    want("none lost", flood.back == flood.sent - host_lost - missed)
    want("memory is as before", free(m) == memory)
    if kind == "x540":
        rules = m.models[0].stats()["rules"]
        want(f"no rule broken: {rules}", not rules)
    m.stop()
    print(f"RESULT bench=soak nic={kind} seconds={took:.1f} "
          f"sent={flood.sent} back={flood.back} missed={missed} "
          f"dropped={dropped} host={host_lost} damaged={flood.damaged} "
          f"kfps={flood.back / took / 1000:.1f}", flush=True)
    for what in bad:
        print(f"FAIL {kind}: {what} ({said}, {before}, {after})", flush=True)
    return not bad


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--million", type=int, default=MILLION,
                        help="frames through the X540, 0: none")
    parser.add_argument("kinds", nargs="*", default=KINDS)
    words = parser.parse_args()
    fine = True
    for kind in words.kinds:
        if kind == "x540" and not model.qemu_has_device():
            print("skipped: x540 needs x-pci-proxy-dev")
            continue
        fine &= soak(kind, words.seconds, 1 << 62, AHEAD)
        if kind == "x540" and words.million:
            fine &= soak(kind, 1800, words.million, AHEAD)
    sys.exit(0 if fine else 1)


if __name__ == "__main__":
    main()
