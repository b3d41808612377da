# test_usb.py - tools/usb writes sticks, and nothing else.
# SPDX-License-Identifier: MIT
import errno
import importlib.machinery
import importlib.util
import io
import os
import random
import shutil
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
MIB = 1 << 20
SIZE = 5 * MIB + 512  # of the image: no whole number of chunks


def load():
    loader = importlib.machinery.SourceFileLoader(
        "usb", os.path.join(ROOT, "tools/usb"))
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader("usb", loader))
    loader.exec_module(module)
    return module


usb = load()


class Os:
    """The module os with one function replaced, for tools/usb alone."""

    def __init__(self, name, function):
        setattr(self, name, function)

    def __getattr__(self, name):
        return getattr(os, name)


class System:
    """A /sys, a /proc and device files of our own, and tools/usb on them."""

    def __init__(self, path, monkeypatch):
        self.path, self.patch = path, monkeypatch
        self.image = path / "i.img"
        self.image.write_bytes(random.Random(1).randbytes(SIZE))
        (path / "sys/class/block").mkdir(parents=True)
        (path / "proc/self").mkdir(parents=True)
        self.mounts, self.swaps = [], []
        self.disk("sdx")

    def disk(self, name, size=8 * MIB, removable=1, ro=0, on=None, dev="8:0"):
        """A disk, or with on= a partition of it; returns its device file."""
        where = self.path / "sys/devices" / (on or "") / name
        (where / "holders").mkdir(parents=True)
        (where / "size").write_text(f"{size // 512}\n")
        (where / "ro").write_text(f"{ro}\n")
        (where / "dev").write_text(f"{dev}\n")
        if on:
            (where / "partition").write_text("1\n")
        else:
            (where / "removable").write_text(f"{removable}\n")
            (where / "device").mkdir()
            (where / "device/vendor").write_text("Acme    \n")
            (where / "device/model").write_text("Stick 3000   \n")
        (self.path / "sys/class/block" / name).symlink_to(where)
        device = self.path / name
        with open(device, "wb") as file:
            file.truncate(size)
        return device

    def hold(self, name, holder):
        (self.path / "sys/devices" / name / "holders" / holder).touch()

    def mount(self, dev, place, source="/dev/x"):
        self.mounts.append(f"24 1 {dev} / {place} rw - ext4 {source} rw")

    def usb(self, *words, device="sdx", answer="sdx\n", fake=True):
        (self.path / "proc/self/mountinfo").write_text(
            "\n".join(self.mounts) + "\n")
        (self.path / "proc/swaps").write_text(
            "\n".join(["Filename Type Size", *self.swaps]) + "\n")
        self.patch.setattr("sys.stdin", io.StringIO(answer))
        given = [str(self.path / device)] if device else []
        return usb.main([*given, "--image", str(self.image),
                         "--sysfs", str(self.path / "sys"),
                         "--proc", str(self.path / "proc"),
                         *(["--fake-device"] if fake else []), *words])

    def replace(self, name, function):
        self.patch.setattr(usb, "os", Os(name, function))

    def untouched(self, name="sdx"):
        return not any((self.path / name).read_bytes())


@pytest.fixture
def system(tmp_path, monkeypatch):
    monkeypatch.delenv("FORCE", raising=False)
    return System(tmp_path, monkeypatch)


def test_it_writes_and_reads_back(system, capfd):
    assert system.usb() == 0
    out, err = capfd.readouterr()
    data = (system.path / "sdx").read_bytes()
    assert data[:SIZE] == system.image.read_bytes() and not any(data[SIZE:])
    assert "sdx: Acme Stick 3000, 8.0 MiB. Everything on it will be lost" in out
    assert "read back the same" in out
    assert "Writing 5 of 5 MiB, 100 %" in err and "Reading back 5" in err


@pytest.mark.parametrize("answer", ["n\n", "", "\n", "y\n", "yes\n", "sd\n",
                                    "/dev/sdx\n", "SDX\n"])
