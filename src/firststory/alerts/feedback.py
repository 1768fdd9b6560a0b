"""What people say of verdicts, and what follows: the threshold moves, and with enough marks the score's own weights.

Everything that follows is a pure function of the marks in their order. So a mark that is taken back leaves no trace:
the strictness and the weights are then, bit for bit, what they were before.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from firststory.alerts.budget import Budget, spending

MARK_LOG_STRICTNESS = 0.05
"""Each mark moves the logarithm of the strictness by this."""
LEAST_STRICTNESS, MOST_STRICTNESS = 0.25, 1.2
"""Feedback may spend a quarter of the budget at least, and a fifth more than the budget at most. (What it does to a
fixed threshold: `alerts.budget.fixed_threshold`.)"""
MIN_MARKS, MIN_MARKS_OF_EACH_KIND = 30, 8
"""Marks that are needed, in all and of each kind, before the weights of the score are touched."""
HALF_WEIGHT_PENALTY = 8.0
"""How strongly the weights are held at one half: all the weight on one part must gain two nats."""
MAX_MARKS = 2000


@dataclass(frozen=True, slots=True)
class Mark:
    """One person's word on one verdict. `parts` are the similarities that its score was made of, where there are."""

    verdict: str
    useful: bool
    novelty: float = 0.0
    parts: tuple[float, ...] = ()


class Feedback:
    """The marks so far and what they amount to.

    Examples
    --------
    >>> feedback = Feedback()
    >>> feedback.mark(Mark("d17", useful=False))
    'Marked not useful. 0 of 1 marked verdicts were useful: the stream now spends 95 % of its budget.'
    >>> feedback.undo("d17")
    'Taken back. No verdict is marked: the stream spends its whole budget.'
    >>> feedback.strictness
    1.0
    """

    def __init__(self) -> None:
        self._marks: list[Mark] = []
        self._alerts: dict[str, tuple[float, tuple[float, ...]]] = {}

    def remember_alert(self, verdict: str, novelty: float, parts: tuple[float, ...] = ()) -> None:
        """Keep what an alert's score was made of, so that a mark on it can be learnt from."""
        self._alerts[verdict] = novelty, parts
        while len(self._alerts) > MAX_MARKS:
            del self._alerts[next(iter(self._alerts))]

    def apply(self, verdict: str, useful: bool | None, budget: Budget | None = None) -> str:
        """Someone's word on a verdict by its id; None takes the last one back. Says what follows for the budget."""
        if useful is None:
            return self.undo(verdict, budget)
        novelty, parts = self._alerts.get(verdict, (0.0, ()))
        return self.mark(Mark(verdict, useful, novelty, parts), budget)

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The mark that holds for each verdict (the last one), in the order of marking."""
        return tuple({mark.verdict: mark for mark in self._marks}.values())

    def mark(self, mark: Mark, budget: Budget | None = None) -> str:
        """Take a mark in; says in words what follows."""
        self._marks.append(mark)
        del self._marks[:-MAX_MARKS]
        return f"Marked {'useful' if mark.useful else 'not useful'}. {self.explain(budget)}"

    def undo(self, verdict: str, budget: Budget | None = None) -> str:
        """Take back the last mark on a verdict: what was before it holds again, exactly."""
        for place in range(len(self._marks) - 1, -1, -1):
            if self._marks[place].verdict == verdict:
                del self._marks[place]
                return f"Taken back. {self.explain(budget)}"
        return f"There is no mark on this verdict. {self.explain(budget)}"

    @property
    def strictness(self) -> float:
        """The part of the budget that the stream should spend: below 1 raises the threshold, above 1 lowers it."""
        balance = 0.0
        for mark in self.marks:
            # Clipped on the way, so that a hundred old marks do not have to be outweighed by a hundred new ones.
            balance = min(
                max(
                    balance + (MARK_LOG_STRICTNESS if mark.useful else -MARK_LOG_STRICTNESS), math.log(LEAST_STRICTNESS)
                ),
                math.log(MOST_STRICTNESS),
            )
        return round(math.exp(balance), 6)

    @property
    def neighbour_weight(self) -> float | None:
        """The weight of the nearest neighbour against the nearest cluster in the fused score; None until known."""
        usable = [mark for mark in self.marks if len(mark.parts) == 2]
        useful = sum(mark.useful for mark in usable)
        if len(usable) < MIN_MARKS or min(useful, len(usable) - useful) < MIN_MARKS_OF_EACH_KIND:
            return None
        similarity = np.array([mark.parts for mark in usable])
        truth = np.array([mark.useful for mark in usable], dtype=np.float64)
        grid = np.linspace(0.0, 1.0, 21)
        gains = [
            _log_likelihood(similarity @ np.array([w, 1.0 - w]), truth) - HALF_WEIGHT_PENALTY * float(w - 0.5) ** 2
            for w in grid
        ]
        return round(float(grid[int(np.argmax(gains))]), 4)

    def weigh(self, novelties: NDArray[np.float64], parts: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        """The scores with the learnt weights: 1 - (w * neighbour + (1 - w) * cluster); unchanged until w is known."""
        weight = self.neighbour_weight
        if weight is None or len(parts) != 2:
            return novelties
        return 1.0 - (weight * parts[0] + (1.0 - weight) * parts[1])

    def explain(self, budget: Budget | None = None) -> str:
        """What the marks amount to, in words; for the budget that they move, where it is given."""
        marks = self.marks
        if not marks:
            is_fixed = budget is not None and budget.kind == "threshold"
            whole = spending(budget, 1.0) if is_fixed else "the stream spends its whole budget"
            return f"No verdict is marked: {whole}."
        useful = sum(mark.useful for mark in marks)
        words = f"{useful} of {len(marks)} marked verdicts were useful: {spending(budget, self.strictness)}."
        if (weight := self.neighbour_weight) is not None and weight != 0.5:
            words += (
                f" Likeness to single documents now counts {100 * weight:.0f} %, likeness to clusters of them the rest."
            )
        return words

    def get_state(self) -> dict[str, Any]:
        """Everything, as a flat dict of JSON values."""
        return {
            "marks": [asdict(mark) for mark in self._marks],
            "alerts": [
                {"id": name, "novelty": novelty, "parts": parts} for name, (novelty, parts) in self._alerts.items()
            ],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Undo `get_state`."""
        feedback = cls()
        feedback._marks = [Mark(**{**mark, "parts": tuple(mark["parts"])}) for mark in state["marks"]]
        feedback._alerts = {one["id"]: (one["novelty"], tuple(one["parts"])) for one in state["alerts"]}
        return feedback


def _log_likelihood(similarity: NDArray[np.float64], truth: NDArray[np.float64]) -> float:
    """The best log-likelihood of P(useful) = sigmoid(a - b * similarity), lightly penalised so that it exists."""
    features = np.stack([np.ones_like(similarity), -similarity], axis=1)
    theta = np.zeros(2)
    ridge = np.array([1e-3, 1e-3])
    for _ in range(50):
        p = 1.0 / (1.0 + np.exp(-np.clip(features @ theta, -30.0, 30.0)))
        gradient = features.T @ (truth - p) - ridge * theta
        curvature = features.T @ (features * (p * (1.0 - p))[:, None]) + np.diag(ridge)
        move = np.linalg.solve(curvature, gradient)
        theta = theta + np.clip(move, -5.0, 5.0)
        if np.abs(move).max() < 1e-10:
            break
    z = np.clip(features @ theta, -30.0, 30.0)
    return float(np.sum(truth * z - np.logaddexp(0.0, z)) - 0.5 * np.sum(ridge * theta**2))
