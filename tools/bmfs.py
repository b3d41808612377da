#!/usr/bin/python3
# bmfs.py - BMFS on the host: make, list and change the file system that
# programs are loaded from.
# SPDX-License-Identifier: MIT
"""BMFS, as published: 2 MiB blocks counted from the file system's start; the
marker "BMFS" at byte 1024; the directory at byte 4096, 64 entries of 64 bytes:
name[32] (ended by 0), u64 first block, u64 blocks, u64 size in bytes, 8 unused.
A name that starts with 0 ends the directory, one that starts with 1 is deleted.

usage: bmfs.py IMAGE[@OFFSET] COMMAND
  format [SIZE]          make it empty; SIZE also makes or grows the image
  ls                     list the files
  add FILE[=NAME]...     copy files in, replacing those of the same name
  get NAME [FILE]        copy a file out ("-" or nothing: standard output)
  rm NAME...             delete files
OFFSET and SIZE are bytes, or have K, M or G behind them. Without OFFSET the
file system is looked for at the image's start, in its partitions and at 128 MiB.
"""
import os
import struct
import sys

BLOCK = 2 << 20
MARKER_AT, MARKER = 1024, b"BMFS"
DIRECTORY_AT, ENTRIES, ENTRY = 4096, 64, struct.Struct("<32sQQQQ")
BAREMETAL_AT = 128 << 20  # where BareMetal OS images keep it
MBR_TYPE = 0xDA  # "raw data": what mkimage.py gives the partition
NAME_MAX = 31


class BmfsError(Exception):
    """One line for the person who asked."""


def parse_size(text):
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    unit = units.get(text[-1:].upper(), 1)
    try:
        value = int(text[:-1] if unit > 1 else text, 0) * unit
    except ValueError:
        raise BmfsError(f"not a number of bytes: {text!r}") from None
    if value < 0:
        raise BmfsError(f"not a number of bytes: {text!r}")
    return value


def read_at(file, offset, length):
    file.seek(offset)
    return file.read(length)


def gpt_partitions(file, sector):
    header = read_at(file, sector, 92)
    if header[:8] != b"EFI PART" or len(header) < 92:
        return
    first, count, size = struct.unpack_from("<QII", header, 72)
    if size < 128 or size > 4096:
        return
    for i in range(min(count, 256)):
        entry = read_at(file, first * sector + i * size, 128)
        if len(entry) == 128 and any(entry[:16]):
            begin, last = struct.unpack_from("<QQ", entry, 32)
            if last >= begin:
                yield begin * sector, (last - begin + 1) * sector, 0


def partitions(file):
    """(start, bytes, MBR type or 0) of every partition, primary ones only."""
    mbr = read_at(file, 0, 512)
    if len(mbr) < 512 or mbr[510:] != b"\x55\xaa":
        return
    for i in range(4):
        kind, begin, count = struct.unpack_from("<4xB3xII", mbr, 446 + 16 * i)
        if kind == 0xEE:
            for sector in (512, 4096):
                yield from gpt_partitions(file, sector)
        elif kind and count:
            yield begin * 512, count * 512, kind


def has_marker(file, start):
    return read_at(file, start + MARKER_AT, 4) == MARKER


def locate(file, total):
    """Where the file system is: (start, bytes)."""
    places = [(0, total)]
    places += [(start, size) for start, size, _ in partitions(file)]
    places += [(BAREMETAL_AT, total - BAREMETAL_AT)]
    for start, size in places:
        if start < total and has_marker(file, start):
            return start, min(size, total - start)
    raise BmfsError("no BMFS marker at the start, in a partition or at 128 MiB")


def place_to_format(file, total):
    """Where `format` goes when no offset is given."""
    try:
        return locate(file, total)
    except BmfsError:
        parts = list(partitions(file))
    ours = [(s, n) for s, n, kind in parts if kind == MBR_TYPE and s < total]
    if ours:
        start, size = ours[0]
        return start, min(size, total - start)
    if parts:
        raise BmfsError(f"the image has partitions, none of type "
                        f"0x{MBR_TYPE:X}: say where with IMAGE@OFFSET")
    return 0, total


class Entry:
    def __init__(self, slot, raw):
        self.slot = slot
        name, self.first, self.blocks, self.size, _ = ENTRY.unpack(raw)
        self.end = name[0] == 0
        self.deleted = name[0] == 1
        self.terminated = b"\0" in name
        self.name = name.split(b"\0")[0].decode("utf-8", "replace")

    def problem(self, fs_blocks):
        """Why this entry cannot be trusted, or None."""
        if not self.terminated:
            return "its name has no end"
        if any(ord(c) < 32 or ord(c) == 127 for c in self.name):
            return "its name has control characters"
        if self.first == 0:
            return "it starts in the directory's block"
        if self.first > fs_blocks or self.blocks > fs_blocks - self.first:
            return "its blocks are beyond the disk"
        if self.size > self.blocks * BLOCK:
            return "its size is beyond its blocks"
        return None


