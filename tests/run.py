#!/usr/bin/python3
# run.py - `make test`: every test there is, and one line at the end.
# SPDX-License-Identifier: MIT
"""Stages, in this order: build, check, host, fuzz, python, qemu. Arguments
choose some of them. A failure prints what was said and the command that repeats
it; the last line is "N passed, N failed" (and "N skipped"); the exit status is
0 only when something ran and nothing failed."""
import argparse
import concurrent.futures
import glob
import os
import shlex
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PYTHON = "/usr/bin/python3"
JOBS = 2
HOST_FLAGS = ["-std=gnu11", "-g", "-O1", "-DINGOT_KERNEL", "-DMMIO_FAKE",
              "-Wall", "-Wextra", "-fno-omit-frame-pointer",
              "-fno-sanitize-recover=undefined"]
HOST_SECONDS = 120  # for one host test program
NEED_BUILD = ("python", "qemu")
STAGES = ("build", "check", "host", "fuzz", "python", "qemu")


class Counts:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def add(self, passed, failed, skipped=0):
        self.passed += passed
        self.failed += failed
        self.skipped += skipped

    def line(self):
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"


class Result:
    """What came of one test program."""

    def __init__(self, name, passed, failed, text="", repeat=""):
        self.name, self.passed, self.failed = name, passed, failed
        self.text, self.repeat = text, repeat

    def show(self):
        if self.failed:
            print(self.text.rstrip())
            print(f"repeat: {self.repeat}")
        bad = f", {self.failed} failed" if self.failed else ""
        print(f"{self.name}: {self.passed} passed{bad}", flush=True)


def run(command, timeout=None, env=None):
    """(exit status, output); 124 when time ran out, 127: no such program."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=timeout,
                              stdin=subprocess.DEVNULL, encoding="utf-8",
                              errors="replace", env=env)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired as expired:
        text = expired.stdout or b""
        text = text if isinstance(text, str) else text.decode("utf-8",
                                                              "replace")
        return 124, text + f"\nno end after {timeout} s"
    except FileNotFoundError:
        return 127, f"{command[0]}: not there: tools/setup installs it"


def run_shown(command):
    """Exit status of a command whose output goes where ours goes. It ends
    when we do."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    try:
        return process.wait()
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()


def one(name, command, timeout=None):
    """A command that is one test by its exit status."""
    status, text = run(command, timeout)
    return Result(name, int(status == 0), int(status != 0), text,
                  shlex.join(command))


def lines_of(name, command, timeout=None, repeat=""):
    """A command that prints PASS and FAIL lines, each a test. It is one failed
    test more when its exit status says so and no line did."""
    status, text = run(command, timeout)
    passed = sum(line.startswith("PASS ") for line in text.splitlines())
    failed = sum(line.startswith("FAIL ") for line in text.splitlines())
    if not failed and (status or not passed):
        failed = 1
        text += f"\n{name}: exit status {status}, {passed} passed"
    return Result(name, passed, failed, text, repeat or shlex.join(command))


# ---- stages: each yields Results as they come ----
def stage_build(options):
    yield one("build gcc", ["make", f"-j{JOBS}", "image", "apps",
                             "models"])
    yield one("build clang", ["make", f"-j{JOBS}", "CC=clang",
                              "B=build/clang", "kernel", "apps", "models"])


def stage_check(options):
    yield lines_of("check", [PYTHON, "tools/check.py"],
                   repeat="make check")


def stage_host(options):
    tests = [(path, compiler)
             for path in sorted(glob.glob("tests/host/test_*.c"))
             for compiler in ("gcc", "clang")]
    yield from side_by_side(host_test, tests)


def host_test(path, compiler):
    stem = os.path.basename(path)[:-2]
    binary = f"build/host/{stem}-{compiler}"
    compile_words = [compiler, *HOST_FLAGS, "-fsanitize=address,undefined",
                     path, "-o", binary]
    status, text = run(compile_words)
    repeat = f"{shlex.join(compile_words)} && {binary}"
    if status:
        return Result(f"host {stem} {compiler}", 0, 1, text, repeat)
    return lines_of(f"host {stem} {compiler}", [binary], HOST_SECONDS, repeat)


