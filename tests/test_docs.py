"""The documentation cannot lie: examples in docstrings and README run, every public name is documented."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import firststory as fs

ROOT = Path(__file__).parents[1]
MODULES = sorted(info.name for info in pkgutil.walk_packages(fs.__path__, "firststory."))
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name):
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=OPTIONS)
    assert result.failed == 0


METHODS = sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs/methods").glob("*.md"))


@pytest.mark.parametrize("page", ["README.md", "docs/tutorial.md", "docs/how-to/notebooks.md", *METHODS])
def test_examples_in_pages_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    names = {"__name__": "__example__"}
    for number, block in enumerate(blocks):
        if ">>>" in block:
            example = doctest.DocTestParser().get_doctest(block, names, f"{page} {number}", page, 0)
            assert doctest.DocTestRunner(optionflags=OPTIONS).run(example, clear_globs=False).failed == 0
            names = example.globs
        else:
            exec(compile(block, page, "exec"), names)


@pytest.mark.parametrize("name", MODULES)
def test_every_module_says_what_it_is_for(name):
    assert (importlib.import_module(name).__doc__ or "").strip()


def public_things():
    for name in fs.__all__:
        thing = getattr(fs, name)
        if inspect.ismodule(thing):
            yield from ((f"{name}.{inner}", getattr(thing, inner)) for inner in getattr(thing, "__all__", ()))
        elif not isinstance(thing, str):
            yield name, thing


@pytest.mark.parametrize("name, thing", list(public_things()), ids=lambda name: name if isinstance(name, str) else "")
def test_every_public_name_has_a_docstring(name, thing):
    assert (inspect.getdoc(thing) or "").strip()


def test_the_faults_name_tests_that_exist():
    page = (ROOT / "docs/concepts/faults.md").read_text(encoding="utf-8")
    named = re.findall(r"`([a-z_/]+\.py)::(\w+)`", page)
    assert len(named) > 30
    for path, test in named:
        assert f"def {test}(" in (ROOT / "tests" / path).read_text(encoding="utf-8"), (path, test)
