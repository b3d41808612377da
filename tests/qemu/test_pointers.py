# test_pointers.py - every pointer of every call, bad in every way: the program
# ends with the call's name, or the call returns an error.
# SPDX-License-Identifier: MIT
import re

from test_faults import CRASHED, check_alive
from test_programs import make_image

KINDS = ("null", "unmapped", "kernel-text", "call-table", "not-canonical",
         "straddling", "last")
NEVER_READABLE = ("null", "unmapped", "not-canonical")
LATER = ("cpu_start", "hook_timer", "hook_net", "hook_irq")  # not by the call


def verdict(name, kind, out):
    """None when it ended as it should."""
    if CRASHED in out:
        named = f"in the call {name}" in out or "execute 0x" in out \
            or name in LATER
        return None if named and "kernel panic" not in out else out
    returned = re.search(r"returned (-?\d+)$", out, re.M)
    if not returned:
        return out
    worked = int(returned[1]) > 0 and name not in LATER
    return out if worked and kind in NEVER_READABLE else None


def test_every_pointer_of_every_call(machine, tmp_path):
    m = machine(image=make_image(tmp_path, "pointers"), mem=64, cpus=3)
    m.run("load pointers")
    listed = re.findall(r"^pointer (\w+) (\d)$", m.run("exec"), re.M)
    names = {name for name, _ in listed}
    assert {"con_write", "net_tx", "disk_read", "mem_alloc", "sys_log",
            "cpu_start", "app_run"} <= names and len(listed) >= 28
    free = re.search(r"Free +(\d+)", m.run("mem"))[1]
    bad = []
    for name, parameter in listed:
        for kind in KINDS:
            elsewhere = " 2" if kind == "unmapped" else ""
            out = m.run(f"exec {name} {parameter} {kind}{elsewhere}")
            wrong = verdict(name, kind, out)
            if wrong is not None:
                bad.append(f"{name} {parameter} {kind}: {wrong}")
    assert not bad, "\n".join(bad)
    assert re.search(r"Free +(\d+)", m.run("mem"))[1] == free
    m.run("run smp 2")
    check_alive(m)
