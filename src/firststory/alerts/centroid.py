"""The sum of a story's unit rows: what a new document is compared with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from firststory.kernels.sparse_sums import added, heaviest, in_order, product, square

Columns = NDArray[np.int32]
Floats = NDArray[np.float64]

MAX_TERMS = 600
"""Terms of a centroid; the lightest are dropped when it has twice as many."""


def sorted_row(columns: NDArray[Any], weights: NDArray[Any]) -> tuple[Columns, Floats]:
    """A sparse row as the kernels want it: columns in order, of one type."""
    columns = np.ascontiguousarray(columns, dtype=np.int32)
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    if not in_order(columns):
        order = np.argsort(columns, kind="stable")
        columns, weights = columns[order], weights[order]
    return columns, weights


class Centroid:
    """A sum S of sparse rows, columns in order, with the square of its length.

    Examples
    --------
    >>> centroid = Centroid()
    >>> row = sorted_row(np.array([3, 1]), np.array([0.6, 0.8]))
    >>> centroid.add(*row, centroid.dot(*row))
    >>> centroid.columns.tolist(), round(centroid.norm2, 12), round(centroid.dot(*row), 12)
    ([1, 3], 1.0, 1.0)
    """

    __slots__ = ("columns", "norm2", "weights")

    def __init__(self, columns: Columns | None = None, weights: Floats | None = None, norm2: float = 0.0) -> None:
        self.columns = np.empty(0, dtype=np.int32) if columns is None else columns
        self.weights = np.empty(0) if weights is None else weights
        self.norm2 = norm2

    def __len__(self) -> int:
        return len(self.columns)

    def dot(self, columns: Columns, weights: Floats) -> float:
        """x . S"""
        return float(product(columns, weights, self.columns, self.weights))

    def add(self, columns: Columns, weights: Floats, dot: float) -> None:
        """S + x, where x . S is known."""
        self.columns, self.weights = added(self.columns, self.weights, columns, weights, 1.0)
        self.norm2 += float(square(weights)) + 2.0 * dot
        if len(self.columns) > 2 * MAX_TERMS:
            # Of the sum the lightest terms go; its length stays what it was.
            kept = np.sort(np.lexsort((self.columns, -self.weights))[:MAX_TERMS])
            self.columns, self.weights = self.columns[kept], self.weights[kept]

    def absorb(self, other: Centroid) -> None:
        """S + another's S."""
        dot = self.dot(other.columns, other.weights)
        self.columns, self.weights = added(self.columns, self.weights, other.columns, other.weights, 1.0)
        self.norm2 += other.norm2 + 2.0 * dot

    def move(self, columns: Columns, weights: Floats, to: Centroid) -> None:
        """Take a row out and put it into another sum. Call `measure` on both when all are moved."""
        self.columns, self.weights = added(self.columns, self.weights, columns, weights, -1.0)
        to.columns, to.weights = added(to.columns, to.weights, columns, weights, 1.0)

    def measure(self) -> None:
        """The length from the terms that are there."""
        self.norm2 = float(square(self.weights))

    def heaviest(self, n: int) -> list[int]:
        """The columns that weigh most, heaviest first; among equals the older column."""
        found: list[int] = heaviest(self.columns, self.weights, n).tolist()
        return found
