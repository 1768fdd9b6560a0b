"""The evaluation drives the production step, and reads off what it said."""

from __future__ import annotations

import numpy as np
import pytest

import firststory as fs
from firststory.evaluate import Evaluation, evaluate_stream
from firststory.pipeline.runner import Runner
from firststory.records import Position
from firststory.settings import Settings

SETTINGS = Settings(detector="neighbour", language="en", budget="5%", step=50)


def test_scores_are_those_of_the_runner():
    stream = fs.datasets.make_story_stream(200, 20)
    said = evaluate_stream(stream, SETTINGS)
    arrivals = [(d, Position("x", {"line": i})) for i, d in enumerate(stream.documents)]
    verdicts = [verdict for step in Runner(SETTINGS).run(arrivals) for verdict in step.verdicts]
    assert said.score.tolist() == [verdict.novelty for verdict in verdicts]
    assert said.is_novel.tolist() == [verdict.is_novel for verdict in verdicts]
    assert said.story.tolist() == [verdict.story for verdict in verdicts]
    assert said.step.tolist() == [i // 50 for i in range(200)]
    assert said.auc() > 0.9 and said.cost(n_bootstrap=0).topic_weighted < 1


def made(is_novel, topics, times):
    n = len(topics)
    named = np.empty(n, dtype=object)
    named[:] = topics
    first = fs.datasets.streams.first_of_label(named)
    return Evaluation(
        "made", np.zeros(n), np.array(is_novel), named.copy(), np.zeros(n, int), first, named, np.array(times, float)
    )


def test_delay_counts_documents_and_hours():
    said = made([0, 0, 1, 1, 0], ["a", "b", "a", "b", "c"], [0, 0, 7200, 3600, 0])
    delay = said.delay()
    assert (delay.alerted, delay.missed) == (2, 1)
    assert delay.median_documents == 1 and delay.median_hours == pytest.approx(1.5)


def test_perfect_stories_and_alert_rates():
    said = made([1, 0, 1, 0], ["a", "a", "b", None], [0, 86400, 2 * 86400, 4 * 86400])
    assert said.story_scores()["b_cubed_f1"] == 1.0
    assert said.alerts_per_day() == pytest.approx(0.5) and said.alert_share() == 0.5
    assert said.labelled.tolist() == [True, True, True, False]
