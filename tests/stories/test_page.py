"""The worked example of the method's page runs, and what it says by hand is what the code does."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "methods" / "stories.md"


def test_the_worked_example_runs_and_the_figures_by_hand_are_right():
    page = PAGE.read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    example = example.replace("tracker = StoryTracker()", "tracker = StoryTracker()\nfirst = StoryTracker()")
    names: dict[str, object] = {}
    exec(compile(example, str(PAGE), "exec"), names)
    closeness = float(re.search(r"e\^\{-4\}\) = ([0-9.]+)\\\)", page)[1])
    assert names["assigned"][1].closeness == pytest.approx(closeness, abs=5e-4)
    first, candidate, document = names["first"], names["StoryCandidate"], names["Document"]
    first.assign([candidate(document(id="a", text="Flood in Bremen"), *names["flood"], ordinal=0)])
    by_hand = float(re.search(r"\\ln 0\.5007 = (-[0-9.]+)\\\)", page)[1])
    assert first.join_threshold(n_terms=2) == pytest.approx(by_hand, abs=5e-4)


def test_the_constants_of_the_page_are_those_of_the_code():
    from firststory.stories import rule

    page = PAGE.read_text(encoding="utf-8")
    for name, pair in (
        ("long", rule.LONG_PAIR),
        ("sparse", rule.SPARSE_PAIR),
        ("short", rule.SHORT_PAIR),
        ("wordy", rule.WORDY_PAIR),
    ):
        (row,) = [line for line in page.splitlines() if line.startswith("| ") and f"`JoinRule.{name}`" in line]
        constants = {abs(value) for value in pair if value}
        assert constants <= numbers_in(row)
        assert any(constants <= numbers_in(line) for line in rule.__doc__.splitlines())


def numbers_in(line):
    return {float(one) for one in re.findall(r"[0-9]+(?:\.[0-9]+)?", line)}


def test_the_defaults_of_the_docstrings_are_those_of_the_code():
    from firststory.stories.storylines import Storylines
    from firststory.stories.tracker import StoryTracker

    for kind in (StoryTracker, Storylines):
        told = dict(re.findall(r"^    (\w+) : \w+, default=(\S+)$", kind.__doc__, flags=re.MULTILINE))
        parameters = inspect.signature(kind).parameters.values()
        assert {name: float(value) for name, value in told.items()} == {one.name: one.default for one in parameters}


def test_names_in_the_tables_exist():
    from firststory.kernels.stories import layout
    from firststory.stories import ageing, candidate, members, tracker

    homes = (tracker, ageing, candidate, members, layout)
    cells = [line.split("|")[-2] for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    checked = 0
    for owner, name in re.findall(r"`([A-Z]\w+)\.(\w+)", " ".join(cells)):
        (kind,) = {getattr(home, owner) for home in homes if hasattr(home, owner)}
        assert name in dir(kind) or name in getattr(kind, "__annotations__", {})
        checked += 1
    assert checked >= 15
