# options.py - the command line of tools/vm.
# SPDX-License-Identifier: MIT
import argparse
import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.realpath(__file__))))

NICS = ("virtio", "virtio-legacy", "e1000", "e1000e", "x540", "none")
DISKS = ("ahci", "nvme", "virtio", "usb", "usb-ehci", "cd",
         "none")
MACHINES = ("q35", "pc", "microvm")
VGAS = ("std", "bochs", "virtio", "none")
DEFAULT_TIMEOUT = 300

EPILOG = """\
Without --run the shell is on this terminal (Ctrl-A X quits). With --run the
commands are typed, each when its prompt is there, the transcript is printed
and the machine powered off. Exit status: 0 every command came back to the
prompt, 1 a program failed or faulted or the machine stopped, 2 the options
make no sense or something is missing, 124 out of time.

What follows -- goes to QEMU as it is; -serial, -cpu and -display given there
replace ours.
"""


class VmError(Exception):
    """Something to tell the user in one line; exit status 2."""


def kind_of(choices):
    """A checker for KIND[,PROPERTY=VALUE...] arguments."""
    def check(text):
        if text.split(",")[0] not in choices:
            raise argparse.ArgumentTypeError(
                f"{text!r} is none of {', '.join(choices)}")
        return text
    return check


def positive(text):
    value = int(text, 0)
    if value <= 0:
        raise ValueError(text)
    return value


def ports(text):
    local, _, peer = text.partition(":")
    pair = int(local), int(peer)
    if not all(0 < port < 65536 for port in pair):
        raise ValueError(text)
    return pair


class Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(2, f"vm: {message} (--help lists the options)\n")


def make_parser():
    parser = Parser(
        prog="tools/vm", description="Start Ingot in QEMU.", epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False)
    add = parser.add_argument
    add("--boot", choices=("direct", "bios", "uefi"), default="direct",
        help="who loads the kernel: QEMU (PVH), or GRUB from the image")
    add("--accel", choices=("auto", "tcg", "kvm"), default="auto",
        help="auto: KVM only after a short boot with it was seen to work")
    add("--cpus", type=positive, default=1, metavar="N")
    add("--mem", type=positive, default=512, metavar="MIB")
    add("--machine", type=kind_of(MACHINES), default="q35",
        metavar="q35|pc|microvm", help="may carry properties: q35,hpet=off")
    add("--nic", type=kind_of(NICS), action="append", metavar="|".join(NICS),
        help="repeatable, default virtio; may carry device properties")
    add("--disk", choices=DISKS, default="ahci",
        help="how the image is attached, default ahci; usb, usb-ehci and "
        "none with bios/uefi: a USB stick")
    add("--image", metavar="FILE", help="default build/ingot.img")
    add("--kernel", metavar="FILE",
        help="for --boot direct, default build/ingot.elf")
    add("--writable", action="store_true",
        help="let the guest change the image (else writes are thrown away)")
    add("--append", metavar="CMDLINE", help="kernel command line")
    add("--module", "--initrd", action="append", default=[],
        metavar="FILE[:NAME]", help="boot module, repeatable (direct: one)")
    add("--run", metavar="'CMD; CMD'", help="type these, then power off")
    add("--timeout", type=float, metavar="S",
        help=f"for all of --run, default {DEFAULT_TIMEOUT}")
    add("--icount", action="store_true",
        help="one guest instruction is one ns of guest time (TCG)")
    add("--vga", choices=VGAS, help="a display device; default none, std with "
        "--screenshot. GRUB hands it over: --boot bios or uefi")
    add("--video", metavar="WxHxBITS",
        help="the mode GRUB is to set, as 1920x1080x32 ")
    add("--screenshot", metavar="FILE.png",
        help="what the display shows after the last command of --run, or "
        "when --timeout ends it: so a program that draws is seen")
    add("--gdb", action="store_true", help="wait for gdb on port 1234")
    add("--net-udp", type=ports, action="append", default=[],
        metavar="LOCAL:PEER", help="a datagram is a frame: QEMU listens on "
        "port LOCAL, sends to PEER (127.0.0.1); repeatable, in NIC order")
    add("--pcap", action="append", default=[], metavar="FILE",
        help="record a NIC's frames; repeatable, in NIC order")
    add("--show", action="store_true",
        help="print the QEMU command instead of running it")
    return parser


def parse(argv):
    """Options from a list of words; exits with status 2 on a bad one."""
    argv = list(argv)
    qemu = []
    if "--" in argv:
        split = argv.index("--")
        argv, qemu = argv[:split], argv[split + 1:]
    options = make_parser().parse_args(argv)
    options.qemu = qemu
    options.vga = options.vga or ("std" if options.screenshot else "none")
    options.nic = [nic for nic in options.nic or ["virtio"] if nic != "none"]
    options.image = options.image or os.path.join(ROOT, "build/ingot.img")
    options.kernel = options.kernel or os.path.join(ROOT, "build/ingot.elf")
    return options


def check(options):
    """Refuse what cannot work, in one line, before anything starts."""
    board = options.machine.split(",")[0]
    if board == "microvm" and options.boot != "direct":
        raise VmError("microvm has no firmware to boot from a disk: "
                      "use --boot direct")
    if options.boot == "direct":
        need_file(options.kernel, "kernel", "make")
        if len(options.module) > 1:
            raise VmError("--boot direct carries one --module (PVH in QEMU)")
    if options.boot != "direct" or options.disk != "none":
        need_file(options.image, "image", "make image")
    if options.screenshot and (options.run is None or options.vga == "none"):
        raise VmError("--screenshot needs --run and a display (--vga)")
    if options.screenshot and options.boot == "direct":
        raise VmError("--screenshot is of what GRUB hands over: "
                      "use --boot bios or uefi")
    if options.run is not None and "-serial" in options.qemu:
        raise VmError("--run types on the serial port: it cannot go with "
                      "-serial")
    if options.video and options.boot == "direct":
        raise VmError("--video is for GRUB: use --boot bios or uefi")
    if options.icount and options.accel == "kvm":
        raise VmError("--icount counts under TCG, not under KVM")
    for count, name in ((len(options.net_udp), "--net-udp"),
                        (len(options.pcap), "--pcap")):
        if count > len(options.nic):
            raise VmError(f"more {name} than NICs")


def need_file(path, what, make):
    if not os.path.isfile(path):
        shown = os.path.relpath(path)
        shown = path if shown.startswith("..") else shown
        raise VmError(f"no {what} {shown}: build it first: {make}")


def split_commands(text):
    """'a; b "c;d"' -> ['a', 'b "c;d"']: split at ; outside quotes."""
    commands, current, quote = [], "", ""
    for char in text:
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in ";\n":
            commands.append(current)
            current = ""
            continue
        current += char
    commands.append(current)
    return [command.strip() for command in commands if command.strip()]
