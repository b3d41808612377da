# terminal.py - the little of a terminal that a shell's line editor needs.
# SPDX-License-Identifier: MIT
import re

ESCAPE = re.compile(r"\x1b\[([0-9;?]*)([@-~])")
PARTIAL_ESCAPE = re.compile(r"\x1b(\[[0-9;?]*)?$")


class Terminal:
    """Turns what comes from the serial port into lines, as a screen would
    show them: carriage return, backspace, erase and cursor movement done."""

    def __init__(self):
        self.lines = []  # finished ones
        self.line = []   # the characters of the one in progress
        self.column = 0
        self.rest = ""   # an escape sequence cut in two

    @property
    def current(self):
        return "".join(self.line)

    def feed(self, text):
        text = self.rest + text
        self.rest = ""
        partial = PARTIAL_ESCAPE.search(text)
        if partial:
            self.rest = partial.group()
            text = text[:partial.start()]
        at = 0
        while at < len(text):
            escape = ESCAPE.match(text, at)
            if escape:
                self.escape(escape.group(1), escape.group(2))
                at = escape.end()
            else:
                self.char(text[at])
                at += 1

    def char(self, char):
        if char == "\n":
            self.lines.append(self.current)
            self.line, self.column = [], 0
        elif char == "\r":
            self.column = 0
        elif char == "\b":
            self.column = max(0, self.column - 1)
        elif char >= " " or char == "\t":
            self.line += " " * (self.column - len(self.line))
            self.line[self.column:self.column + 1] = [char]
            self.column += 1

    def escape(self, numbers, verb):
        count = int(numbers) if numbers.isdigit() and int(numbers) else 1
        if verb == "K":
            self.erase(numbers)
        elif verb == "C":
            self.column += count
        elif verb == "D":
            self.column = max(0, self.column - count)
        elif verb == "G":
            self.column = count - 1
        elif verb == "P":
            del self.line[self.column:self.column + count]
        elif verb == "@":
            self.line[self.column:self.column] = " " * count
        elif verb in "HJ":  # the screen is cleared: a fresh line
            self.line, self.column = [], 0

    def erase(self, numbers):
        if numbers in ("", "0"):
            del self.line[self.column:]
        elif numbers == "2":
            self.line = []
