"""The method pages of the topic models: worked examples run, and labels that code cites are there."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = {name: ROOT / f"docs/methods/{name}.md" for name in ("online-nmf", "spectral-leader", "stepwise-em")}
PAGES["topics-over-time"] = ROOT / "docs/methods/topics-over-time.md"
FOLDERS = ("topics", "kernels/topics", "evaluate", "solvers")
OTHER_METHODS = re.compile(r"(l1|l2|admm|empirical|atom|dictionary|tdt)")


@pytest.mark.parametrize("name", PAGES)
def test_the_worked_example_prints_what_the_page_says(name):
    text = PAGES[name].read_text(encoding="utf-8")
    blocks = re.findall(r"```pycon\n(.*?)```", text, flags=re.DOTALL)
    assert blocks
    example = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, name, str(PAGES[name]), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(example)
    assert runner.tries > 3 and runner.failures == 0


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_symbols_and_says_when_not_to_use_it(name):
    text = PAGES[name].read_text(encoding="utf-8")
    assert "## Symbols" in text and "## When not to use it" in text


def test_equations_that_code_cites_are_on_a_page():
    there = set()
    for page in PAGES.values():
        there |= set(re.findall(r"^\| ([BC]\d+) \|", page.read_text(encoding="utf-8"), flags=re.MULTILINE))
    cited = {}
    for folder in FOLDERS:
        for path in sorted((ROOT / "src/firststory" / folder).glob("*.py")):
            if not OTHER_METHODS.search(path.name):
                for label in re.findall(r"\(([BC]\d+)\b", path.read_text(encoding="utf-8")):
                    cited.setdefault(label, path.name)
    assert {"B4", "B5", "B6", "B7", "C1", "C4", "C6", "C9"} <= set(cited)
    assert set(cited) <= there
