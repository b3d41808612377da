# test_screen.py - text on the framebuffer, read off a screenshot.
# SPDX-License-Identifier: MIT
import os
import re
import struct
import subprocess
import time
import zlib

import pytest

import screen
from conftest import ROOT
from test_programs import results
from vmlib.picture import Picture


def look(m):
    return screen.read(m.screenshot())


# (boot, --vga, GRUB's mode, what comes of it)
MODES = [
    ("bios", "std", "640x480x32", (640, 480, 32, 2560)),
    ("bios", "std", "800x600x24", (800, 600, 24, 2400)),
    ("bios", "virtio", "1920x1080x32", (1920, 1080, 32, 7680)),
    ("bios", "std", "2560x1440x24", (2560, 1440, 24, 7680)),
    ("bios", "std", "3840x2160x32", (3840, 2160, 32, 15360)),
    ("uefi", "std", "3840x2160x32", (3840, 2160, 32, 15360)),
    ("uefi", "bochs", "800x600x32", (800, 600, 32, 3200)),
    ("uefi", "virtio", None, (1280, 800, 32, 5120)),
]


@pytest.mark.parametrize("boot,vga,video,want", MODES)
def test_what_the_serial_port_says_is_on_the_screen(machine, boot, vga, video,
                                                    want):
    m = machine(boot=boot, vga=vga, video=video, nic="none")
    width, height, bits, pitch = want
    assert f"{width}x{height}, {bits} bits, {pitch} bytes a row" \
        in m.boot_text
    m.run("ver")
    seen = look(m)
    assert (seen.picture.width, seen.picture.height) == (width, height)
    assert seen.lines == console_lines(m, seen)
    assert seen.cursor == (len("ingot> "), len(seen.lines) - 1)


def console_lines(m, seen):
    """What such a screen shows of the serial console's text."""
    lines = m.text().rstrip().split("\n")
    lines = lines[next(i for i, line in enumerate(lines)
                       if line.startswith("Ingot ")):]
    width = seen.columns
    pieces = [line[i:i + width].rstrip() for line in lines
              for i in range(0, max(1, len(line)), width)]
    return pieces[-len(seen.lines):] if len(pieces) > seen.rows else pieces


def check_text_is_back(m):
    seen = look(m)
    assert seen.lines == console_lines(m, seen)


def wait_screen(m, text, timeout=30):
    """Until the screen shows text; returns the Screen."""
    end = time.monotonic() + timeout
    while True:
        try:
            seen = look(m)
            shown = seen.text
            if text in shown:
                return seen
        except screen.ScreenError as error:
            shown = str(error)  # not ours yet
        assert time.monotonic() < end, f"no {text!r} on the screen:\n{shown}"
        time.sleep(0.1)


# ---- the first stages ----
def hang_at(function, path):
    """A kernel that stops where this function begins."""
    elf = os.path.join(ROOT, "build", "ingot.elf")
    names = subprocess.run(["nm", elf], capture_output=True, text=True,
                           check=True).stdout
    address = int(re.search(rf"^(\w+) [tT] {function}$", names, re.M)[1], 16)
    with open(elf, "rb") as file:
        data = bytearray(file.read())
    start, = struct.unpack_from("<Q", data, 32)
    count, = struct.unpack_from("<H", data, 56)
    for i in range(count):
        kind, _, offset, virt, _, size = struct.unpack_from(
            "<IIQQQQ", data, start + 56 * i)
        if kind == 1 and virt <= address < virt + size:
            at = offset + address - virt
            data[at:at + 2] = b"\xeb\xfe"
    path.write_bytes(data)
    return str(path)


@pytest.mark.parametrize("function,stage", [
    ("memory_init", "[3] memory"), ("acpi_init", "[4] firmware tables"),
    ("pci_init", "[8] PCI")])
def test_a_hang_shows_its_stage(machine, tmp_path, function, stage):
    kernel, image = hang_at(function, tmp_path / "k"), tmp_path / "image"
    subprocess.run([os.path.join(ROOT, "tools", "mkimage.py"), "--kernel",
                    kernel, "--out", image], check=True)
    m = machine(boot="bios", vga="std", image=str(image), nic="none",
                prompt=False, qemu="-serial none")
    seen = wait_screen(m, stage)
    assert seen.lines[-1] == stage
    assert seen.lines[0].startswith("Ingot ")
    assert seen.lines[1] == "[1] exceptions are reported"


# ---- console= ----
def test_console_serial(machine):
    m = machine(boot="bios", vga="std", nic="none", append="console=serial")
    seen = look(m)
    assert seen.lines[-1] == "[2] what the loader told"


