"""Scores in, decisions out: the calibrator and the budget keeper as one part of the step."""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from firststory.alerts.budget import Budget, fixed_threshold
from firststory.alerts.calibration import ConformalCalibrator
from firststory.alerts.confidence import SURE_DOCUMENTS, confidence
from firststory.alerts.keeper import BudgetKeeper, Decision
from firststory.state import State


class Judgement(NamedTuple):
    """What the gate says of one document: `threshold` is the least novelty that would have been enough.

    It is None where no novelty would have been (the budget was spent), and where any would.
    """

    is_novel: bool
    p_value: float
    threshold: float | None
    decision: Decision


class AlertGate:
    """Turns the novelty of a batch into p-values and decisions that keep to the budget.

    The order of the documents inside a batch does not matter, so that a batch of equal times gives the same alerts
    however it was shuffled. A batch of one document is the strictly sequential case.

    Parameters
    ----------
    budget : str, float or Budget, default="20/day"
    floor : float, default=-inf
        Nothing less novel than this is ever an alert.
    window : int, default=2000
        Past scores that the p-values compare with.

    Examples
    --------
    >>> gate = AlertGate("10%")
    >>> judged = [gate.judge([0.1 + 0.001 * (i % 17)])[0] for i in range(200)]
    >>> gate.judge([0.99])[0].is_novel, gate.judge([0.05])[0].is_novel
    (True, False)
    """

    def __init__(
        self, budget: str | float | Budget = "20/day", floor: float = float("-inf"), window: int = 2000
    ) -> None:
        self.calibrator = ConformalCalibrator(window)
        self.keeper = BudgetKeeper(budget, floor)

    def judge(
        self,
        novelties: ArrayLike,
        times: Sequence[float | None] | None = None,
        keys: Sequence[str] | None = None,
    ) -> list[Judgement]:
        """Judge one batch, then learn its scores. `times` are float seconds; `keys` are the documents' ids.

        Between equal scores the ids draw lots.
        """
        novelties = np.asarray(novelties, dtype=np.float64)
        scores: list[float] = novelties.tolist()
        if not scores:
            return []
        p_values = self.calibrator.p_values(novelties, None if keys is None else [_lot(key) for key in keys])
        decisions = self.keeper.decide_many(scores, p_values, times, keys)
        thresholds = self._thresholds(scores, decisions)
        judged = [
            Judgement(decision.is_novel, p, threshold, decision)
            for p, decision, threshold in zip(p_values, decisions, thresholds, strict=True)
        ]
        self.calibrator.observe(novelties)
        return judged

    def _thresholds(self, scores: Sequence[float], decisions: Sequence[Decision]) -> list[float | None]:
        """For each document the novelty that its p-value needed, ranked as the p-value is."""
        if self.keeper.budget.kind == "threshold":
            return [fixed_threshold(self.keeper.budget, self.keeper.strictness)] * len(scores)
        needed = self.calibrator.thresholds(scores, [decision.needed_p_value for decision in decisions])
        # Of equals some pass by lot: their own novelty was enough.
        return [
            self._floored(min(threshold, score) if decision.is_novel else threshold)
            for threshold, score, decision in zip(needed, scores, decisions, strict=True)
        ]

    def _floored(self, threshold: float) -> float | None:
        threshold = max(threshold, self.keeper.floor)
        return threshold if math.isfinite(threshold) else None

    def _threshold(self) -> float | None:
        """The least novelty that the next document needs."""
        if self.keeper.budget.kind == "threshold":
            return fixed_threshold(self.keeper.budget, self.keeper.strictness)
        return self._floored(self.calibrator.threshold(self.keeper.needed_p_value()))

    def status(self) -> dict[str, Any]:
        """Where the budget stands, the threshold now and why it stands there, and its history with reasons."""
        return {**self.keeper.status(), "threshold": self._threshold(), "confidence": self.confidence()}

    @property
    def is_sure(self) -> bool:
        """Whether it has judged enough documents for p-values to be small."""
        return len(self.calibrator) >= SURE_DOCUMENTS

    def confidence(self) -> str:
        """One sentence: how sure its decisions are, for want of documents, and what to do about it."""
        return confidence(len(self.calibrator), self.keeper.budget)

    def get_state(self) -> State:
        """All of it."""
        return {"calibrator": self.calibrator.get_state(), "keeper": self.keeper.get_state()}

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Undo `get_state`."""
        gate = cls()
        gate.calibrator = ConformalCalibrator.from_state(state["calibrator"])
        gate.keeper = BudgetKeeper.from_state(state["keeper"])
        return gate


def _lot(key: str) -> float:
    """A number in [0, 1) that an id draws, always the same."""
    return zlib.crc32(key.encode("utf-8", "surrogatepass")) / 2**32
