# test_faults.py - programs that die, hang or leave a mess, and images that are
# no programs: each ends in its report or its error line, and the shell lives.
# SPDX-License-Identifier: MIT
import re
import struct

import pytest

from test_programs import make_image

WINDOW = 0xFFFF800000000000
KERNEL = 0xFFFFFFFF80200000
CRASHED = "program was ended by an exception"

# How `die WAY` ends: the exception and what the report says of the address.
DEATHS = {
    "ud2": ("invalid opcode (vector 6)", ""),
    "divide": ("divide error (vector 0)", ""),
    "breakpoint": ("breakpoint (vector 3)", ""),
    "trap-flag": ("debug trap (vector 1)", ""),
    "software-interrupt": ("general protection (vector 13)", ""),
    "null-read": ("page fault (vector 14)", "read of 0x0000000000000000: null"),
    "null-write": ("page fault (vector 14)", "write to 0x0000000000000008: null"),
    "null-call": ("page fault (vector 14)", "execute 0x0000000000000000: null"),
    "wild-jump": ("page fault (vector 14)", "execute 0xffff900000000000: unmapped"),
    "wilder-jump": ("general protection (vector 13)", ""),
    "wild-read": ("general protection (vector 13)", ""),
    "past-window": ("page fault (vector 14)", "read of 0xffff900000000000"),
    "kernel-text": ("page fault (vector 14)", "write to 0xffffffff80200000: kernel text"),
    "call-table": ("page fault (vector 14)", "write to 0x0000000000100088: call table"),
    "own-constant": ("page fault (vector 14)", "read-only"),
    "own-text": ("page fault (vector 14)", "read-only"),
    "execute-data": ("page fault (vector 14)", "not executable"),
    "execute-stack": ("page fault (vector 14)", "not executable"),
    "execute-heap": ("page fault (vector 14)", "not executable"),
    "stack-overflow": ("page fault (vector 14)", "stack overflow"),
    "misaligned": ("general protection (vector 13)", ""),
    "bad-text": ("page fault (vector 14)", "in the call con_write"),
    "bad-text-wild": ("general protection (vector 13)", "in the call con_write"),
    "bad-text-null": ("page fault (vector 14)", "in the call con_write"),
    "bad-result": ("page fault (vector 14)", "in the call sys_info"),
    "bad-result-text": ("page fault (vector 14)", "in the call mem_info"),
    "huge-text": ("page fault (vector 14)", "in the call sys_log"),
}
FLAT_DEATHS = [
    ("invalid opcode (vector 6)", ""),
    ("divide error (vector 0)", ""),
    ("page fault (vector 14)", "read of 0x0000000000000000: null"),
    ("general protection (vector 13)", ""),
    ("page fault (vector 14)", "stack overflow"),
    ("page fault (vector 14)", "kernel text"),
]
FLAT_LOST_STACK, FLAT_PAST_END, FLAT_BAD_TEXT = 9, 11, 12
FLAT_RETURNS = [6, 7, 8]


@pytest.fixture
def die(machine, tmp_path):
    return machine(image=make_image(tmp_path, "die", "die_flat"), mem=64)


def free_bytes(m):
    """What `mem` says is free when the shell holds hello and nothing else."""
    m.run("run hello")
    return [line for line in m.run("mem").splitlines() if "ree" in line]


def check_alive(m):
    """The shell, its disk and a program still work."""
    out = m.run("run hello still there")
    assert "Hello from C" in out and "argument 2: there" in out, m.tail(60)
    assert "virtio_net" in m.run("net")


def check_death(m, line, exception, words):
    out = m.run(line)
    name = line.split()[1]
    assert f"*** {name}.app: {exception}" in out, out
    assert words in out, out
    assert out.rstrip().endswith(f"error: {name}.app: {CRASHED}"), out
    assert "survived" not in out


def test_every_death(die):
    before = None
    for way, (exception, words) in DEATHS.items():
        check_death(die, f"run die {way}", exception, words)
        before = before or free_bytes(die)
    assert free_bytes(die) == before
    check_alive(die)


def test_every_flat_death(die):
    for number, (exception, words) in enumerate(FLAT_DEATHS):
        check_death(die, f"run die_flat {number}", exception, words)
    check_death(die, f"run die_flat {FLAT_PAST_END}", "page fault", "write to")
    check_death(die, f"run die_flat {FLAT_BAD_TEXT}", "page fault",
                "in the call b_output")
    check_alive(die)


def test_a_lost_stack(die):
    """The push that faults finds no stack for a report: it has its own."""
    out = die.run(f"run die_flat {FLAT_LOST_STACK}")
    assert "*** die_flat.app: " in out and CRASHED in out
    check_alive(die)


