# debian.py - a Linux kernel from Debian's archive, unpacked, not installed.
# SPDX-License-Identifier: MIT
import glob
import os
import re
import shutil
import subprocess

PACKAGE = "linux-image-amd64"  # depends on the newest kernel with all drivers
FETCH_SECONDS = 600
HOME = os.path.join("build", "linux")


class Missing(Exception):
    """What is not there, in one line."""


def run(words, cwd=None):
    """Output of a command; Missing when it fails."""
    try:
        done = subprocess.run(words, cwd=cwd, capture_output=True,
                              encoding="utf-8", timeout=FETCH_SECONDS)
    except FileNotFoundError:
        raise Missing(f"{words[0]} (this takes Debian's tools)") from None
    except subprocess.TimeoutExpired:
        raise Missing(f"an answer to {' '.join(words)}") from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["failed"])[-1]
        raise Missing(f"{' '.join(words)}: {last}")
    return done.stdout


def newest_package():
    """linux-image-6.1.0-57-amd64, or whatever the archive has today."""
    found = re.search(r"^\s*Depends: (linux-image-\d\S*)",
                      run(["apt-cache", "depends", PACKAGE]), re.M)
    if not found:
        raise Missing(f"package {PACKAGE} (apt-get update?)")
    return found.group(1)


class Kernel:
    """An unpacked kernel package."""

    def __init__(self, root):
        self.image = glob.glob(f"{root}/boot/vmlinuz-*")[0]
        self.release = os.path.basename(self.image)[len("vmlinuz-"):]
        self.modules = f"{root}/lib/modules/{self.release}/kernel"
        with open(f"{root}/version", encoding="ascii") as file:
            self.version = file.read().strip()


def unpacked():
    """The kernel that an earlier run left in build/, or None."""
    return Kernel(HOME + "/root") if os.path.exists(f"{HOME}/root/version") \
        else None


def fetch():
    """The kernel, downloaded and unpacked when it was not yet. Needs no root:
    nothing is installed."""
    if unpacked():
        return unpacked()
    package = newest_package()
    shutil.rmtree(f"{HOME}/root", ignore_errors=True)
    os.makedirs(f"{HOME}/root")
    run(["apt-get", "download", package], cwd=HOME)
    file = glob.glob(f"{HOME}/{package}_*.deb")[0]
    run(["dpkg-deb", "-x", file, f"{HOME}/root"])
    version = run(["dpkg-deb", "-f", file, "Version"])
    with open(f"{HOME}/root/version", "w", encoding="ascii") as out:
        out.write(f"{package} {version}")
    os.unlink(file)
    return unpacked()