class Bmfs:
    """A BMFS between two byte offsets of an open image file."""

    def __init__(self, file, start, size):
        self.file, self.start = file, start
        self.blocks = size // BLOCK

    def format(self):
        if self.blocks < 2:
            raise BmfsError("too small: a BMFS takes at least 4 MiB")
        self._write(0, bytes(DIRECTORY_AT + ENTRIES * ENTRY.size))
        self._write(MARKER_AT, MARKER)

    def entries(self):
        raw = read_at(self.file, self.start + DIRECTORY_AT, ENTRIES * ENTRY.size)
        if len(raw) < ENTRIES * ENTRY.size:
            raise BmfsError("the image ends within the directory")
        for slot in range(ENTRIES):
            entry = Entry(slot, raw[slot * ENTRY.size:(slot + 1) * ENTRY.size])
            if entry.end:
                return
            if not entry.deleted:
                yield entry

    def find(self, name):
        for entry in self.entries():
            if entry.terminated and entry.name == name:
                return entry
        raise BmfsError(f"no file {name!r}")

    def read(self, name):
        entry = self.find(name)
        problem = entry.problem(self.blocks)
        if problem:
            raise BmfsError(f"{name}: {problem}")
        data = read_at(self.file, self.start + entry.first * BLOCK, entry.size)
        if len(data) != entry.size:
            raise BmfsError(f"{name}: the image ends within the file")
        return data

    def remove(self, name):
        slot = self.find(name).slot
        self._write(DIRECTORY_AT + slot * ENTRY.size, b"\x01")

    def add(self, name, data):
        check_name(name)
        old = next((e for e in self.entries() if e.name == name), None)
        need = max(1, -(-len(data) // BLOCK))
        first = self._free_run(need, name, old)
        if old:
            self.remove(name)
        slot = self._free_slot()
        self._write(first * BLOCK, data)
        entry = ENTRY.pack(name.encode(), first, need, len(data), 0)
        self._write(DIRECTORY_AT + slot * ENTRY.size, entry)

    def _write(self, offset, data):
        self.file.seek(self.start + offset)
        self.file.write(data)

    def _free_run(self, need, name, replaced):
        used = {0}
        for entry in self.entries():
            if replaced and entry.slot == replaced.slot:
                continue
            if entry.first + entry.blocks <= self.blocks:
                used.update(range(entry.first, entry.first + entry.blocks))
        run = 0
        for block in range(1, self.blocks):
            run = 0 if block in used else run + 1
            if run == need:
                return block - need + 1
        raise BmfsError(f"{name}: no {need * 2} MiB free in one piece")

    def _free_slot(self):
        raw = read_at(self.file, self.start + DIRECTORY_AT, ENTRIES * ENTRY.size)
        for slot in range(ENTRIES):
            if raw[slot * ENTRY.size] == 0:
                self._end_after(slot)
                return slot
            if raw[slot * ENTRY.size] == 1:
                return slot
        raise BmfsError(f"the directory is full ({ENTRIES} files)")

    def _end_after(self, slot):
        """What lies behind the old end was never checked: end it again."""
        if slot + 1 < ENTRIES:
            self._write(DIRECTORY_AT + (slot + 1) * ENTRY.size, b"\0")


def check_name(name):
    raw = name.encode("utf-8", "surrogateescape")
    if not raw or len(raw) > NAME_MAX:
        raise BmfsError(f"a name has 1 to {NAME_MAX} bytes: {name!r}")
    if any(b < 32 or b == 127 for b in raw) or b"/" in raw:
        raise BmfsError(f"not a name: {name!r}")


def split_name(text):
    """FILE=NAME or FILE: the path on the host, the name on the disk."""
    path, _, name = text.partition("=")
    return path, name or os.path.basename(path)


def read_host_file(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise BmfsError(f"{path}: {error.strerror}") from None


def do_ls(fs):
    for entry in fs.entries():
        problem = entry.problem(fs.blocks)
        name = "".join(c if c.isprintable() else "?" for c in entry.name)
        print(f"{entry.size:>12} {name}" + (f"  BAD: {problem}" if problem else ""))


def do_get(fs, name, path="-"):
    data = fs.read(name)
    if path == "-":
        sys.stdout.buffer.write(data)
        return
    with open(path, "wb") as file:
        file.write(data)


def run(fs, command, args):
    if command == "ls" and not args:
        do_ls(fs)
    elif command == "get" and 1 <= len(args) <= 2:
        do_get(fs, *args)
    elif command == "rm" and args:
        for name in args:
            fs.remove(name)
    elif command == "add" and args:
        for path, name in map(split_name, args):
            fs.add(name, read_host_file(path))
    else:
        raise BmfsError(f"cannot do that: {' '.join([command] + args)}; "
                        "bmfs.py --help tells the commands")


def do_format(image, offset, args):
    if len(args) > 1:
        raise BmfsError("format takes at most a SIZE")
    size = parse_size(args[0]) if args else 0
    if size and not os.path.exists(image):
        open(image, "wb").close()
    with open(image, "r+b") as file:
        total = file.seek(0, os.SEEK_END)
        if size and (offset or 0) + size > total:
            total = (offset or 0) + size
            file.truncate(total)
        if offset is None:
            start, room = place_to_format(file, total)
        else:
            start, room = offset, total - offset
        Bmfs(file, start, min(room, size) if size else room).format()


def main(argv):
    if len(argv) < 3 or argv[1] in ("-h", "--help"):
        print(__doc__.strip())
        return 0 if len(argv) == 2 else 2
    image, offset = argv[1], None
    if "@" in image and not os.path.exists(image):
        image, _, where = image.rpartition("@")
        offset = parse_size(where)
    command, args = argv[2], argv[3:]
    if command == "format":
        do_format(image, offset, args)
        return 0
    mode = "r+b" if command in ("add", "rm") else "rb"
    with open(image, mode) as file:
        total = file.seek(0, os.SEEK_END)
        if offset is None:
            start, size = locate(file, total)
        elif has_marker(file, offset):
            start, size = offset, total - offset
        else:
            raise BmfsError(f"no BMFS marker at byte {offset}")
        run(Bmfs(file, start, size), command, args)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv))
    except BmfsError as error:
        sys.exit(f"bmfs: {error}")
    except OSError as error:
        sys.exit(f"bmfs: {error.filename or 'image'}: {error.strerror}")