def test_report_names_the_place(die):
    """Offset in the program, registers, and who called: die is linked at the
    window, so the offset is that of the symbol."""
    out = die.run("run die own-text")
    assert re.search(r"at +0xffff8000[0-9a-f]{8}  die\.app\+0x[0-9a-f]+", out)
    assert re.search(r"from 0xffff8000[0-9a-f]{8}  die\.app\+0x", out)
    assert re.search(r"rax [0-9a-f]{16}", out)


def test_a_thousand_deaths(die):
    die.run("run die ud2")
    before = free_bytes(die)
    for _ in range(250):
        out = die.run("run die ud2; run die bad-text; run die stack-overflow; "
                      "run die_flat 0")
        assert out.count(CRASHED) == 4
    assert free_bytes(die) == before
    check_alive(die)


SIGNS = {"spin": "spinning\n", "halt": "halted\n", "wait": "waiting\n",
         "print": "......", "spin-off": "spinning\n", "halt-off": "halted\n"}


@pytest.mark.parametrize("way", ["spin", "halt", "wait", "print"])
def test_ctrl_c(die, way):
    for _ in range(3):
        die.type(f"run die {way}")
        die.wait_for(SIGNS[way])
        die.send(b"\x03")
        out = die.wait_prompt(20)
        assert "error: die.app: program was stopped" in out, out
    check_alive(die)


def test_many_ctrl_c(die):
    """Those that come while the program is ending find it gone."""
    for n in range(60):
        way = ("spin", "halt", "wait", "print")[n % 4]
        die.type(f"run die {way}")
        die.wait_for(SIGNS[way])
        die.send(b"\x03" * (1 + n % 5))
        die.wait_for("program was stopped")
        die.wait_prompt(20)
    check_alive(die)


@pytest.mark.parametrize("way", ["spin-off", "halt-off"])
def test_interrupts_off(die, way):
    """No key gets through, but an NMI (a server's button) does."""
    die.type(f"run die {way}")
    die.wait_for(SIGNS[way])
    die.wait(lambda: in_program(die), 10, "cli")
    die.monitor("nmi")
    out = die.wait_prompt(20)
    assert "*** die.app: NMI (vector 2)" in out
    check_alive(die)


def in_program(m):
    found = re.search(r"RIP=([0-9a-f]+) RFL=([0-9a-f]+)",
                      m.monitor("info registers"))
    return int(found[1], 16) >> 32 == 0xFFFF8000 and \
        not int(found[2], 16) & 0x200


def test_what_programs_leave_behind(die):
    free = free_bytes(die)
    assert "exit status 7" in die.run("run die exit-deep")
    assert "exit status 255" in die.run("run die exit-negative")
    for way in ("leave-interrupts-off", "leave-everything"):
        out = die.run(f"run die {way}")
        assert "error" not in out and "***" not in out, out
        # Numbers with decimals and a division in the shell and a program.
        assert "argument 1: x" in die.run("run hello x; mem; time")
        assert "Checksum: " in die.run("run raytrace 8 8 1")
    for number in FLAT_RETURNS:
        out = die.run(f"run die_flat {number}")
        assert "error" not in out and "***" not in out, out
        assert "Checksum: " in die.run("run raytrace 8 8 1; mem; time")
    assert "printed with DF set" in die.run("run die_flat 10")
    assert "stepping" in die.run("run die_flat 13")
    assert free_bytes(die) == free
    check_alive(die)


# ---- images that are no programs ----

def elf(segments=None, code=b"\x31\xc0\xc3", **fields):
    """An ELF64 program that returns 0, with any field changed."""
    header = dict(ident=b"\x7fELF\x02\x01\x01" + bytes(9), type=2, machine=62,
                  version=1, entry=WINDOW, phoff=64, shoff=0, flags=0,
                  ehsize=64, phentsize=56, phnum=None, shentsize=0, shnum=0,
                  shstrndx=0)
    segments = segments if segments is not None else [segment()]
    header.update(fields)
    if header["phnum"] is None:
        header["phnum"] = len(segments)
    text = struct.pack("<16sHHIQQQIHHHHHH", *header.values())
    return (text + b"".join(segments)).ljust(4096, b"\0") + code.ljust(4096, b"\xcc")


def segment(type=1, flags=5, offset=4096, virt=WINDOW, filesz=4096, memsz=4096,
            align=4096):
    return struct.pack("<IIQQQQQQ", type, flags, offset, virt, virt, filesz,
                       memsz, align)


