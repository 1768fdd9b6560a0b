"""The quick versions of the alert experiments run and print their tables."""

from __future__ import annotations

import os

import numpy as np
import pytest

from firststory.lab.experiments import alert_budget, stories

needs_data = pytest.mark.skipif(not os.environ.get("FIRSTSTORY_DATA"), reason="needs the corpora (FIRSTSTORY_DATA)")


@needs_data
def test_alert_budget_prints_its_table(tmp_path):
    told = alert_budget.run(quick=True, out=tmp_path)
    assert "| localnews | 600 | 1/day |" in told


def test_weeks_are_counted_against_the_budget():
    rng = np.random.default_rng(0)
    weeks = alert_budget.judge(0.5 + rng.random(6000) / 2, np.arange(6000) * 600.0, "20/day")
    assert len(weeks.ratio) == 5 and weeks.kept == 5 and weeks.thin == 0
    assert weeks.most <= 1.2 and weeks.hindsight.mean() > 0.7


@needs_data
def test_stories_are_weighed_by_what_came_before(tmp_path):
    corpora, missing = stories._corpora(60)
    assert missing == "" and [corpus.name for corpus in corpora] == ["timeline17", "localnews", "tdt2"]
    rows = stories._weighted(corpora[1].counts)
    np.testing.assert_allclose(np.asarray(rows.multiply(rows).sum(axis=1)).ravel(), 1.0)
    setting = stories.SETTINGS["stories (firststory)"][0]
    assert stories._score("stories (firststory)", corpora[1], rows, setting)["b_cubed_f1"] > 0.5
