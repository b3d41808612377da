#!/usr/bin/python3
# make_font.py - lib/font.txt, the letters as drawn, to lib/font.c.
# SPDX-License-Identifier: MIT
"""Adds to the drawn letters what can be put together: accents, box drawing,
blocks. Without arguments writes lib/font.c; --check says whether it is up to
date; --show TEXT prints letters large."""
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DRAWN = os.path.join(ROOT, "lib", "font.txt")
TABLE = os.path.join(ROOT, "lib", "font.c")
WIDTH, HEIGHT = 8, 16

# Accents by the width of the letter below: even, odd. Two rows, a ring three.
ACCENTS = {
    "grave": ([".#..", "..#."], ["#..", ".#."]),
    "acute": (["..#.", ".#.."], ["..#", ".#."]),
    "circumflex": ([".##.", "#..#"], [".#.", "#.#"]),
    "tilde": ([".##..#", "#..##."], [".##.#", "#.##."]),
    "diaeresis": (["#..#", "#..#"], ["#...#", "#...#"]),
    "ring": ([".##.", "#..#", ".##."], [".#.", "#.#", ".#."]),
}
CEDILLA = ["..#.", "..#.", ".#.."]
ACCENTED = {
    "grave": "ÀAÈEÌIÒOÙUàaèeìıòoùu", "acute": "ÁAÉEÍIÓOÚUÝYáaéeíıóoúuýy",
    "circumflex": "ÂAÊEÎIÔOÛUâaêeîıôoûu", "tilde": "ÃAÑNÕOãañnõo",
    "diaeresis": "ÄAËEÏIÖOÜUäaëeïıöoüuÿy", "ring": "ÅAåa",
}

# Arms up, right, down, left of each box drawing family.
SHAPES = {"─": "rl", "│": "ud", "┌": "rd", "┐": "dl", "└": "ur", "┘": "ul",
          "├": "urd", "┤": "udl", "┬": "rdl", "┴": "url", "┼": "urdl"}
HEAVY = "━┃┏┓┗┛┣┫┳┻╋"
DOUBLE = "═║╔╗╚╝╠╣╦╩╬"
ROUND = "╭╮╯╰"
BLOCKS = "▀▄█▌▐░▒▓"
OTHER = "€Œœ…–—‘’“”„•←↑→↓"


def read_drawn():
    """Character -> 16 numbers, bit 7 the leftmost column."""
    glyphs, rows, key, top = {}, [], "", 0
    with open(DRAWN, encoding="utf-8") as file:
        lines = file.read().split("\n\n", 1)[1].splitlines()
    for line in lines + ["= \0 0"]:
        if not line.startswith("= "):
            rows.append(line)
            continue
        if rows:
            glyphs[key] = place(rows, top)
        rows, key, top = [], line[2], int(line[4:])
    return glyphs


def place(rows, top, left=None):
    width = max(map(len, rows))
    left = (WIDTH - width) // 2 if left is None else left
    bits = [0] * HEIGHT
    for y, row in enumerate(rows):
        for x, char in enumerate(row):
            if char == "#":
                bits[top + y] |= 0x80 >> (left + x)
    return bits


def over(*layers):
    return [sum_bits(rows) for rows in zip(*layers)]


def sum_bits(rows):
    total = 0
    for row in rows:
        total |= row
    return total


def width_of(bits):
    columns = sum_bits(bits)
    return columns.bit_length() - (columns & -columns).bit_length() + 1


def lower(bits):
    """A capital one row shorter: the first row that its neighbour repeats."""
    rows = bits[2:12]
    drop = next(i for i in range(1, 9) if rows[i] == rows[i + 1])
    return [0] * 3 + rows[:drop] + rows[drop + 1:] + bits[12:]


def accented(glyphs, kind, base):
    bits = glyphs[base]
    rows = ACCENTS[kind][width_of(bits) % 2]
    capital = base.isupper()
    top = (0 if capital else 2) - (0 if capital else len(rows) - 2)
    return over(lower(bits) if capital else bits, place(rows, top))


# ---- box drawing: lines through the middle of the cell ----
def box(x, y, width, height):
    bits = [0] * HEIGHT
    for row in range(y, y + height):
        for column in range(x, x + width):
            bits[row] |= 0x80 >> column
    return bits


def arms(names, thick, y):
    """One bar from each named side to the middle; thick pixels wide, the
    middle from column and row (4 - thick / 2, y) on."""
    x = 4 - (thick + 1) // 2
    bars = {"u": (x, 0, thick, y + thick), "d": (x, y, thick, HEIGHT - y),
            "l": (0, y, x + thick, thick), "r": (x, y, WIDTH - x, thick)}
    return over(*(box(*bars[name]) for name in names))


def double(names):
    outer, inner = arms(names, 4, 6), arms(names, 2, 7)
    return [a & ~b for a, b in zip(outer, inner)]


def rounded(char):
    down, right = char in "╭╮", char in "╭╰"
    rows = [0] * HEIGHT
    for y in range(9, HEIGHT) if down else range(0, 6):
        rows[y] = 0x10
    rows[7] = 0x07 if right else 0xC0
    rows[8 if down else 6] = 0x08 if right else 0x20
    return rows


def block(char):
    checks = {"░": (0x88, 0x22), "▒": (0xAA, 0x55), "▓": (0x77, 0xDD)}
    boxes = {"▀": (0, 0, 8, 8), "▄": (0, 8, 8, 8), "█": (0, 0, 8, 16),
             "▌": (0, 0, 4, 16), "▐": (4, 0, 4, 16)}
    return list(checks[char] * 8) if char in checks else box(*boxes[char])


