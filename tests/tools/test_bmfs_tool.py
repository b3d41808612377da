# test_bmfs_tool.py - tools/bmfs.py from its command line.
# SPDX-License-Identifier: MIT
import os
import random
import struct
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
TOOL = os.path.join(ROOT, "tools", "bmfs.py")
MIB = 1 << 20


def tool(*words, status=0):
    done = subprocess.run([TOOL, *map(str, words)], capture_output=True)
    text = done.stderr.decode()
    assert (done.returncode == 0) == (status == 0), text
    if status:  # one clear line, no traceback
        assert text.startswith("bmfs: ") and text.count("\n") == 1, text
        return text
    assert not text
    return done.stdout


def names(image):
    return [line.split(None, 1)[1] for line in tool(image, "ls").decode()
            .splitlines()]


@pytest.fixture
def image(tmp_path):
    path = tmp_path / "disk.img"
    tool(path, "format", "16M")
    return path


def put(tmp_path, name, size):
    path = tmp_path / name
    path.write_bytes(random.Random(size).randbytes(size))
    return path


def test_the_format_is_the_published_one(tmp_path, image):
    data = put(tmp_path, "hello.app", 2 * MIB + 1).read_bytes()
    tool(image, "add", tmp_path / "hello.app")
    disk = image.read_bytes()
    assert len(disk) == 16 * MIB
    assert disk[1024:1028] == b"BMFS"
    name, first, blocks, size, unused = struct.unpack_from("<32sQQQQ", disk,
                                                           4096)
    assert name == b"hello.app".ljust(32, b"\0")
    assert (first, blocks, size, unused) == (1, 2, len(data), 0)
    assert disk[2 * MIB:2 * MIB + len(data)] == data
    assert disk[4096 + 64] == 0


@pytest.mark.parametrize("size", [0, 1, 4095, 4096, 4097, 2 * MIB, 3000001])
def test_in_and_out_again(tmp_path, image, size):
    path = put(tmp_path, "f", size)
    tool(image, "add", f"{path}=other name")
    assert tool(image, "get", "other name") == path.read_bytes()
    tool(image, "get", "other name", tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == path.read_bytes()
    assert tool(image, "ls").decode().split(None, 1) == [str(size),
                                                         "other name\n"]


def test_rm_frees_the_name_and_the_blocks(tmp_path, image):
    for i in range(7):
        tool(image, "add", f"{put(tmp_path, 'f', 100 + i)}=f{i}")
    assert "no 2 MiB free" in tool(image, "add", f"{tmp_path}/f=x", status=1)
    tool(image, "rm", "f0", "f3")
    assert names(image) == ["f1", "f2", "f4", "f5", "f6"]
    assert image.read_bytes()[4096] == 1
    big = put(tmp_path, "big", 2 * MIB + 1)
    assert "no 4 MiB free" in tool(image, "add", big, status=1)
    tool(image, "add", f"{tmp_path}/f=new")
    assert names(image)[0] == "new"
    assert "no file" in tool(image, "rm", "f0", status=1)
    tool(image, "get", "f6")


def test_add_replaces_and_a_failed_add_changes_nothing(tmp_path, image):
    tool(image, "add", f"{put(tmp_path, 'a', 5000)}=a")
    newer = put(tmp_path, "b", 6000)
    tool(image, "add", f"{newer}=a")
    assert names(image) == ["a"]
    huge = put(tmp_path, "huge", 15 * MIB)
    before = image.read_bytes()
    tool(image, "add", f"{huge}=a", status=1)
    assert image.read_bytes() == before
    assert tool(image, "get", "a") == newer.read_bytes()


def test_64_files_and_not_one_more(tmp_path):
    image = tmp_path / "disk.img"
    tool(image, "format", "200M")
    path = put(tmp_path, "f", 10)
    tool(image, "add", *[f"{path}=f{i}" for i in range(64)])
    assert "full" in tool(image, "add", f"{path}=f64", status=1)
    tool(image, "rm", "f63")
    tool(image, "add", f"{path}=last")
    assert len(names(image)) == 64


def test_names(tmp_path, image):
    path = put(tmp_path, "f", 10)
    tool(image, "add", f"{path}={'n' * 31}")
    assert names(image) == ["n" * 31]
    for bad in ("n" * 32, "a/b", "a\nb", "\x01"):
        tool(image, "add", f"{path}={bad}", status=1)


def test_places(tmp_path):
    path = put(tmp_path, "f", 5000)
    image = tmp_path / "disk.img"
    with open(image, "wb") as file:
        file.truncate(160 * MIB)
        file.seek(446 + 16)
        file.write(struct.pack("<B3xB3xII", 0, 0xDA, 2048, 32 * MIB // 512))
        file.seek(510)
        file.write(b"\x55\xaa")
    assert "no BMFS" in tool(image, "ls", status=1)
    tool(image, "format")  # goes to the partition
    tool(image, "add", path)
    assert image.read_bytes()[MIB + 1024:MIB + 1028] == b"BMFS"
    tool(f"{image}@128M", "format")
    assert names(f"{image}@128M") == []
    assert names(f"{image}@0x100000") == ["f"]
    assert names(image) == ["f"]  # the partition comes first
    assert "no BMFS marker at byte 4096" in tool(f"{image}@4096", "ls",
                                                 status=1)


def test_baremetal_place_is_found(tmp_path):
    image = tmp_path / "disk.img"
    tool(f"{image}@128M", "format", "16M")
    assert image.stat().st_size == 144 * MIB
    tool(image, "add", put(tmp_path, "f", 5000))
    assert names(image) == ["f"]


def test_format_spares_other_peoples_partitions(tmp_path):
    image = tmp_path / "disk.img"
    with open(image, "wb") as file:
        file.truncate(16 * MIB)
        file.seek(446)
        file.write(struct.pack("<B3xB3xII", 0, 0x83, 2048, 4096))
        file.seek(510)
        file.write(b"\x55\xaa")
    before = image.read_bytes()
    assert "none of type 0xDA" in tool(image, "format", status=1)
    assert image.read_bytes() == before


@pytest.mark.parametrize("entry,said", [
    ((b"x", 0, 1, 1), "directory's block"), ((b"x", 8, 1, 1), "beyond the disk"),
    ((b"x", 1, 1 << 63, 1), "beyond the disk"),
    ((b"x", 1, 1, 3 * MIB), "beyond its blocks"),
    ((b"x" * 32, 1, 1, 1), "has no end"), ((b"\x1b[2J", 1, 1, 1), "control")])
def test_entries_that_lie(tmp_path, image, entry, said):
    with open(image, "r+b") as file:
        file.seek(4096)
        file.write(struct.pack("<32sQQQQ", *entry, 0))
    out = tool(image, "ls").decode()
    assert said in out and "BAD" in out and "\x1b" not in out
    tool(image, "get", "x", status=1)
    tool(image, "add", f"{put(tmp_path, 'f', 100)}=good")  # still of use
    assert tool(image, "get", "good") == (tmp_path / "f").read_bytes()


def test_mistakes(tmp_path, image):
    assert "No such file" in tool(tmp_path / "none", "ls", status=1)
    assert "No such file" in tool(image, "add", tmp_path / "none", status=1)
    assert "too small" in tool(tmp_path / "s", "format", "1M", status=1)
    assert "not a number" in tool(tmp_path / "s", "format", "1X", status=1)
    for words in (["frob"], ["add"], ["get"], ["rm"], ["ls", "x"],
                  ["format", "1M", "2M"]):
        tool(image, *words, status=1)
