"""Sums of sparse rows, kept as sorted columns with their weights: products, additions, the heaviest entries."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Columns, Floats
from firststory.kernels.jit import kernel
from firststory.kernels.stories.layout import Sums


@kernel
def product(columns: NDArray[Any], weights: NDArray[Any], other: NDArray[Any], values: Floats) -> float:
    """The dot product of two sparse vectors whose columns (int32 or int64) are in order."""
    a, b, total = 0, 0, 0.0
    n, m = len(columns), len(other)
    while a < n and b < m:
        if columns[a] == other[b]:
            total += weights[a] * values[b]
            a += 1
            b += 1
        elif columns[a] < other[b]:
            a += 1
        else:
            b += 1
    return total


@kernel
def in_order(columns: Columns) -> bool:
    """Whether columns ascend."""
    a = 1
    while a < len(columns) and columns[a - 1] < columns[a]:
        a += 1
    return a >= len(columns)


@kernel
def square(weights: Floats) -> float:
    """The sum of squares."""
    total = 0.0
    for weight in weights:
        total += weight * weight
    return total


@kernel
def added(columns: Columns, weights: Floats, other: Columns, values: Floats, sign: float) -> tuple[Columns, Floats]:
    """The sum `this + sign * other`; of a difference, entries that are not above 1e-9 are left out."""
    n, m = len(columns), len(other)
    out, sums = np.empty(n + m, np.int32), np.empty(n + m)
    a, b, k = 0, 0, 0
    while a < n or b < m:
        if b == m or (a < n and columns[a] < other[b]):
            out[k], sums[k] = columns[a], weights[a]
            a += 1
            k += 1
        elif a == n or other[b] < columns[a]:
            out[k], sums[k] = other[b], sign * values[b]
            b += 1
            k += sign > 0.0
        else:
            out[k], sums[k] = columns[a], weights[a] + sign * values[b]
            a += 1
            b += 1
            k += sign > 0.0 or sums[k] > 1e-9
    return out[:k], sums[:k]


@kernel
def heaviest(columns: Columns, weights: Floats, n: int) -> Columns:
    """The columns of the n largest weights, largest first; among equals the smaller column."""
    n = min(n, len(columns))
    top, best = np.empty(n, np.int32), np.empty(n)
    kept = 0
    for a in range(len(columns)):
        if kept == n and (n == 0 or weights[a] <= best[n - 1]):
            continue  # columns are in order: of equals the one already kept stays
        r = min(kept, n - 1)
        while r > 0 and best[r - 1] < weights[a]:
            top[r], best[r] = top[r - 1], best[r - 1]
            r -= 1
        top[r], best[r] = columns[a], weights[a]
        kept = min(kept + 1, n)
    return top


@kernel
def heaviest_of(sums: Sums, slots: NDArray[np.int64], n: int) -> Columns:
    """`heaviest` of the sums in some slots, one per row; -1 where a sum has fewer columns."""
    found = np.full((len(slots), n), -1, np.int32)
    for k, slot in enumerate(slots):
        start, end = sums.start[slot], sums.start[slot] + sums.length[slot]
        top = heaviest(sums.columns[start:end], sums.weights[start:end], n)
        found[k, : len(top)] = top
    return found
