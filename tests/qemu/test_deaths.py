# test_deaths.py - a hundred and more deaths of all kinds, on every core, under
# a flood of frames; `make deaths` is the long run.
# SPDX-License-Identifier: MIT
import os
import sys

from conftest import ROOT
from test_programs import make_image

sys.path.insert(0, os.path.join(ROOT, "tests"))

from deaths import CORES, die_often  # noqa: E402


def test_a_hundred_deaths_of_all_kinds(machine, tmp_path):
    image = make_image(tmp_path, "die", "die_flat", "hostile", "busydie")
    m = machine(image=image, mem=64, cpus=CORES, nic="virtio")
    assert die_often(m, 120, seed=4) == 120
