#!/usr/bin/python3
# mkimage.py - the one bootable image: a disk, a USB stick, BIOS and UEFI.
# SPDX-License-Identifier: MIT
"""Make one image that boots as a hard disk and as a USB stick, under a BIOS and
under UEFI, and holds the programs twice: as files of /apps on a FAT partition
(GRUB hands them over as boot modules) and on a BMFS partition.

    sector 0          GRUB's boot.img and the MBR partition table
    sector 1 ..       GRUB's core for a BIOS, in the gap before partition 1
    1 MiB             partition 1: FAT32 with EFI/BOOT/BOOTX64.EFI, /boot, /apps
    34 MiB            partition 2: BMFS

The same input gives the same bytes. Needs GRUB's files (Debian: grub-common
grub-pc-bin grub-efi-amd64-bin); no root, no loop device.
"""
import argparse
import os
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import bmfs  # noqa: E402
import fat32  # noqa: E402

SECTOR = 512
MIB = 1 << 20
FAT_START = 1 * MIB
FAT_BYTES = 33 * MIB  # the least round FAT32: 65,525 clusters of a sector
BMFS_START = FAT_START + FAT_BYTES
DISK_ID = 0x746F6749  # "Igot", MBR signature and FAT serial number
FAT32_LBA = 0x0C  # what every firmware and every desktop mounts
HERE = os.path.dirname(os.path.abspath(__file__))
INSTALL = "apt-get install grub-common grub-pc-bin grub-efi-amd64-bin"
GRUB_LIB = os.environ.get("GRUB_LIB", "/usr/lib/grub")

# What grub.cfg needs, built into GRUB's core so that nothing is loaded.
COMMON = ("part_msdos fat normal multiboot2 configfile test regexp echo "
          "eval keystatus reboot halt minicmd").split()
BIOS_MODULES = COMMON + ["biosdisk", "vbe"]
EFI_MODULES = COMMON + ["efi_gop"]


class ImageError(Exception):
    """One line for the person who asked."""


def run(command):
    try:
        result = subprocess.run(command, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT)
    except FileNotFoundError:
        raise ImageError(f"{command[0]} is missing: {INSTALL}") from None
    if result.returncode:
        text = result.stdout.decode("utf-8", "replace").strip()
        raise ImageError(f"{command[0]} failed: {text}")


