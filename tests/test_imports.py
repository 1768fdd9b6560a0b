"""Importing firststory is light, and every public name is there."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

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


def test_the_type_checker_sees_the_names_that_users_get():
    """`__init__` names everything twice: for the type checker, and in the lazy table that serves it."""
    tree = ast.parse(Path(fs.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    seen, modules = {}, set()
    for node in block.body:
        assert isinstance(node, ast.ImportFrom)
        if node.module == "firststory":
            modules |= {alias.name for alias in node.names}
        else:
            seen |= {alias.name: node.module.removeprefix("firststory.") for alias in node.names}
    assert seen == fs._NAMES and modules == set(fs._MODULES)


def test_an_unknown_name_is_an_attribute_error():
    assert not hasattr(fs, "SecondStory")
