# test_machine.py - boards with parts missing: tables, clocks, screens.
# SPDX-License-Identifier: MIT
import re
import struct

import pytest


def devices(text):
    """What `pci` lists, without the drivers' and the addresses' spelling."""
    return sorted(re.findall(r"\b[0-9a-f]{4}:[0-9a-f]{4}\b", text.lower()))


def test_both_acpi_roots_find_the_same(vm):
    """SeaBIOS has an RSDT, OVMF an XSDT."""
    seen = [vm("pci; time", boot=boot, qemu="-machine hpet=on")
            for boot in ("bios", "uefi")]
    assert devices(seen[0]) and devices(seen[0]) == devices(seen[1])
    clocks = [re.search(r"^Clock: .* by (\w+)", out, re.M).group(1)
              for out in seen]
    assert clocks[0] == clocks[1]


def table(tmp_path, signature, body, length=None):
    """An ACPI table with a header of our own, for QEMU's -acpitable."""
    length = 36 + len(body) if length is None else length
    head = struct.pack("<4sIBB6s8sI4sI", signature, length, 1, 0, b"INGOT ",
                       b"TEST    ", 1, b"TEST", 1)
    data = bytearray(head + body)
    data[9] = -sum(data) & 0xFF
    path = tmp_path / signature.decode()
    path.write_bytes(data)
    return f"-acpitable file={path}"


@pytest.mark.parametrize("boot", ["direct", "bios"])
@pytest.mark.parametrize("signature,body", [
    (b"HPET", b""),
    (b"HPET", b"\xff" * 20),
    (b"MCFG", b"\0" * 7),
    (b"MCFG", b"\0" * 8 + struct.pack("<QHBBI", 0xFFFFFFFFFFFFF000, 0, 9, 3,
                                      0)),
    (b"APIC", struct.pack("<II", 0, 0) + b"\1\0" + b"\0\0\1\1"),
    (b"FACP", b"\xff" * 40),
], ids=["short-hpet", "hpet-ff", "short-mcfg", "absurd-mcfg", "madt-entry-0",
        "short-facp"])
def test_nonsense_in_acpi(vm, tmp_path, boot, signature, body):
    """A second, broken table of each kind: reported or passed over, and the
    machine comes up."""
    out = vm("time; run hello", boot=boot,
             qemu=table(tmp_path, signature, body))
    assert "Hello" in out


# ---- clocks ----
def uptime(m):
    return float(re.search(r"Uptime: ([\d.]+)", m.run("time")).group(1))


@pytest.mark.parametrize("properties", [
    "hpet=off", "hpet=off,pit=off", "hpet=off,pit=off,pic=off", "hpet=on"])
@pytest.mark.parametrize("board", ["q35", "pc"])
def test_clocks(machine, board, properties):
    m = machine(machine=f"{board},{properties}")
    clock = m.run("time")
    assert re.search(r"Clock: .*TSC at \d+\.\d+ MHz, by \w+", clock), clock
    before = uptime(m)
    m.run("run cpuid")
    assert uptime(m) > before
    assert re.search(r"Average: .*\d", m.run("run cpuid"))


@pytest.mark.parametrize("properties", ["hpet=on", "hpet=off",
                                        "hpet=off,pit=off,pic=off"])
def test_clock_is_right(machine, properties):
    """A second of ours is a second of the host's, within 5%."""
    import time
    m = machine(machine=f"q35,{properties}")
    start_guest, start = uptime(m), time.monotonic()
    while time.monotonic() - start < 2:
        m.run("ver")
    guest, host = uptime(m) - start_guest, time.monotonic() - start
    assert guest == pytest.approx(host, rel=0.05)


def test_no_clock_at_all(machine):
    """No table names a timer and the ports are dead: it says so and lives."""
    m = machine(machine="pc,hpet=off,pit=off,pic=off,acpi=off")
    text = m.run("time")
    assert "Clock:" in text
    assert "Hello" in m.run("run hello")
    assert "Iterations" in m.run("run cpuid 1000")


# ---- screens: test_screen.py reads them ----
@pytest.mark.parametrize("boot,screen", [
    ("bios", ""), ("bios", "-vga std"), ("bios", "-device virtio-vga"),
    ("uefi", "-vga std"), ("uefi", "-device bochs-display")])
def test_screens(vm, boot, screen):
    out = vm("run hello", boot=boot, qemu=screen)
    assert "Hello" in out


def test_no_keyboard_controller(vm):
    out = vm("run hello", machine="q35,i8042=off")
    assert "Hello" in out and out.seconds < 30