def read_file(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise ImageError(f"{path}: {error.strerror}") from None


def grub_image(target, modules, prefix, out):
    directory = os.path.join(GRUB_LIB, target)
    if not os.path.isdir(directory):
        raise ImageError(f"{directory} is missing: {INSTALL}")
    run(["grub-mkimage", "-O", target, "-d", directory, "-p", prefix, "-o", out]
        + modules)
    return read_file(out)


def install_bios(image, work):
    """GRUB's boot.img into sector 0 and its core behind it, told where it is:
    boot.img has the core's first sector at byte 0x5C; the core's own first
    sector ends in the list of where the rest lies (u64 sector, u16 count)."""
    core = bytearray(grub_image("i386-pc", BIOS_MODULES, "(,msdos1)/boot/grub",
                                os.path.join(work, "core.img")))
    core += bytes(-len(core) % SECTOR)
    if len(core) > FAT_START - SECTOR:
        raise ImageError("GRUB's core does not fit before partition 1")
    struct.pack_into("<QH", core, 0x1F4, 2, len(core) // SECTOR - 1)
    boot = bytearray(read_file(os.path.join(GRUB_LIB, "i386-pc", "boot.img")))
    struct.pack_into("<Q", boot, 0x5C, 1)
    boot[0x66:0x68] = b"\x90\x90"  # a disk, even when the BIOS says otherwise
    image.seek(0)
    image.write(boot[:440])
    image.seek(SECTOR)
    image.write(core)


def chs(lba):
    """Cylinder, head, sector of the usual 255 x 63 geometry, clipped."""
    cylinder, rest = divmod(lba, 255 * 63)
    if cylinder > 1023:
        return b"\xfe\xff\xff"
    head, sector = divmod(rest, 63)
    return bytes([head, (sector + 1) | (cylinder >> 2 & 0xC0), cylinder & 0xFF])


def partition(active, kind, start, size):
    first, count = start // SECTOR, size // SECTOR
    return (bytes([0x80 if active else 0]) + chs(first) + bytes([kind])
            + chs(first + count - 1) + struct.pack("<II", first, count))


def write_partition_table(image, room):
    table = partition(True, FAT32_LBA, FAT_START, FAT_BYTES)
    table += partition(False, bmfs.MBR_TYPE, BMFS_START, room)
    image.seek(440)
    image.write(struct.pack("<IH", DISK_ID, 0) + table.ljust(64, b"\0")
                + b"\x55\xaa")


def grub_quote(text):
    return "'" + text.replace("'", "'\\''") + "'"


def grub_words(line):
    """The kernel command line in GRUB's words: double quotes join words there
    too, but GRUB would also look at $, ;, \\ and single quotes."""
    if not line.isprintable():
        raise ImageError("the kernel command line is one line of text")
    if line.count('"') % 2:
        raise ImageError("the kernel command line has a quote that is not closed")
    pieces = line.split('"')
    pieces[1::2] = [piece.replace(" ", "\0") for piece in pieces[1::2]]
    words = "".join(pieces).split(" ")
    return " ".join(grub_quote(word.replace("\0", " ")) for word in words if word)


def fat_files(work, args, files):
    """Path -> bytes of the FAT partition."""
    tree = {
        "boot/ingot.elf": read_file(args.kernel),
        "boot/grub/grub.cfg": read_file(args.grub_cfg),
        "EFI/BOOT/BOOTX64.EFI": grub_image("x86_64-efi", EFI_MODULES,
                                           "/boot/grub",
                                           os.path.join(work, "grub.efi")),
        "apps": {},
    }
    if args.append:
        line = f"set ingot_args={grub_quote(grub_words(args.append))}\n"
        tree["boot/ingot.args"] = line.encode()
    tree.update((f"apps/{name}", data) for name, data in files.items())
    return tree


def bmfs_bytes(args, files):
    """Room for the files, four blocks to spare, and never less than 16 MiB."""
    need = sum(max(1, -(-len(data) // bmfs.BLOCK)) for data in files.values())
    if args.bmfs_size is None:
        return max(8, 1 + need + 4) * bmfs.BLOCK
    size = bmfs.parse_size(args.bmfs_size) // bmfs.BLOCK * bmfs.BLOCK
    if size < (1 + need) * bmfs.BLOCK:
        raise ImageError(f"--bmfs-size: {(1 + need) * 2} MiB are needed")
    return size


def collect(args):
    """Name -> bytes of what goes to /apps and to the BMFS partition."""
    files = {}
    wanted = [] if args.no_apps else args.apps
    for text in wanted + args.add:
        path, name = bmfs.split_name(text)
        bmfs.check_name(name)
        files[name] = read_file(path)
    if len(files) > bmfs.ENTRIES:
        raise ImageError(f"{len(files)} files: BMFS holds {bmfs.ENTRIES}")
    return files


def write_image(args, files, path):
    room = bmfs_bytes(args, files)
    with tempfile.TemporaryDirectory() as work, open(path, "w+b") as image:
        image.truncate(BMFS_START + room)
        install_bios(image, work)
        fat32.write(image, FAT_START, FAT_BYTES,
                    fat_files(work, args, files), "INGOT", DISK_ID)
        write_partition_table(image, room)
        fs = bmfs.Bmfs(image, BMFS_START, room)
        fs.format()
        for name, data in files.items():
            fs.add(name, data)


def make(args):
    """A failure leaves the old image, or none."""
    partial = args.out + ".tmp"
    try:
        write_image(args, collect(args), partial)
        os.replace(partial, args.out)
    finally:
        if os.path.exists(partial):
            os.unlink(partial)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n")[0],
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel", required=True, metavar="ELF")
    parser.add_argument("--out", required=True, metavar="IMG")
    parser.add_argument("--append", default="", metavar="LINE",
                        help="kernel command line")
    parser.add_argument("--bmfs-size", metavar="SIZE",
                        help="bytes, or with K, M, G (default: what is needed)")
    parser.add_argument("--add", action="append", default=[],
                        metavar="FILE[=NAME]", help="one more file")
    parser.add_argument("--no-apps", action="store_true",
                        help="leave out the APPs named on the command line")
    parser.add_argument("--grub-cfg", metavar="CFG",
                        default=os.path.join(HERE, "..", "boot", "grub.cfg"))
    parser.add_argument("apps", nargs="*", metavar="APP")
    try:
        make(parser.parse_args())
    except (ImageError, bmfs.BmfsError, ValueError) as error:
        return f"mkimage: {error}"
    except OSError as error:
        return f"mkimage: {error.filename or 'image'}: {error.strerror}"
    return 0


if __name__ == "__main__":
    sys.exit(main())
