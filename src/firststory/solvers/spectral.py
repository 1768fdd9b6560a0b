"""The method of moments for single-topic models: whiten, decompose, undo the whitening, repair (C5).

M2 = sum_j w_j u_j u_j',   W' M2 W = I,   M3(W, W, W) = sum_j lambda_j v_j (x) v_j (x) v_j,
w_j = 1 / lambda_j^2,      u_j = lambda_j (W')^+ v_j
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.optimize import nnls

from firststory.arrays import Floats
from firststory.solvers.tensor_power import tensor_power

Weighting = Literal["tensor", "nnls"]

SMALLEST_WEIGHT = 1e-6

SPURIOUS_VALUE = 0.5
"""True lambdas are 1/sqrt(w) >= 1. One well below is a component of noise: 1/lambda^2 would make it the largest."""


@dataclass(frozen=True, slots=True)
class Whitening:
    """frame = U A^(-1/2) and unframe = U A^(1/2), both r x k'; `spectrum` has all n_topics leading eigenvalues."""

    frame: Floats
    unframe: Floats
    spectrum: Floats

    @property
    def rank(self) -> int:
        """How many eigenvalues stood out of zero: k'."""
        return int(self.frame.shape[1])


@dataclass(frozen=True, slots=True)
class SpectralEstimate:
    """Weights and topics (rows of unit sum) of the k' components that were found, and how well they explain T."""

    weights: Floats
    topics: Floats
    values: Floats
    residual: float
    spectrum: Floats


def whiten(pair_moment: Floats, n_topics: int, tolerance: float) -> Whitening:
    """Keep the eigenvalues above `tolerance` times the largest: by value, for M2 has negative ones too."""
    values, vectors = np.linalg.eigh(pair_moment)
    values, vectors = values[::-1][:n_topics], vectors[:, ::-1][:, :n_topics]
    kept = values > max(tolerance * values[0], 1e-300) if values.size else np.zeros(0, dtype=bool)
    root = np.sqrt(values[kept])
    return Whitening(vectors[:, kept] / root, vectors[:, kept] * root, values)


def spectral_method(
    pair_moment: Floats,
    triple_moment: Callable[[Floats], Floats],
    basis: Floats,
    first_moment: Floats,
    n_topics: int,
    *,
    starts: Callable[[Floats], Floats],
    tolerance: float = 1e-3,
    weighting: Weighting = "tensor",
    n_short: int = 10,
    n_sweeps: int = 3,
) -> SpectralEstimate:
    """The topics behind moments that are known in the frame of `basis` (d x r).

    `triple_moment(frame)` gives M3(W, W, W), W = basis frame; `starts(frame)` the rows to start the power method at.
    """
    whitening = whiten(pair_moment, n_topics, tolerance)
    if whitening.rank == 0:
        empty = np.zeros((0, basis.shape[0]))
        return SpectralEstimate(np.zeros(0), empty, np.zeros(0), 0.0, whitening.spectrum)
    tensor = triple_moment(whitening.frame)
    factors = tensor_power(tensor, starts(whitening.frame), n_short=n_short, n_sweeps=n_sweeps)
    raw = factors.values[:, None] * (factors.vectors @ (basis @ whitening.unframe).T)
    topics = repair_topics(raw)
    weights = _least_squares(topics, first_moment) if weighting == "nnls" else repair_weights(factors.values)
    return SpectralEstimate(weights, topics, factors.values, factors.residual, whitening.spectrum)


def repair_topics(raw: Floats) -> Floats:
    """Turn each row so that its sum is positive, clip what is negative, divide by the sum: onto the simplex."""
    turned = np.where(raw.sum(axis=1, keepdims=True) < 0.0, -raw, raw)
    clipped = np.maximum(turned, 0.0)
    total = clipped.sum(axis=1, keepdims=True)
    repaired: Floats = np.where(total > 0.0, clipped / np.where(total > 0.0, total, 1.0), 1.0 / raw.shape[1])
    return repaired


def repair_weights(values: Floats) -> Floats:
    """1/lambda^2 within [SMALLEST_WEIGHT, 1] and of unit sum; components of noise get the smallest weight."""
    weights = np.where(values < SPURIOUS_VALUE, 0.0, 1.0 / np.maximum(values, SPURIOUS_VALUE) ** 2)
    return _unit_sum(np.clip(weights, SMALLEST_WEIGHT, 1.0))


def smoothed(
    weights: Floats, topics: Floats, background: Floats, n_topics: int, amount: float
) -> tuple[Floats, Floats]:
    """n_topics weights and topics fit for a logarithm: missing topics are the background at weight 0, then

    u <- (1 - amount) u + amount * background and w <- (1 - amount) w + amount / n_topics.
    """
    missing = n_topics - len(weights)
    all_weights = np.append(weights, np.zeros(missing)) if len(weights) else np.full(n_topics, 1.0 / n_topics)
    all_topics = np.vstack([topics, np.tile(background, (missing, 1))])
    even = (1.0 - amount) * all_weights + amount / n_topics
    return even / even.sum(), (1.0 - amount) * all_topics + amount * background


def _least_squares(topics: Floats, first_moment: Floats) -> Floats:
    """min |M1 - sum_j w_j u_j|, w >= 0, after a QR that leaves k equations of the d."""
    q, r = np.linalg.qr(topics.T)
    return _unit_sum(np.clip(nnls(r, q.T @ first_moment)[0], SMALLEST_WEIGHT, None))


def _unit_sum(weights: Floats) -> Floats:
    total: Floats = weights / weights.sum()
    return total
