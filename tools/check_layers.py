#!/usr/bin/python3
# check_layers.py - the shape of the source: who may include whom, how long a
# function and a file may be, what every file begins with.
# SPDX-License-Identifier: MIT
"""Prints one line per breach, "file:line: what is wrong"; exit status 1 when
there was one. Paths given as arguments replace the whole tree."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FILE_LINES = 400
FUNCTION_LINES = 60
NESTING = 3

# What files of a layer may include: directories (ending in /) and files. An
# arrow only points down: lib and include know nobody.
MAY_INCLUDE = {
    "include": ["include/"],
    "lib": ["include/", "lib/"],
    "boot": ["include/", "lib/", "boot/"],
    "kernel": ["include/", "lib/", "kernel/", "boot/boot_info.h"],
    "drivers": ["include/", "lib/", "kernel/", "drivers/"],
    "apps": ["include/ingot.h", "lib/", "apps/"],
}
# A driver's doors to the kernel: the one, the log's tag, and what serial ports
# and keyboards need, which feed the console, are set up on the command line and
# interrupt the first core.
DOORS = {"kernel/driver.h", "kernel/log.h", "kernel/console.h",
         "kernel/input.h", "kernel/apic.h", "kernel/option.h",
         "kernel/machine.h", "kernel/msi.h", "kernel/power.h",
         "kernel/screen.h"}
# The compiler's own headers that need no library behind them.
FREESTANDING = {"stdarg.h", "stddef.h", "emmintrin.h", "immintrin.h",
                "x86intrin.h"}
# The one program that is also built for Linux keeps its libc in a file.
HOSTED = re.compile(r"(^|/)linux[^/]*\.[ch]$|_linux\.[ch]$")
SOURCE = (".c", ".h", ".asm", ".inc", ".py", ".ld", ".cfg")
NOT_CODE = re.compile(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])+\'|//.*')
OPENS = re.compile(r"(\)|\belse|\bdo) \{$")  # a block, not an initialiser
CLOSES = re.compile(r"\}($| else\b| while\b)")
INCLUDE = re.compile(r'\s*#\s*include\s+(["<])([^">]+)[">]')
CONDITION = re.compile(r"\s*#\s*(if|ifdef|ifndef|elif)\b")
GENERATED = {"include/ingot.inc"}


def source_files():
    for layer in (*MAY_INCLUDE, "tools", "tests"):
        for directory, names, files in os.walk(os.path.join(ROOT, layer)):
            names[:] = sorted(n for n in names if not n.startswith((".", "_")))
            for name in sorted(files):
                path = os.path.join(directory, name)
                if name.endswith(SOURCE) or is_script(path):
                    yield os.path.relpath(path, ROOT)


def is_script(path):
    if "." in os.path.basename(path):
        return False
    with open(path, "rb") as file:
        return file.read(2) == b"#!"


def resolve(path, name):
    return os.path.normpath(os.path.join(os.path.dirname(path), name))


def allowed(target, rules):
    return any(target.startswith(rule) if rule.endswith("/")
               else target == rule for rule in rules)


def check_includes(path, lines):
    layer = path.split("/")[0]
    if layer not in MAY_INCLUDE:
        return
    for number, line in enumerate(lines, 1):
        found = INCLUDE.match(line)
        if not found:
            continue
        quote, name = found.groups()
        if quote == "<":
            if name not in FREESTANDING and not HOSTED.search(path):
                yield number, f"<{name}> needs a library"
            continue
        target = resolve(path, name)
        if not allowed(target, MAY_INCLUDE[layer]):
            yield number, f"{layer}/ may not include {target}"


def check_driver(path, lines):
    """Rule 9: driver.h, its own headers, at most one shared helper."""
    if not re.fullmatch(r"drivers/\w+\.c", path):
        return
    stem = os.path.basename(path)[:-2]
    helpers = []
    for number, line in enumerate(lines, 1):
        found = INCLUDE.match(line)
        target = resolve(path, found.group(2)) if found else ""
        if target.startswith(("kernel/", "lib/", "include/")) \
                and target not in DOORS:
            yield number, f"a driver reaches {target} through driver.h"
        if target.startswith("drivers/"):
            name = os.path.basename(target)[:-2]
            if name not in (stem, stem + "_regs"):
                helpers.append(number)
    if len(helpers) > 1 and stem != "drivers":
        yield helpers[1], "a driver has at most one shared helper"


def check_functions(path, lines):
    """A function's braces stand in the first column."""
    start, depth = 0, 0
    for number, line in enumerate(lines, 1):
        if line == "{":
            start, depth = number, 0
        elif line == "}" and start:
            if number - start - 1 > FUNCTION_LINES:
                yield start, f"function of {number - start - 1} lines"
            start = 0
        elif start:
            code = NOT_CODE.sub("", line).strip()
            depth -= bool(CLOSES.match(code))
            depth += bool(OPENS.search(code))
            if OPENS.search(code) and depth > NESTING:
                yield number, f"nesting of {depth}"


def check_conditions(path, lines):
    if path.startswith("tests/host/"):
        return
    for number, line in enumerate(lines, 1):
        if CONDITION.match(line):
            yield number, "#if in a .c file"


def check_header(path, lines):
    if "#pragma once" not in lines:
        yield 1, "header without #pragma once"


def check_file(path, lines):
    if len(lines) > FILE_LINES:
        yield len(lines), f"file of {len(lines)} lines"
    head = lines[:12]
    if not any("SPDX-License-Identifier: MIT" in line for line in head):
        yield 1, "no SPDX line"
    for number, line in enumerate(lines, 1):
        if line != line.rstrip():
            yield number, "blank at the end of a line"
    if path.startswith("tools/"):
        return
    if path.endswith((".c", ".h", ".asm")) and lines:
        name = re.escape(os.path.basename(path))
        if not re.match(rf"(//|;) {name} - ", lines[0]):
            yield 1, f"first line is not '// {os.path.basename(path)} - ...'"


def check(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        lines = file.read().splitlines()
    if path in GENERATED:
        return
    yield from check_file(path, lines)
    if path.endswith((".c", ".h")):
        yield from check_includes(path, lines)
        yield from check_functions(path, lines)
    if path.endswith(".c"):
        yield from check_driver(path, lines)
        yield from check_conditions(path, lines)
    if path.endswith(".h"):
        yield from check_header(path, lines)


def main():
    paths = [os.path.relpath(os.path.abspath(p), ROOT) for p in sys.argv[1:]]
    breaches = 0
    for path in paths or source_files():
        for number, text in check(path):
            print(f"{path}:{number}: {text}")
            breaches += 1
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
