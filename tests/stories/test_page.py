"""The worked example of the method's page runs, and what it says by hand is what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "methods" / "stories.md"


def test_the_worked_example_runs_and_the_threshold_by_hand_is_right():
    page = PAGE.read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    example = example.replace("tracker = StoryTracker()", "tracker = StoryTracker()\nfirst = StoryTracker()")
    names: dict[str, object] = {}
    exec(compile(example, str(PAGE), "exec"), names)
    first, candidate, document = names["first"], names["StoryCandidate"], names["Document"]
    first.assign([candidate(document(id="a", text="Flood in Bremen"), *names["flood"], ordinal=0)])
    by_hand = float(re.search(r"logit}\\, 0\.2011 = ([0-9.]+)\\\)", page)[1])
    assert first.join_threshold(short=True) == pytest.approx(by_hand, abs=5e-4)


def test_names_in_the_tables_exist():
    from firststory.kernels.stories import layout, placing
    from firststory.stories import ageing, candidate, centroids, story, tracker

    homes = (tracker, story, ageing, candidate, centroids, layout, placing)
    cells = [line.split("|")[-2] for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    checked = 0
    for owner, name in re.findall(r"`([A-Z]\w+)\.(\w+)", " ".join(cells)):
        (kind,) = {getattr(home, owner) for home in homes if hasattr(home, owner)}
        assert name in dir(kind) or name in getattr(kind, "__annotations__", {}) or hasattr(kind(), name)
        checked += 1
    assert checked >= 10
