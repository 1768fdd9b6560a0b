"""Memory that was freed goes back to the system, seen from outside: a process of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from firststory.pipeline import allocator

CODE = """
import sys
import numpy as np
from firststory.pipeline.allocator import give_large_back

def resident():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmRSS"))

give_large_back()
before = resident()
held = []
for size in range(3, 60):  # each is copied into one that is a little larger, with something small that stays
    grown = np.ones(size << 17)
    held.append(np.ones(1 << 10))
print(resident() - before - (size << 10))
"""


COMPILED = """
import numba
from firststory.pipeline.allocator import trim_memory

def resident():
    found, is_code = 0, False
    for line in open("/proc/self/smaps"):
        if "-" in line.split()[0]:
            is_code = "libllvmlite" in line and " r-xp " in line
        elif is_code and line.startswith("Rss:"):
            found += int(line.split()[1])
    return found

add = numba.njit(lambda a, b: a + b)
assert add(1, 2) == 3
before = resident()
trim_memory()
after = resident()
assert add(3, 4) == 7 and add(0.5, 1.5) == 2.0  # compiled anew, for other types
print(before, after)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc")
def test_the_compiler_is_put_aside_and_comes_back():
    done = subprocess.run([sys.executable, "-c", COMPILED], capture_output=True, text=True, check=True)
    before, after = map(int, done.stdout.split())
    assert before > 10 << 10 > 1 << 10 > after  # kB


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc")
def test_arrays_that_grow_by_being_copied_leave_no_holes():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 8 << 10  # kB beside the last array: without it tens of thousands


def test_a_c_library_that_cannot_is_left_alone(monkeypatch):
    allocator.trim_memory()
    monkeypatch.setattr(allocator.ctypes, "CDLL", lambda name: object())
    allocator._of_c_library.cache_clear()
    try:
        allocator.trim_memory()
        allocator.give_large_back()
        assert allocator._of_c_library("malloc_trim") is None
    finally:
        allocator._of_c_library.cache_clear()
