#!/usr/bin/python3
# mkiso.py - a CD image that also boots when it is written to a stick.
# SPDX-License-Identifier: MIT
"""Make an ISO 9660 image that boots as a CD, and as a disk or a USB stick when
it is written to one, under a BIOS and under UEFI. It holds the programs twice,
as files of /apps and on a BMFS partition behind the CD. An ISO cannot be
changed afterwards: to add programs by copying files, write the other image.

Needs grub-mkrescue, xorriso and mtools.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import bmfs  # noqa: E402
import mkimage  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
INSTALL = "apt-get install xorriso mtools grub-common grub-pc-bin " \
    "grub-efi-amd64-bin"
# GRUB loads what its menu needs from these, most of it by itself.
MODULES = ("part_msdos part_gpt iso9660 fat normal multiboot2 configfile test "
           "regexp echo eval keystatus reboot halt minicmd all_video")
LOAD = """\
insmod regexp
if [ "$grub_platform" = efi ]; then insmod efi_gop; else insmod vbe; fi
"""


def write_tree(root, args, files):
    for folder in ("boot/grub", "apps"):
        os.makedirs(os.path.join(root, folder))
    config = LOAD.encode() + mkimage.read_file(args.grub_cfg)
    tree = {"boot/ingot.elf": mkimage.read_file(args.kernel),
            "boot/grub/grub.cfg": config}
    if args.append:
        words = mkimage.grub_quote(mkimage.grub_words(args.append))
        tree["boot/ingot.args"] = f"set ingot_args={words}\n".encode()
    tree.update((f"apps/{name}", data) for name, data in files.items())
    for name, data in tree.items():
        with open(os.path.join(root, name), "wb") as file:
            file.write(data)


def write_bmfs(path, args, files):
    size = mkimage.bmfs_bytes(args, files)
    with open(path, "w+b") as file:
        file.truncate(size)
        fs = bmfs.Bmfs(file, 0, size)
        fs.format()
        for name, data in files.items():
            fs.add(name, data)


def make(args):
    """A failure leaves the old image, or none."""
    files = mkimage.collect(args)
    for tool in ("grub-mkrescue", "xorriso", "mformat"):
        if not shutil.which(tool):
            raise mkimage.ImageError(f"{tool} is missing: {INSTALL}")
    with tempfile.TemporaryDirectory() as work:
        root, data = os.path.join(work, "root"), os.path.join(work, "bmfs")
        made = os.path.join(work, "iso")
        write_tree(root, args, files)
        write_bmfs(data, args, files)
        mkimage.run(["grub-mkrescue", "-o", made,
                     f"--install-modules={MODULES}", "--locales=", "--fonts=",
                     "--themes=", root, "--", "-volid", "INGOT",
                     "-append_partition", "3", hex(bmfs.MBR_TYPE), data])
        partial = args.out + ".tmp"
        shutil.copyfile(made, partial)
        os.replace(partial, args.out)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n")[0],
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel", required=True, metavar="ELF")
    parser.add_argument("--out", required=True, metavar="ISO")
    parser.add_argument("--append", default="", metavar="LINE",
                        help="kernel command line")
    parser.add_argument("--add", action="append", default=[],
                        metavar="FILE[=NAME]", help="one more file")
    parser.add_argument("--grub-cfg", metavar="CFG",
                        default=os.path.join(HERE, "..", "boot", "grub.cfg"))
    parser.add_argument("apps", nargs="*", metavar="APP")
    parser.set_defaults(no_apps=False, bmfs_size=None)
    try:
        make(parser.parse_args())
    except (mkimage.ImageError, bmfs.BmfsError, ValueError) as error:
        return f"mkiso: {error}"
    except (OSError, subprocess.SubprocessError) as error:
        return f"mkiso: {error}"
    return 0


if __name__ == "__main__":
    sys.exit(main())
