# test_diag.py - diag: what a bug report needs, on one screen.
# SPDX-License-Identifier: MIT
import re

from disks import attach, blank


def fits(text):
    lines = text.splitlines()
    assert len(lines) <= 23, len(lines)  # and a prompt above and below
    assert all(len(line) <= 79 for line in lines)
    return {line[:10].strip(): line[10:] for line in lines if line[0] != " "}


def test_a_small_machine(machine):
    m = machine(nic="none", disk="none", append="loglevel=1 a=" + 90 * "x")
    rows = fits(m.run("diag"))
    assert rows["Network"] == rows["Disks"] == rows["Screen"] == "none"
    assert rows["Warnings"] == "none"
    assert rows["Command"].startswith("loglevel=1 a=xxx")
    assert rows["Loader"] and "SDT" in rows["Firmware"]


def test_a_large_one(machine, tmp_path):
    """More of everything than there is room for, and trouble."""
    qemu = ["-device", "qemu-xhci", "-device", "megasas", "-device", "usb-ehci"]
    for i in range(6):
        path = blank(tmp_path / f"{i}", 1 << 20)
        qemu += attach("nvme", f"d{i}", path)
    m = machine(cpus=2, nic=["virtio"] * 3 + ["e1000e"] * 3, disk="none",
                mem=256, qemu=qemu)
    for _ in range(6):
        m.run("run disktest sum 0 999999")
    m.run("load nosuch")
    text = m.run("diag")
    rows = fits(text)
    assert re.match(r"\d+ functions, 1[0-9] with a driver, 2 USB", rows["PCI"])
    assert "2 cores of 2" in text and "255 MiB" in rows["Memory"]
    assert rows["Disks"].startswith("0 nvme 00:0")
    assert text.count("6 in all") == 2
    assert re.match(r"0 virtio_net .* 52:54:00:12:34:56 up", rows["Network"])
    assert "1 in the log" in rows["Warnings"]
    assert "hides its disks; in the firmware's setup" in text
    assert "!raid: 0" in m.run("log")
