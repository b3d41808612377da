#!/usr/bin/python3
# check.py - `make check`: every gate that looks at the source and runs nothing.
# SPDX-License-Identifier: MIT
"""Prints "PASS gate" or "FAIL gate" (with what it said) for each gate and one
"repeat:" line for a failed one. Arguments: names of gates, default all."""
import concurrent.futures
import glob
import hashlib
import os
import shlex
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PYTHON = "/usr/bin/python3"
JOBS = 2
TIDY_PASSED = "build/tidy"
OURS = ("include", "lib", "boot", "kernel", "drivers", "apps")


def files(*endings, where=OURS):
    found = []
    for directory in where:
        for ending in endings:
            found += glob.glob(f"{directory}/**/*{ending}", recursive=True)
    return sorted(found)


def makefile_flags(name):
    """A variable of the Makefile, so that flags are written once."""
    text = subprocess.run(["make", "-s", f"print-{name}"], cwd=ROOT,
                          capture_output=True, encoding="utf-8",
                          check=True).stdout
    return [word for word in text.split() if word not in ("-MMD", "-MP")]


def run(command):
    """(command, exit status, output)"""
    done = subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding="utf-8",
                          errors="replace", stdin=subprocess.DEVNULL)
    return command, done.returncode, done.stdout


def all_of(commands):
    """Run them, JOBS at a time; what failed, as (command, output)."""
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        results = list(pool.map(run, commands))
    return [(command, text) for command, status, text in results if status]


class Flags:
    """Compiler flags by the side of the call table a file is on."""

    def __init__(self):
        self.kernel = makefile_flags("KFLAGS")
        self.app = makefile_flags("AFLAGS")

    def of(self, path):
        return self.app if path.startswith("apps/") else self.kernel


def gate_format(flags):
    c_files = files(".c", ".h") + files(".c", ".h", where=("tests",))
    return all_of([["clang-format", "--dry-run", "-Werror", *c_files]])


def gate_headers(flags):
    return all_of([["gcc", *flags.of(path), "-fsyntax-only", "-include", path,
                    "-x", "c", "/dev/null"]
                   for path in files(".h")])


def gate_layers(flags):
    return all_of([[PYTHON, "tools/check_layers.py"]])


def gate_api(flags):
    if not os.path.exists("tools/gen_api.py"):
        return []
    return all_of([[PYTHON, "tools/gen_api.py", "--check"]])


def gate_cppcheck(flags):
    common = ["cppcheck", "--quiet", "--error-exitcode=1", "--inline-suppr",
              "--std=c11", "--enable=warning,performance,portability",
              "--suppressions-list=.cppcheck", f"-j{JOBS}"]
    kernel = files(".c", where=("lib", "boot", "kernel", "drivers"))
    return all_of([[*common, "-DINGOT_KERNEL", *kernel],
                   [*common, *files(".c", where=("apps",))]])


def gate_tidy(flags):
    """Only what changed since it last passed: all that clang-tidy sees (the
    text with its headers, the flags, its options) names an empty file."""
    os.makedirs(TIDY_PASSED, exist_ok=True)
    stamps = {path: tidy_stamp(path, flags) for path in files(".c")}
    changed = [path for path in stamps if not os.path.exists(stamps[path])]
    failures = all_of([["clang-tidy", "--quiet", path, "--",
                        *clang_only(flags.of(path))] for path in changed])
    failed = {command[2] for command, _ in failures}
    for path in changed:
        if path not in failed:
            open(stamps[path], "wb").close()
    return failures


def tidy_stamp(path, flags):
    words = clang_only(flags.of(path))
    seen = run(["clang", *words, "-E", "-CC", path])[2]
    with open(".clang-tidy", encoding="utf-8") as file:
        seen = "\0".join([path, *words, file.read(), seen])
    name = hashlib.sha256(seen.encode("utf-8", "replace")).hexdigest()
    return os.path.join(TIDY_PASSED, name)


def clang_only(words):
    """The analyser needs no warnings of the compiler's own."""
    return [word for word in words if not word.startswith("-W")]


GATES = {
    "format": gate_format,
    "headers": gate_headers,
    "layers": gate_layers,
    "api": gate_api,
    "cppcheck": gate_cppcheck,
    "tidy": gate_tidy,
}


def main():
    os.chdir(ROOT)
    wanted = sys.argv[1:] or list(GATES)
    if unknown := [name for name in wanted if name not in GATES]:
        print(f"check: no gate {unknown[0]}: there are {', '.join(GATES)}")
        return 2
    flags = Flags()
    bad = 0
    for name in wanted:
        failures = GATES[name](flags)
        for command, text in failures:
            print(text.rstrip())
            shown = shlex.join(command)
            print(f"repeat: {shown if len(shown) < 400 else ''}"
                  f"{'' if len(shown) < 400 else f'tools/check.py {name}'}")
        print(f"{'FAIL' if failures else 'PASS'} check {name}", flush=True)
        bad += bool(failures)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
