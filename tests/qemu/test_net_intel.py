# test_net_intel.py - Intel's network devices: frames flow, are counted, and flow
# again after whatever happened.
# SPDX-License-Identifier: MIT
import re
import time

import pytest

from test_programs import frame, make_image, results, sent_frames, start, take
from vmlib import model
from vmlib.wire import Wire

NICS = ["e1000", "e1000e", pytest.param("x540", marks=pytest.mark.skipif(
    not model.qemu_has_device(), reason="needs x-pci-proxy-dev"))]


def check_echo(m, n=20, nic=0, lengths=None):
    """n frames there and back, byte for byte, one at a time."""
    wire = m.wires[nic]
    lengths = lengths or [60 + 76 * (i % 20) for i in range(n)]
    start(m, f"netecho {nic} --frames {len(lengths)} --seconds 30")
    for i, length in enumerate(lengths):
        sent = frame(i, max(length, 18))[:length]
        wire.send(sent)
        got = wire.receive(10)
        want = sent[6:12] + sent[:6] + sent[12:]
        assert got is not None and got[:length] == want, length
        assert got[length:].count(0) == len(got) - length == max(0, 60 - length)
    assert results(m.wait_prompt(40))[0]["sent"] == str(len(lengths))


def dropped(m):
    return int(re.search(r"received .* (\d+) dropped", m.run("net")).group(1))


@pytest.mark.parametrize("nic", NICS)
def test_echo_of_every_length(machine, nic):
    m = machine(nic=nic)
    assert ("02:49:4e:58:54:00" if nic == "x540" else "52:54:00:12:34:56") in \
        m.run("net")
    check_echo(m, lengths=[14, 15, 17, 59, 60, 61, 64, 65, 1513, 1514] +
               list(range(100, 1500, 31)))


@pytest.mark.parametrize("nic", NICS)
def test_2000_frames(machine, nic):
    m = machine(nic=nic)
    start(m, "netpoll 0 --frames 2000 --seconds 20")
    m.wires[0].send_paced((frame(i) for i in range(2000)), 20000)
    result = results(m.wait_prompt(30))[0]
    assert (result["frames"], result["bytes"]) == ("2000", "128000")
    assert result["dropped"] == result["missed"] == "0"


@pytest.mark.parametrize("nic", NICS)
def test_flood_then_ten_frames(machine, nic):
    m = machine(nic=nic)
    for i in range(5000):
        m.wires[0].send(frame(i, 1514))
    for _ in range(10):  # what is left of it
        if results(m.run("run netecho 0 --seconds 1"))[0]["frames"] == "0":
            break
    m.wires[0].drain()
    check_echo(m, 10)


@pytest.mark.parametrize("nic", NICS)
def test_link_down_and_up(machine, nic):
    m = machine(nic=nic)
    check_echo(m, 3)
    set_link(m, False)
    assert "link is down" in m.run("run netflood 0 60 10")
    assert re.search(r"\bdown\b", m.run("net"))
    set_link(m, True)
    check_echo(m, 3)


def set_link(m, up):
    if 0 in m.models:
        m.models[0].command(f"link {'up' if up else 'down'}")
    else:
        m.qmp("set_link", name="nic0", up=up)


@pytest.mark.parametrize("nic", NICS)
def test_oversize_is_dropped_whole_and_counted(machine, nic):
    m = machine(nic=nic)
    start(m, "netecho 0 --frames 2 --seconds 20")
    for length in (1515, 1518, 1519, 2048, 9014, 16110):
        m.wires[0].send(frame(1, length))
    for i in range(2):
        m.wires[0].send(frame(i, 100))
        assert m.wires[0].receive(10)[12:] == frame(i, 100)[12:]
    m.wait_prompt(30)
    assert m.wires[0].receive(0.1) is None
    assert dropped(m) == 6


@pytest.mark.parametrize("nic", NICS)
def test_lengths_to_send(machine, nic):
    m = machine(nic=nic)
    assert "bad frame length" in m.run("run netflood 0 13 1")
    assert "bad frame length" in m.run("run netflood 0 1515 1")
    assert "Frames sent: 100 " in m.run("run netflood 0 14 100")
    assert {len(m.wires[0].receive(5)) for _ in range(100)} == {60}