def other(glyphs, char):
    drawn = {
        "€": (["..####.", ".#.....", "#......", "#####..", "#......",
               "####...", "#......", ".#.....", "..####."], 3),
        "Œ": ([".######", "#..#...", "#..#...", "#..#...", "#..###.",
               "#..#...", "#..#...", "#..#...", "#..#...", ".######"], 2),
        "œ": ([".##.##.", "#..#..#", "#..#..#", "#..####", "#..#...",
               "#..#...", ".##.###"], 5),
        "…": (["#..#..#", "#..#..#"], 10),
        "–": (["#######"], 7), "—": (["########"], 8),
        "‘": ([".#", "#.", "##", "##"], 1), "’": (["##", "##", ".#", "#."], 1),
        "“": ([".#..#", "#..#.", "##.##", "##.##"], 1),
        "”": (["##.##", "##.##", ".#..#", "#..#."], 1),
        "„": (["##.##", "##.##", ".#..#", "#..#."], 10),
        "•": ([".##.", "####", "####", ".##."], 6),
        "←": (["..#....", ".#.....", "#######", ".#.....", "..#...."], 5),
        "→": (["....#..", ".....#.", "#######", ".....#.", "....#.."], 5),
        "↑": (["..#..", ".#.#.", "#.#.#", *["..#.."] * 7], 2),
        "↓": ([*["..#.."] * 7, "#.#.#", ".#.#.", "..#.."], 2),
    }
    return place(*drawn[char])


# Every code point from U+2500 to U+257F, told by one that has a glyph.
def box_plan():
    plan = list("─━│┃" + "─━│┃" * 2)
    for light, heavy in zip("┌┐└┘", "┏┓┗┛"):
        plan += [light, light, light, heavy]
    for light, heavy, n in zip("├┤┬┴┼", "┣┫┳┻╋", (8, 8, 8, 8, 16)):
        plan += [light] * (n - 1) + [heavy]
    plan += "─━│┃" + "═║" + "".join(c * 3 for c in DOUBLE[2:])
    return plan + list(ROUND + "/\\X" + "─│─│━┃━┃─│─│")


def all_glyphs():
    """[(code point, 16 rows)], the one for unknown code points last."""
    glyphs = read_drawn()
    glyphs[" "] = glyphs["\u00a0"] = [0] * HEIGHT
    glyphs["\u00ad"] = glyphs["-"]
    for kind, pairs in ACCENTED.items():
        for char, base in zip(pairs[::2], pairs[1::2]):
            glyphs[char] = accented(glyphs, kind, base)
    for char, base in ("ÇC", "çc"):
        glyphs[char] = over(glyphs[base], place(CEDILLA, 12))
    for light, heavy, twice in zip(SHAPES, HEAVY, DOUBLE):
        glyphs[light] = arms(SHAPES[light], 1, 7)
        glyphs[heavy] = arms(SHAPES[light], 3, 6)
        glyphs[twice] = double(SHAPES[light])
    glyphs.update((char, rounded(char)) for char in ROUND)
    glyphs.update((char, block(char)) for char in BLOCKS)
    glyphs.update((char, other(glyphs, char)) for char in OTHER)
    order = [chr(c) for c in (*range(0x20, 0x7F), *range(0xA0, 0x100))]
    order += [*SHAPES, *HEAVY, *DOUBLE, *ROUND, *BLOCKS, *OTHER]
    unknown = place(["#######", *["#.....#"] * 8, "#######"], 2)
    return [(ord(c), glyphs[c]) for c in order] + [(0xFFFD, unknown)]


def table():
    glyphs = all_glyphs()
    place_of = {chr(code): i for i, (code, _) in enumerate(glyphs)}
    extra = [code for code, _ in glyphs[191:-1]]
    out = ["// font.c - the letters of the screen; made by tools/make_font.py.",
           "// SPDX-License-Identifier: MIT", "//",
           "// Our own drawing (lib/font.txt). A row is a byte, bit 7 on the "
           "left.", '#include "font.h"', "", "// clang-format off",
           "const u8 font_rows[FONT_GLYPHS][FONT_HEIGHT] = {"]
    for code, rows in glyphs:
        words = ", ".join(f"0x{row:02X}" for row in rows)
        out.append(f"    {{{words}}}, // U+{code:04X}")
    out += ["};", "", "// From FONT_EXTRA on, by code point.",
            f"const u16 font_extra[FONT_UNKNOWN - FONT_EXTRA] = {{"]
    out += lines(f"0x{code:04X}" for code in extra)
    out += ["};", "", "// U+2500 to U+257F: box drawing, each by the glyph "
            "that comes nearest.", "const u8 font_box[128] = {"]
    out += lines(str(place_of[char]) for char in box_plan())
    return "\n".join(out + ["};", "// clang-format on", ""])


def lines(words):
    words = list(words)
    return ["    " + ", ".join(words[i:i + 8]) + ","
            for i in range(0, len(words), 8)]


def show(text):
    glyphs = {chr(code): rows for code, rows in all_glyphs()}
    for at in range(0, len(text), 9):
        part = [glyphs.get(c, glyphs["\ufffd"]) for c in text[at:at + 9]]
        for y in range(HEIGHT):
            print("|".join(f"{rows[y]:08b}" for rows in part)
                  .replace("0", ".").replace("1", "#"))
        print()


def main(words):
    if words[:1] == ["--show"]:
        show(words[1])
        return 0
    text = table()
    if words == ["--check"]:
        with open(TABLE, encoding="utf-8") as file:
            same = file.read() == text
        print("" if same else "lib/font.c is not what tools/make_font.py "
              "makes of lib/font.txt", end="" if same else "\n")
        return 0 if same else 1
    with open(TABLE, "w", encoding="utf-8") as file:
        file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
