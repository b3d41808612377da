# fat32.py - write a FAT32 file system whose bytes depend on its files alone.
# SPDX-License-Identifier: MIT
"""fat32.write(image, start, size, files, label, serial): a new FAT32 in
image[start : start + size] with files {"dir/name": bytes}. Every file lies in
one piece and every time is 2024-01-01. Microsoft's FAT specification 1.03."""
import re
import struct

SECTOR = 512
RESERVED, FSINFO_AT, BACKUP_AT = 32, 1, 6  # sectors
ROOT = 2  # the root directory's first cluster
END = 0x0FFFFFFF
MIN_CLUSTERS = 65525  # fewer and it would be a FAT16
DATE = (2024 - 1980) << 9 | 1 << 5 | 1
DIRECTORY, ARCHIVE, LABEL, LONG = 0x10, 0x20, 0x08, 0x0F


def short_name(name, taken):
    """The 8.3 alias of a name: as it is when it fits, else with ~N."""
    base, _, ext = name.upper().rpartition(".") if "." in name else (name.upper(), "", "")
    clean = [re.sub(r"[^A-Z0-9_-]", "_", part) for part in (base, ext)]
    alias = clean[0][:8].ljust(8) + clean[1][:3].ljust(3)
    exact = len(base) <= 8 and len(ext) <= 3 and clean == [base, ext]
    n = 0
    while not exact and n == 0 or alias in taken:
        n += 1
        tail = f"~{n}"
        alias = (clean[0][:8 - len(tail)] + tail).ljust(8) + clean[1][:3].ljust(3)
    taken.add(alias)
    return alias.encode()


def long_entries(name, alias):
    """The entries that carry the name itself, the last part first."""
    total = 0
    for byte in alias:
        total = ((total >> 1) | (total & 1) << 7) + byte & 0xFF
    units = name.encode("utf-16-le")
    if len(units) % 26:
        units += b"\0\0"
    units += b"\xff" * (-len(units) % 26)
    parts = [units[i:i + 26] for i in range(0, len(units), 26)]
    entries = []
    for i, part in enumerate(parts, 1):
        order = i | (0x40 if i == len(parts) else 0)
        entries.append(struct.pack("<B10sBBB12sH4s", order, part[:10], LONG, 0,
                                   total, part[10:22], 0, part[22:]))
    return b"".join(reversed(entries))


def entry(alias, attributes, cluster, size):
    return struct.pack("<11sBBBHHHHHHHI", alias, attributes, 0, 0, 0, DATE, DATE,
                       cluster >> 16, 0, DATE, cluster & 0xFFFF, size)


class Volume:
    def __init__(self, image, start, size, serial, label):
        self.image, self.start = image, start
        self.sectors = size // SECTOR
        self.serial, self.label = serial, label.upper().ljust(11).encode()
        # A FAT sector maps 128 clusters, of one sector each.
        self.fat_sectors = -(-(self.sectors - RESERVED + 2) // 128)
        self.data = RESERVED + 2 * self.fat_sectors
        self.clusters = self.sectors - self.data
        if self.clusters < MIN_CLUSTERS:
            raise ValueError("too small for a FAT32")
        self.fat = [0x0FFFFFF8, END]

    def allocate(self, data):
        """Put data into new clusters, in one piece; returns the first."""
        n = -(-len(data) // SECTOR)
        if n == 0:
            return 0
        first = len(self.fat)
        if first + n > self.clusters + 2:
            raise ValueError("the files do not fit the FAT partition")
        self.fat += list(range(first + 1, first + n)) + [END]
        self.put(first, data)
        return first

    def put(self, cluster, data):
        self.write(self.data + cluster - 2, data)

    def write(self, sector, data):
        self.image.seek(self.start + sector * SECTOR)
        self.image.write(data)

    def boot_sector(self):
        bpb = struct.pack(
            "<3s8sHBHBHHBHHHIIIHHIHH12xBBBI11s8s", b"\xeb\x58\x90", b"INGOT   ",
            SECTOR, 1, RESERVED, 2, 0, 0, 0xF8, 0, 63, 255,
            self.start // SECTOR, self.sectors, self.fat_sectors, 0, 0, ROOT,
            FSINFO_AT, BACKUP_AT, 0x80, 0, 0x29, self.serial, self.label,
            b"FAT32   ")
        return bpb.ljust(510, b"\xf4") + b"\x55\xaa"

    def finish(self):
        free = self.clusters + 2 - len(self.fat)
        info = struct.pack("<I480xIII12xI", 0x41615252, 0x61417272, free,
                           len(self.fat), 0xAA550000)
        for at in (0, BACKUP_AT):
            self.write(at, self.boot_sector())
            self.write(at + FSINFO_AT, info)
        table = struct.pack(f"<{len(self.fat)}I", *self.fat)
        for copy in range(2):
            self.write(RESERVED + copy * self.fat_sectors, table)


def tree_of(files):
    tree = {}
    for path, data in files.items():
        *parents, name = path.split("/")
        node = tree
        for parent in parents:
            node = node.setdefault(parent, {})
        node[name] = data
    return tree


def directory_bytes(tree):
    """Upper limit of a directory's size: its clusters come before its files."""
    n = 3 + sum(1 + -(-(len(name) + 1) // 13) for name in tree)
    return -(-n * 32 // SECTOR) * SECTOR


def write_directory(volume, tree, cluster, parent):
    """Write the entries of tree, and all below, to the clusters from cluster."""
    if parent is None:
        out = entry(volume.label, LABEL, 0, 0)
    else:
        above = 0 if parent == ROOT else parent
        out = entry(b".".ljust(11), DIRECTORY, cluster, 0)
        out += entry(b"..".ljust(11), DIRECTORY, above, 0)
    taken = set()
    for name, node in sorted(tree.items()):
        alias = short_name(name, taken)
        out += long_entries(name, alias)
        if isinstance(node, dict):
            below = volume.allocate(bytes(directory_bytes(node)))
            write_directory(volume, node, below, cluster)
            out += entry(alias, DIRECTORY, below, 0)
        else:
            out += entry(alias, ARCHIVE, volume.allocate(node), len(node))
    volume.put(cluster, out)


def write(image, start, size, files, label="INGOT", serial=0):
    volume = Volume(image, start, size, serial, label)
    tree = tree_of(files)
    root = volume.allocate(bytes(directory_bytes(tree)))
    write_directory(volume, tree, root, None)
    volume.finish()
