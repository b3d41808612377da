# conftest.py - where the tests of the bench find it.
# SPDX-License-Identifier: MIT
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "tools", "bench"),
                os.path.join(ROOT, "tools")]
