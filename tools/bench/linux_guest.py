# linux_guest.py - Linux in the machine that Ingot runs in.
# SPDX-License-Identifier: MIT
import os

import debian
import initramfs
from vmlib.machine import Machine

INIT = "build/bench/init"
RAYTRACE = "build/bench/raytrace"
INITRAMFS = "build/bench/initramfs.cpio"
# As fast as it goes: no mitigations, nothing printed, no clock that is a
# register far away.
COMMAND_LINE = "console=ttyS0 quiet mitigations=off tsc=reliable panic=-1 " \
    "net.ifnames=0 ipv6.disable=1"


def prepare(kernel):
    """Everything but QEMU; True when the guest can be started."""
    programs = {"init": INIT, "raytrace": RAYTRACE}
    initramfs.build(kernel, programs, INITRAMFS)


class Linux(Machine):
    """As vmlib's Machine, but for what it boots and its prompt."""

    prompt = "linux> "

    def __init__(self, words=(), kernel=None):
        kernel = kernel or debian.fetch()
        super().__init__([
            "--accel", "tcg", "--disk", "none",
            "--kernel", os.path.abspath(kernel.image),
            "--module", os.path.abspath(INITRAMFS),
            "--append", COMMAND_LINE, *words])
