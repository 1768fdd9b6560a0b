"""Coordinate descent for non-negative factors, in the Gram form that both steps of HALS share.

Given fixed topics, the codes of every document solve `min_{w>=0} w G w / 2 - b w` with `G = H H'`, `b = u H'`; given
the statistics of the codes, the topics of every *term* solve the same problem with `G = W'W`, `b = W'u_v`. One kernel
does both, so topics are stored term-major (one row per term) while they are being fitted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Floats
from firststory.kernels.jit import kernel


@kernel
def nonnegative_quadratic(gram: Floats, linear: Floats, solution: Floats, sweeps: int, tolerance: float) -> float:
    """Minimise `x G x' / 2 - b x'` over x >= 0 for each row of `solution`, in place, from where it stands.

    A row stops early once a sweep moves no coordinate by more than `tolerance` times its largest one. Coordinates
    with a zero on the diagonal of G are left as they are. Returns the largest last movement of any row.
    """
    n, k = linear.shape
    gradient = np.empty(k)
    inverse = np.zeros(k)
    for j in range(k):
        if gram[j, j] > 0.0:
            inverse[j] = 1.0 / gram[j, j]
    worst = 0.0
    for i in range(n):
        downhill = False
        for j in range(k):
            gradient[j] = -linear[i, j]
            downhill |= not linear[i, j] <= 0.0
        for j in range(k):
            value = solution[i, j]
            if value != 0.0:
                downhill = True
                for other in range(k):
                    gradient[other] += value * gram[j, other]
        if not downhill:  # zero is the minimum already: a term, or a document, that has nothing to do with any topic
            continue
        moved = 0.0
        for _ in range(sweeps):
            moved = 0.0
            largest = 0.0
            for j in range(k):
                old = solution[i, j]
                new = old - gradient[j] * inverse[j]
                if new < 0.0:
                    new = 0.0
                step = new - old
                if step != 0.0:
                    solution[i, j] = new
                    for other in range(k):
                        gradient[other] += step * gram[j, other]
                    moved = max(moved, abs(step))
                largest = max(largest, new)
            if moved <= tolerance * largest:
                break
        worst = max(worst, moved)
    return worst


@kernel
def residual_squares(
    indptr: NDArray[np.integer], data: Floats, linear: Floats, codes: Floats, gram: Floats, out: Floats
) -> None:
    """`||u - wH||^2 / ||u||^2` of each sparse row from `linear = U H'` and `gram = H H'`; 0 for an empty row."""
    k = gram.shape[0]
    for i in range(indptr.size - 1):
        size = 0.0
        for position in range(indptr[i], indptr[i + 1]):
            size += data[position] * data[position]
        left = size
        for j in range(k):
            value = codes[i, j]
            if value != 0.0:
                product = 0.0
                for other in range(k):
                    product += gram[j, other] * codes[i, other]
                left += value * (product - 2.0 * linear[i, j])
        out[i] = max(left, 0.0) / size if size > 0.0 else 0.0


@kernel
def add_outer(
    indptr: NDArray[np.integer], indices: NDArray[np.integer], data: Floats, codes: Floats, cross: Floats
) -> None:
    """`cross += U' W` for sparse rows U: only the terms that occur are touched."""
    k = codes.shape[1]
    for i in range(indptr.size - 1):
        for position in range(indptr[i], indptr[i + 1]):
            term = indices[position]
            value = data[position]
            for j in range(k):
                cross[term, j] += value * codes[i, j]


@kernel
def row_products(
    indptr: NDArray[np.integer], indices: NDArray[np.integer], data: Floats, topics: Floats, out: Floats
) -> None:
    """`out = U H'` for sparse rows U and term-major topics; terms beyond the topics count for nothing."""
    width, k = topics.shape
    for i in range(indptr.size - 1):
        for j in range(k):
            out[i, j] = 0.0
        for position in range(indptr[i], indptr[i + 1]):
            term = indices[position]
            if term < width:
                value = data[position]
                for j in range(k):
                    out[i, j] += value * topics[term, j]
