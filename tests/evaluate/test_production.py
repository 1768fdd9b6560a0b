"""The evaluation drives the production step, and reads off what it said."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

import firststory as fs
from firststory.datasets.streams import TextStream
from firststory.errors import ParameterError
from firststory.evaluate import Evaluation, StandingStories, compare, evaluate_stream
from firststory.pipeline.runner import Runner
from firststory.records import Document, Position
from firststory.settings import Settings

SETTINGS = Settings(detector="neighbour", language="en", budget="5%", step=50)


def test_scores_are_those_of_the_runner():
    stream = fs.datasets.make_story_stream(200, 20)
    said = evaluate_stream(stream, SETTINGS)
    arrivals = [(d, Position("x", {"line": i})) for i, d in enumerate(stream.documents)]
    steps = list(Runner(SETTINGS).run(arrivals))
    verdicts = [verdict for step in steps for verdict in step.verdicts]
    assert said.score.tolist() == [verdict.novelty for verdict in verdicts]
    assert said.is_novel.tolist() == [verdict.is_novel for verdict in verdicts]
    standing = StandingStories()
    for step in steps:
        standing.update(step)
    assert said.story.tolist() == [standing.story_of(verdict.document.id) for verdict in verdicts]
    assert said.alerts == tuple(alert for step in steps for alert in step.alerts)
    assert said.step.tolist() == [i // 50 for i in range(200)]
    assert said.auc() > 0.9 and said.cost(n_bootstrap=0).topic_weighted < 1


def stream_of(labels, days=None):
    start = datetime(2026, 1, 1, tzinfo=UTC)
    times = [None] * len(labels) if days is None else [start + timedelta(days=day) for day in days]
    return TextStream(
        "made", tuple(Document(str(i), "", t, label=x) for i, (x, t) in enumerate(zip(labels, times, strict=True)))
    )


def made(is_novel, labels, days=None, **more):
    return Evaluation.from_scores("made", stream_of(labels, days), np.zeros(len(labels)), is_novel, **more)


def test_delay_counts_documents_and_days():
    delay = made([0, 0, 1, 1, 0], ["a", "b", "a", "b", "c"], [0, 0, 2, 1, 0]).delay()
    assert (delay.n_stories, delay.at_once, delay.ever) == (3, 0.0, pytest.approx(2 / 3))
    assert delay.median_documents == 1 and delay.median_days == pytest.approx(1.5)


def test_a_document_counts_for_each_of_its_labels():
    # b is alerted at its third document, a at its second: the one with both labels.
    said = made([0, 0, 0, 1], ["b", "a", "b", ["a", "b"]])
    assert said.y.tolist() == [True, True, False, False]
    assert said.delay().median_documents == 1.5 and said.delay().ever == 1.0
    assert np.isnan(said.delay().median_days)


def test_perfect_stories_and_alerts():
    said = made([1, 0, 1, 0], ["a", "a", "b", None], [0, 1, 2, 4], story=["s1", "s1", "s2", "s2"])
    assert said.story_scores().f1 == 1.0 and said.precision() == 1.0
    assert said.budget_kept("1/day").per_day == pytest.approx(0.5)  # two on four days with documents
    assert said.labelled.tolist() == [True, True, True, False]


def test_a_redelivered_document_is_not_judged():
    stream = fs.datasets.make_story_stream(60, 6)
    again = replace(stream, documents=(*stream.documents[:40], stream.documents[3], *stream.documents[40:]))
    plain, said = evaluate_stream(stream, SETTINGS), evaluate_stream(again, SETTINGS)
    assert said.row.tolist() == [*range(40), *range(41, 61)]
    assert said.score.tolist() == plain.score.tolist() and said.topics.tolist() == plain.topics.tolist()


def test_as_many_scores_as_documents():
    with pytest.raises(ParameterError, match="one per document"):
        Evaluation.from_scores("x", stream_of("ab"), [1.0], [True])


def test_detectors_are_compared_on_one_stream_only():
    with pytest.raises(ParameterError, match="same stream"):
        compare("x", [made([1, 0], ["a", "b"]), made([1, 0], ["a", "c"])])
    with pytest.raises(ParameterError, match="label"):
        compare("x", [made([1, 0], [None, ""])])
