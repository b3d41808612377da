# disks.py - disks for the tests: what is on them, and QEMU's words for them.
# SPDX-License-Identifier: MIT
import os
import random
import zlib

import pytest

import bmfs

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
MIB = 1 << 20


def noise(size, seed):
    return random.Random(seed).randbytes(size)


def crc(data):
    return f"crc {zlib.crc32(data):08x}"


def blank(path, size):
    with open(path, "wb") as file:
        file.truncate(size)
    return str(path)


def make_bmfs(path, files, size=None, start=0):
    """A BMFS with files {name: bytes} from byte start on; returns the path."""
    blocks = 1 + sum(max(1, -(-len(d) // bmfs.BLOCK)) for d in files.values())
    size = size or max(2, blocks) * bmfs.BLOCK
    if not os.path.exists(path):
        blank(path, start + size)
    with open(path, "r+b") as file:
        fs = bmfs.Bmfs(file, start, size)
        fs.format()
        for name, data in files.items():
            fs.add(name, data)
    return str(path)


def drive(name, path, bus="ide.1", device="ide-hd", writable=False):
    """QEMU's words for one more disk."""
    snapshot = "off" if writable else "on"
    return ["-drive", f"if=none,id={name},format=raw,snapshot={snapshot},"
                      f"file={path}",
            "-device", f"{device},drive={name},bus={bus}"]


@pytest.fixture(scope="session")
def programs(tmp_path_factory):
    """Disk 0 of most tests: a bare BMFS with the test program."""
    with open(os.path.join(ROOT, "build/tests/disktest.app"), "rb") as file:
        program = file.read()
    with open(os.path.join(ROOT, "build/apps/hello.app"), "rb") as file:
        hello = file.read()
    path = tmp_path_factory.mktemp("disk") / "programs.img"
    return make_bmfs(path, {"disktest.app": program, "hello.app": hello})


@pytest.fixture(scope="session")
def big(tmp_path_factory):
    """A disk of 70 MiB that is different everywhere; (path, bytes)."""
    path = tmp_path_factory.mktemp("disk") / "big.img"
    data = noise(70 * MIB, 1)
    path.write_bytes(data)
    return str(path), data


BUSES = {  # QEMU's device for a disk that needs no controller of its own
    "nvme": "nvme,serial={0},drive={0}",
    "virtio": "virtio-blk-pci,drive={0}",
}


def attach(kind, name, path, *properties, options="snapshot=on"):
    """QEMU's words for one more disk of a kind. properties: of the device;
    options: of the drive."""
    device = ",".join((BUSES[kind].format(name), *properties))
    return ["-drive", f"if=none,id={name},format=raw,file={path},{options}",
            "-device", device]


def attach_faulty(kind, path, sector, iotype):
    """A disk on which one sector (of 512 bytes) cannot be read, or written."""
    return ["-blockdev", f"driver=file,node-name=file1,filename={path}",
            "-blockdev", "driver=blkdebug,node-name=bad,image=file1,"
            f"inject-error.0.event=none,inject-error.0.iotype={iotype},"
            f"inject-error.0.errno=5,inject-error.0.sector={sector}",
            "-device", BUSES[kind].format("bad")]
