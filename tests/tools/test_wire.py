# test_wire.py - a NIC's cable keeps the port it was given for QEMU.
# SPDX-License-Identifier: MIT
import os
import socket
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), *("..",) * 2,
                                "tools"))

from vmlib.wire import Wire  # noqa: E402


def bind(port, reuse):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, reuse)
        one.bind(("127.0.0.1", port))


def test_only_qemu_gets_the_port():
    wire = Wire()
    with pytest.raises(OSError):
        bind(wire.port, 0)
    bind(wire.port, 1)  # as QEMU does
    wire.send(b"frame")
    bind(wire.port, 0)
    wire.close()
