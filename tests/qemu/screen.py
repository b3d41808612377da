# screen.py - reads text off a screenshot, cell by cell, by the kernel's font.
# SPDX-License-Identifier: MIT
"""read(picture) takes what Machine.screenshot() returns and gives a Screen:
.lines is the text (blanks at the ends of lines and empty lines at the end
dropped), .text the same in one string, .cursor (column, row) or None, .colour(
column, row) the colours of a cell as (letter, behind), each (R, G, B). A cell
that is no letter of the font, to the last pixel, is a ScreenError."""
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
WIDTH, HEIGHT = 8, 16
CURSOR_ROWS = (14, 15)
UNSCALED_WIDTH = 1920
ROW = re.compile(r"\{((?:0x[0-9A-F]{2}(?:, )?){16})\}, // U\+([0-9A-F]{4})")


class ScreenError(Exception):
    """What is on the screen is not text."""


def load_font():
    """16 rows of bits -> character; the first of those that look the same."""
    font = {}
    with open(os.path.join(ROOT, "lib", "font.c"), encoding="utf-8") as file:
        for words, code in ROW.findall(file.read()):
            rows = tuple(int(word, 16) for word in words.split(", "))
            font.setdefault(rows, chr(int(code, 16)))
    return font


FONT = load_font()


class Screen:
    def __init__(self, picture):
        self.picture = picture
        self.scale = -(-picture.width // UNSCALED_WIDTH)
        self.columns = min(240, picture.width // (WIDTH * self.scale))
        self.rows = min(135, picture.height // (HEIGHT * self.scale))
        self.cursor = None
        self.known = {}  # bytes of a cell -> what it is
        lines = ["".join(self.cell(column, row)
                         for column in range(self.columns)).rstrip()
                 for row in range(self.rows)]
        while lines and not lines[-1]:
            lines.pop()
        self.lines, self.text = lines, "\n".join(lines)

    def pixels(self, column, row):
        """The cell's pixels, one tuple of (R, G, B) for each row; scaled ones
        must be blocks of one colour."""
        scale, width = self.scale, WIDTH * self.scale * 3
        x, y = column * width, row * HEIGHT * scale
        rows = []
        for line in range(HEIGHT):
            copies = {self.picture.rows[y + line * scale + i][x:x + width]
                      for i in range(scale)}
            data = copies.pop()
            points = [data[i:i + 3] for i in range(0, width, 3)]
            if copies or any(points[i] != points[i - i % scale]
                             for i in range(len(points))):
                raise ScreenError(f"torn pixels in column {column}, "
                                  f"row {row}")
            rows.append(tuple(points[::scale]))
        return tuple(rows)

    def cell(self, column, row):
        scale, width = self.scale, WIDTH * self.scale * 3
        x, y = column * width, row * HEIGHT * scale
        key = b"".join(self.picture.rows[i][x:x + width]
                       for i in range(y, y + HEIGHT * scale))
        if key not in self.known:
            self.known[key] = self.identify(column, row)
        char, cursor = self.known[key]
        if cursor:
            if self.cursor:
                raise ScreenError(f"two cursors: {self.cursor} and "
                                  f"{(column, row)}")
            self.cursor = (column, row)
        return char

    def identify(self, column, row):
        """(character, is the cursor there)."""
        rows = self.pixels(column, row)
        colours = sorted({point for line in rows for point in line})
        if len(colours) > 2:
            raise ScreenError(f"{len(colours)} colours in column {column}, "
                              f"row {row}")
        for front in colours:  # which of the two is the letter's?
            found = match(tuple(sum(0x80 >> x for x in range(WIDTH)
                                    if line[x] == front) for line in rows),
                          len(colours))
            if found:
                return found
        shape = "\n".join("".join("#" if point == colours[-1] else "."
                                  for point in line) for line in rows)
        raise ScreenError(f"no letter in column {column}, row {row}:\n{shape}")

    def colour(self, column, row):
        """(letter's colour, colour behind) of a cell with a letter."""
        rows = self.pixels(column, row)
        behind = rows[0][7]  # no letter but a box reaches the corner
        letters = {point for line in rows for point in line} - {behind}
        return tuple(letters.pop()) if letters else None, tuple(behind)


def match(bits, n_colours):
    if n_colours == 1:
        return " ", False  # or a full block: nobody can tell
    if bits in FONT:
        return FONT[bits], False
    if all(bits[y] == 0xFF for y in CURSOR_ROWS):
        for rows, char in FONT.items():
            if all(rows[y] == bits[y] for y in range(HEIGHT)
                   if y not in CURSOR_ROWS):
                return char, True
    return None


def read(picture):
    return Screen(picture)
