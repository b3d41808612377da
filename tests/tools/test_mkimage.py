# test_mkimage.py - the bootable image, looked at from outside. That it boots is
# for tests/qemu.
# SPDX-License-Identifier: MIT
import os
import random
import struct
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
TOOLS = os.path.join(ROOT, "tools")
MIB = 1 << 20


def mkimage(*words, status=0):
    done = subprocess.run([os.path.join(TOOLS, "mkimage.py"),
                           *map(str, words)], capture_output=True, text=True)
    assert (done.returncode == 0) == (status == 0), done.stderr
    if status:
        assert done.stderr.startswith("mkimage: "), done.stderr
        assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


@pytest.fixture
def inputs(tmp_path):
    """A kernel that is none, and three programs."""
    sizes = {"ingot.elf": 120000, "hello.app": 1, "netpoll-asm.app": 4097,
             "raytrace.app": 3000001}
    for name, size in sizes.items():
        (tmp_path / name).write_bytes(random.Random(size).randbytes(size))
    return tmp_path


def apps(inputs):
    return sorted(inputs.glob("*.app"))


def fat_file(image, path):
    return subprocess.run(["mtype", "-i", f"{image}@@1M", f"::{path}"],
                          capture_output=True, check=True).stdout


def bmfs(image, *words):
    return subprocess.run([os.path.join(TOOLS, "bmfs.py"), image, *words],
                          capture_output=True, check=True).stdout


def test_what_is_on_it(inputs):
    image = inputs / "i.img"
    mkimage("--kernel", inputs / "ingot.elf", "--out", image, *apps(inputs))
    data = image.read_bytes()
    assert len(data) <= 64 * MIB
    assert data[510:512] == b"\x55\xaa"
    kinds = [data[446 + 16 * i + 4] for i in range(4)]
    assert kinds == [0x0C, 0xDA, 0, 0]
    first, count = struct.unpack_from("<II", data, 446 + 16 + 8)
    assert (first + count) * 512 == len(data)
    kernel = (inputs / "ingot.elf").read_bytes()
    assert fat_file(image, "boot/ingot.elf") == kernel
    assert b"multiboot2 /boot/ingot.elf" in fat_file(image,
                                                     "boot/grub/grub.cfg")
    assert fat_file(image, "EFI/BOOT/BOOTX64.EFI")[:2] == b"MZ"
    for app in apps(inputs):
        assert fat_file(image, f"apps/{app.name}") == app.read_bytes()
        assert bmfs(image, "get", app.name) == app.read_bytes()


def test_the_same_bytes_every_time(inputs):
    for name in ("1.img", "2.img"):
        mkimage("--kernel", inputs / "ingot.elf", "--out", inputs / name,
                "--append", "loglevel=3", *apps(inputs))
    assert (inputs / "1.img").read_bytes() == (inputs / "2.img").read_bytes()
    assert not list(inputs.glob("*.tmp"))


def test_the_file_system_is_sound(inputs):
    """Every cluster chain, by mtools' own reading; fsck.fat where there is."""
    image, fat = inputs / "i.img", inputs / "fat.img"
    for i in range(40):  # a directory of several clusters
        (inputs / f"a-program-with-a-long-name-{i:02}").write_bytes(b"x" * i)
    more = [w for p in sorted(inputs.glob("a-program*")) for w in ("--add", p)]
    mkimage("--kernel", inputs / "ingot.elf", "--out", image, *more,
            "--bmfs-size", "100M")
    for i in (0, 1, 39):
        name = f"a-program-with-a-long-name-{i:02}"
        assert fat_file(image, f"apps/{name}") == b"x" * i
    fat.write_bytes(image.read_bytes()[MIB:34 * MIB])
    try:
        done = subprocess.run(["fsck.fat", "-n", fat], capture_output=True,
                              text=True)
    except FileNotFoundError:
        return
    assert done.returncode == 0, done.stdout


def test_options(inputs):
    image = inputs / "i.img"
    mkimage("--kernel", inputs / "ingot.elf", "--out", image, "--no-apps",
            "--add", f"{inputs}/hello.app=other", "--bmfs-size", "10M",
            "--append", "run='hello world' console=serial", *apps(inputs))
    assert image.stat().st_size == 44 * MIB
    assert bmfs(image, "ls").decode().split() == ["1", "other"]
    assert fat_file(image, "boot/ingot.args").startswith(b"set ingot_args=")


def test_mistakes(inputs):
    image = inputs / "i.img"
    base = ["--kernel", inputs / "ingot.elf", "--out", image]
    mkimage("--kernel", inputs / "none", "--out", image, status=1)
    mkimage(*base, inputs / "none.app", status=1)
    mkimage(*base, "--bmfs-size", "2M", *apps(inputs), status=1)
    mkimage(*base, "--append", "two\nlines", status=1)
    mkimage(*base, "--add", f"{inputs}/hello.app={'n' * 32}", status=1)
    large = inputs / "large.app"
    with open(large, "wb") as file:
        file.truncate(40 * MIB)
    mkimage(*base, large, status=1)
    mkimage("--kernel", inputs / "ingot.elf", "--out", inputs / "no" / "dir",
            status=1)
    assert not image.exists()
    assert not list(inputs.glob("*.tmp"))