@pytest.mark.parametrize("nic", NICS)
def test_budgets(machine, tmp_path, nic):
    """Guest instructions: an empty poll by call, from assembly and in line; a
    frame of 64 bytes in bursts of 32, there and back."""
    make_image(tmp_path, "burst")
    m = machine(nic=nic, icount=True, image=str(tmp_path / "test.img"))
    costs = [float(results(m.run(f"run {line}"))[0]["ns"])
             for line in ("netpoll 0 100000", "netpoll-asm 0 100000",
                          "netpoll 0 100000 --inline")]
    assert 3 < costs[2] < 7.1 and costs[1] < 14.1 and costs[0] < 18.1
    sent = results(m.run("run burst tx"))[0]
    assert int(sent["frames"]) >= 320 and 10 < int(sent["centi"]) <= 5000
    for i in range(250):
        m.wires[0].send(frame(i))
    until = time.monotonic() + 10
    while m.wires[0].backlog()[0] and time.monotonic() < until:
        time.sleep(0.001)
    m.qmp("query-status")  # behind the last of them in QEMU's main loop
    received = results(m.run("run burst rx"))[0]
    assert int(received["frames"]) >= 96 and 10 < int(received["centi"]) <= 4000


@pytest.mark.parametrize("nic", NICS)
def test_programs_that_die_in_a_call(machine, tmp_path, nic):
    """A frame that cannot be read, 20 times: the card is as before."""
    make_image(tmp_path, "burst")
    m = machine(nic=nic, image=str(tmp_path / "test.img"))
    for _ in range(20):
        assert "net_tx" in m.run("run burst bad")
    check_echo(m, 5)


def test_different_kinds_at_once(machine):
    kinds = ["virtio", "e1000", "e1000e"]
    m = machine(nic=kinds)
    out = m.run("net")
    assert [word for word in re.findall(r"virtio_net|e1000e?", out)] == \
        ["virtio_net", "e1000", "e1000e"]
    for index in range(len(kinds)):
        check_echo(m, 3, nic=index)


@pytest.mark.parametrize("device", ["e1000-82544gc", "e1000-82545em"])
def test_relatives(machine, device):
    wire = Wire()
    m = machine(nic="none", qemu=[
        "-netdev", f"socket,id=w0,udp=127.0.0.1:{wire.peer},"
                   f"localaddr=127.0.0.1:{wire.port}",
        "-device", f"{device},netdev=w0,romfile="])
    m.wires.append(wire)
    check_echo(m, 5)


def test_little_ram(machine):
    m = machine(nic=["e1000", "e1000e"], mem=16)
    for index in range(2):
        check_echo(m, 5, nic=index)


# ---- the X540's faults, as its model makes them ----

x540 = pytest.mark.skipif(not model.qemu_has_device(),
                          reason="needs x-pci-proxy-dev")


def rules(m):
    return m.models[0].stats()["rules"]


@x540
@pytest.mark.parametrize("setting", ["reset_stuck=1", "ard_never=1",
                                     "dmaidone_never=1", "rxen_never=1",
                                     "txen_never=1", "removed=1"])
def test_x540_that_never_starts(machine, setting):
    m = machine(nic=[f"x540,{setting}", "e1000"])
    log = m.boot_text + m.run("log")
    if setting != "removed=1":
        assert "x540 at 00:01.0: device does not answer" in log
    assert "x540" not in m.run("net")
    m.wires.reverse()
    check_echo(m, 3)


@x540
@pytest.mark.parametrize("setting", ["reset_us=200000", "qen_us=20000",
                                     "init_us=100000", "master_stuck=1",
                                     "eeprom_bad=1", "swsm_held=5", "dev=10fb",
                                     "tx_dd_us=200", "rx_dd_us=200",
                                     "prefetch=64", "rx_err=0"])
def test_x540_slow_or_odd(machine, setting):
    m = machine(nic=f"x540,{setting}")
    check_echo(m, 300, lengths=[64] * 300)
    assert not rules(m)


@x540
@pytest.mark.parametrize("setting,count", [
    ("rx_err=3", 3), ("rx_err=3 rx_err_force=1", 3), ("rx_len=3", 3),
    ("rx_len=3 rx_len_val=2049", 3), ("rx_len=3 rx_len_val=0", 3),
    ("rx_len=3 rx_len_val=13", 3), ("rx_split=3", 3),
    ("rx_split=2 rx_split_at=16", 2)])
def test_x540_bad_frames_are_dropped_and_counted(machine, setting, count):
    m = machine(nic="x540")
    m.models[0].command(f"set {setting}")
    start(m, "netecho 0 --frames 5 --seconds 20")
    for i in range(count):
        m.wires[0].send(frame(i, 100))
    for i in range(5):
        sent = frame(i, 200)
        m.wires[0].send(sent)
        assert m.wires[0].receive(10) == sent[6:12] + sent[:6] + sent[12:]
    m.wait_prompt(30)
    # The card counts a bad FCS itself, also one that we are forced to see.
    assert dropped(m) == count
    assert not rules(m)