def stage_fuzz(options):
    paths = sorted(glob.glob("tests/host/fuzz_*.c"))
    yield from side_by_side(
        fuzz, [(path, options.fuzz_seconds) for path in paths])


def fuzz(path, seconds):
    stem = os.path.basename(path)[:-2]
    name = stem[len("fuzz_"):]
    binary, found = f"build/host/{stem}", f"build/fuzz/{name}"
    os.makedirs(found, exist_ok=True)
    compile_words = ["clang", *HOST_FLAGS,
                     "-fsanitize=fuzzer,address,undefined", path, "-o", binary]
    status, text = run(compile_words)
    if status:
        return Result(stem, 0, 1, text, shlex.join(compile_words))
    words = [binary, f"-max_total_time={seconds}", "-timeout=10",
             "-rss_limit_mb=1024", "-print_final_stats=1",
             f"-artifact_prefix={found}/crash-", found]
    seeds = f"tests/host/corpus/{name}"
    words += [seeds] if os.path.isdir(seeds) else []
    status, text = run(words, seconds + 120)
    text = "\n".join(text.splitlines()[-40:])
    repeat = f"{shlex.join(compile_words)} && {shlex.join(words)}"
    return Result(stem, int(status == 0), int(status != 0), text, repeat)


def side_by_side(function, arguments):
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        jobs = [pool.submit(function, *words) for words in arguments]
        for job in jobs:
            yield job.result()


def stage_python(options):
    folders = [folder for folder in ("tests/tools", "tests/bench")
               if glob.glob(f"{folder}/test_*.py")]
    if folders:
        yield pytest("python", folders, options)


def stage_qemu(options):
    yield pytest("qemu", ["tests/qemu"], options)


def pytest(name, folders, options):
    report = f"build/{name}.xml"
    if os.path.exists(report):
        os.unlink(report)
    command = [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider",
               "-n", str(JOBS), "--durations=5",
               f"--junitxml={report}", *folders]
    if options.k:
        command += ["-k", options.k]
    status = run_shown(command)
    result = Result(name, 0, 0, "", shlex.join(command))
    try:
        suite = xml.etree.ElementTree.parse(report).getroot().find("testsuite")
        total, bad, skipped = (
            int(suite.get("tests")),
            int(suite.get("failures")) + int(suite.get("errors")),
            int(suite.get("skipped")))
        result.passed = max(0, total - bad - skipped)
        result.failed, result.skipped = bad, skipped
        result.repeat = "\n        ".join(repeats(suite)) or result.repeat
    except (OSError, xml.etree.ElementTree.ParseError, AttributeError):
        result.text = f"pytest left no {report}"
    if status and not result.failed:
        result.failed = 1
        result.text += f"\npytest: exit status {status}"
    return result


def repeats(suite):
    """The command that repeats each failed case."""
    for case in suite.iter("testcase"):
        if case.find("failure") is None and case.find("error") is None:
            continue
        path = case.get("classname", "").replace(".", "/") + ".py"
        yield shlex.join([PYTHON, "-m", "pytest",
                          f"{path}::{case.get('name')}"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stages", nargs="*", metavar="STAGE",
                        help=f"default all: {' '.join(STAGES)}")
    parser.add_argument("--fuzz-seconds", type=int, default=3, metavar="S")
    parser.add_argument("-k", metavar="EXPRESSION", help="for pytest")
    options = parser.parse_args()
    for name in options.stages:
        if name not in STAGES:
            parser.error(f"no stage {name}: there are {' '.join(STAGES)}")
    signal.signal(signal.SIGTERM, lambda *unused: sys.exit(143))
    os.chdir(ROOT)
    os.makedirs("build/host", exist_ok=True)
    counts = Counts()
    built = True
    for name in options.stages or STAGES:
        if name in NEED_BUILD and not built:
            print(f"==== {name}: not run, the build failed")
            continue
        start = time.monotonic()
        print(f"==== {name}", flush=True)
        for result in globals()[f"stage_{name}"](options):
            result.show()
            counts.add(result.passed, result.failed,
                       getattr(result, "skipped", 0))
            built = built and not (name == "build" and result.failed)
        print(f"---- {name}: {time.monotonic() - start:.0f} s", flush=True)
    print(counts.line(), flush=True)
    return 1 if counts.failed or not counts.passed else 0


if __name__ == "__main__":
    sys.exit(main())
