"""A sparse row in a small hash table: its dot product with another row then takes one walk over that row alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from firststory.arrays import Columns, Floats, Singles, Slots
from firststory.kernels.jit import kernel, part_of_kernel

FEWEST_PLACES = 512


class RowTable(NamedTuple):
    """The columns of a row, each where its hash says (-1: free), with their weights in the text and in the title."""

    columns: Columns
    weights: Floats
    title_weights: Floats
    found: Slots
    """Scratch: which entries of another row stand where the table has something."""


@part_of_kernel
def first_place(column: int, columns: Columns) -> int:
    """Where a column is looked for first."""
    return (column * 2654435761 >> 7) & (len(columns) - 1)


@part_of_kernel
def place_of(column: int, columns: Columns) -> int:
    """Where a column is in the table, or the free place where it would be."""
    mask = len(columns) - 1
    place = first_place(column, columns)
    while columns[place] != column and columns[place] >= 0:
        place = (place + 1) & mask
    return place


@kernel
def new_table(longest: int) -> RowTable:
    """A table for rows of at most `longest` columns, and for products with such rows."""
    size = size_for(longest)
    return RowTable(np.empty(size, np.int32), np.empty(size), np.empty(size), np.empty(longest + 1, np.int32))


@part_of_kernel
def size_for(n_columns: int) -> int:
    """The places for so many columns, a power of two; at most a quarter of them is ever in use."""
    size = FEWEST_PLACES
    while size < 4 * n_columns:
        size *= 2
    return size


@part_of_kernel
def fill(table: RowTable, columns: Columns, weights: Singles, title_weights: Singles) -> None:
    """Replace the row in the table by this one."""
    table.columns[:] = -1
    for a in range(len(columns)):
        place = place_of(int(columns[a]), table.columns)
        table.columns[place], table.weights[place] = columns[a], weights[a]
        table.title_weights[place] = title_weights[a]


@part_of_kernel
def dots_with(table: RowTable, columns: Columns, weights: Singles, title_weights: Singles) -> tuple[float, float]:
    """The dot products with the row in the table, of the texts and of the titles."""
    text, title, n = 0.0, 0.0, 0
    # First which columns may be in both rows, without a branch: they are few, and a processor cannot foresee them.
    for b in range(len(columns)):
        table.found[n] = b
        n += table.columns[np.uint64(first_place(int(columns[np.uint64(b)]), table.columns))] >= 0
    for a in range(n):
        b = table.found[a]
        place = place_of(int(columns[b]), table.columns)
        if table.columns[place] >= 0:
            text += table.weights[place] * np.float64(weights[b])
            title += table.title_weights[place] * np.float64(title_weights[b])
    return text, title
