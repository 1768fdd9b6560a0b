"""A sparse row in a small hash table: its dot product with another row then takes one walk over that row alone."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Columns, Floats
from firststory.kernels.jit import kernel


class RowTable(NamedTuple):
    """The columns of a row, each where its hash says (-1: free), and their weights."""

    columns: Columns
    weights: Floats


@kernel
def place_of(column: int, columns: Columns) -> int:
    """Where a column is in the table, or the free place where it would be."""
    mask = len(columns) - 1
    place = (column * 2654435761 >> 7) & mask
    while columns[place] != column and columns[place] >= 0:
        place = (place + 1) & mask
    return place


@kernel
def new_table(longest: int) -> RowTable:
    """A table for rows of at most `longest` columns; at most a quarter of it is ever in use."""
    size = 64
    while size < 4 * longest:
        size *= 2
    return RowTable(np.empty(size, np.int32), np.empty(size))


@kernel
def fill(table: RowTable, columns: Columns, weights: NDArray[Any]) -> None:
    """Replace the row in the table by this one."""
    table.columns[:] = -1
    for a in range(len(columns)):
        place = place_of(int(columns[a]), table.columns)
        table.columns[place], table.weights[place] = columns[a], weights[a]


@kernel
def dot_with(table: RowTable, columns: Columns, weights: NDArray[Any]) -> float:
    """The dot product with the row in the table."""
    total = 0.0
    for b in range(len(columns)):
        place = place_of(int(columns[b]), table.columns)
        if table.columns[place] >= 0:
            total += table.weights[place] * np.float64(weights[b])
    return total
