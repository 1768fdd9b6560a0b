"""How surprising is a score? A conformal p-value against the recent past.

With scores s_1..s_n of the recent past, a new score s has p = (1 + #{i: s_i >= s}) / (n + 1). If the n + 1 scores
are exchangeable, P(p <= a) <= a for every a, whatever the detector and whatever its scores look like; ties only make
p larger. In a short stream most documents are as novel as can be, and none would stand out: where documents have lots,
equal scores are ranked by lot (smoothed conformal p-values), which is as valid. A stream drifts, so the past is a
sliding window: after a shift of the scores the p-values are right again once the window has moved on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from firststory.arrays import Floats
from firststory.errors import ParameterError
from firststory.kernels.alerts.ranks import least, move_on, ranked_by_lot, thresholds_of


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
        self._seen = 0
        self._latest = np.empty(self.window)
        """A ring: the oldest score of a full window is at `_seen` modulo its length."""
        self._ordered = np.empty(self.window)
        """The same scores in order."""

    def __len__(self) -> int:
        return min(self._seen, self.window)

    @property
    def _past(self) -> Floats:
        """The scores of the past, in order."""
        return self._ordered[: len(self)]

    def p_value(self, score: float) -> float:
        """The share of the past, and of the score itself, that is at least as novel. Never learns."""
        return self.p_values([score])[0]

    def p_values(self, scores: ArrayLike, lots: Sequence[float] | None = None) -> list[float]:
        """p-values of a batch, each among the past and the whole batch: valid too, and blind to the batch's order.

        `lots` are numbers in [0, 1), one per document, drawn independently of the scores: of equals the one with the
        smallest lot comes first. Without lots each has all of its equals before it.

        Examples
        --------
        >>> ConformalCalibrator().p_values([0.9, 0.9, 0.9, 0.1], lots=[0.7, 0.1, 0.4, 0.5])
        [0.75, 0.25, 0.5, 1.0]
        """
        values, past = _finite(scores), self._past
        if lots is None:
            n_below = np.searchsorted(past, values) + np.searchsorted(np.sort(values), values)
            total = len(past) + len(values)
            p_values = (total - n_below) / total
        else:
            p_values = ranked_by_lot(past, values, np.array(lots))
        found: list[float] = p_values.tolist()
        return found

    def observe(self, scores: ArrayLike) -> None:
        """Add a score, or several in order, to the past; the oldest leave when the window is full."""
        values = _finite(scores)
        move_on(values, self._ordered, self._latest, self._seen)
        self._seen += len(values)

    def threshold(self, p_value: float) -> float:
        """The smallest score whose p-value is at most `p_value`; infinite where the past is too short for that."""
        return float(least(self._past, len(self), len(self), p_value))

    def thresholds(self, scores: ArrayLike, p_values: Sequence[float]) -> list[float]:
        """For each document of a batch the smallest score whose p-value would have been at most its own of `p_values`.

        The others of the batch are what they are: the p-value of `scores[i]` is at most `p_values[i]` exactly where
        `scores[i]` is at least what this gives for i.
        """
        found: list[float] = thresholds_of(self._past, _finite(scores), np.array(p_values)).tolist()
        return found

    def get_state(self) -> dict[str, Any]:
        """Everything, as a flat dict of arrays and JSON values."""
        latest = self._latest[: len(self)]
        return {"window": self.window, "scores": np.roll(latest, -(self._seen % max(len(self), 1)))}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Undo `get_state`."""
        calibrator = cls(int(state["window"]))
        calibrator.observe(state["scores"])
        return calibrator


def _finite(scores: ArrayLike) -> Floats:
    """NaN says nothing: it counts as the least novel score. Infinite scores have their place in the order."""
    values = np.atleast_1d(np.asarray(scores, dtype=np.float64))
    return np.where(np.isnan(values), -np.inf, values)
