"""A symmetric tensor as a sum of orthonormal rank-one terms, T = sum_i lambda_i v_i (x) v_i (x) v_i (C5, step 5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firststory.arrays import Floats
from firststory.kernels.topics.tensor import deflate, largest_value, polish, unexplained

TOLERANCE = 1e-13


@dataclass(frozen=True, slots=True)
class TensorFactors:
    """lambda_i >= 0 (`values`), v_i as rows (`vectors`), and |T - sum| / |T| in the Frobenius norm (`residual`)."""

    values: Floats
    vectors: Floats
    residual: float


def tensor_power(
    tensor: Floats,
    starts: Floats,
    n_components: int | None = None,
    *,
    n_short: int = 10,
    n_long: int = 200,
    n_sweeps: int = 3,
) -> TensorFactors:
    """Power method with deflation from the given starts (rows), then joint polishing sweeps.

    The sign is determined, because the order is odd: a negative lambda turns its vector round.
    """
    k = tensor.shape[0]
    n = k if n_components is None else n_components
    whole = np.ascontiguousarray(tensor, dtype=np.float64)
    rows = np.ascontiguousarray(starts, dtype=np.float64).reshape(-1, k)
    values, vectors = np.zeros(n), np.zeros((n, k))
    deflate(whole.copy(), rows, n_short, n_long, TOLERANCE, values, vectors)
    if n_sweeps:
        polish(whole, n_sweeps, TOLERANCE, values, vectors)
    return TensorFactors(values, vectors, float(unexplained(whole, values, vectors)))


def spectral_norm(tensor: Floats, starts: Floats, *, n_iterations: int = 200) -> float:
    """The tensor's spectral norm, max |T(v, v, v)| over unit v, from below: exact maximisation is NP-hard.

    Give twenty starts or more; the shifted iteration climbs from each of them on T and on -T.
    """
    whole = np.ascontiguousarray(tensor, dtype=np.float64)
    return float(largest_value(whole, np.ascontiguousarray(starts, dtype=np.float64), n_iterations, 1e-10))


def rank_one_sum(values: Floats, vectors: Floats) -> Floats:
    """sum_i values_i v_i (x) v_i (x) v_i, with v_i the rows."""
    total: Floats = np.einsum("i,ia,ib,ic->abc", values, vectors, vectors, vectors, optimize=True)
    return total
