"""Sparse rows as columns with their weights: whether they are in order, and the entries that weigh most."""

from __future__ import annotations

import numpy as np

from firststory.arrays import Columns, Floats, Ints
from firststory.kernels.jit import kernel, part_of_kernel


@kernel
def in_order(columns: Columns) -> bool:
    """Whether columns ascend."""
    a = 1
    while a < len(columns) and columns[a - 1] < columns[a]:
        a += 1
    return a >= len(columns)


@kernel
def heaviest(columns: Columns, weights: Floats, n: int) -> Columns:
    """The columns of the n largest weights, largest first; among equals the smaller column. Columns in any order."""
    n = min(n, len(columns))
    top, best = np.empty(n, np.int32), np.empty(n)
    kept = 0
    for a in range(len(columns)):
        if kept == n and (n == 0 or _is_before(best[n - 1], top[n - 1], weights[a], columns[a])):
            continue
        r = min(kept, n - 1)
        while r > 0 and not _is_before(best[r - 1], top[r - 1], weights[a], columns[a]):
            top[r], best[r] = top[r - 1], best[r - 1]
            r -= 1
        top[r], best[r] = columns[a], weights[a]
        kept = min(kept + 1, n)
    return top


@part_of_kernel
def _is_before(weight: float, column: int, other_weight: float, other_column: int) -> bool:
    return weight > other_weight or (weight == other_weight and column < other_column)


@kernel
def places_of_smallest(values: Floats, n: int) -> Ints:
    """Where the n smallest of more than n values are, in order; of equal ones the first."""
    largest = np.partition(values, n - 1)[n - 1]
    places, found, n_equal = np.empty(n, np.int64), 0, n
    for k in range(len(values)):
        n_equal -= values[k] < largest
    for k in range(len(values)):
        if values[k] < largest or (values[k] == largest and n_equal > 0):
            n_equal -= values[k] == largest
            places[found] = k
            found += 1
    return places