def test_console_screen(machine):
    m = machine(boot="bios", vga="std", nic="none", append="console=screen",
                prompt=False)
    seen = wait_screen(m, "ingot>")
    assert "[10] shell" in seen.lines
    assert "[3]" not in m.text()


# ---- a program has the screen ----
SCREEN = {"boot": "bios", "vga": "std", "video": "800x600x24", "nic": "none"}


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    path = tmp_path_factory.mktemp("screen") / "image"
    subprocess.run([os.path.join(ROOT, "tools", "mkimage.py"), "--kernel",
                    os.path.join(ROOT, "build", "ingot.elf"), "--out", path,
                    os.path.join(ROOT, "build", "tests", "screentest.app"),
                    os.path.join(ROOT, "build", "apps", "raytrace.app"),
                    os.path.join(ROOT, "build", "apps", "life.app")],
                   check=True)
    return str(path)


def start_drawing(m, how):
    m.type(f"run screentest {how}")
    m.wait_for("drawn")


@pytest.mark.parametrize("video", ["800x600x24", "1024x768x32"])
def test_a_program_draws(machine, image, video):
    m = machine(**{**SCREEN, "video": video}, image=image)
    start_drawing(m, "hold")
    shot = m.screenshot()
    view = screen.Screen.__new__(screen.Screen)  # some cells of it
    view.picture, view.scale, view.known, view.cursor = shot, 1, {}, None
    assert "".join(view.cell(i, 0) for i in range(12)) == "Drawn: ä─\ufffd. "
    width, height = shot.width, shot.height
    assert view.cell(width // 8 - 1, 1) == "x"
    assert shot.pixel(16, 64) == shot.pixel(47, 79) == (255, 0, 0)
    assert shot.pixel(48, 79) == shot.pixel(15, 64) == (0, 0, 0)
    assert shot.pixel(0, height - 8) == (0, 255, 0)
    assert shot.pixel(7, height - 1) == (0, 255, 0)
    assert shot.pixel(8, height - 1) == (0, 0, 0)
    assert shot.pixel(100, 100) == shot.pixel(149, 149) == (0, 0, 255)
    assert shot.pixel(150, 150) == (0, 0, 0)
    assert shot.pixel(151, 100) == shot.pixel(200, 100) == (0, 0, 255)
    assert shot.pixel(150, 100) == (0, 0, 0)
    assert shot.pixel(width - 1, height - 1) == (0x12, 0x34, 0x56)
    assert [shot.pixel(300 + i % 2, 100 + i // 2) for i in range(4)] == [
        (1, 2, 3), (4, 5, 6), (7, 8, 9), (10, 11, 12)]
    assert shot.pixel(width - 1, 0) == (7, 8, 9)
    m.send(b" ")
    m.wait_prompt()
    check_text_is_back(m)


def test_text_comes_back_however_it_ends(machine, image):
    m = machine(**SCREEN, image=image)
    start_drawing(m, "give")
    m.wait_for("given back")
    check_text_is_back(m)
    m.send(b" ")
    m.wait_prompt()
    start_drawing(m, "spin")
    m.send(b"\x03")
    m.wait_prompt()
    check_text_is_back(m)
    start_drawing(m, "crash")
    m.wait_prompt()
    check_text_is_back(m)
    assert "invalid opcode" in look(m).text


def test_a_panic_takes_the_screen_back(machine, image):
    m = machine(**SCREEN, image=image)
    start_drawing(m, "hold")
    m.monitor("mce 0 9 0xbd00000000000000 5 0x1234 0x8c")
    m.wait_for("press a key")
    seen = wait_screen(m, "*** press a key to reboot")
    assert "*** kernel panic: machine check" in seen.text
    assert seen.lines == console_lines(m, seen)


def test_a_panic_of_the_kernel_alone(machine):
    m = machine(**SCREEN)
    m.monitor("nmi")
    seen = wait_screen(m, "*** press a key to reboot")
    assert "*** kernel panic: NMI" in seen.text


def test_raytrace_shows_what_it_computes(machine, image):
    m = machine(**SCREEN, image=image, cpus=2)
    quiet = m.run("run raytrace 160 90 1 --cpus 2")
    m.type("run raytrace 160 90 1 --cpus 2 --show")
    m.wait_for("RESULT ")
    shot = m.screenshot()
    m.send(b" ")
    m.wait_prompt()
    total = 0x811C9DC5
    for y in range(255, 345):
        for x in range(320, 480):
            red, green, blue = shot.pixel(x, y)
            for byte in (blue, green, red, 0):
                total = (total ^ byte) * 0x01000193 & 0xFFFFFFFF
    assert f"checksum={total:08x}" in quiet
    assert m.text().count(f"checksum={total:08x}") == 2
    assert shot.pixel(319, 255) == shot.pixel(480, 344) == (0, 0, 0)
    check_text_is_back(m)


def test_life(machine, image):
    m = machine(**SCREEN, image=image)
    first = results(m.run("run life 30 --seed 7 --fast"))[0]
    again = results(m.run("run life 30 --seed 7 --fast"))[0]
    assert first["checksum"] == again["checksum"]
    assert (first["width"], first["height"]) == ("200", "150")
    m.type("run life 1000000")
    time.sleep(0.5)
    m.send(b"\x03")
    m.wait_for("stopped by Ctrl-C")
    m.wait_prompt()
    check_text_is_back(m)


def test_without_a_screen(vm):
    out = vm("run life; run raytrace 8 8 1 --show", status=1)
    assert "error: life: no such device" in out
    assert "error: raytrace: --show: no such device" in out


# ---- a person before it ----
DUMP = "dump 0x200000 2048"  # 128 lines
BAR = " space: more  enter: a line  q: enough"


def test_pages_for_who_types_on_the_keyboard(machine):
    m = machine(**SCREEN)
    rows = [line.rstrip() for line in m.run(DUMP).splitlines()]
    assert len(rows) == 128  # by the serial line nothing stops
    m.type_keys(DUMP + "\n")
    m.wait_for(BAR)
    seen = look(m)
    assert seen.rows == 37 and seen.lines == rows[:36] + [BAR]
    m.type_keys("\n")
    m.wait_for(BAR)
    assert look(m).lines == rows[1:37] + [BAR]
    m.type_keys(" ")
    m.wait_for(BAR)
    assert look(m).lines == rows[37:73] + [BAR]
    m.type_keys("q")
    m.wait_prompt()
    assert look(m).lines == rows[37:73] + ["ingot>"]
    m.type_keys("run hello\n")  # a short one asks nothing
    m.wait_for("Hello")
    m.wait_prompt()
    m.type(DUMP)  # and by the serial line nothing stops again
    m.wait_prompt()


def test_colours_for_who_types_on_the_keyboard(machine):
    m = machine(**SCREEN)
    m.run("nosuch")
    assert b"\x1b[" not in m.raw
    m.type_keys("nosuch\n")
    m.wait_for("error: ")
    m.wait_prompt()
    seen = look(m)
    row = len(seen.lines) - 1
    assert seen.colour(0, row)[0] == (0x60, 0xE0, 0x70)
    assert seen.colour(0, row - 1)[0] == (0xFF, 0x60, 0x58)
    assert seen.colour(0, 0)[0] == (0xC8, 0xC8, 0xC8)
    m.type("ver")
    m.wait_for("Loaded by")
    m.wait_prompt()
    assert look(m).colour(0, len(look(m).lines) - 1)[0] == (0xC8, 0xC8, 0xC8)


def test_editing_a_long_line(machine):
    """It goes on below, and backspaces lead back up."""
    m = machine(**SCREEN)
    m.type_keys("a" * 105)
    seen = wait_screen(m, "aaaaa\n" + "a" * 12)
    m.type_keys("\b" * 13 + "b")
    seen = wait_screen(m, "ab")
    assert seen.lines[-1] == "ingot> " + "a" * 92 + "b"


# ---- tools/vm --screenshot ----
def test_screenshot(vm, tmp_path):
    path = tmp_path / "shot.png"
    out = vm("run hello", boot="bios", video="640x480x32", nic="none",
             screenshot=path)
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack_from(">II", data, 16) == (640, 480)
    start = data.index(b"IDAT") + 4
    raw = zlib.decompress(data[start:-16])
    step = 640 * 3 + 1
    rows = b"".join(raw[y * step + 1:(y + 1) * step] for y in range(480))
    seen = screen.read(Picture(640, 480, rows))
    assert seen.lines[-1] == "ingot>"
    assert seen.lines[-2] == "Hello from C on Ingot!" and "Hello" in out


def test_screenshot_of_a_program_that_draws(vm, tmp_path):
    """Text is back when a program ends: the time limit catches it at work."""
    path = tmp_path / "shot.png"
    vm("run life", boot="bios", nic="none", screenshot=path, timeout=6,
       status=124)
    assert path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