def test_no_other_answer_will_do(system, capfd, answer):
    assert system.usb(answer=answer) == 1
    assert "nothing was written" in capfd.readouterr().err
    assert system.untouched()


def refused(system, capfd, said, **how):
    name = how.get("device", "sdx")
    assert system.usb(answer=f"{name}\n", **how) == 1
    out, err = capfd.readouterr()
    assert said in err and len(err.splitlines()) == 1, err
    assert "Type" not in out
    assert not (system.path / name).is_file() or system.untouched(name)
    return err


def test_a_partition(system, capfd):
    system.disk("sdx1", on="sdx", dev="8:1")
    err = refused(system, capfd, "the whole disk is /dev/sdx", device="sdx1")
    assert "FORCE=1" in err


def test_a_disk_that_is_not_removable(system, capfd):
    system.disk("sdy", removable=0, dev="8:16")
    assert "FORCE=1" in refused(system, capfd, "not removable", device="sdy")
    assert system.usb("--force", device="sdy", answer="sdy\n") == 0
    assert not system.untouched("sdy")


def test_a_mounted_disk(system, capfd):
    system.mount("8:0", "/media/my\\040stick")
    refused(system, capfd, "in use (/media/my stick): unmount")


def test_a_mounted_partition(system, capfd):
    system.disk("sdx1", on="sdx", dev="8:1")
    system.mount("8:1", "/mnt")
    refused(system, capfd, "in use (/mnt)")


def test_a_mounted_volume_on_a_partition(system, capfd):
    """LVM on LUKS on a partition; btrfs, which hides its number; swap."""
    system.disk("sdx1", on="sdx", dev="8:1")
    system.disk("dm-0", dev="253:0")
    system.disk("dm-1", dev="253:1")
    system.hold("sdx/sdx1", "dm-0")
    system.hold("dm-0", "dm-1")
    system.mount("253:1", "/data")
    refused(system, capfd, "in use (/data)")
    system.mounts.clear()
    system.mount("0:40", "/pool", "/dev/sdx1")
    refused(system, capfd, "in use (/pool)")
    system.mounts.clear()
    system.swaps.append("/dev/dm-1 partition 100 0 -2")
    refused(system, capfd, "in use (swap)")


@pytest.mark.parametrize("place", ["/", "/boot/efi", "/home"])
def test_the_disk_of_this_system_even_when_forced(system, capfd, place):
    system.disk("sdx1", on="sdx", dev="8:1")
    system.mount("8:1", place)
    system.patch.setenv("FORCE", "1")
    assert system.usb("--force") == 1
    assert f"this system runs from it ({place})" in capfd.readouterr().err
    assert system.untouched()


def test_forced_it_says_what_it_passes_over(system, capfd):
    system.mount("8:0", "/mnt")
    system.patch.setenv("FORCE", "1")
    assert system.usb() == 0
    assert "forced: sdx: it is in use (/mnt)" in capfd.readouterr().err


def test_too_small_empty_or_write_protected(system, capfd):
    system.disk("small", size=5 * MIB)
    refused(system, capfd, "it holds 5.0 MiB, the image needs 5.0 MiB",
            device="small")
    system.disk("none", size=0)
    refused(system, capfd, "no medium", device="none")
    system.disk("locked", ro=1)
    refused(system, capfd, "write-protected", device="locked")


def test_what_is_no_disk(system, capfd):
    refused(system, capfd, "no such device", device="nosuch")
    (system.path / "file").write_bytes(b"")
    refused(system, capfd, "plain file", device="file", fake=False)
    refused(system, capfd, "is no disk", device="sys", fake=False)
    refused(system, capfd, "knows no disk file", device="file")
    assert system.usb(device="") == 1
    assert "removable are: /dev/sdx (Acme Stick 3000, 8.0 MiB)" \
        in capfd.readouterr().err


