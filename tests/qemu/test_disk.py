# test_disk.py - AHCI disks and the files on them, byte for byte.
# SPDX-License-Identifier: MIT
import os
import struct
import zlib

import pytest

import bmfs
from disks import (MIB, ROOT, big, blank, crc, drive, make_bmfs,  # noqa: F401
                   noise, programs)


def test_bad_calls(vm, programs):
    out = vm("run disktest args 0; run disktest args 0; run hello",
             image=programs, nic="none")
    assert out.count("0 wrong") == 2
    assert "Hello from C" in out


@pytest.mark.parametrize("block,n,offset", [
    (0, 1, 0), (1, 256, 0), (7, 257, 4), (17663, 257, 2048), (99, 3000, 1028)])
def test_reads_are_exact(vm, programs, big, block, n, offset):
    path, data = big
    out = vm(f"run disktest sum 1 {block} {n} {offset}", image=programs,
             nic="none", qemu=drive("big", path))
    want = data[block * 4096:(block + n) * 4096]
    assert f"{crc(want)} of {n} blocks" in out


def test_a_mebibyte_is_at_most_8_commands(vm, programs, big):
    out = vm("run disktest sum 1 3 256 0", image=programs, nic="none",
             qemu=drive("big", big[0]))
    commands = int(out.lines_with("commands")[0].split()[-2])
    assert commands <= 8


def test_64_mebibytes_in_one_call(vm, programs, big):
    path, data = big
    out = vm("run disktest sum 1 5 16384 0", image=programs, nic="none",
             mem=256, qemu=drive("big", path))
    assert crc(data[5 * 4096:5 * 4096 + 64 * MIB]) in out


def test_writes_land_where_they_should(vm, programs, tmp_path):
    data = noise(9 * MIB, 2)
    path = tmp_path / "w.img"
    path.write_bytes(data)
    out = vm("run disktest fill 1 300 1000 4; run disktest fill 1 2303 1 0",
             image=programs, nic="none",
             qemu=drive("w", path, writable=True))
    assert out.count("read back the same") == 2
    after = path.read_bytes()
    assert len(after) == len(data)
    assert after[:300 * 4096] == data[:300 * 4096]
    assert after[1300 * 4096:2303 * 4096] == data[1300 * 4096:2303 * 4096]
    pattern = bytes((i * 11 + (i >> 9) + 300) & 255 for i in range(1000 * 4096))
    assert after[300 * 4096:1300 * 4096] == pattern


def test_a_terabyte(vm, programs, tmp_path):
    path = blank(tmp_path / "t.img", 1 << 40)
    last = noise(4096, 3)
    with open(path, "r+b") as file:
        file.seek((1 << 40) - 4096)
        file.write(last)
    end = 1 << 28
    out = vm(f"disk; run disktest sum 1 {end - 1}; run disktest sum 1 {end}; "
             f"run disktest sum 1 {end - 1} 2; run disktest sum 1 {end - 1}",
             image=programs, nic="none", status=1, qemu=drive("t", path))
    assert out.count(crc(last)) == 2
    assert out.count(f"read: past the end, block {end}") == 2
    assert "1048576" in out.lines_with("00:1f.2")[-1]


def test_a_disk_that_is_no_multiple_of_a_block(vm, programs, tmp_path):
    path = tmp_path / "odd.img"
    data = noise(10 * 4096 + 512 * 3, 4)
    path.write_bytes(data)
    out = vm("run disktest sum 1 9; run disktest sum 1 10", image=programs,
             nic="none", status=1, qemu=drive("odd", path))
    assert crc(data[9 * 4096:10 * 4096]) in out
    assert "past the end, block 10" in out


def faulty(path, sector, kind, bus="ide.1"):
    """A disk on which one sector cannot be read (or written)."""
    return ["-blockdev", f"driver=file,node-name=file1,filename={path}",
            "-blockdev", "driver=blkdebug,node-name=bad,image=file1,"
            f"inject-error.0.event=none,inject-error.0.iotype={kind},"
            "inject-error.0.errno=5,"
            f"inject-error.0.sector={sector}",
            "-device", f"ide-hd,drive=bad,bus={bus},rerror=report,werror=report"]


def test_a_sector_that_cannot_be_read(vm, programs, big):
    path, data = big
    out = vm("run disktest sum 1 100 1000; run disktest sum 1 777; "
             "run disktest sum 1 778 500; run disktest sum 1 100 677; disk",
             image=programs, nic="none", status=1,
             qemu=faulty(path, 777 * 8 + 3, "read"))
    assert out.count("read: device error, block 777") == 2
    assert len(out.lines_with("read of block 777 failed")) == 2
    assert crc(data[778 * 4096:1278 * 4096]) in out
    assert crc(data[100 * 4096:777 * 4096]) in out