@x540
def test_x540_echoes_many(machine):
    """None lost, none damaged, no rule broken."""
    m = machine(nic="x540")
    start(m, "netecho 0 --frames 20000 --seconds 30")
    back = []
    m.wires[0].socket.setblocking(False)
    m.wires[0].send_paced(sent_frames(m.wires[0], 20000, back), 20000)
    m.wait_prompt(40)
    while len(back) < 20000 and (got := m.wires[0].receive(5)):
        back.append(got)  # the card sends on while the prompt is printed
    assert [got[12:] for got in back] == [frame(i)[12:] for i in range(20000)]
    assert not rules(m)


@x540
def test_x540_frame_without_end(machine):
    """It takes the next frame with it: where one ends is all there is to see."""
    m = machine(nic="x540")
    m.models[0].command("set rx_noeop=1")
    start(m, "netecho 0 --frames 2 --seconds 20")
    for i in range(4):
        m.wires[0].send(frame(i, 100))
    back = [m.wires[0].receive(10)[14:18][-1] for _ in range(2)]
    m.wait_prompt(30)
    assert back == [2, 3] and dropped(m) == 1


def flows_again(m):
    m.run("net")
    check_echo(m, 5)


@x540
@pytest.mark.parametrize("fault,off", [("tx_hang=5", "tx_hang=0"),
                                       ("tx_drop_dd=1", None),
                                       ("tx_stall=1", "tx_stall=0")])
def test_x540_transmit_stands_still(machine, fault, off):
    m = machine(nic="x540")
    m.models[0].command(f"set {fault}")
    out = m.run("run netflood 0 60 2000", timeout=30)
    assert "Frames sent" in out or "error" in out
    assert "transmit stands still" in m.run("log")
    if off:
        m.models[0].command(f"set {off}")
    m.wires[0].drain()
    flows_again(m)


@x540
def test_x540_passes_a_descriptor_over(machine):
    m = machine(nic="x540")
    m.models[0].command("set rx_skip=1")
    for i in range(3):
        m.wires[0].send(frame(i))
    m.models[0].wait_stats(lambda s: s)
    m.run("run netpoll 0 --seconds 1")
    m.run("net")
    m.run("run netpoll 0 --seconds 1")
    m.run("net")
    assert "receive stands still" in m.run("log")
    m.wires[0].drain()
    flows_again(m)


@x540
def test_x540_receive_stall_ends(machine):
    m = machine(nic="x540")
    m.models[0].command("set rx_stall=1")
    m.run("run netpoll 0 1000")
    m.models[0].command("set rx_stall=0")
    check_echo(m, 5)


@x540
def test_x540_resets_itself(machine):
    m = machine(nic="x540")
    check_echo(m, 3)
    m.models[0].command("selfreset")
    m.run("net")
    assert "it was reset" in m.run("log")
    check_echo(m, 5)


@x540
def test_x540_reset_fails_until_it_does_not(machine):
    m = machine(nic="x540")
    m.models[0].command("set reset_stuck=1")
    m.models[0].command("selfreset")
    m.run("net")
    assert "device does not answer" in m.run("log")
    assert "error" in m.run("run netflood 0 60 10")
    m.models[0].command("set reset_stuck=0")
    until = time.monotonic() + 20
    while not re.search(r"\bup\b", m.run("net")) and time.monotonic() < until:
        m.run("run callcost 1000000")
    check_echo(m, 5)


@x540
@pytest.mark.parametrize("way", ["kill", "removed"])
def test_x540_is_removed(machine, way):
    m = machine(nic=["x540", "e1000"])
    if way == "kill":
        m.models[0].kill()
    else:
        m.models[0].command("set removed=1")
    m.run("net")
    assert "device is gone" in m.run("run netflood 0 60 10")
    assert "device is gone" in m.run("run netecho 0 --seconds 1")
    check_echo(m, 3, nic=1)


@x540
def test_x540_removed_under_a_program_that_only_receives(machine):
    m = machine(nic="x540")
    start(m, "netecho 0 --seconds 60")
    m.models[0].kill()
    assert "device is gone" in m.wait_prompt(30)


@x540
def test_x540_overrun(machine):
    m = machine(nic="x540,lossy=1")
    m.models[0].command("gen 5000 64")
    m.run("run netpoll 0 --seconds 1")
    assert int(re.search(r"(\d+) missed", m.run("net")).group(1)) > 3000
    check_echo(m, 5)
    assert not rules(m)
