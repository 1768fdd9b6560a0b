"""The quick versions of the alert experiments run and print their tables."""

from __future__ import annotations

import os

import numpy as np
import pytest

from firststory import datasets
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
def test_stories_are_weighed_by_what_came_before():
    (corpus,) = [one for one in stories._corpora() if one.name == "localnews"]
    documents = list(corpus.load()[:60])
    rows, counts, times = stories._rows(documents, corpus.language)
    np.testing.assert_allclose(np.asarray(rows.multiply(rows).sum(axis=1)).ravel(), 1.0)
    assert counts.shape == rows.shape and len(times) == 60
    labels = [document.label for document in documents]
    assert stories._f1(labels, stories._through_the_pipeline(documents, corpus.language).stories) > 0.5


@needs_data
def test_tdt2_is_read_as_numbers():
    stream = datasets.load_tdt2()
    first = stories._tdt2()[0]
    assert len(first.text.split()) == int(stream.X[0].sum()) and first.label == stream.labels[0]
