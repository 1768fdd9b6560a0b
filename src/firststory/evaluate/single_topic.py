"""How well a learner of single-topic models predicts a stream, and how close its parameters come to a reference."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from firststory.arrays import Floats


@dataclass(frozen=True)
class LearningCurves:
    """Averages over the steps so far, (1/t) sum from step 2 to t, as the papers plot them (C9)."""

    nll: Floats
    recovery: Floats
    """Of |M2(reference) - M2(model)|_F squared, the papers' definition."""
    distance: Floats
    """Of the same norm, not squared: what the published tables of real text seem to show."""


def learning_curves(model: Any, batches: Iterable[sp.csr_matrix], weights: Floats, topics: Floats) -> LearningCurves:
    """Play the past's model on each batch, then learn it; `weights` and `topics` are the reference.

    Examples
    --------
    >>> import numpy as np, firststory as fs
    >>> rows = np.array([[3.0, 0], [0, 3.0], [3.0, 0], [0, 3.0]])
    >>> curves = learning_curves(fs.StepwiseEM(2, random_state=0), [rows] * 5, np.array([0.5, 0.5]), np.eye(2))
    >>> len(curves.nll), float(curves.nll[0])
    (5, 0.0)
    """
    nll, recovery = [], []
    for step, rows in enumerate(batches):
        if step:
            nll.append(float(model.predictive_nll(rows).mean()))
            recovery.append(squared_distance(weights, topics, model.weights_, model.topic_word_))
        model.partial_fit(rows)
    t = np.arange(1, len(nll) + 2)

    def average(values: list[float]) -> Floats:
        running: Floats = np.append(0.0, np.cumsum(values)) / t
        return running

    return LearningCurves(average(nll), average(recovery), average([value**0.5 for value in recovery]))


def squared_distance(w_a: Floats, u_a: Floats, w_b: Floats, u_b: Floats) -> float:
    """|M2(a) - M2(b)|_F^2 with M2 = sum_j w_j u_j u_j', through k x k products: blind to the order of topics."""
    a, b = np.sqrt(w_a)[:, None] * u_a, np.sqrt(w_b)[:, None] * u_b
    square = np.sum((a @ a.T) ** 2) - 2.0 * np.sum((a @ b.T) ** 2) + np.sum((b @ b.T) ** 2)
    return float(max(square, 0.0))
