"""The picture in docs/architecture.md stays true, and the house rules that a machine can check hold."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import firststory

PACKAGE = Path(firststory.__file__).parent
ROOT = Path(__file__).parents[1]
SOURCES = sorted(PACKAGE.rglob("*.py"))


def test_picture_and_tree_are_those_of_the_code():
    script = ROOT / "scripts" / "architecture-page"
    done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nothing_loads_pickles(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            imported.add(node.module.partition(".")[0])
    assert not imported & {"pickle", "joblib", "dill", "cloudpickle", "shelve", "marshal"}


def test_no_machine_paths_in_the_tree():
    for path in SOURCES:
        assert not re.search(r"/(home|root|work|Users)/", path.read_text(encoding="utf-8")), path
