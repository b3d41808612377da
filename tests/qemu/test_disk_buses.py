# test_disk_buses.py - NVMe and virtio disks, byte for byte.
# SPDX-License-Identifier: MIT
import re
import struct
import zlib

import pytest

from disks import (MIB, attach, attach_faulty, big, blank,  # noqa: F401
                   crc, make_bmfs, noise, programs)

KINDS = ("nvme", "virtio")
both = pytest.mark.parametrize("kind", KINDS)
FOUR_K = "logical_block_size=4096", "physical_block_size=4096"
SUMS = [(0, 1, 0), (1, 256, 0), (7, 257, 4), (17663, 257, 2048),
        (99, 3000, 1028), (5, 16384, 0)]  # the last: 64 MiB in one call


@both
@pytest.mark.parametrize("sector", [512, 4096])
def test_reads_are_exact(vm, programs, big, kind, sector):
    path, data = big
    size = f"logical_block_size={sector}", f"physical_block_size={sector}"
    out = vm("; ".join(f"run disktest sum 1 {block} {n} {offset}"
                       for block, n, offset in SUMS)
             + "; run disktest args 1; disk", image=programs, disk=kind,
             nic="none", mem=256, qemu=attach(kind, "big", path, *size))
    for block, n, _ in SUMS:
        want = data[block * 4096:(block + n) * 4096]
        assert f"{crc(want)} of {n} blocks" in out
    assert "0 wrong" in out
    mebibyte = out.lines_with("of 256 blocks")[0]
    assert int(re.search(r"(\d+) commands", mebibyte)[1]) <= 8
    rows = [line.split() for line in out.lines_with(" 00:0")]
    assert [row[3:5] for row in rows if row[0] == "1"] == [["70", str(sector)]]


@both
def test_writes_land_where_they_should(vm, programs, tmp_path, kind):
    for sector in (512, 4096):
        data = noise(9 * MIB, sector)
        path = tmp_path / f"w{sector}.img"
        path.write_bytes(data)
        out = vm("run disktest fill 1 300 1000 4; run disktest fill 1 2303 1 0",
                 image=programs, disk=kind, nic="none",
                 qemu=attach(kind, "w", path, f"logical_block_size={sector}",
                             f"physical_block_size={sector}",
                             options="snapshot=off"))
        assert out.count("read back the same") == 2
        after = path.read_bytes()
        assert after[:300 * 4096] == data[:300 * 4096]
        assert after[1300 * 4096:2303 * 4096] == data[1300 * 4096:2303 * 4096]
        assert after[2304 * 4096:] == data[2304 * 4096:]
        pattern = bytes((i * 11 + (i >> 9) + 300) & 255
                        for i in range(1000 * 4096))
        assert after[300 * 4096:1300 * 4096] == pattern


@both
def test_a_terabyte(vm, programs, tmp_path, kind):
    path = blank(tmp_path / "t.img", 1 << 40)
    last = noise(4096, 3)
    with open(path, "r+b") as file:
        file.seek((1 << 40) - 4096)
        file.write(last)
    end = 1 << 28
    out = vm(f"run disktest sum 1 {end - 1}; run disktest sum 1 {end}; "
             f"run disktest sum 1 {end - 1} 2; run disktest sum 1 {end - 1}; "
             f"run disktest sum 2 {end - 1}; run disktest sum 2 {end}",
             image=programs, disk=kind, nic="none", status=1,
             qemu=attach(kind, "t", path)
             + attach(kind, "u", path, *FOUR_K))
    assert out.count(crc(last)) == 3
    assert out.count(f"read: past the end, block {end}") == 3


@both
def test_a_disk_that_is_no_multiple_of_a_block(vm, programs, tmp_path, kind):
    path = tmp_path / "odd.img"
    data = noise(10 * 4096 + 512 * 3, 4)
    path.write_bytes(data)
    out = vm("run disktest sum 1 9; run disktest sum 1 10", image=programs,
             disk=kind, nic="none", status=1, qemu=attach(kind, "odd", path))
    assert crc(data[9 * 4096:10 * 4096]) in out
    assert "past the end, block 10" in out


