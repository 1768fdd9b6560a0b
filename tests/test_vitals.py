"""Memory of a run: its process, and the copy of it that works beside."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from firststory.vitals import memory

MB = 1 << 20
CODE = """
import os
from firststory.vitals import memory

before = memory()
ready, held = os.pipe(), bytearray(b"x") * (80 << 20)
alone, done = memory(), os.pipe()
child = os.fork()
if not child:
    own = bytearray(b"y") * (60 << 20)  # of what it shares with the first process nothing counts twice
    os.write(ready[1], b".")
    os.read(done[0], 1)
    os._exit(0)
os.read(ready[0], 1)
both = memory()
os.write(done[1], b".")
os.waitpid(child, 0)
print(alone - before, both - alone, memory() - alone)
"""


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").is_file(), reason="the system does not tell")
def test_a_copy_counts_with_what_is_its_own():
    told = subprocess.run([sys.executable, "-c", CODE], check=True, capture_output=True, text=True).stdout
    held, copied, left = map(int, told.split())
    assert 80 * MB <= held < 90 * MB
    assert 60 * MB <= copied < 80 * MB
    assert abs(left) < 5 * MB


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").is_file(), reason="the system does not tell")
def test_other_programs_do_not_count():
    before = memory()
    with subprocess.Popen([sys.executable, "-c", "held = bytearray(60 << 20); print(flush=True); input()"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:  # fmt: skip
        assert other.stdout is not None
        other.stdout.readline()
        assert memory() - before < 20 * MB
        other.communicate(b"\n")
