# test_image.py - what tools/mkimage.py makes starts, whoever loads it.
# SPDX-License-Identifier: MIT
import os
import shutil
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))


@pytest.fixture(scope="session")
def image(tmp_path_factory):
    """An image of its own: one program, a command line with quotes."""
    path = tmp_path_factory.mktemp("image") / "i.img"
    subprocess.run([os.path.join(ROOT, "tools/mkimage.py"), "--kernel",
                    os.path.join(ROOT, "build/ingot.elf"), "--out", path,
                    "--append", 'run="run greet it\'s me"', "--add",
                    os.path.join(ROOT, "build/apps/hello.app") + "=greet.app"],
                   check=True)
    return str(path)


DRIVEN = ("ahci", "nvme", "virtio")  # else only GRUB reads it


@pytest.mark.parametrize("boot", ["bios", "uefi"])
@pytest.mark.parametrize("disk", [*DRIVEN, "usb", "usb-ehci"])
def test_starts_as_disk_and_as_stick(machine, image, boot, disk):
    # No wait for the prompt: run= may have come and gone before it is seen.
    m = machine(prompt=False, boot=boot, disk=disk, image=image, nic="none")
    m.wait_for("argument 1: it's", timeout=150)
    m.wait_for("argument 2: me")
    m.wait_prompt()
    listed = m.run("ls")
    places = [line.split()[3:] for line in listed.splitlines()
              if "greet.app" in line]
    if disk in DRIVEN:
        assert places == [["disk", "0"], ["RAM"]]
        assert "Loaded greet.app" in m.run("load greet")
    else:
        assert places == [["RAM"]]
        assert "only its /apps is there, as files in RAM" in listed
        assert "in RAM there is: loadr greet" in m.run("load greet")
        assert "Loaded greet.app" in m.run("loadr greet")


@pytest.mark.parametrize("boot", ["bios", "uefi"])
def test_programs_are_added_by_copying(vm, image, tmp_path, boot):
    """As people do it, and as their systems do behind their back."""
    hello = os.path.join(ROOT, "build/apps/hello.app")
    path = tmp_path / "copy.img"
    shutil.copyfile(image, path)
    (tmp_path / "empty").touch()
    (tmp_path / "dust").write_bytes(b"\0\5\x16\7" + bytes(4092))
    fat = f"{path}@@1M"
    subprocess.run(["mmd", "-i", fat, "::/apps/folder"], check=True)
    for source, name in ((hello, "two words.app"), (hello, "UPPER.APP"),
                         (hello, "It's.app"), (hello, "folder/inside.app"),
                         (tmp_path / "empty", "nothing.app"),
                         (tmp_path / "dust", "._two words.app"),
                         (tmp_path / "dust", ".DS_Store")):
        subprocess.run(["mcopy", "-i", fat, source, f"::/apps/{name}"],
                       check=True)
    out = vm("ls; run upper one; run It's two; "
             "run \"two words\" three", boot=boot, disk="usb",
             image=str(path), nic="none", status=None)
    listed = [line[6:38].strip() for line in out.lines_with("  RAM")]
    assert sorted(listed) == ["It's.app", "greet.app", "nothing.app",
                              "two words.app", "upper.app"]
    for word in ("one", "two", "three"):
        assert f"argument 1: {word}" in out


@pytest.mark.parametrize("disk", ["ahci", "usb"])
def test_on_a_larger_disk(vm, image, tmp_path, disk):
    """The image on a larger disk, as on a stick: what follows is ignored."""
    path = tmp_path / "stick.img"
    with open(image, "rb") as file:
        data = file.read()
    with open(path, "wb") as file:
        file.write(data)
        file.truncate(200 << 20)
    out = vm("run greet", boot="bios", disk=disk, image=str(path), nic="none",
             status=None)
    assert "Hello from C" in out


@pytest.fixture(scope="session")
def iso(tmp_path_factory):
    path = tmp_path_factory.mktemp("iso") / "i.iso"
    subprocess.run([os.path.join(ROOT, "tools/mkiso.py"), "--kernel",
                    os.path.join(ROOT, "build/ingot.elf"), "--out", path,
                    "--append", 'run="run greet it\'s me"', "--add",
                    os.path.join(ROOT, "build/apps/hello.app") + "=greet.app"],
                   check=True)
    return str(path)


@pytest.mark.parametrize("boot", ["bios", "uefi"])
@pytest.mark.parametrize("disk", ["cd", "usb", "nvme"])
def test_the_iso_starts_as_cd_and_as_stick(machine, iso, boot, disk):
    m = machine(prompt=False, boot=boot, disk=disk, image=iso, nic="none")
    m.wait_for("argument 1: it's", timeout=150)
    m.wait_prompt()
    places = [line.split()[3:] for line in m.run("ls").splitlines()
              if "greet.app" in line]
    assert places == ([["disk", "0"]] if disk == "nvme" else []) + [["RAM"]]


@pytest.mark.parametrize("kind", ["qcow2", "vmdk", "vdi"])
def test_the_formats_of_other_virtual_machines(vm, image, tmp_path, kind):
    path = tmp_path / f"i.{kind}"
    subprocess.run(["qemu-img", "convert", "-f", "raw", "-O", kind, image,
                    path], check=True)
    out = vm("ls; load greet", boot="bios", image=str(path), nic="none")
    assert "Hello from C" in out and "Loaded greet.app" in out


def test_what_the_makefile_makes(tmp_path):
    """Each image has a rule, and make help names it."""
    said = subprocess.run(["make", "-s", "help"], cwd=ROOT, check=True,
                          capture_output=True, encoding="utf-8").stdout
    for word in ("image", "iso", "qcow2", "vmdk", "vdi", "usb"):
        assert f"\n{word} " in said
        wanted = subprocess.run(["make", "-n", word, "B=/nosuch"], cwd=ROOT,
                                capture_output=True, encoding="utf-8").stdout
        assert word in ("usb",) or "/nosuch/ingot." in wanted
