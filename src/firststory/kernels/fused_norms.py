"""idf of every term and the norm of every row, refreshed from time to time, never at every row."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from firststory.kernels.fused_tally import FRESH_AT, FRESH_ROWS
from firststory.kernels.jit import kernel
from firststory.kernels.window import NEXT, OLDEST

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Slots = NDArray[np.int32]

BLOCK = 100
"""Rows between two refreshes while the window holds less than BLOCK * STALE rows."""

STALE = 100
"""Beyond that, a refresh comes after 1/STALE of the window: idf hardly moves in between, and the cost per row stays
constant however long the stream."""


@kernel
def weigh(rows: int, df: int, power: float) -> float:
    """The square of idf ** power; idf = ln((1 + N) / (1 + df)) + 1."""
    return float(max(math.log((1.0 + rows) / (1.0 + df)) + 1.0, 0.01) ** (2.0 * power))


@kernel
def refresh(
    power: float,
    meta: Ints,
    tally: Ints,
    length: Ints,
    log_start: Ints,
    log_length: Ints,
    log_terms: Slots,
    log_weights: Floats,
    idf2: Floats,
    inverse: Floats,
) -> None:
    """idf of every term and 1/norm of every row as of now. A list's length is the term's document frequency."""
    alive = meta[NEXT] - meta[OLDEST]
    table = np.empty(1024)  # idf depends on the document frequency alone, and most terms are rare
    for df in range(len(table)):
        table[df] = weigh(alive, df, power)
    for v in range(len(length)):
        idf2[v] = table[length[v]] if length[v] < len(table) else weigh(alive, length[v], power)
    for ordinal in range(meta[OLDEST], meta[NEXT]):
        slot = ordinal % len(log_start)
        total = 0.0
        for a in range(log_start[slot], log_start[slot] + log_length[slot]):
            total += log_weights[a] * log_weights[a] * idf2[log_terms[a]]
        inverse[slot] = 1.0 / math.sqrt(total + 1e-30)
    tally[FRESH_AT], tally[FRESH_ROWS] = meta[NEXT], alive
