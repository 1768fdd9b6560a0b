"""Ranks against plain lists in order; `tests/alerts/test_calibration.py` checks what they are for."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from firststory.kernels.alerts.ranks import move_on, ranked_by_lot, thresholds_of

SCORES = st.sampled_from([-math.inf, 0.0, 0.1, 0.5, 0.50001, 0.9, 1.0, math.inf]) | st.floats(0.0, 1.0)
PAST = st.lists(SCORES, max_size=30).map(sorted)


@settings(max_examples=100, deadline=None)
@given(PAST, st.lists(st.tuples(SCORES, st.sampled_from([0.0, 0.3, 0.7]) | st.floats(0.0, 0.999)), max_size=40))
def test_equals_are_ranked_by_lot(past, batch):
    expected = [0.0] * len(batch)
    for place, (_, lot, i) in enumerate(sorted((-score, lot, i) for i, (score, lot) in enumerate(batch)), start=1):
        above = len(past) - bisect_right(past, batch[i][0])
        equals = len(past) - bisect_left(past, batch[i][0]) - above
        expected[i] = (place + above + math.floor(lot * (equals + 1))) / (len(past) + len(batch))
    scores, lots = np.array(batch, dtype=np.float64).reshape(-1, 2).T
    assert ranked_by_lot(np.array(past), scores.copy(), lots.copy()).tolist() == expected


def plain_threshold(others, p_value):
    # The next number above each score, and the smallest of all, are where a p-value may first be small enough.
    for bar in [-math.inf, *(math.nextafter(score, math.inf) for score in others)]:
        if (1 + sum(score >= bar for score in others)) / (len(others) + 1) <= p_value:
            return bar
    return math.inf


@settings(max_examples=100, deadline=None)
@given(PAST, st.lists(SCORES, min_size=1, max_size=12), st.integers(0, 45))
def test_thresholds_are_those_among_all_others(past, batch, numerator):
    level = min(1.0, numerator / (len(past) + len(batch)))  # p-values are of this form
    expected = [plain_threshold(sorted([*past, *batch[:i], *batch[i + 1 :]]), level) for i in range(len(batch))]
    found = thresholds_of(np.array(past), np.array(batch), np.full(len(batch), level))
    assert found.tolist() == expected


@settings(max_examples=100, deadline=None)
@given(st.lists(SCORES, max_size=60), st.integers(1, 12), st.integers(0, 60))
def test_the_window_moves_on(scores, window, cut):
    ordered, latest = np.empty(window), np.empty(window)
    move_on(np.array(scores[:cut]), ordered, latest, 0)
    move_on(np.array(scores[cut:]), ordered, latest, len(scores[:cut]))
    plain: list[float] = []
    for score in scores[-window:]:
        insort(plain, score)
    assert ordered[: len(plain)].tolist() == plain
    for place in range(len(plain)):
        assert latest[(len(scores) - len(plain) + place) % window] == scores[-window:][place]
