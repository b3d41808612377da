# command.py - the QEMU command line for a set of options.
# SPDX-License-Identifier: MIT
import os
import shutil

from .options import VmError
from .stick import split_module

OVMF_CODE = "/usr/share/OVMF/OVMF_CODE_4M.fd"
OVMF_VARS = "/usr/share/OVMF/OVMF_VARS_4M.fd"
NIC_DEVICES = {
    "virtio": "virtio-net-pci",
    "virtio-legacy": "virtio-net-pci,disable-modern=on",
    "e1000": "e1000",
    "e1000e": "e1000e",
}
DISK_DEVICES = {  # besides ahci: the disk, and before it what it hangs on
    "nvme": ["nvme,serial=ingot"],
    "virtio": ["virtio-blk-pci"],
    "usb": ["qemu-xhci,id=xhci", "usb-storage,bus=xhci.0"],
    "usb-ehci": ["usb-ehci,id=ehci", "usb-storage,bus=ehci.0"],
    "cd": ["ide-cd"],
    "none": ["qemu-xhci,id=xhci", "usb-storage,bus=xhci.0"],
}
VGA_DEVICES = {
    "none": [],
    # Room for 3840x2160; 16 MiB, the default, are not.
    "std": ["-device", "VGA,vgamem_mb=64"],
    "bochs": ["-device", "bochs-display,vgamem=64M"],
    "virtio": ["-device", "virtio-vga"],
}
FORMATS = (".qcow2", ".vmdk", ".vdi")  # else raw
# microvm has next to nothing unless asked: our kernel wants ACPI and PCI.
BOARDS = {
    "q35": "q35",
    "pc": "pc",
    "microvm": "microvm,acpi=on,pcie=on,rtc=on,pit=on,pic=on",
}


def build(options, accel, temp, peers, interactive, models=None):
    """The whole argument list. temp: a directory for this run's files; peers:
    (QEMU's port, our port) for each NIC; interactive: with a monitor behind
    Ctrl-A; models: {NIC's index: Model} for those that QEMU lacks."""
    models = models or {}
    words = ["qemu-system-x86_64", "-nodefaults", "-no-reboot"]
    words += board(options, accel, bool(models))
    words += serial(options, interactive)
    words += ["-qmp", f"unix:{temp}/qmp,server=on,wait=off"]
    words += firmware(options, temp)
    words += kernel(options)
    words += disk(options)
    words += VGA_DEVICES[options.vga]
    for index, peer in enumerate(peers):
        words += models[index].device_words(index) if index in models \
            else nic(options, index, peer)
    if options.icount:
        words += ["-icount", "shift=0"]
    if options.gdb:
        words += ["-S", "-s"]
    return words + options.qemu


def board(options, accel, shared):
    """shared: another process reads and writes the guest's memory."""
    kind, _, properties = options.machine.partition(",")
    machine = ",".join(filter(None, (BOARDS[kind], properties)))
    memory = []
    if shared:
        machine += ",memory-backend=ram"
        memory = ["-object", "memory-backend-memfd,id=ram,share=on,"
                             f"size={options.mem}M"]
    words = [*memory, "-machine", machine,
             "-accel", accel_words(options, accel, shared),
             "-m", str(options.mem)]
    if "-smp" not in options.qemu:
        words += ["-smp", str(options.cpus)]
    if "-cpu" not in options.qemu:
        words += ["-cpu", "host,-arch-capabilities" if accel == "kvm"
                  else "max"]
    if "-display" not in options.qemu:
        words += ["-display", "none"]
    return words


def accel_words(options, accel, shared):
    # Two threads in a device that is another process lose accesses, or block
    # each other for ever.
    if accel == "tcg" and (options.icount or shared):
        return "tcg,thread=single"
    return accel


def serial(options, interactive):
    if "-serial" in options.qemu:
        return []
    if not interactive:
        return ["-chardev", "stdio,id=serial0,signal=off",
                "-serial", "chardev:serial0"]
    return ["-chardev", "stdio,id=serial0,signal=off,mux=on",
            "-serial", "chardev:serial0", "-mon", "chardev=serial0"]


def firmware(options, temp):
    if options.boot != "uefi":
        return []
    for path in (OVMF_CODE, OVMF_VARS):
        if not os.path.isfile(path):
            raise VmError(f"no {path}: install it first: tools/setup")
    variables = os.path.join(temp, "vars.fd")
    shutil.copyfile(OVMF_VARS, variables)
    return ["-drive", f"if=pflash,unit=0,format=raw,readonly=on,"
                      f"file={OVMF_CODE}",
            "-drive", f"if=pflash,unit=1,format=raw,file={variables}"]


def kernel(options):
    if options.boot != "direct":
        return []
    words = ["-kernel", options.kernel]
    if options.append:
        words += ["-append", options.append]
    for module in options.module:
        words += ["-initrd", split_module(module)[0].replace(",", ",,")]
    return words


def disk(options):
    kind = options.disk
    if kind == "none" and options.boot == "direct":
        return []
    snapshot = "off" if options.writable else "on"
    image = options.image.replace(",", ",,")
    suffix = os.path.splitext(image)[1]
    kind_of_file = suffix[1:] if suffix in FORMATS else "raw"
    words = ["-drive", f"if=none,id=image,format={kind_of_file},"
                       f"snapshot={snapshot},file={image}"]
    # -kernel takes boot index 0 for itself.
    first = "" if options.boot == "direct" else ",bootindex=0"
    if kind in DISK_DEVICES:
        for device in DISK_DEVICES[kind]:
            words += ["-device", device]
        words[-1] += f",id=disk0,drive=image{first}"
        return words
    bus = "ide.0"
    if options.machine.split(",")[0] != "q35":
        words += ["-device", "ich9-ahci,id=ahci"]
        bus = "ahci.0"
    return words + ["-device",
                    f"ide-hd,id=disk0,bus={bus},drive=image{first}"]


def nic(options, index, peer):
    kind, _, properties = options.nic[index].partition(",")
    local, remote = peer
    device = f"{NIC_DEVICES[kind]},id=nic{index},netdev=net{index},romfile="
    words = ["-netdev", f"socket,id=net{index},udp=127.0.0.1:{remote},"
                        f"localaddr=127.0.0.1:{local}",
             "-device", ",".join(filter(None, (device, properties)))]
    if index < len(options.pcap):
        path = options.pcap[index].replace(",", ",,")
        words += ["-object", f"filter-dump,id=dump{index},netdev=net{index},"
                             f"file={path}"]
    return words
