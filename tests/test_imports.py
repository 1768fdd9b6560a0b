"""Importing firststory is light, and every public name is there."""

from __future__ import annotations

import subprocess
import sys

import firststory as fs

HEAVY = {"numba", "sklearn", "scipy", "sqlalchemy", "matplotlib", "pandas", "fastapi", "uvicorn", "starlette", "numpy"}


def test_import_loads_nothing_heavy():
    code = "import firststory, sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    loaded = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )
    assert not loaded & HEAVY


def test_every_public_name_is_there():
    for name in fs.__all__:
        assert getattr(fs, name) is not None
    assert set(fs.__all__) <= set(dir(fs))


def test_an_unknown_name_is_an_attribute_error():
    assert not hasattr(fs, "SecondStory")
