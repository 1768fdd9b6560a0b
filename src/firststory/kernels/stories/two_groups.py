"""Whether a handful of rows are two groups: spherical 2-means from the least alike pair."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Columns, Flags, Floats, Ints
from firststory.kernels.jit import kernel
from firststory.kernels.stories.row_table import dot_with, fill, new_table

MAX_ROUNDS = 8
MIN_GROUP_ROWS = 3
"""The fewest rows that make a group."""


@kernel
def products(indptr: Ints, columns: Columns, weights: NDArray[np.float32]) -> Floats:
    """The dot products of all pairs of rows."""
    n = len(indptr) - 1
    table = new_table(int(np.diff(indptr).max()) if n > 0 else 0)
    out = np.empty((n, n))
    for i in range(n):
        fill(table, columns[indptr[i] : indptr[i + 1]], weights[indptr[i] : indptr[i + 1]])
        for j in range(i, n):
            total = dot_with(table, columns[indptr[j] : indptr[j + 1]], weights[indptr[j] : indptr[j + 1]])
            out[i, j] = out[j, i] = total
    return out


@kernel
def total_between(cosine: Floats, side: Flags, first: bool, second: bool) -> float:
    """The sum of the cosines between the rows of one side and those of another (or the same)."""
    total = 0.0
    for i in range(len(side)):
        if side[i] == first:
            for j in range(len(side)):
                if side[j] == second:
                    total += cosine[i, j]
    return total


@kernel
def least_alike(cosine: Floats) -> tuple[int, int]:
    """The pair of different rows with the smallest cosine, the first such pair."""
    low, one, other = math.inf, 0, 0
    for i in range(len(cosine)):
        for j in range(len(cosine)):
            if i != j and cosine[i, j] < low:
                low, one, other = cosine[i, j], i, j
    return one, other


@kernel
def mean_pair(cosine: Floats, side: Flags, which: bool, n: int) -> float:
    """The mean cosine of two different rows of a side that has n."""
    own = 0.0
    for i in range(len(side)):
        if side[i] == which:
            own += cosine[i, i]
    return (total_between(cosine, side, which, which) - own) / (n * (n - 1))


@kernel
def two_groups(cosine: Floats, share: float) -> Flags:
    """Which rows are in the second group; empty where there are no two groups.

    There are two when rows are less than `share` as alike between the groups as within them, and each group has
    `MIN_GROUP_ROWS`.
    """
    n, none = len(cosine), np.empty(0, np.bool_)
    one, other = least_alike(cosine)
    side = np.empty(n, np.bool_)
    for i in range(n):
        side[i] = cosine[i, other] > cosine[i, one]
    moved = np.empty(n, np.bool_)
    for _ in range(MAX_ROUNDS):
        second = side.sum()
        if not MIN_GROUP_ROWS <= second <= n - MIN_GROUP_ROWS:
            return none
        lengths = (
            math.sqrt(total_between(cosine, side, False, False)),
            math.sqrt(total_between(cosine, side, True, True)),
        )
        for i in range(n):
            to_first, to_second = 0.0, 0.0
            for j in range(n):
                if side[j]:
                    to_second += cosine[i, j]
                else:
                    to_first += cosine[i, j]
            moved[i] = to_second / lengths[1] > to_first / lengths[0]
        same = True
        for i in range(n):
            same = same and side[i] == moved[i]
            side[i] = moved[i]
        if same:
            break
    second = side.sum()
    if not MIN_GROUP_ROWS <= second <= n - MIN_GROUP_ROWS:
        return none
    within = (mean_pair(cosine, side, False, n - second), mean_pair(cosine, side, True, second))
    between = total_between(cosine, side, False, True) / (second * (n - second))
    if min(within[0], within[1]) <= 0 or between >= share * math.sqrt(within[0] * within[1]):
        return none
    return side
