"""idf of every term and the norm of every row, refreshed from time to time, never at every row."""

from __future__ import annotations

import math

import numpy as np

from firststory.arrays import Flags, Floats, Ints
from firststory.kernels.fused.layout import Past, Tally, Window
from firststory.kernels.fused.rule import Rule
from firststory.kernels.jit import kernel
from firststory.kernels.neighbours.window import NEXT, OLDEST

REFRESH_ROWS = 100
"""Rows between two refreshes while the window is small; fewer at the start of a stream."""

SMALL_WINDOW_ROWS = 20
"""Rows between two refreshes in a tiny window, however tiny: a refresh looks at every term."""

LARGE_WINDOW_ROWS, LARGE_WINDOW_REFRESHES = 10_000, 50
"""From this many rows on there are 50 refreshes per window: idf hardly moves in between, and the cost per row stays
constant however long the stream."""

COMMON_SHARE = 0.2
"""A term is common when more than this share of the window has it: its list need not be walked to find neighbours.

Results do not depend on it. With a tenth, the terms of long texts leave the bound so wide that hundreds of rows get
their exact cosine, which costs more than the walk."""


@kernel
def refresh_due(meta: Ints, tally: Tally, rule: Rule) -> bool:
    """Whether it is time for a refresh."""
    alive = meta[NEXT] - meta[OLDEST]
    wait = REFRESH_ROWS if alive < LARGE_WINDOW_ROWS else alive // LARGE_WINDOW_REFRESHES
    # The first documents of a stream teach most of what idf knows; and half a window on, the window is another.
    wait = min(wait, max(1, int(rule.early_refresh * meta[NEXT])), max(SMALL_WINDOW_ROWS, alive // 2))
    return bool(meta[NEXT] - tally.refreshed_at[0] >= wait)


@kernel
def squared_idf(rows: int, df: int, rule: Rule) -> float:
    """The square of idf ** power; idf = ln((1 + N) / (1 + df)) + plus."""
    return float(max(math.log((1.0 + rows) / (1.0 + df)) + rule.idf_plus, 0.01) ** (2.0 * rule.idf_power))


@kernel
def common_share(terms: Ints, values: Floats, inverse: float, idf2: Floats, common: Flags) -> float:
    """The part of the row's norm that its common terms have, never too little when rounded to single precision."""
    total = 0.0
    for a in range(len(terms)):
        v = terms[a]
        if common[v]:
            total += values[a] * values[a] * idf2[v]
    return 1.000001 * math.sqrt(total) * inverse


@kernel
def weigh_rows(window: Window, idf2: Floats) -> None:
    """1/norm of every row by this idf."""
    meta, _, log, rows, common = window
    begin, count, terms, weights = log
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


@kernel
def refresh(rule: Rule, past: Past) -> None:
    """idf of every term and 1/norm of every row as of now. A list's length is the term's document frequency."""
    meta, lists, _, _, common = past.window
    length, idf2 = lists.length, past.idf2
    alive = meta[NEXT] - meta[OLDEST]
    table = np.empty(1024)  # idf depends on the document frequency alone, and most terms are rare
    for df in range(len(table)):
        table[df] = squared_idf(alive, df, rule)
    for v in range(len(length)):
        idf2[v] = table[length[v]] if length[v] < len(table) else squared_idf(alive, length[v], rule)
        common[v] = length[v] > COMMON_SHARE * alive
    weigh_rows(past.window, idf2)
    past.tally.refreshed_at[0], past.tally.refreshed_rows[0] = meta[NEXT], alive
