# machine.py - one running QEMU: its serial console, its NICs' wires, its QMP.
# SPDX-License-Identifier: MIT
import atexit
import codecs
import ctypes
import json
import os
import re
import select
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

from . import accel, command, model, options as option_list, stick
from .desk import Desk
from .options import VmError
from .terminal import Terminal
from .wire import Wire

PROMPT = "ingot> "
PR_SET_PDEATHSIG = 1


class VmFailure(Exception):
    """short: one line; detail: what the console showed."""

    def __init__(self, short, detail=""):
        super().__init__(f"{short}\n{detail}".strip())
        self.short = short


class VmTimeout(VmFailure):
    """What was waited for did not come in time."""


class VmStopped(VmFailure):
    """The machine stopped while something was awaited from it."""


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Machine(Desk):
    """A machine started by the same words as tools/vm:

        machine = Machine(["--mem", "64", "--boot", "bios"])
        machine.start()              # QEMU runs
        machine.wait_prompt(30)      # the shell is there
        text = machine.run("ls")     # what the command printed
        machine.stop()

    Typed and waited-for text goes through a small terminal, so lines are as a
    person would see them: no carriage returns, no escape sequences.
    """

    prompt = PROMPT  # another guest may have another

    def __init__(self, words=(), options=None):
        self.options = options or option_list.parse(words)
        self.terminal = Terminal()
        self.raw = bytearray()      # every byte the serial port sent
        self.process = None
        self.wires = []             # one Wire a NIC, in --nic order
        self.models = {}            # Models by their NIC's place in --nic
        self.events = []            # QMP events, in order
        self.changed = threading.Condition()
        self.reading = threading.Event()
        self.ended = False          # the serial port is closed
        self.seen = 0               # lines that wait_for() has passed
        self.seen_column = 0
        self.entered = -1           # finished lines when Enter was last sent
        self.qmp_file = None
        self.temp = None

    # ---- start and stop ----
    def prepare(self):
        """Everything but QEMU itself. VmError when it cannot work."""
        option_list.check(self.options)
        model.check(self.options)
        self.accel = accel.choose(self.options)
        self.temp = tempfile.mkdtemp(prefix="ingot-vm-")
        atexit.register(self.stop)
        self.options.image = stick.for_options(self.options, self.temp)
        for index in range(len(self.options.nic)):
            given = index < len(self.options.net_udp)
            self.wires.append(
                Wire(*self.options.net_udp[index] if given else ()))
        self.start_models()

    def start_models(self):
        """The NICs that are processes of their own: models[I] is --nic I."""
        for index, nic in enumerate(self.options.nic):
            if model.is_model(nic):
                pcap = self.options.pcap[index:index + 1] or [None]
                self.models[index] = model.Model(
                    nic, self.temp, index, self.wires[index], pcap[0],
                    interrupts=not self.models
                    and "-qtest" not in self.options.qemu)

    def popen(self, interactive=False, **arguments):
        """QEMU itself, with the sockets of the models."""
        sockets = [one.theirs.fileno() for one in self.models.values()]
        process = subprocess.Popen(
            self.words(interactive), pass_fds=sockets,
            preexec_fn=die_with_parent, **arguments)
        for one in self.models.values():
            one.given()
        return process

    def start(self):
        """Start QEMU; returns self."""
        try:
            self.prepare()
            self.launch()
        except BaseException:
            self.stop()
            raise
        return self

    def words(self, interactive=False):
        """The QEMU command line of this machine."""
        peers = [(wire.port, wire.peer) for wire in self.wires]
        return command.build(self.options, self.accel, self.temp, peers,
                             interactive, self.models)

    def launch(self):
        ours, theirs = socket.socketpair()
        self.serial = ours
        self.stderr = open(os.path.join(self.temp, "stderr"), "wb")
        self.command = shlex.join(self.words())
        try:
            self.process = self.popen(stdin=theirs, stdout=theirs,
                                      stderr=self.stderr)
        except FileNotFoundError:
            raise VmError("no qemu-system-x86_64: install it first: "
                          "tools/setup") from None
        theirs.close()
        self.reading.set()
        threading.Thread(target=self.reader, daemon=True).start()

    def reader(self):
        """Runs beside: moves serial output into the terminal."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while True:
            self.reading.wait()
            try:
                data = self.serial.recv(65536)
            except OSError:
                data = b""
            with self.changed:
                self.raw += data
                self.terminal.feed(decoder.decode(data))
                self.ended = not data
                self.changed.notify_all()
            if not data:
                return

    def hold_output(self, hold):
        """Stop or go on reading the serial port."""
        self.reading.clear() if hold else self.reading.set()

    def stop(self):
        """Kill QEMU if it still runs and take everything back."""
        atexit.unregister(self.stop)
        self.reading.set()
        if self.process and self.process.poll() is None:
            self.process.kill()
        if self.process:
            self.process.wait()
            # Wakes the reader, which may sit in recv().
            try:
                self.serial.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            self.serial.close()
            self.stderr.close()
        if self.qmp_file:
            self.qmp_file.close()
        for wire in self.wires:
            wire.close()
        for one in self.models.values():
            one.close()
        if self.temp:
            shutil.rmtree(self.temp, ignore_errors=True)

    def __enter__(self):
        return self if self.process else self.start()

    def __exit__(self, *unused):
        self.stop()

    def running(self):
        return self.process.poll() is None

    def wait_exit(self, timeout=10):
        """Wait until QEMU has ended by itself; returns its exit status."""
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise VmTimeout(f"still running after {timeout:g} s",
                            self.tail()) from None

    def complaint(self):
        """What QEMU said on its standard error."""
        self.stderr.flush()
        with open(self.stderr.name, encoding="utf-8", errors="replace") as f:
            return f.read().strip()

    # ---- the console ----
    def send(self, data, timeout=30):
        """Raw bytes into the serial port, as fast as the guest takes them."""
        deadline = time.monotonic() + timeout
        if b"\r" in data or b"\n" in data:
            self.entered = len(self.terminal.lines)
        while data:
            left = deadline - time.monotonic()
            if not select.select([], [self.serial], [], max(0, left))[1]:
                raise VmTimeout(f"{len(data)} typed bytes were not taken in "
                                f"{timeout:g} s", self.tail())
            data = data[self.serial.send(data, socket.MSG_DONTWAIT):]

    def type(self, text, enter=True):
        """Type text and Enter; does not wait for anything."""
        self.send(text.encode() + (b"\r" if enter else b""))

    def text(self):
        """All of the console's text so far, the unfinished line included."""
        with self.changed:
            return "\n".join(self.terminal.lines + [self.terminal.current])

    def tail(self, lines=25):
        """The end of the console's text, for messages about failures."""
        text = "\n".join(self.text().split("\n")[-lines:])
        return f"---- console ----\n{text}\n---- {self.command}"

    def wait(self, condition, timeout, what):
        """Wait until condition() (called with the lock held) is true and
        return its value. VmTimeout, or VmStopped when QEMU ends first."""
        deadline = time.monotonic() + timeout
        with self.changed:
            while True:
                value = condition()
                if value:
                    return value
                left = deadline - time.monotonic()
                if left <= 0 or self.ended:
                    break
                self.changed.wait(left)
        if self.ended:
            raise VmStopped("the machine stopped",
                            f"{self.complaint()}\n{self.tail()}")
        raise VmTimeout(f"no {what} in {timeout:g} s", self.tail())

    def wait_quiet(self, seconds=1, timeout=30):
        """Wait until nothing has come for so long, then press Enter for a
        prompt that is surely fresh."""
        deadline = time.monotonic() + timeout
        seen = -1
        while seen != len(self.raw):
            if time.monotonic() > deadline:
                raise VmTimeout(f"not silent in {timeout:g} s", self.tail())
            seen = len(self.raw)
            with self.changed:
                self.changed.wait_for(lambda: len(self.raw) != seen, seconds)
        self.type("")
        self.wait_prompt(timeout)

    def wait_for(self, what, timeout=30):
        """Wait for text (str) or a compiled pattern in what the console shows
        after the latest wait. Returns all the text from there up to and with
        the match. A match may be in the unfinished line."""
        pattern = re.compile(re.escape(what)) if isinstance(what, str) \
            else what

        def search():
            lines = self.terminal.lines[self.seen:] + [self.terminal.current]
            text = "\n".join(lines)[self.seen_column:]
            found = pattern.search(text)
            return found and text[:found.end()]
        text = self.wait(search, timeout, repr(pattern.pattern))
        self.pass_text(text)
        return text

    def pass_text(self, text):
        lines = text.count("\n")
        self.seen_column = len(text) - text.rfind("\n") - 1 if lines \
            else self.seen_column + len(text)
        self.seen += lines

    def at_prompt(self):
        """The prompt is there, and not the one that Enter was sent to."""
        line, column = self.terminal.current, self.terminal.column
        return column == len(self.prompt) \
            and line.rstrip() + " " == self.prompt \
            and len(self.terminal.lines) > self.entered

    def wait_prompt(self, timeout=30, watch=None):
        """Wait until the shell's prompt is there, with nothing typed; returns
        the text before it since the latest wait. watch() is called whenever
        something came."""
        self.wait(lambda: (watch and watch(), self.at_prompt())[1],
                  timeout, "prompt")
        with self.changed:
            text = "\n".join(self.terminal.lines[self.seen:])
            self.seen = len(self.terminal.lines)
            text, self.seen_column = text[self.seen_column:], len(self.prompt)
        return text

    def run(self, command_line, timeout=60, watch=None):
        """Type a command at the prompt, wait for the next prompt, return what
        was printed between (without the echo and the prompt)."""
        self.wait_prompt(timeout)
        first = self.seen
        self.type(command_line)

        def done():
            if watch:
                watch()
            return self.at_prompt() and self.echoed(first, command_line)
        self.wait(done, timeout, f"prompt after {command_line!r}")
        text = self.wait_prompt(timeout)
        return text.partition("\n")[2]

    def echoed(self, first, command_line):
        """A program at start (run=, autorun) may have its prompt and output
        before our command is read: look for our own words."""
        wanted = (self.prompt + command_line).rstrip()
        return any(line.rstrip() == wanted
                   for line in self.terminal.lines[first:])

    # ---- QMP ----
    def qmp(self, execute, **arguments):
        """A QMP command, as qmp("set_link", name="nic0", up=False); returns
        its result. Devices are named nic0.., disk0; events go to .events."""
        if not self.qmp_file:
            self.qmp_connect()
        self.qmp_send({"execute": execute, "arguments": {
            key.replace("_", "-"): value
            for key, value in arguments.items()}})
        return self.qmp_answer()

    def qmp_connect(self):
        link = socket.socket(socket.AF_UNIX)
        link.settimeout(20)
        deadline = time.monotonic() + 10
        while link.connect_ex(f"{self.temp}/qmp"):
            if time.monotonic() > deadline or not self.running():
                raise VmStopped("QEMU offers no QMP", self.complaint())
            time.sleep(0.02)
        self.qmp_file = link.makefile("rw", encoding="utf-8")
        self.qmp_file.readline()
        self.qmp_send({"execute": "qmp_capabilities"})
        self.qmp_answer()

    def qmp_send(self, message):
        self.qmp_file.write(json.dumps(message) + "\n")
        self.qmp_file.flush()

    def qmp_answer(self):
        for line in self.qmp_file:
            message = json.loads(line)
            if "event" in message:
                self.events.append(message)
            elif "error" in message:
                raise VmError(f"QMP: {message['error']['desc']}")
            else:
                return message["return"]
        raise VmStopped("QEMU closed QMP", self.complaint())

    def exit_reason(self, timeout=10):
        """Wait until QEMU ends by itself, and say why: "guest-shutdown",
        "guest-reset", .. Needs a qmp() before."""
        self.wait_exit(timeout)
        for line in self.qmp_file:
            self.events.append(json.loads(line))
        return next((event["data"]["reason"] for event in self.events
                     if event.get("event") == "SHUTDOWN"), None)

    def monitor(self, line):
        """A line for QEMU's human monitor, as monitor("info registers")."""
        return self.qmp("human-monitor-command", command_line=line)
