# test_setup.py - tools/setup: nothing to do, offline, without root.
# SPDX-License-Identifier: MIT
import os
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
OFFLINE = 'echo "Err: Temporary failure resolving deb.debian.org"; exit 100'


@pytest.fixture
def setup(tmp_path):
    """tools/setup with made-up programs in front: setup(apt="exit 1")."""
    def run(**programs):
        for name, script in programs.items():
            path = tmp_path / name.replace("_", "-")
            path.write_text(f"#!/bin/bash\necho {name} $@ >>{tmp_path}/log\n"
                            f"{script}\n")
            path.chmod(0o755)
        return subprocess.run(
            [os.path.join(ROOT, "tools/setup")], capture_output=True,
            encoding="utf-8", stdin=subprocess.DEVNULL,
            env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"})
    run.log = lambda: (tmp_path / "log").read_text()
    return run


ALL = 'for p in "$@"; do echo "installed $p"; done'
BUT = 'for p in "$@"; do [ "$p" = xorriso ] || echo "installed $p"; done'


def test_everything_is_there(setup):
    done = setup(dpkg_query=ALL, apt_get="exit 1")
    assert done.returncode == 0 and done.stdout + done.stderr == ""
    assert "apt_get" not in setup.log()


def test_what_is_missing_is_installed(setup):
    done = setup(dpkg_query=BUT, apt_get="", id="echo 0")
    assert done.returncode == 0
    calls = [line for line in setup.log().splitlines() if "apt_get" in line]
    assert calls == ["apt_get install -y --no-install-recommends xorriso"]


def test_offline(setup):
    done = setup(dpkg_query=BUT, apt_get=OFFLINE, id="echo 0")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == \
        "setup: could not install (is this machine online?): xorriso"
    assert "Temporary failure" in done.stderr


def test_lists_that_are_old(setup):
    """Installing fails until the lists are fetched."""
    done = setup(dpkg_query=BUT, id="echo 0", apt_get='[ "$1" = update ] '
                 f'&& touch "$0.new"; [ -f "$0.new" ] || {{ {OFFLINE}; }}')
    assert done.returncode == 0
