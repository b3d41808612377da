# desk.py - what a person has before a machine: its keyboard and its screen.
# SPDX-License-Identifier: MIT
import os
import time

from . import keyboard, picture

CHANGE_SECONDS = 0.012


class Desk:
    """Part of Machine: works through its qmp()."""

    # ---- the keyboard ----
    def hold(self, *keys, down=True):
        """Press keys of the machine's keyboard, or let them go."""
        self.qmp("input-send-event",
                 events=[keyboard.event(key, down) for key in keys])

    def press(self, *keys):
        """Strike keys together: press("ctrl", "c"). Takes the time that a USB
        keyboard needs: it tells of one change every 8 to 10 ms, holds 16, and
        loses the rest."""
        self.qmp("input-send-event", events=keyboard.strokes(*keys))
        time.sleep(CHANGE_SECONDS * 2 * len(keys))

    def type_keys(self, text):
        """Type text as on a US keyboard."""
        for char in text:
            self.press(*keyboard.chord(char))

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
