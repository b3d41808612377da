# test_gen_api.py - the generator of ingot.inc and api.md.
# SPDX-License-Identifier: MIT
import os
import re
import shutil
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
TOOL = os.path.join(ROOT, "tools", "gen_api.py")


def generate(*words, **environment):
    return subprocess.run([TOOL, *words], capture_output=True, text=True,
                          env={**os.environ, **environment})


def equates(path):
    with open(path, encoding="utf-8") as file:
        rows = re.findall(r"^(\w+)\s+equ\s+(-?\w+)", file.read(), re.M)
    return {name: int(value, 0) for name, value in rows}


@pytest.fixture
def tree(tmp_path):
    """A tree with nothing but the header, and the files made from it."""
    (tmp_path / "include").mkdir()
    shutil.copy(os.path.join(ROOT, "include", "ingot.h"),
                tmp_path / "include" / "ingot.h")
    assert generate("--root", str(tmp_path)).returncode == 0
    return tmp_path


def change(tree, old, new):
    header = tree / "include" / "ingot.h"
    text = header.read_text()
    assert old in text
    header.write_text(text.replace(old, new, 1))


def test_files_are_current():
    done = generate("--check")
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_programs_name_is_there():
    """Settings for net_set in NASM, addresses without a sign."""
    names = equates(os.path.join(ROOT, "include", "ingot.inc"))
    assert names["NET_PROMISCUOUS"] == 0 and names["NET_FRAME_LIMIT"] == 4
    with open(os.path.join(ROOT, "docs", "api.md"), encoding="utf-8") as file:
        text = file.read()
    assert "| `NET_RX_RING` | 2 |" in text
    assert "at 0xFFFF800000000000 and" in text and "0x-" not in text


def test_errors_as_another_call():
    with open(os.path.join(ROOT, "docs", "api.md"), encoding="utf-8") as file:
        write = file.read().split("### pci_write")[1].split("###")[0]
    assert "Errors: `E_RANGE`, `E_ARG`." in write


@pytest.mark.parametrize("cc", ["gcc", "clang"])
def test_compilers_agree(tree, cc):
    if not shutil.which(cc):
        pytest.skip(f"no {cc}")
    done = generate("--check", "--root", str(tree), CC=cc)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("old, new", [
    ("E_ARG, -1", "E_ARG, -100"),
    ('"bad argument"', '"wrong argument"'),
    ("Write len bytes to every console", "Print len bytes"),
    ("int, net_rx, (u32 nic,", "int, net_rx, (u64 nic,"),
    ("void *data;\n    u32 len;", "void *data;\n    u64 len;"),
    ("NET_MAX_FRAME = 1514", "NET_MAX_FRAME = 9014"),
    ("INGOT_VERSION 1u", "INGOT_VERSION 2u"),
])
def test_check_sees_a_change(tree, old, new):
    change(tree, old, new)
    done = generate("--check", "--root", str(tree))
    assert done.returncode == 1
    assert "out of date" in done.stdout
    assert generate("--root", str(tree)).returncode == 0
    assert generate("--check", "--root", str(tree)).returncode == 0


def test_check_sees_a_missing_file(tree):
    (tree / "docs" / "api.md").unlink()
    done = generate("--check", "--root", str(tree))
    assert done.returncode == 1 and "docs/api.md" in done.stdout


def test_broken_header_is_an_error(tree):
    change(tree, "struct net_frame {", "struct net_frame { nonsense here;")
    done = generate("--root", str(tree))
    assert done.returncode == 1 and "gen_api:" in done.stderr


def test_addresses():
    """The tables lie where programs that exist already look."""
    value = equates(os.path.join(ROOT, "include", "ingot.inc"))
    assert value["b_input"] == 0x100010 and value["b_user"] == 0x100048
    assert value["b_net_rx"] == 0x100028 and value["b_system"] == 0x100040
    assert value["INGOT_CON_WRITE"] == 0x100088
    assert value["INGOT_NET_RX"] == 0x100098
    assert value["TSC"] == 0x1F and value["SHUTDOWN"] == 0x7F
    assert value["E_STOPPED"] == -16
    assert value["net_frame_len"] == 8 and value["net_frame_size"] == 16


def test_every_call_is_documented():
    with open(os.path.join(ROOT, "include", "ingot.h"), encoding="utf-8") as f:
        names = re.findall(r"CALL\(\w+, [^,]+, (\w+), \(", f.read())
    with open(os.path.join(ROOT, "docs", "api.md"), encoding="utf-8") as f:
        text = f.read()
    assert len(names) > 30
    for name in names:
        assert f"\n### {name}\n" in text and f"{name}(" in text


@pytest.mark.skipif(not shutil.which("nasm"), reason="no nasm")
def test_inc_assembles(tmp_path):
    source = tmp_path / "x.asm"
    source.write_text('bits 64\n%include "ingot.inc"\n%include "ingot.inc"\n'
                      "call [abs INGOT_NET_RX]\ncall [abs b_output]\n")
    done = subprocess.run(
        ["nasm", "-f", "bin", "-i", os.path.join(ROOT, "include") + "/", "-o",
         str(tmp_path / "x.bin"), str(source)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # FF 14 25 disp32: an absolute address, whatever the program's own.
    assert (tmp_path / "x.bin").read_bytes() == bytes.fromhex(
        "ff142598001000" "ff142518001000")
