# desk.py - what a person has before a machine: its keyboard and its screen.
# SPDX-License-Identifier: MIT
import os
import time

from . import keyboard, picture


class Desk:
    """Part of Machine: works through its qmp()."""

    # ---- the keyboard ----
    def hold(self, *keys, down=True):
        """Press keys of the machine's keyboard, or let them go."""
        self.qmp("input-send-event",
                 events=[keyboard.event(key, down) for key in keys])

    def press(self, *keys):
        """Strike keys together: press("ctrl", "c"). Names are QEMU's."""
        self.qmp("input-send-event", events=keyboard.strokes(*keys))

    def type_keys(self, text, pause=0.012):
        """Type text on a US keyboard, so many seconds a change: a USB keyboard
        tells of one every 8 to 10 ms and holds 16."""
        for char in text:
            keys = keyboard.chord(char)
            self.press(*keys)
            time.sleep(pause * 2 * len(keys))

    # ---- the screen ----
    def screenshot(self, path=None):
        """What the display shows, as a Picture (picture.py); with a path also
        as a PNG file. A prompt that the serial port has shown is there."""
        shot = os.path.join(self.temp, "screen.ppm")
        self.qmp("screendump", filename=shot)
        shown = picture.read_ppm(shot)
        if path:
            with open(path, "wb") as file:
                file.write(shown.png())
        return shown
