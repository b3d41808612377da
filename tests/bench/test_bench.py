# test_bench.py - the comparison's arithmetic, its report, the Linux guest's
# files, and a short run.
# SPDX-License-Identifier: MIT
import os
import subprocess

import pytest

from conftest import ROOT
import debian
import figures
import initramfs
import report

FLOOD = "flood virtio"
POLL = "empty poll, inline"


def filled(measure, ours, theirs):
    made = figures.Figures()
    for number, value in enumerate(ours):
        made.add(measure, "ingot", number, value)
    for number, value in enumerate(theirs):
        made.add(measure, "linux", number, value)
    return made


# ---- numbers ----

def test_parse_takes_result_lines_only():
    text = "RESULTS\nFrames: 3\nRESULT bench=x ns=1.50 mode=call odd\n" \
        "say RESULT bench=y\nRESULT bench=z ns=2"
    assert figures.parse(text) == [
        {"bench": "x", "ns": "1.50", "mode": "call"},
        {"bench": "z", "ns": "2"}]


@pytest.mark.parametrize("measure, ours, theirs, wanted", [
    (FLOOD, [200, 100, 300], [100, 100, 100], (2, 1, 3)),
    (POLL, [2, 4, 1], [4, 4, 4], (2, 1, 4)),  # lower is better
    (FLOOD, [100, 200], [100], (1, 1, 1)),    # a round without its other half
    (FLOOD, [100], [0], None),
    (FLOOD, [], [], None),
])
def test_advantage(measure, ours, theirs, wanted):
    assert filled(measure, ours, theirs).advantage(measure) == wanted


def test_rounds_are_compared_with_themselves():
    """A host that slows down in the middle moves both systems."""
    made = figures.Figures()
    for number, (ours, theirs) in enumerate([(200, 100), (20, 10), (2, 1)]):
        made.add(FLOOD, "linux", number, theirs)
        made.add(FLOOD, "ingot", number, ours)
    assert made.advantage(FLOOD) == (2, 2, 2)


def test_behind():
    assert FLOOD in filled(FLOOD, [89, 89, 200], [100] * 3).behind(True)
    assert filled(FLOOD, [91, 80, 200], [100] * 3).behind(True) == []
    assert FLOOD in filled(POLL, [1], [1]).behind()  # nobody took it
    loose = [m.name for m in figures.MEASURES if not m.required][0]
    assert filled(loose, [1], [1000]).behind(True) == []


# ---- the report ----

def test_every_number_is_published():
    made = filled(FLOOD, [1500, 2500, 3500], [4000, 4000, 4000])
    text = report.page(made, [("host", "a toaster")])
    assert "| 2,500 (1,500-3,500) | 4,000 (4,000-4,000) " \
        "| 0.62 (0.38-0.88) behind |" in text
    assert "a toaster" in text
    for measure in figures.MEASURES:
        assert f"| {measure.name}, " in text


def test_verdict_needs_every_round():
    assert report.verdict((1.5, 1.0, 2)).endswith("ahead")
    assert report.verdict((1.5, 0.9, 2)).endswith("even")
    assert report.verdict((0.5, 0.4, 0.9)).endswith("behind")
    assert report.verdict(None) == "not measured"


def test_publish_replaces_its_own_part_only(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n", encoding="utf-8")
    for name in ("first", "second"):
        report.publish(f"{report.BEGIN}\n{name}\n{report.END}", page)
        page.write_text(page.read_text("utf-8") + "after\n", "utf-8")
    text = page.read_text("utf-8")
    assert text.startswith("before\n") and "first" not in text
    assert text.count("second") == 1 and text.endswith("after\nafter\n")


# ---- the Linux guest's files ----

def test_archive_is_what_cpio_reads(tmp_path):
    made = initramfs.archive([
        ("dir", initramfs.DIRECTORY), ("dir/odd", initramfs.REGULAR, b"12345"),
        ("dev", initramfs.CHARACTER, b"", (5, 1))])
    assert len(made) % 4 == 0
    at, seen = 0, {}
    while True:
        assert made[at:at + 6] == b"070701"
        field = [int(made[at + 6 + 8 * i:at + 14 + 8 * i], 16)
                 for i in range(13)]
        mode, length, device, name_length = \
            field[1], field[6], tuple(field[9:11]), field[11]
        name = made[at + 110:at + 109 + name_length].decode()
        data = at + 110 + name_length + -(110 + name_length) % 4
        if name == "TRAILER!!!":
            break
        seen[name] = mode, made[data:data + length], device
        at = data + length + -length % 4
    assert seen == {"dir": (0o040755, b"", (0, 0)),
                    "dir/odd": (0o100755, b"12345", (0, 0)),
                    "dev": (0o020600, b"", (5, 1))}


def test_modules_come_after_what_they_need(tmp_path):
    needs = {"a": "b,c-c", "b": "c-c", "c-c": "", "d": "built_in"}
    for name, others in needs.items():
        (tmp_path / f"{name}.ko").write_bytes(
            b"\x7fELF\0depends=" + others.encode() + b"\0license=GPL\0")
    paths = initramfs.index(tmp_path)
    order = [os.path.basename(path) for path in initramfs.in_order(
        ("d", "a", "nowhere", "b"), paths)]
    assert order == ["d.ko", "c-c.ko", "b.ko", "a.ko"]


# ---- a short run ----

def bench(*words):
    subprocess.run(["make", "bench-programs"], cwd=ROOT, check=True,
                   capture_output=True, timeout=120)
    done = subprocess.run(
        ["tools/bench/bench", "--rounds", "1", "--seconds", "1", *words],
        cwd=ROOT, capture_output=True, encoding="utf-8", timeout=300)
    with open(f"{ROOT}/build/bench/results.txt", encoding="utf-8") as file:
        return done, file.read()


def test_ingot_half():
    done, lines = bench("--system", "ingot", "--only", "e1000")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "FAILED" not in lines
    assert "round=0 trial=ingot-e1000 RESULT bench=boot" in lines
    runs = figures.parse("\n".join(line[line.index("RESULT"):]
                                   for line in lines.splitlines()))
    floods = [run for run in runs if run["bench"] == "netpoll"]
    assert [run["mode"] for run in floods] == ["call", "burst", "call"]
    assert floods[0]["frames"] == "1"
    for run in floods:
        assert int(run["frames"]) > 0
        assert int(run["bytes"]) == 1500 * int(run["frames"])


def test_linux_half():
    if not os.path.exists(f"{ROOT}/{debian.HOME}/root/version"):
        pytest.skip("needs a kernel that make bench has fetched")
    done, lines = bench("--system", "linux", "--only", "cores")
    assert done.returncode == 0, done.stdout + done.stderr
    for name in ("thread", "futex", "spin"):
        assert f"RESULT bench={name} os=linux" in lines
