# initramfs.py - the Linux guest's file system: our programs and the drivers
# that they need, as a cpio archive.
# SPDX-License-Identifier: MIT
import os

REGULAR, DIRECTORY, CHARACTER = 0o100755, 0o040755, 0o020600
DRIVERS = ("virtio_pci", "virtio_net", "e1000", "e1000e", "ixgbe")


def entry(number, name, mode, data=b"", device=(0, 0)):
    """One member of a "newc" archive (Documentation/driver-api/early-userspace/
    buffer-format.rst)."""
    fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, *device,
              len(name) + 1, 0)
    head = b"070701" + b"".join(b"%08X" % field for field in fields)
    return pad(head + name.encode() + b"\0") + pad(data)


def pad(data):
    return data + bytes(-len(data) % 4)


def archive(members):
    """members: (name, mode, data, device)"""
    parts = [entry(i + 1, *member) for i, member in enumerate(members)]
    return b"".join(parts) + entry(0, "TRAILER!!!", 0)


# ---- modules ----

def index(folder):
    """{module's name: its path} of everything below folder."""
    found = {}
    for directory, _, files in os.walk(folder):
        for file in files:
            if file.endswith(".ko"):
                name = file[:-len(".ko")].replace("-", "_")
                found[name] = os.path.join(directory, file)
    return found


def needs(data):
    """The modules that this one's own .modinfo says it needs."""
    at = data.rfind(b"\0depends=")
    if at < 0:
        return []
    text = data[at + 1:data.index(b"\0", at + 1)].decode()
    return [name.replace("-", "_")
            for name in text.partition("=")[2].split(",") if name]


def in_order(names, paths):
    """Paths of these modules and of all they need, what is needed first."""
    order = []

    def add(name):
        path = paths.get(name)
        if path is None or path in order:
            return  # built in, or there already
        with open(path, "rb") as file:
            for other in needs(file.read()):
                add(other)
        order.append(path)
    for name in names:
        add(name)
    return order


def build(kernel, programs, out):
    """Write the archive. programs: {name in the guest: path}; init is one."""
    members = [("dev", DIRECTORY), ("proc", DIRECTORY), ("sys", DIRECTORY),
               ("dev/console", CHARACTER, b"", (5, 1))]
    for name, path in programs.items():
        with open(path, "rb") as file:
            members.append((name, REGULAR, file.read()))
    listed = []
    for path in in_order(DRIVERS, index(kernel.modules)):
        with open(path, "rb") as file:
            members.append((os.path.basename(path), REGULAR, file.read()))
        listed.append("/" + os.path.basename(path))
    members.append(("modules", REGULAR, "\n".join(listed).encode() + b"\n"))
    with open(out, "wb") as file:
        file.write(archive(members))
