# picture.py - what QEMU's display shows, as pixels and as a PNG file.
# SPDX-License-Identifier: MIT
import struct
import zlib


class Picture:
    """width, height, and rows: bytes R, G, B, R, .. for each row."""

    def __init__(self, width, height, data):
        self.width, self.height = width, height
        step = width * 3
        self.rows = [data[y * step:(y + 1) * step] for y in range(height)]

    def pixel(self, x, y):
        return tuple(self.rows[y][3 * x:3 * x + 3])

    def png(self):
        """The bytes of a PNG file (RFC 2083): 8 bits, RGB, no filter."""
        header = struct.pack(">IIBBBBB", self.width, self.height, 8, 2, 0, 0, 0)
        data = zlib.compress(b"".join(b"\0" + row for row in self.rows), 6)
        return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
                + chunk(b"IDAT", data) + chunk(b"IEND", b""))


def chunk(kind, data):
    return (struct.pack(">I", len(data)) + kind + data
            + struct.pack(">I", zlib.crc32(kind + data)))


def read_ppm(path):
    """QEMU's screendump: P6, three numbers, 8 bits a colour."""
    with open(path, "rb") as file:
        data = file.read()
    kind, width, height, most = data.split(maxsplit=4)[:4]
    if kind != b"P6" or most != b"255":
        raise ValueError(f"{path}: not a picture of QEMU's")
    start = len(data) - 3 * int(width) * int(height)
    return Picture(int(width), int(height), data[start:])
