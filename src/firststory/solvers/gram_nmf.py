"""The streaming form of non-negative factorisation: HALS on Gram statistics of the (decayed) past.

`G = sum rho^age w'w` (k x k) and `B = sum rho^age w'u` hold all that the past has to say about the topics, so that one
step costs `O(nnz k + p k^2 + n k^2)` and memory `O(n k)`, whatever the length of the stream.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from firststory.arrays import Floats
from firststory.engines.engine import Engine
from firststory.kernels.topics.factor import add_outer, nonnegative_quadratic
from firststory.solvers.orthogonal_nmf import code_step, overlap_cost, unit_columns

DEAD_ENERGY_SHARE = 1e-8
"""A topic with less than this part of the average topic's energy has nothing left to learn from."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """Sums over documents: `gram = W'W`, `cross = U'W` (term-major)."""

    gram: Floats
    cross: Floats

    @classmethod
    def empty(cls, width: int, k: int) -> Statistics:
        """Nothing seen."""
        return cls(np.zeros((k, k)), np.zeros((width, k)))

    def times(self, factor: float) -> Statistics:
        """The same past, weighing `factor` as much."""
        return Statistics(self.gram * factor, self.cross * factor)

    def plus(self, rows: sp.csr_matrix, codes: Floats) -> Statistics:
        """With these documents added."""
        cross = self.cross.copy()
        add_outer(rows.indptr, rows.indices, rows.data, codes, cross)
        return Statistics(self.gram + codes.T @ codes, cross)

    def scale(self, lengths: Floats) -> None:
        """As if every code had been multiplied by its topic's length, in place."""
        self.gram[:] *= np.outer(lengths, lengths)
        self.cross[:] *= lengths

    def alive(self) -> NDArray[np.bool_]:
        """Which topics carry energy."""
        energy = np.diag(self.gram)
        return np.asarray(energy > DEAD_ENERGY_SHARE * max(float(energy.mean()), 1e-300))


def topic_step(statistics: Statistics, topics: Floats, *, orthogonality: float, sweeps: int = 1) -> None:
    """(B7), in place: coordinate descent over the topics of every term. Dead topics stay as they are."""
    alpha = overlap_cost(statistics.gram, orthogonality)
    gram = statistics.gram + alpha
    np.fill_diagonal(gram, np.where(statistics.alive(), np.diag(statistics.gram), 0.0))
    nonnegative_quadratic(gram, statistics.cross, topics, sweeps, 1e-3)


def stream_step(
    rows: sp.csr_matrix,
    topics: Floats,
    past: Statistics,
    codes: Floats,
    *,
    orthogonality: float,
    rounds: int,
    engine: Engine | None = None,
) -> tuple[Floats, Floats, Statistics]:
    """Learn one batch, whose codes on the present topics are known.

    Returns the codes, the new topics (columns of unit length) and the statistics with the batch in them.
    """
    topics = topics.copy()
    now, lengths = past, np.ones(topics.shape[1])
    for done in range(rounds):
        if done:
            past.scale(lengths)
            codes = code_step(rows, topics, engine=engine).codes
        now = past.plus(rows, codes)
        topic_step(now, topics, orthogonality=orthogonality)
        lengths = unit_columns(topics)
        codes = codes * lengths
        now.scale(lengths)
    return codes, topics, now