def test_a_sector_that_cannot_be_written(vm, programs, tmp_path):
    path = blank(tmp_path / "w.img", 8 * MIB)
    out = vm("run disktest fill 1 100 800; run disktest fill 1 200 100", image=programs, nic="none",
             status=1, qemu=faulty(path, 888 * 8, "write"))
    assert out.count("write: device error, block 888") == 1
    assert out.count("read back the same") == 1


def test_a_file_with_a_bad_sector(vm, programs, tmp_path):
    with open(os.path.join(ROOT, "build/apps/hello.app"), "rb") as file:
        hello = file.read()
    path = make_bmfs(tmp_path / "f.img", {"bad.app": noise(100000, 5),
                                          "good.app": hello})
    sector = 2 * MIB // 512 + 80
    out = vm("load bad.app; run good.app; ls", image=programs, nic="none",
             status=1, qemu=faulty(path, sector, "read"))
    assert out.lines_with("error: bad.app")
    assert out.lines_with(f"read of block {sector // 8} failed")
    assert "Hello from C" in out


def test_an_optical_drive_first_and_a_disk_on_port_4(vm, programs, tmp_path):
    iso = blank(tmp_path / "cd.iso", MIB)
    out = vm("disk; run disktest files 0", disk="none", nic="none",
             qemu=drive("cd", iso, "ide.0", "ide-cd")
             + drive("hd", programs, "ide.4"))
    assert len(out.lines_with("ahci")) >= 1
    assert "2 files, 0 bad" in out


def test_no_disk_at_all(vm):
    out = vm("disk; ls; load x", disk="none", nic="none", status=1)
    assert "No disk" in out


def test_two_controllers(vm, programs, tmp_path):
    disks = []
    qemu = ["-device", "ich9-ahci,id=more,addr=9"]
    for i, bus in enumerate(("more.0", "more.3", "ide.2", "ide.5")):
        path = tmp_path / f"{i}.img"
        path.write_bytes(noise(MIB, 10 + i))
        disks.append(path.read_bytes())
        qemu += drive(f"d{i}", path, bus)
    out = vm("disk; run disktest sum 0 0 256; run disktest sum 1 0 256; "
             "run disktest sum 3 0 256; run disktest sum 4 0 256; "
             "run disktest sum 5 0 256", image=programs, nic="none", status=1,
             qemu=qemu)
    # By PCI address: 00:09.0 before 00:1f.2, whose first disk has programs.
    seen = [line.split(" of ")[0].split("crc ")[1]
            for line in out.lines_with(" of 256 blocks")]
    assert seen == [f"{zlib.crc32(data):08x}" for data in disks]
    assert "disk_info: no such device" in out


@pytest.mark.parametrize("bridge", [
    ["-device", "pcie-root-port,id=b2,chassis=1"],
    ["-device", "pcie-pci-bridge,id=b1", "-device",
     "pci-bridge,id=b2,bus=b1,chassis_nr=2"],
    ["-device", "pxb-pcie,id=p1,bus_nr=128,bus=pcie.0", "-device",
     "pcie-root-port,id=b2,bus=p1,chassis=2"]])
def test_behind_bridges(vm, programs, bridge):
    out = vm("run disktest files 0", disk="none", nic="none",
             qemu=bridge + ["-device", "ich9-ahci,id=far,bus=b2,addr=0"
                            if "b1" not in str(bridge)
                            else "ich9-ahci,id=far,bus=b2,addr=1"]
             + drive("hd", programs, "far.0"))
    assert "2 files, 0 bad" in out


def test_machine_pc(vm, programs, big):
    path, data = big
    out = vm("run disktest sum 1 9 1000 4", image=programs, nic="none",
             machine="pc", qemu=drive("big", path, "ahci.1"))
    assert crc(data[9 * 4096:1009 * 4096]) in out


# ---- BMFS ----

SIZES = {"empty": 0, "one": 1, "block": 4096, "more": 4097, "big": 3000001,
         "a-name-of-31-characters-exactly": 511}


def sized():
    return {name: noise(size, size) for name, size in SIZES.items()}


def check_files(out, files):
    for name, data in files.items():
        assert out.lines_with(f"{name}: {len(data)} bytes, {crc(data)}"), name


