# test_modules.py - boot modules arrive byte for byte and overlap nothing.
# SPDX-License-Identifier: MIT
import random
import re
import zlib

import pytest

from test_programs import make_image

SIZES = {"small": 1024, "odd": 4097, "large": 20 << 20}


def adler(data):
    return f"{zlib.adler32(data):08x}"


@pytest.mark.parametrize("boot", ["bios", "uefi"])
def test_modules_of_all_sizes(vm, tmp_path, boot):
    wanted, modules = {}, []
    for name, size in SIZES.items():
        data = random.Random(name).randbytes(size)
        (tmp_path / name).write_bytes(data)
        modules.append(f"{tmp_path / name}:{name}")
        wanted[name] = (str(size), adler(data))
    # Programs must not get what the modules hold: raytrace fills memory, then
    # the modules are summed again.
    out = vm("run modtest; run raytrace 640 480; run hello-asm; run modtest",
             boot=boot, image=make_image(tmp_path, "modtest"), module=modules,
             mem=256)
    found = re.findall(r"module (\w+) (\d+) bytes (\w+)", out)
    assert len(found) >= 2 * len(SIZES)
    for name, *rest in found:
        if name in wanted:
            assert tuple(rest) == wanted[name], name
    assert {name for name, *_ in found} >= set(SIZES)


def test_one_module_under_pvh(vm, tmp_path):
    data = random.Random(5).randbytes(3000001)
    (tmp_path / "data").write_bytes(data)
    out = vm("run modtest", image=make_image(tmp_path, "modtest"),
             module=str(tmp_path / "data"))
    assert f" 3000001 bytes {adler(data)}" in out