def test_no_image(system, capfd):
    system.image.unlink()
    refused(system, capfd, "make image")
    system.image.write_bytes(b"")
    refused(system, capfd, "is empty")


def test_short_writes(system):
    real = os.write

    def short(file, data):
        return real(file, data[:4097])
    system.replace("write", short)
    assert system.usb() == 0
    assert (system.path / "sdx").read_bytes()[:SIZE] \
        == system.image.read_bytes()


@pytest.mark.parametrize("call", ["write", "fsync", "preadv"])
@pytest.mark.parametrize("error", [errno.ENODEV, errno.EIO, errno.ENOSPC])
def test_a_device_that_vanishes(system, capfd, call, error):
    real, calls = getattr(os, call), []

    def vanish(*words):
        calls.append(1)
        if len(calls) > 1:
            raise OSError(error, os.strerror(error))
        return real(*words)
    system.replace(call, vanish)
    assert system.usb() == 1
    out, err = capfd.readouterr()
    assert os.strerror(error) in err and "4194304 bytes in" in err
    assert ("unplugged" in err) == (error != errno.ENOSPC)
    assert "read back the same" not in out


def test_a_device_that_takes_nothing(system, capfd):
    system.replace("write", lambda file, data: 0)
    assert system.usb() == 1
    assert "nothing was taken" in capfd.readouterr().err


def test_a_stick_that_lies(system, capfd):
    """It says that it wrote, and did not: cheap ones do, past their end."""
    real = os.fsync

    def lie(file):
        real(file)
        with open(system.path / "sdx", "r+b") as device:
            device.seek(4 * MIB + 77)
            device.write(b"?")
    system.replace("fsync", lie)
    last = system.image.read_bytes()
    with open(system.image, "r+b") as image:
        image.truncate(4 * MIB + 78)
    system.patch.setattr(usb, "CHUNK", 8 * MIB)
    assert last[4 * MIB + 77:4 * MIB + 78] != b"?"
    assert system.usb() == 1
    assert f"byte {4 * MIB + 77} reads back different" \
        in capfd.readouterr().err


def test_a_device_that_ends_early(system, capfd):
    def shrink(file):
        os.truncate(system.path / "sdx", MIB)
    system.replace("fsync", shrink)
    assert system.usb() == 1
    assert "ends early" in capfd.readouterr().err


def test_only_root_may(system, capfd):
    def deny(*unused):
        raise PermissionError(errno.EACCES, "no")
    system.replace("open", deny)
    assert system.usb() == 1
    assert "sudo tools/usb" in capfd.readouterr().err


def test_ctrl_c(system, capfd):
    def stop(*unused):
        raise KeyboardInterrupt
    system.replace("write", stop)
    assert system.usb() == 130
    assert "stopped" in capfd.readouterr().err


@pytest.fixture
def loop(tmp_path):
    """A loop device, where this machine lets us have one."""
    path = tmp_path / "disk"
    with open(path, "wb") as file:
        file.truncate(8 * MIB)
    done = subprocess.run(["losetup", "--find", "--show", path],
                          capture_output=True, encoding="utf-8") \
        if shutil.which("losetup") else None
    if done is None or done.returncode:
        pytest.skip("no loop device can be had: "
                    + (done.stderr.strip() if done else "no losetup"))
    yield done.stdout.strip(), path
    subprocess.run(["losetup", "--detach", done.stdout.strip()], check=False)


def test_a_loop_device(system, loop, capfd):
    """The real /sys: not removable, so refused, and forced it is written."""
    device, path = loop
    words = [device, "--image", str(system.image)]
    assert usb.main(words) == 1
    assert "not removable" in capfd.readouterr().err
    system.patch.setattr("sys.stdin",
                         io.StringIO(os.path.basename(device) + "\n"))
    assert usb.main([*words, "--force"]) == 0
    assert path.read_bytes()[:SIZE] == system.image.read_bytes()
