"""idf of every term and the norm of every row, refreshed from time to time, never at every row."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Floats, Ints
from firststory.kernels.fused.layout import Log, Rows
from firststory.kernels.fused.tally import EARLY, FRESH_AT, FRESH_ROWS, IDF_PLUS, IDF_POWER
from firststory.kernels.jit import kernel
from firststory.kernels.neighbours.window import NEXT, OLDEST

LEAST = 20
"""Rows between two refreshes in a small window, however small: a refresh looks at every term."""

BLOCK = 100
"""Rows between two refreshes while the window holds less than MANY rows; fewer at the start of a stream."""

MANY, STALE = 10_000, 50
"""From so many rows on, a refresh comes after 1/STALE of the window: idf hardly moves in between, and the cost per row
stays constant however long the stream."""

COMMON = 0.1
"""A term is common when more than this share of the window has it: its list need not be walked to find neighbours."""


@kernel
def due(meta: Ints, tally: Ints, knobs: Floats) -> bool:
    """Whether it is time for a refresh."""
    alive = meta[NEXT] - meta[OLDEST]
    wait = BLOCK if alive < MANY else alive // STALE
    if knobs[EARLY] > 0.0:
        # The first documents of a stream teach most of what idf knows; and half a window on, the window is another.
        wait = min(wait, max(1, int(knobs[EARLY] * meta[NEXT])), max(LEAST, alive // 2))
    return bool(meta[NEXT] - tally[FRESH_AT] >= wait)


@kernel
def weigh(rows: int, df: int, knobs: Floats) -> float:
    """The square of idf ** power; idf = ln((1 + N) / (1 + df)) + plus."""
    return float(max(math.log((1.0 + rows) / (1.0 + df)) + knobs[IDF_PLUS], 0.01) ** (2.0 * knobs[IDF_POWER]))


@kernel
def share_of(slot: int, inverse: float, log: Log, idf2: Floats, common: NDArray[np.bool_]) -> float:
    """The part of the row's norm that its common terms have, never too little when rounded to single precision."""
    terms, weights, total = log.terms, log.weights, 0.0
    for a in range(log.start[slot], log.start[slot] + log.length[slot]):
        v = terms[a]
        if common[v]:
            total += weights[a] * weights[a] * idf2[v]
    return 1.000001 * math.sqrt(total) * inverse


@kernel
def refresh(
    knobs: Floats,
    meta: Ints,
    tally: Ints,
    length: Ints,
    log: Log,
    rows: Rows,
    idf2: Floats,
    common: NDArray[np.bool_],
) -> None:
    """idf of every term and 1/norm of every row as of now. A list's length is the term's document frequency."""
    alive = meta[NEXT] - meta[OLDEST]
    table = np.empty(1024)  # idf depends on the document frequency alone, and most terms are rare
    for df in range(len(table)):
        table[df] = weigh(alive, df, knobs)
    for v in range(len(length)):
        idf2[v] = table[length[v]] if length[v] < len(table) else weigh(alive, length[v], knobs)
        common[v] = length[v] > COMMON * alive
    begin, count, terms, weights = log.start, log.length, log.terms, log.weights
    for ordinal in range(meta[OLDEST], meta[NEXT]):
        slot = ordinal % len(begin)
        total, frequent = 0.0, 0.0
        for a in range(begin[slot], begin[slot] + count[slot]):
            term = np.uint32(terms[a])
            square = weights[a] * weights[a] * idf2[term]
            total += square
            frequent += square * common[term]
        rows.inverse[slot] = 1.0 / math.sqrt(total + 1e-30)
        rows.scale[slot] = rows.inverse[slot]
        rows.share[slot] = 1.000001 * math.sqrt(frequent) * rows.inverse[slot]
    tally[FRESH_AT], tally[FRESH_ROWS] = meta[NEXT], alive
