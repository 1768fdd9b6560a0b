"""A sparse row laid out in a small table, so that others find what they share with it without a walk over both."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Columns, Floats
from firststory.kernels.jit import kernel


@kernel
def place_of(column: int, keys: Columns) -> int:
    """Where a column stands in the table, or the free place where it would."""
    mask = len(keys) - 1
    place = (column * 2654435761 >> 7) & mask
    while keys[place] != column and keys[place] >= 0:
        place = (place + 1) & mask
    return place


@kernel
def new_table(longest: int) -> tuple[Columns, Floats]:
    """Keys and weights of a table for rows of up to so many columns; at most a quarter of it is ever in use."""
    size = 64
    while size < 4 * longest:
        size *= 2
    return np.empty(size, np.int32), np.empty(size)


@kernel
def lay_out(columns: Columns, weights: NDArray[Any], keys: Columns, held: Floats) -> None:
    """Make the table that of this row."""
    keys[:] = -1
    for a in range(len(columns)):
        place = place_of(int(columns[a]), keys)
        keys[place], held[place] = columns[a], weights[a]


@kernel
def dot_with(columns: Columns, weights: NDArray[Any], keys: Columns, held: Floats) -> float:
    """The dot product with the row in the table."""
    total = 0.0
    for b in range(len(columns)):
        place = place_of(int(columns[b]), keys)
        if keys[place] >= 0:
            total += held[place] * np.float64(weights[b])
    return total
