# test_keyboard.py - keys on PS/2 and USB keyboards, typed through QMP.
# SPDX-License-Identifier: MIT
import re
import time

import pytest

import screen
from test_programs import make_image, results

BARE = "q35,i8042=off,hpet=off"
XHCI = "-device qemu-xhci,id=x"
USB = f"{XHCI} -device usb-kbd,id=k,bus=x.0,port=1"
HUBS = ("-device nec-usb-xhci,id=x -device usb-hub,bus=x.0,port=2 "
        "-device usb-hub,bus=x.0,port=2.3 "
        "-device usb-kbd,id=k,bus=x.0,port=2.3.4")
BESIDE = (f"{XHCI} -device usb-mouse,bus=x.0,port=1 "
          "-device usb-tablet,bus=x.0,port=2 "
          "-drive if=none,id=s,driver=null-co,size=1M "
          "-device usb-storage,bus=x.0,port=3,drive=s "
          "-device usb-kbd,id=k,bus=x.0,port=4")
TWO = ("-device nec-usb-xhci,id=w -device qemu-xhci,id=x "
       "-device usb-kbd,id=k,bus=x.0")
KINDS = {
    "ps2 pc": dict(machine="pc"),
    "ps2 q35": dict(machine="q35"),
    "usb": dict(machine=BARE, qemu=USB),
    "hubs": dict(machine=BARE, qemu=HUBS),
    "beside": dict(machine=BARE, qemu=BESIDE),
    "two": dict(machine=BARE, qemu=TWO),
}
LINE = ("The quick brown fox (jumps) over 13 lazy dogs; "
        "@#$%^&*_+{}|:<>?~`[],./\\=-' ABCDEFGHIJKLMNOPQRSTUVWXYZ")
LINE += "0123456789" * 9
LINE = LINE[:128]


def shown(m, text, timeout=10):
    """The line being typed becomes this."""
    m.wait(lambda: m.terminal.current.rstrip() == ("ingot> " + text).rstrip(),
           timeout, repr(text))


@pytest.fixture(params=KINDS)
def typist(machine, request):
    return machine(nic="none", **KINDS[request.param])


def test_typing(typist):
    """128 characters, exactly; then the keys that move in the line, keypad
    and locks."""
    m = typist
    m.type_keys(LINE)
    shown(m, LINE)
    m.press("ctrl", "u")
    shown(m, "")
    m.type_keys("xbcd")
    m.press("left")
    m.press("left")
    m.press("delete")   # the c
    m.press("home")
    m.press("delete")   # the x
    m.type_keys("a")
    m.press("end")
    m.type_keys("e")
    shown(m, "abde")
    m.press("kp_7")     # Num Lock is on
    shown(m, "abde7")
    m.press("num_lock")
    m.press("kp_7")     # Home
    m.press("kp_decimal")
    m.press("num_lock")
    shown(m, "bde7")
    m.press("caps_lock")
    m.type_keys("qQ1")
    m.press("caps_lock")
    m.type_keys("q")
    shown(m, "Qq1qbde7")
    m.press("ctrl", "c")
    m.wait_prompt()
    m.type_keys("run hello\n")
    m.wait_for("Hello from")
    m.wait_prompt()
    m.press("up")
    shown(m, "run hello")


def test_no_stray_characters(typist):
    m = typist
    m.press("a")
    for key in ("print", "pause", "scroll_lock", "scroll_lock", "menu", "f1",
                "f5", "f12", "pgup", "pgdn", "insert", "meta_l", "meta_r",
                "alt", "ctrl", "shift", "delete", "right", "end"):
        m.press(key)
        shown(m, "a", 1)
    m.press("b")
    shown(m, "ab")


@pytest.mark.parametrize("kind", ["ps2 pc", "usb", "hubs"])
def test_ctrl_c(machine, tmp_path, kind):
    m = machine(nic="none", image=make_image(tmp_path, "die"), **KINDS[kind])
    for way, sign in (("spin", "spinning\n"), ("wait", "waiting\n")):
        m.type_keys(f"run die {way}\n")
        m.wait_for(sign)
        m.press("ctrl", "c")
        assert "error: die.app: program was stopped" in m.wait_prompt(20)


@pytest.mark.parametrize("kind", ["usb", "hubs"])
def test_a_held_key_repeats(machine, kind):
    """Not on PS/2: there the keyboard does it, and QEMU's does not."""
    m = machine(nic="none", **KINDS[kind])
    m.hold("z")
    m.wait(lambda: m.terminal.current.count("z") >= 5, 10, "zzzzz")
    m.hold("z", down=False)
    m.press("ctrl", "u")
    shown(m, "")
    m.type_keys("ok")
    shown(m, "ok")


@pytest.mark.parametrize("kind", ["usb", "beside", "hubs"])
def test_an_idle_keyboard_interrupts_nothing(machine, kind):
    m = machine(nic="none", **KINDS[kind])
    m.type_keys("x")
    m.press("backspace")
    assert results(m.run("run jitter 1"))[0]["interrupts"] == "0"