@both
def test_a_sector_that_cannot_be_read(vm, programs, big, kind):
    path, data = big
    out = vm("run disktest sum 1 100 1000; run disktest sum 1 777; "
             "run disktest sum 1 778 500; run disktest sum 1 100 677",
             image=programs, disk=kind, nic="none", status=1,
             qemu=attach_faulty(kind, path, 777 * 8 + 3, "read"))
    assert out.count("read: device error, block 777") == 2
    assert len(out.lines_with("read of block 777 failed")) == 2
    assert crc(data[778 * 4096:1278 * 4096]) in out
    assert crc(data[100 * 4096:777 * 4096]) in out


@both
def test_a_sector_that_cannot_be_written(vm, programs, tmp_path, kind):
    path = blank(tmp_path / "w.img", 8 * MIB)
    out = vm("run disktest fill 1 100 800; run disktest fill 1 200 100",
             image=programs, disk=kind, nic="none", status=1,
             qemu=attach_faulty(kind, path, 888 * 8, "write"))
    assert out.count("write: device error, block 888") == 1
    assert out.count("read back the same") == 1


def several(tmp_path, n):
    """Files of noise; (paths, what is in them)."""
    paths = [tmp_path / f"{i}.img" for i in range(n)]
    for i, path in enumerate(paths):
        path.write_bytes(noise(MIB, 10 + i))
    return paths, [path.read_bytes() for path in paths]


def seen(out):
    return [line.split(" of ")[0].split("crc ")[1]
            for line in out.lines_with(" of 256 blocks")]


def test_several_of_each_in_order(vm, programs, tmp_path):
    """By PCI address; a controller's namespaces by their numbers."""
    paths, data = several(tmp_path, 6)
    qemu = attach("nvme", "d3", paths[3], "addr=0xb")
    qemu += attach("virtio", "d2", paths[2], "addr=0xa")
    qemu += ["-device", "nvme,id=c,serial=c,addr=9"]
    for nsid, i in ((7, 1), (2, 0)):
        qemu += ["-drive", f"if=none,id=d{i},format=raw,file={paths[i]}",
                 "-device", f"nvme-ns,bus=c,drive=d{i},nsid={nsid}"]
    qemu += attach("virtio", "d5", paths[5], "addr=0xd",
                   "disable-legacy=on")
    qemu += attach("nvme", "d4", paths[4], "addr=0xc", *FOUR_K)
    out = vm("; ".join(f"run disktest sum {i} 0 256" for i in range(6))
             + "; run disktest files 6", image=programs, nic="none", qemu=qemu)
    assert seen(out)[:6] == [f"{zlib.crc32(one):08x}" for one in data]
    assert "2 files, 0 bad" in out


BRIDGES = {
    "port": ["-device", "pcie-root-port,id=b2,chassis=1"],
    "second": ["-device", "pxb-pcie,id=p1,bus_nr=128,bus=pcie.0", "-device",
               "pcie-root-port,id=b2,bus=p1,chassis=2"],
}


@both
@pytest.mark.parametrize("bridge", BRIDGES)
def test_behind_bridges(vm, programs, kind, bridge):
    out = vm("run disktest files 0; run disktest sum 0 0 2 0", disk="none",
             nic="none", machine="q35,hpet=off,i8042=off",
             qemu=BRIDGES[bridge] + attach(kind, "far", programs, "bus=b2"))
    assert "2 files, 0 bad" in out


@both
def test_machine_pc(vm, programs, big, kind):
    path, data = big
    out = vm("run disktest sum 1 9 1000 4", image=programs, nic="none",
             disk=kind, machine="pc", qemu=attach(kind, "big", path))
    assert crc(data[9 * 4096:1009 * 4096]) in out


@pytest.mark.parametrize("properties", [
    ("disable-legacy=on",), ("disable-modern=on",),
    ("queue-size=16", "seg-max-adjust=on"),
    ("disable-modern=on", "queue-size=4"), ("packed=on",),
    ("write-cache=off",), ("event_idx=off", "indirect_desc=off"),
    ("queue-size=1024", "num-queues=4", "iothread=t")])
