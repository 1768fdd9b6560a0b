"""Verdicts of the topic experiments follow from their figures: other figures, another sentence."""

from __future__ import annotations

import numpy as np
import pytest

from firststory.evaluate.single_topic import LearningCurves
from firststory.lab.experiments import (
    bars,
    event_words,
    moving_bars,
    newsgroup_threads,
    nmf_time,
    planted_topics,
    spectral_real,
)
from firststory.lab.experiments.single_topic import Setting


@pytest.mark.parametrize(("nmf", "orthogonal", "holds"), [(0, 1, True), (1, 1, False), (0, 0, False)])
def test_bars(nmf, orthogonal, holds):
    shares = {"plain": nmf, "leaking": 1, "unlimited": 0, "best": orthogonal}
    found = {(row[:3], 0, way, 0.03): (1.0, 0.0, share) for row in bars.REFERENCE for way, share in shares.items()}
    sentence = "The claim holds here" if holds else "The claim does not hold here"
    assert sentence in bars._verdict(bars.REFERENCE, 1, found)


@pytest.mark.parametrize(("cosine", "sentence"), [(0.99, "**Reproduced**"), (0.6, "**Not reproduced**")])
def test_moving_bars(cosine, sentence):
    scores = {(solver, 0.0, memory): (cosine, 1.0, 1.0) for solver in moving_bars.SOLVERS for memory in (0.0, 1.0)}
    assert sentence in moving_bars._verdict(scores)
    scores["hals", 0.0, 3.0] = (0.2, 1.0, 1.0)
    assert "loses them from 3 on" in moving_bars._verdict(scores)


def thread_curves(at_change, elsewhere):
    curves = {}
    for thread, changes in newsgroup_threads.CHANGES.items():
        curve = np.full(newsgroup_threads.BATCHES, elsewhere)
        curve[list(changes)] = at_change
        curves[thread] = curve
    return curves


@pytest.mark.parametrize(
    ("at_change", "seen", "clean"),
    [
        (0.2, "changes: **reproduced**", "rest: **reproduced**"),
        (0.9, "changes: **not reproduced**", "rest: **not reproduced**"),
    ],
)
def test_newsgroup_threads(at_change, seen, clean):
    said = newsgroup_threads._verdict({(3, 1.0): [thread_curves(at_change, 0.8)]})
    assert seen in said and clean in said


@pytest.mark.parametrize(("online", "again", "sentence"), [(1, 5, "**Reproduced**"), (5, 5, "**Not"), (1, 1, "**Not")])
def test_nmf_time(online, again, sentence):
    fit = (0.9, 0.9, 0.8, 0.95)
    growth = [np.linspace(1, last, 9) for last in (online, online, again, 1)]
    steps = [nmf_time.Step(t, tuple(g[t] for g in growth), fit, fit, (0.9, 0.9, 0.9, 0.5)) for t in range(9)]
    assert sentence in nmf_time._verdict(steps)


def test_event_words():
    times = [np.datetime64("2011-02-20") + np.timedelta64(40 * t, "D") for t in range(6)]
    early_first = {word: np.eye(6)[t] for t, word in enumerate(event_words.WORDS)}
    late_first = {word: np.eye(6)[5 - t] for t, word in enumerate(event_words.WORDS)}
    assert "**Reproduced**: 15 of 15" in event_words._verdict(early_first, times)
    assert "**Not reproduced**: 0 of 15" in event_words._verdict(late_first, times)


def runs_with(leader, em):
    def curve(value, run):
        level = np.full(4, value + 0.001 * run)
        return LearningCurves(level, level, level)

    return {name: [curve(v, run) for run in range(3)] for name, v in (("SpectralLeader", leader), ("EM 0.5", em))}


@pytest.mark.parametrize(
    ("leader", "em", "ordered", "blocks"),
    [(1.0, 2.0, "Reproduced in every setting", "**reproduced**"), (2.0, 1.0, "Not reproduced", "**not reproduced**")],
)
def test_planted_topics(leader, em, ordered, blocks):
    results = {Setting(0.9, 1, 4): (runs_with(leader, em), 1.5)}
    assert ordered in planted_topics._random_order(results)
    assert "except in Figure 2a" in planted_topics._random_order(results)
    said = planted_topics._blocks(results)
    assert said.count(blocks) == 2


def test_regret_is_judged_run_by_run():
    n = np.arange(1, 401.0)
    said = planted_topics._regret_verdict({"slow": np.stack([np.log(n) + 1] * 3), "fast": np.stack([n, np.log(n) + 1])})
    assert "slow: from n = 25 to 400, R/√n falls in 3 of 3 runs" in said
    assert "fast: from n = 25 to 400, R/√n falls in 1 of 2 runs" in said


def test_spectral_real():
    both = spectral_real._verdict({("A", 1): runs_with(1.0, 2.0), ("B", 1): runs_with(2.0, 1.0)})
    assert both.count("**Reproduced in part**") == 2 and "not in B m = 1" in both
    assert "**Not reproduced**: in 0 of 1 rows" in spectral_real._verdict({("A", 1): runs_with(2.0, 1.0)})