def test_layouts(machine):
    """Letters beyond ASCII too, which the arrows and Backspace take whole."""
    m = machine(nic="none", machine=BARE, qemu=USB, append="keyboard=de")
    m.type_keys("yz-")
    m.press("alt_r", "q")
    m.press("alt_r", "7")
    m.press("shift", "7")
    m.press("less")
    m.press("bracket_left")
    m.press("alt_r", "e")
    m.press("minus")
    shown(m, "zyß@{/<ü€ß")
    m.press("left")
    m.press("backspace")
    m.press("shift", "semicolon")
    shown(m, "zyß@{/<üÖß")
    m = machine(nic="none", machine="pc", append="keyboard=fr")
    m.type_keys("qwm1")
    m.press("shift", "1")
    m.press("alt_r", "0")
    shown(m, "az,&1@")


def test_keys_pressed_while_it_boots(machine):
    """From the kernel's first lines on, on PS/2; on USB once it was found."""
    for kind, sign in (("ps2 pc", "[3]"), ("usb", "usb: keyboard")):
        m = machine(nic="none", prompt=False, **KINDS[kind])
        m.wait_for(sign)
        m.type_keys("ver\n")
        m.wait_for("Command line:", 30)


def plug(m, **more):
    m.qmp("device_add", driver="usb-kbd", id="k", bus="x.0", **more)


def unplug(m):
    """QEMU says when it is gone."""
    m.qmp("device_del", id="k")


def started(m, port):
    """The latest line of the log says that a keyboard works there."""
    for _ in range(50):
        found = m.run("log").strip().splitlines()[-1]
        if "usb: keyboard" in found and found.endswith(port[1:]):
            return
    raise AssertionError(m.run("log"))


def test_plugged_in_later(machine):
    m = machine(nic="none", machine=BARE, qemu=XHCI, append="loglevel=3")
    for n in range(3):
        plug(m)
        m.wait_for("usb: keyboard")
        m.type_keys(f"ver {n}\n")
        m.wait_for("error: ")
        m.wait_prompt()
        unplug(m)
    assert "Hello" in m.run("run hello")


def test_plugged_in_while_a_program_spins(machine, tmp_path):
    m = machine(nic="none", machine=BARE, qemu=XHCI, append="loglevel=3",
                image=make_image(tmp_path, "die"))
    m.type("run die spin")
    m.wait_for("spinning\n")
    plug(m)
    m.wait_for("usb: keyboard")
    m.press("ctrl", "c")
    assert "error: die.app: program was stopped" in m.wait_prompt(20)
    assert results(m.run("run jitter 1"))[0]["interrupts"] == "0"


def test_plugged_and_unplugged_at_any_moment(machine):
    """Behind a hub and at a port, with no time to be started; then it works
    and the shell has lost nothing."""
    m = machine(nic="none", machine=BARE,
                qemu=f"{XHCI} -device usb-hub,id=h,bus=x.0,port=1")
    for n in range(40):
        plug(m, port=("1.2", "2")[n % 2])
        m.run(("ver", "mem", "pci", "")[n % 4])
        unplug(m)
    for n in range(6):  # the hub goes with it
        plug(m, port="1.2")
        if n % 2:
            started(m, "1.2")
        m.qmp("device_del", id="h")
        m.run("ver")
        m.qmp("device_add", driver="usb-hub", id="h", bus="x.0", port="1")
    plug(m, port="1.5")
    started(m, "1.5")
    m.type_keys("run hello\n")
    m.wait_for("Hello from")


def test_a_controller_costs_less_than_2_s(machine):
    m = machine(nic="none", machine=BARE, qemu=HUBS)
    ready = int(re.search(r"Ready in (\d+) us", m.text())[1])
    m = machine(nic="none", machine=BARE)
    without = int(re.search(r"Ready in (\d+) us", m.text())[1])
    assert ready - without < 2_000_000


def look(m):
    return screen.read(m.screenshot())


def test_a_bare_pc(machine):
    """No serial port, no PS/2, no HPET: UEFI, a stick, a screen and a USB
    keyboard; the answer is read off the screen."""
    m = machine(boot="uefi", disk="none", machine=BARE, nic="none", vga="std",
                prompt=False, qemu="-serial none -device usb-kbd,bus=xhci.0")

    def on_screen(text, seconds):
        seen = None
        for _ in range(seconds * 4):
            try:
                seen = look(m)
                if text in seen.text:
                    return seen
            except screen.ScreenError:
                pass
            time.sleep(0.25)
        raise AssertionError(f"no {text!r} on the screen:\n"
                             f"{seen and seen.text}")
    seen = on_screen("ingot>", 60)
    m.type_keys("ver\n")
    seen = on_screen("Command line:", 20)
    assert "ingot> ver" in seen.text and "Loaded by:    " in seen.text
    m.type_keys("run hello\n")
    on_screen("Hello from C on Ingot!", 20)


@pytest.mark.parametrize("device, kind", [
    ("usb-ehci", "EHCI"), ("piix3-usb-uhci", "UHCI"), ("pci-ohci", "OHCI")])
def test_an_old_usb_controller_is_named(machine, device, kind):
    m = machine(disk="none", mem=64, qemu=["-device", f"{device},addr=9"])
    assert re.search(r"usb: 00:09\.0 \(\w{4}:\w{4}\) is " + kind
                     + ", not driven", m.run("log"))
