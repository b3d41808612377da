# test_image.py - what tools/mkimage.py makes starts, whoever loads it.
# SPDX-License-Identifier: MIT
import os
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


@pytest.mark.parametrize("boot,disk", [("bios", "ahci"), ("bios", "none"),
                                       ("uefi", "ahci"), ("uefi", "none")])
def test_starts_as_disk_and_as_stick(machine, image, boot, disk):
    # No wait for the prompt: run= may have come and gone before it is seen.
    m = machine(prompt=False, boot=boot, disk=disk, image=image, nic="none")
    m.wait_for("argument 1: it's", timeout=60)
    m.wait_for("argument 2: me")
    m.wait_prompt()
    listed = [line.split()[3] for line in m.run("ls").splitlines()
              if "greet.app" in line]
    assert listed == (["disk", "RAM"] if disk == "ahci" else ["RAM"])


@pytest.mark.parametrize("disk", ["ahci", "none"])
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
