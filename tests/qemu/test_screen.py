# test_screen.py - text on the framebuffer, read off a screenshot.
# SPDX-License-Identifier: MIT
import pytest

import screen


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
    start = m.text().split("\n")
    start = start[next(i for i, line in enumerate(start)
                       if line.startswith("Ingot ")):]
    assert seen.lines == [line.rstrip() for line in start][-seen.rows:]
    assert seen.cursor == (len("ingot> "), len(seen.lines) - 1)
