# main.py - what tools/vm does with its options.
# SPDX-License-Identifier: MIT
import os
import shlex
import signal
import subprocess
import sys
import termios
import time

from . import options as option_list
from .machine import Machine, VmFailure, VmStopped, VmTimeout
from .options import VmError

TIMED_OUT = 124
# How lines of bad news begin: the shell's, and the kernel's about a program.
FAILURES = ("error: ", "*** ")
PANIC = "*** press a key"  # the last line of a kernel panic
ENDING = ("shutdown", "reboot")  # after these no prompt comes back
SHUTDOWN_SECONDS = 5


def main(argv):
    options = option_list.parse(argv)
    # A job in the background of a script is born with SIGINT ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *unused: sys.exit(143))
    try:
        if options.show:
            return show(options)
        if options.run is None:
            return interact(options)
        return run(options)
    except VmError as error:
        say(error)
        return 2
    except KeyboardInterrupt:
        return 130


def say(text):
    print(f"vm: {text}", file=sys.stderr, flush=True)


def show(options):
    machine = Machine(options=options)
    machine.prepare()
    print(shlex.join(machine.words()))
    machine.stop()
    return 0


# ---- the shell on this terminal ----
def interact(options):
    machine = Machine(options=options)
    process = None
    before = terminal_mode()
    try:
        machine.prepare()
        if options.gdb:
            say(f"waiting for: gdb {os.path.relpath(options.kernel)} "
                "-ex 'target remote :1234'")
        # Beside gdb (make debug) the terminal's Ctrl-C is not for QEMU.
        process = machine.popen(interactive=True,
                                start_new_session=not os.isatty(0))
        return 1 if process.wait(options.timeout) else 0
    except FileNotFoundError:
        raise VmError("no qemu-system-x86_64: install it first: "
                      "tools/setup") from None
    except subprocess.TimeoutExpired:
        say(f"stopped after {options.timeout:g} s")
        return TIMED_OUT
    finally:
        if process and process.poll() is None:
            process.kill()
            process.wait()
        terminal_restore(before)
        machine.stop()


def terminal_mode():
    return termios.tcgetattr(0) if os.isatty(0) else None


def terminal_restore(mode):
    """QEMU put the terminal into raw mode; killed, it leaves it there."""
    if mode:
        termios.tcsetattr(0, termios.TCSADRAIN, mode)


# ---- commands typed for the user ----
class Session:
    """One --run: the machine, the time that is left, what went wrong."""

    def __init__(self, options):
        self.machine = Machine(options=options)
        limit = option_list.DEFAULT_TIMEOUT if options.timeout is None \
            else options.timeout
        self.deadline = time.monotonic() + limit
        self.limit = limit
        self.failed = False
        self.shown = 0  # lines printed
        self.at = "while booting"

    def left(self):
        return max(0.0, self.deadline - time.monotonic())

    def show(self):
        """Print the lines that are new; notice the bad ones."""
        for text in self.machine.terminal.lines[self.shown:]:
            self.shown += 1
            print(text, flush=True)
            if text.startswith(PANIC):
                raise VmFailure("the kernel panicked")
            if text.startswith(FAILURES):
                self.failed = True

    def boot(self):
        self.machine.wait_prompt(self.left(), self.show)
        self.failed = False  # what the boot complains of is no command

    def command(self, text):
        """Type one and wait for the prompt. False: the machine is off, as it
        was told to be."""
        self.at = f"during '{text}'"
        try:
            self.machine.run(text, self.left(), self.show)
        except VmStopped:
            if text.split()[0] in ENDING:
                return False
            raise
        return True

    def power_off(self):
        self.machine.type("shutdown")
        try:
            self.machine.wait_exit(SHUTDOWN_SECONDS)
        except VmTimeout:
            say(f"still on {SHUTDOWN_SECONDS} s after shutdown: killed")

    def all(self, commands):
        self.boot()
        for index, text in enumerate(commands):
            if self.command(text):
                continue
            if commands[index + 1:]:
                say(f"the machine is off, not run: {commands[index + 1]}")
                self.failed = True
            return
        self.screenshot()
        self.power_off()

    def screenshot(self):
        if self.machine.options.screenshot:
            self.machine.screenshot(self.machine.options.screenshot)

    def screenshot_anyway(self):
        """Of a machine that may be past answering."""
        try:
            self.screenshot()
        except (VmFailure, VmError, OSError) as error:
            say(f"no screenshot: {error}")

    def explain(self, failure):
        """The rest of the console, then why in one line."""
        self.show()
        if self.machine.terminal.current:
            print(self.machine.terminal.current, flush=True)
        if isinstance(failure, VmTimeout):
            say(f"timed out after {self.limit:g} s, {self.at}")
            self.screenshot_anyway()
            return TIMED_OUT
        say(f"{failure.short} {self.at}")
        if self.machine.complaint():
            say(self.machine.complaint())
        return 1


def run(options):
    session = Session(options)
    try:
        session.machine.start()
        session.all(option_list.split_commands(options.run))
        return 1 if session.failed else 0
    except VmFailure as failure:
        return session.explain(failure)
    finally:
        session.machine.stop()