DATA = dict(flags=6, virt=WINDOW + 4096)
TOP = (1 << 64) - 4096
HOSTILE = {
    "header of 10 bytes": elf()[:10],
    "header of 63 bytes": elf()[:63],
    "magic alone": b"\x7fELF",
    "program headers cut": elf()[:100],
    "segment cut": elf()[:5000],
    "32 bits": elf(ident=b"\x7fELF\x01\x01\x01" + bytes(9)),
    "big-endian": elf(ident=b"\x7fELF\x02\x02\x01" + bytes(9)),
    "for arm64": elf(machine=183),
    "object file": elf(type=1),
    "core file": elf(type=4),
    "no program headers": elf(phnum=0),
    "65535 program headers": elf(phnum=65535),
    "program headers past the end": elf(phoff=1 << 20),
    "program headers at 2^64": elf(phoff=(1 << 64) - 56),
    "program header entries of 0": elf(phentsize=0),
    "program header entries of 1": elf(phentsize=1),
    "no segment to load": elf([segment(type=4)]),
    "entry at 0": elf(entry=0),
    "entry behind the segment": elf(entry=WINDOW + 4096),
    "entry in the kernel": elf(entry=KERNEL),
    "entry in data": elf([segment(), segment(**DATA)], entry=WINDOW + 4096),
    "entry in a writable segment": elf([segment(flags=6)]),
    "offset past the end": elf([segment(offset=1 << 30)]),
    "offset wraps": elf([segment(offset=TOP, filesz=8192, memsz=8192)]),
    "file size past the end": elf([segment(filesz=1 << 40, memsz=1 << 40)]),
    "file size above memory size": elf([segment(memsz=1)]),
    "memory size of 2^63": elf([segment(memsz=1 << 63)]),
    "memory size of a terabyte": elf([segment(), segment(
        flags=6, virt=WINDOW + 4096, memsz=1 << 40)]),
    "address wraps": elf([segment(virt=TOP, memsz=1 << 20)]),
    "address 0": elf([segment(virt=0)], entry=0),
    "address in low memory": elf([segment(virt=0x400000)], entry=0x400000),
    "address of the call table": elf([segment(virt=0x100000)], entry=0x100000),
    "address of the kernel": elf([segment(virt=KERNEL)], entry=KERNEL),
    "address below the window": elf([segment(virt=WINDOW - 4096)]),
    "across the window's start": elf([segment(
        virt=WINDOW - 2048, memsz=4096)]),
    "over the stack": elf([segment(), segment(
        flags=6, virt=0xFFFF807FFFFE0000, filesz=0, memsz=65536)]),
    "segments overlap": elf([segment(), segment()]),
    "segments overlap by a byte": elf([
        segment(), segment(flags=6, virt=WINDOW + 4095, filesz=1, memsz=1)]),
    "segment inside another": elf([
        segment(memsz=16384), segment(flags=6, virt=WINDOW + 8192)]),
    "segments share a page": elf([
        segment(filesz=100, memsz=100),
        segment(flags=6, virt=WINDOW + 2048, filesz=8, memsz=8)]),
    "writable and executable": elf([segment(flags=7)]),
    "interpreter": elf([segment(), segment(type=3, filesz=16, memsz=16)]),
    "needs a library": elf([segment(), segment(
        type=2, flags=6, virt=WINDOW, filesz=32, memsz=32)], code=b"\x31\xc0\xc3"
        .ljust(16, b"\0"), type=3, entry=0),
}


def hostile_image(tmp_path):
    names = {}
    files = []
    for number, (what, data) in enumerate(HOSTILE.items()):
        name = f"bad{number}.app"
        (tmp_path / name).write_bytes(data)
        names[name] = what
        files.append(str(tmp_path / name))
    (tmp_path / "good.app").write_bytes(elf())
    (tmp_path / "pie.app").write_bytes(
        elf([segment(virt=0)], type=3, entry=0))
    return names, files + [str(tmp_path / "good.app"),
                           str(tmp_path / "pie.app")]


def test_hostile_images(machine, tmp_path):
    names, files = hostile_image(tmp_path)
    m = machine(image=make_image(tmp_path, *files), mem=64)
    m.run("run good")
    free = free_bytes(m)
    bad = []
    for name, what in names.items():
        out = m.run(f"run {name}")
        errors = [line for line in out.splitlines()
                  if line.startswith("error: ")]
        if len(errors) != 1 or "***" in out:
            bad.append(f"{what}: {out!r}")
    assert not bad, "\n".join(bad)
    assert m.run("run good") == "" and m.run("run pie") == ""
    assert free_bytes(m) == free
    check_alive(m)


def test_empty_and_tiny_files(machine, tmp_path):
    (tmp_path / "empty.app").write_bytes(b"")
    (tmp_path / "ret.app").write_bytes(b"\xc3")
    (tmp_path / "breaks.app").write_bytes(b"\xcc" * 4096)
    files = [str(tmp_path / name)
             for name in ("empty.app", "ret.app", "breaks.app")]
    m = machine(image=make_image(tmp_path, *files), mem=64)
    assert "error: " in m.run("run empty")
    m.run("run ret")  # whatever RAX held is its exit status
    assert CRASHED in m.run("run breaks")
    check_alive(m)
