"""How surprising is a score? A conformal p-value against the recent past.

With scores s_1..s_n of the recent past, a new score s has p = (1 + #{i: s_i >= s}) / (n + 1). If the n + 1 scores
are exchangeable, P(p <= a) <= a for every a, whatever the detector and whatever its scores look like; ties only make
p larger. In a short stream most documents are as novel as can be, and none would stand out: where documents have lots,
equal scores are ranked by lot (smoothed conformal p-values), which is as valid. A stream drifts, so the past is a
sliding window: after a shift of the scores the p-values are right again once the window has moved on.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections import deque
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from firststory.errors import ParameterError


class ConformalCalibrator:
    """p-values against a sliding window of past scores.

    Parameters
    ----------
    window : int, default=2000
        How many past scores are kept. The smallest p-value is 1 / (window + 1); a longer window follows drift later.

    Examples
    --------
    >>> calibrator = ConformalCalibrator(window=100)
    >>> for score in (0.1, 0.2, 0.3):
    ...     calibrator.observe(score)
    >>> calibrator.p_value(0.9), calibrator.p_value(0.2), calibrator.p_value(0.0)
    (0.25, 0.75, 1.0)

    References
    ----------
    Vovk, Gammerman, Shafer: Algorithmic Learning in a Random World (2005), chapter 2.
    """

    def __init__(self, window: int = 2000) -> None:
        if window < 1:
            raise ParameterError(
                owner="ConformalCalibrator",
                parameter="window",
                allowed="at least 1",
                received=window,
                remedy="Pass the number of past scores to compare with, some thousands for small p-values.",
            )
        self.window = int(window)
        self._order: deque[float] = deque()
        self._sorted: list[float] = []

    def __len__(self) -> int:
        return len(self._order)

    def p_value(self, score: float) -> float:
        """The share of the past, and of the score itself, that is at least as novel. Never learns."""
        above = len(self._sorted) - bisect_left(self._sorted, _finite(score))
        return (1 + above) / (len(self._sorted) + 1)

    def p_values(self, scores: Sequence[float], lots: Sequence[float] | None = None) -> list[float]:
        """p-values of a batch, each among the past and the whole batch: valid too, and blind to the batch's order.

        `lots` are numbers in [0, 1), one per document, drawn independently of the scores: of equals the one with the
        smallest lot comes first. Without lots each has all of its equals before it.

        Examples
        --------
        >>> ConformalCalibrator().p_values([0.9, 0.9, 0.9, 0.1], lots=[0.7, 0.1, 0.4, 0.5])
        [0.75, 0.25, 0.5, 1.0]
        """
        values = [_finite(score) for score in scores]
        batch = sorted(values)
        total = len(self._sorted) + len(batch)
        if lots is None:
            return [(_n_at_least(self._sorted, s) + _n_at_least(batch, s)) / total for s in values]
        in_turn = sorted(zip((-score for score in values), lots, range(len(values)), strict=True))
        p_values = [0.0] * len(values)
        for place, (_, lot, i) in enumerate(in_turn, start=1):
            above = _n_above(self._sorted, values[i])
            equals = _n_at_least(self._sorted, values[i]) - above
            p_values[i] = (place + above + math.floor(lot * (equals + 1))) / total
        return p_values

    def observe(self, score: float) -> None:
        """Add a score to the past; the oldest leaves when the window is full."""
        value = _finite(score)
        if len(self._order) == self.window:
            self._sorted.pop(bisect_left(self._sorted, self._order.popleft()))
        self._order.append(value)
        insort(self._sorted, value)

    def threshold(self, p_value: float) -> float:
        """The smallest score whose p-value is at most `p_value`; infinite where the past is too short for that."""
        return _least(self._sorted, len(self._sorted), len(self._sorted), p_value)

    def thresholds(self, scores: Sequence[float], p_values: Sequence[float]) -> list[float]:
        """For each document of a batch the smallest score whose p-value would have been at most its own of `p_values`.

        The others of the batch are what they are: the p-value of `scores[i]` is at most `p_values[i]` exactly where
        `scores[i]` is at least what this gives for i.
        """
        if len(scores) == 1:
            return [self.threshold(p_values[0])]
        values = [_finite(score) for score in scores]
        every = sorted(self._sorted + values)
        # Each is compared with all but itself.
        return [
            _least(every, len(every) - 1, bisect_left(every, value), p_value)
            for value, p_value in zip(values, p_values, strict=True)
        ]

    def get_state(self) -> dict[str, Any]:
        """Everything, as a flat dict of arrays and JSON values."""
        return {"window": self.window, "scores": np.array(self._order, dtype=np.float64)}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Undo `get_state`."""
        calibrator = cls(int(state["window"]))
        calibrator._order.extend(float(score) for score in state["scores"])
        calibrator._sorted = sorted(calibrator._order)
        return calibrator


def _least(ordered: Sequence[float], n: int, without: int, p_value: float) -> float:
    """The smallest score whose p-value among n others (`ordered` without the one at `without`) is at most `p_value`."""
    ranks = math.floor(p_value * (n + 1))
    # Counted as p-values are: a product that was rounded may be off by one.
    ranks += (ranks + 1) / (n + 1) <= p_value
    ranks -= ranks / (n + 1) > p_value
    if ranks < 1:
        return math.inf
    if ranks > n:
        return -math.inf
    place = n - ranks
    # The next number above the most novel of those that must be beaten: a score may lie anywhere between two others.
    return math.nextafter(ordered[place + (place >= without)], math.inf)


def _n_at_least(ordered: Sequence[float], score: float) -> int:
    return len(ordered) - bisect_left(ordered, score)


def _n_above(ordered: Sequence[float], score: float) -> int:
    return len(ordered) - bisect_right(ordered, score)


def _finite(score: float) -> float:
    """NaN says nothing: it counts as the least novel score. Infinite scores have their place in the order."""
    value = float(score)
    return float("-inf") if value != value else value