def partitioned(path, kind, files, first=2048):
    """An MBR or GPT disk with a BMFS in its second partition."""
    size = 24 * MIB
    start = first * 512
    blank(path, start + size + MIB)
    make_bmfs(path, files, size, start)
    with open(path, "r+b") as file:
        if kind == "gpt":
            file.seek(446)
            file.write(struct.pack("<B3xB3xII", 0, 0xEE, 1, 0xFFFFFFFF))
            file.seek(512)
            file.write(b"EFI PART" + bytes(64) + struct.pack("<QII", 2, 128,
                                                             128))
            file.seek(1024)
            file.write(b"\x01" * 32 + struct.pack("<QQ", 34, 2047) + bytes(80))
            file.write(b"\x02" * 32
                       + struct.pack("<QQ", first, first + size // 512 - 1))
        else:
            file.seek(446)
            file.write(struct.pack("<B3xB3xII", 0, 0x83, 1, first - 1))
            file.write(struct.pack("<B3xB3xII", 0, 0xDA, first, size // 512))
        file.seek(510)
        file.write(b"\x55\xaa")
    return str(path)


@pytest.mark.parametrize("place", ["bare", "mbr", "unaligned", "gpt",
                                   "baremetal"])
def test_files_are_exact(vm, programs, tmp_path, place):
    path, files = tmp_path / "fs.img", sized()
    if place == "bare":
        make_bmfs(path, files)
        start = 0
    elif place == "baremetal":
        make_bmfs(path, files, 24 * MIB, 128 * MIB)
        start = 128 * MIB
    else:
        first = 63 if place == "unaligned" else 2048
        partitioned(path, place, files, first)
        start = first * 512
    out = vm("ls; run disktest files 1", image=programs, nic="none",
             qemu=drive("fs", path))
    check_files(out, files)
    assert f"6 files, 0 bad, at byte {start}" in out
    for name, size in SIZES.items():
        assert any(str(size) in line and name in line
                   for line in out.splitlines() if "disk 1" in line), name


def test_a_full_directory_and_its_first_deleted(vm, programs, tmp_path):
    files = {f"file-{i:02}": noise(i * 7, i) for i in range(64)}
    path = make_bmfs(tmp_path / "full.img", files)
    with open(path, "r+b") as file:
        bmfs.Bmfs(file, 0, os.path.getsize(path)).remove("file-00")
    del files["file-00"]
    out = vm("ls; run disktest files 1", image=programs, nic="none",
             qemu=drive("full", path))
    check_files(out, files)
    assert "63 files, 0 bad" in out
    assert "file-63" in out and "file-00" not in out


def test_an_empty_directory(vm, programs, tmp_path):
    path = make_bmfs(tmp_path / "none.img", {})
    out = vm("ls; run disktest files 1", image=programs, nic="none",
             qemu=drive("none", path))
    assert "0 files, 0 bad" in out


def test_no_marker(vm, programs, tmp_path):
    path = blank(tmp_path / "zero.img", 4 * MIB)
    out = vm("ls; run disktest files 1", image=programs, nic="none", status=1,
             qemu=drive("zero", path))
    assert "no BMFS marker" in out
    assert "hello.app" in out  # the other disk's


HUGE = (1 << 64) - 1
LIES = {  # name: (first block, blocks, size), what is said
    "directory": (0, 1, 10, "it starts in the directory's block"),
    "beyond": (8, 1, 10, "its blocks are beyond the disk"),
    "over-the-end": (7, 2, 10, "its blocks are beyond the disk"),
    "wraps": (2, HUGE - 1, 10, "its blocks are beyond the disk"),
    "first-wraps": (1 << 43, 1, 10, "its blocks are beyond the disk"),
    "too-long": (1, 1, 2 * MIB + 1, "its size is beyond its blocks"),
    "endless": (1, 1, HUGE, "its size is beyond its blocks"),
}


def test_entries_that_lie(vm, programs, tmp_path):
    path = blank(tmp_path / "lies.img", 16 * MIB)
    good = noise(4097, 6)
    entries = [struct.pack("<32sQQQQ", name.encode(), first, blocks, size, 0)
               for name, (first, blocks, size, _) in LIES.items()]
    entries.append(struct.pack("<32sQQQQ", b"x" * 32, 1, 1, 10, 0))
    entries.append(struct.pack("<32sQQQQ", b"good", 7, 1, len(good), 0))
    with open(path, "r+b") as file:
        file.seek(1024)
        file.write(b"BMFS")
        file.seek(4096)
        file.write(b"".join(entries))
        file.seek(7 * bmfs.BLOCK)
        file.write(good)
    loads = "; ".join(f"load {name}" for name in LIES)
    out = vm(f"ls; run disktest files 1; {loads}; load {'x' * 31}; load good",
             image=programs, nic="none", status=1, qemu=drive("lies", path))
    for name, (_, _, size, said) in LIES.items():
        assert f"{name}: {size} bytes, BAD, {said}" in out
        assert f"error: {name}: {said}" in out
    assert "BAD, its name has no end" in out
    assert f"good: 4097 bytes, {crc(good)}" in out
    assert "9 files, 8 bad" in out
    assert not out.lines_with("past the end")  # nothing outside was asked for


def test_a_file_system_cut_short(vm, programs, tmp_path):
    path = make_bmfs(tmp_path / "cut.img", {"a": noise(5000, 7),
                                            "b": noise(5 * MIB, 8)})
    with open(path, "r+b") as file:
        file.truncate(4 * MIB)
    out = vm("run disktest files 1", image=programs, nic="none", status=1,
             qemu=drive("cut", path))
    assert f"a: 5000 bytes, {crc(noise(5000, 7))}" in out
    assert "b: 5242880 bytes, BAD, its blocks are beyond the disk" in out