def test_virtio_in_many_shapes(vm, programs, big, tmp_path, properties):
    path, data = big
    out = vm("run disktest sum 1 7 2000 4; run disktest fill 1 9 200 4; "
             "run disktest sum 1 7 2000 4",
             image=programs, disk="virtio", nic="none",
             qemu=["-object", "iothread,id=t"]
             + attach("virtio", "big", path, *properties))
    assert crc(data[7 * 4096:2007 * 4096]) in out
    assert "read back the same" in out


@pytest.mark.parametrize("properties", [
    ("mdts=1",), ("mdts=0",), ("max_ioqpairs=1", "msix_qsize=1"),
    ("write-cache=off",), ("cmb_size_mb=16",)])
def test_nvme_in_many_shapes(vm, programs, big, properties):
    path, data = big
    out = vm("run disktest sum 1 7 2000 4; run disktest fill 1 9 200 4; "
             "run disktest sum 1 7 1 8",
             image=programs, disk="nvme", nic="none",
             qemu=attach("nvme", "big", path, *properties))
    assert crc(data[7 * 4096:2007 * 4096]) in out
    assert crc(data[7 * 4096:8 * 4096]) in out
    assert "read back the same" in out


def test_nvme_namespaces_that_are_not_driven(vm, programs, tmp_path):
    """With metadata, or none at all: a line, and the others work."""
    paths, data = several(tmp_path, 2)
    qemu = ["-device", "nvme,id=empty,serial=e,addr=8",
            "-device", "nvme,id=c,serial=c,addr=9"]
    for i, extra in enumerate(("nsid=1,ms=8", "nsid=2")):
        qemu += ["-drive", f"if=none,id=d{i},format=raw,file={paths[i]}",
                 "-device", f"nvme-ns,bus=c,drive=d{i},{extra}"]
    out = vm("log; run disktest sum 0 0 256; disk", image=programs,
             nic="none", qemu=qemu)
    assert out.lines_with("with 8 of metadata: not driven")
    assert out.lines_with("namespace 1: no disk")
    assert seen(out) == [f"{zlib.crc32(data[1]):08x}"]


def test_a_disk_that_may_not_be_written(vm, programs, big):
    path, data = big
    out = vm("run disktest fill 1 9 1; run disktest sum 1 9; disk",
             image=programs, disk="virtio", nic="none", status=1,
             qemu=attach("virtio", "big", path, options="readonly=on"))
    assert "write: not supported, block 9" in out
    assert crc(data[9 * 4096:10 * 4096]) in out
    assert "virtio, read-only" in out


def test_files_on_4096_byte_sectors(vm, programs, tmp_path):
    """A GPT with 4096-byte sectors, as on a 4Kn disk."""
    files = {"one": noise(1, 1), "more": noise(4097, 2)}
    first, size = 256, 24 * MIB
    path = blank(tmp_path / "4k.img", first * 4096 + size + MIB)
    make_bmfs(path, files, size, first * 4096)
    with open(path, "r+b") as file:
        file.seek(446)
        file.write(struct.pack("<B3xB3xII", 0, 0xEE, 1, 0xFFFFFFFF))
        file.seek(510)
        file.write(b"\x55\xaa")
        file.seek(4096)
        file.write(b"EFI PART" + bytes(64) + struct.pack("<QII", 2, 128, 128))
        file.seek(8192)
        file.write(b"\x02" * 32
                   + struct.pack("<QQ", first, first + size // 4096 - 1))
    for kind in KINDS:
        out = vm("ls; run disktest files 1", image=programs, nic="none",
                 disk=kind, qemu=attach(kind, "fs", path, *FOUR_K))
        assert "2 files, 0 bad" in out
        for name, data in files.items():
            assert out.lines_with(f"{name}: {len(data)} bytes, {crc(data)}")


def test_a_raid_controller_is_named(vm, programs):
    out = vm("log; disk", image=programs, nic="none",
             qemu=["-device", "megasas,addr=8"])
    assert len(out.lines_with("raid: 00:08.0 (1000:0060) hides its disks; "
                              "in the firmware's setup")) == 2
