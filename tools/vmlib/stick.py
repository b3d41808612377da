# stick.py - a copy of the image with a command line and modules of its own,
# for GRUB to find: what --append and --module mean with --boot bios and uefi.
# SPDX-License-Identifier: MIT
import os
import subprocess

from .options import VmError

FAT = "@@1M"  # where tools/mkimage.py puts the partition GRUB reads


def for_options(options, temp):
    """The image to attach: the given one, or a changed copy in temp."""
    if options.boot == "direct" or not (options.append or options.module
                                        or options.video):
        return options.image
    if options.writable:
        raise VmError("--writable with --append, --module or --video "
                      "needs --boot direct")
    copy = os.path.join(temp, "image")
    call("cp", "--sparse=always", options.image, copy)
    if options.append or options.video:
        arguments = os.path.join(temp, "ingot.args")
        with open(arguments, "w", encoding="utf-8") as file:
            file.write(grub_line(options.append or ""))
            if options.video:
                file.write(f"set ingot_video={options.video}\n")
        put(copy, arguments, "/boot/ingot.args")
    for module in options.module:
        path, name = split_module(module)
        put(copy, path, f"/apps/{name}")
    return copy


def grub_line(text):
    """The kernel command line as mkimage.py --append would write it."""
    import mkimage  # in tools/, and not needed for --boot direct
    try:
        words = mkimage.grub_quote(mkimage.grub_words(text))
    except mkimage.ImageError as error:
        raise VmError(str(error)) from None
    return f"set ingot_args={words}\n"


def split_module(module):
    """FILE[:NAME] -> the file and its name for the guest."""
    path, name = module, ""
    if not os.path.exists(module):
        path, _, name = module.rpartition(":")
    if not os.path.isfile(path):
        raise VmError(f"no module {module}")
    return path, name or os.path.basename(path)


def put(image, path, target):
    call("mcopy", "-o", "-i", image + FAT, path, "::" + target)


def call(*words):
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL,
                              capture_output=True, encoding="utf-8")
    except FileNotFoundError:
        raise VmError(f"no {words[0]}: install it first: "
                      "tools/setup") from None
    if done.returncode:
        text = (done.stderr.strip().splitlines() or ["failed"])[-1]
        raise VmError(f"{words[0]}: {text}")
