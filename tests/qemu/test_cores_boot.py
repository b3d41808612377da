# test_cores_boot.py - what the other cores cost the boot.
# SPDX-License-Identifier: MIT
from test_cores import cores


def executed_by_the_first(vm, tmp_path, cpus):
    """Instructions of core 0 in the kernel from power-on to shutdown. QEMU's
    trace of single ones counts them: --icount's clock also jumps where every
    core waits."""
    log = tmp_path / "trace"
    out = vm("cpu", icount=True, cpus=cpus, nic="none", disk="none", qemu=[
        "-singlestep", "-d", "exec,nochain", "-D", str(log),
        "-dfilter", "0xffffffff80200000+0x3ffff"])
    assert cores(out) == cpus
    with open(log, "rb") as lines:
        n = sum(line.startswith(b"Trace 0:") for line in lines)
    log.unlink()
    return n


def test_what_seven_more_cores_cost_the_boot(vm, tmp_path):
    alone = executed_by_the_first(vm, tmp_path, 1)
    assert 100_000 < alone < 1_000_000
    assert 20_000 < executed_by_the_first(vm, tmp_path, 8) - alone <= 100_000
