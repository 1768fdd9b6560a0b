"""The nearest rows of the window: found by the rarer terms in single precision, then judged by all terms exactly.

What the lists that were not walked could add to a cosine is bounded by Cauchy and Schwarz: the part of the row's norm
that its common terms have, times that of the other row. Every row that the bound does not rule out gets its exact
cosine, so that the k best are the true ones. A row with too many postings walks those lists only that tell most
for their length, and does without the bound: its best rows by these terms get their exact cosine, and that is all.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Floats, Ints, Slots
from firststory.kernels.fused.ageing import lagged, needed, too_old
from firststory.kernels.fused.layout import Lists, Log, Rows, Scratch
from firststory.kernels.fused.sieve import BLOCK, reaching, reaching_of
from firststory.kernels.jit import kernel
from firststory.kernels.neighbours.cosine import keep_best
from firststory.kernels.neighbours.walk import postings, walk, worth
from firststory.kernels.neighbours.window import NEXT, OLDEST

LEAP = 1024
"""Rows between two looks at what cosine a row of that age needs."""

SPARSE = 8
"""Touched rows are listed when there are fewer products than 1/SPARSE of the window: a look at all of them is quick."""

MANY = 10_000
"""In a smaller window every row's neighbours are exact."""

WALKED = 8
"""A row beyond its budget walks lists up to 1/WALKED of it."""

COMPLETED = 16
"""How many of its best rows by these terms get their exact cosine."""

TINY = 1e-30
"""A cosine below this is none."""

DONE = -1e30
"""In place of the dot product of a row that got its exact cosine."""

ROUNDED = 1.2e-7
"""What single precision may lose of a cosine for each term."""


@kernel
def longest_walked(terms: Ints, values: Floats, length: Ints, most: int) -> float:
    """So long may lists be, for a weight of one, that those up to this length hold no more than `most` postings."""
    longest = 0.0
    for v in terms:
        if v < len(length):
            longest = max(longest, length[v])
    while longest > 0.1 and postings(terms, values, length, longest) > most:
        longest *= 0.85
    return longest


@kernel
def exact_dot(first: int, last: int, terms: Slots, weights: Floats, spread: Floats) -> float:
    """The dot product with the row that stands at first .. last - 1 of the log."""
    dot = 0.0
    for a in range(first, last):
        dot += weights[a] * spread[np.uint32(terms[a])]
    return dot


@kernel
def sift(
    n: int,
    spare: float,
    slack: float,
    exact: bool,
    inverse_norm: float,
    day: float,
    beta: float,
    strong: float,
    meta: Ints,
    log: Log,
    rows: Rows,
    scratch: Scratch,
    scores: Floats,
    cosines: Floats,
    ordinals: Ints,
) -> None:
    """Keep the best of the n rows touched (-1: of all rows) by `dots * scale + spare * share + slack`.

    If `exact`, that is a bound: whoever may be among the best by it gets the exact cosine first.
    """
    dots, touched, spread, scale, share = scratch.dots, scratch.touched, scratch.spread, rows.scale, rows.share
    born, inverse = rows.born, rows.inverse
    log_start, log_length, log_terms, log_weights = log
    capacity, oldest = len(dots), meta[OLDEST]
    mask, alive = capacity - 1, meta[NEXT] - oldest  # the capacity is a power of two
    newest, near = (meta[NEXT] - 1) & mask | (BLOCK - 1), np.empty(BLOCK + 1, np.int64)
    least, some = np.float32(TINY), np.float32(spare)
    # Newest first: the best come early, and rule out the others.
    for t in range(0, capacity if n < 0 else n, BLOCK):
        if n >= 0:
            # No share is more than one: one place of memory less to go to for each row.
            least = np.float32(max(scores[-1] - slack - spare, TINY))
            m = reaching_of(touched[max(0, n - t - BLOCK) : n - t], dots, scale, least, near)
        else:
            last = (newest - t) & mask
            if t % LEAP == 0:
                days = max(0.0, day - born[last]) if t > 0 else 0.0
                least = np.float32(max(needed(scores[-1], days, beta, strong) - slack, TINY))
            m = reaching(last - BLOCK + 1, dots, scale, share, some, least, near)
        for j in near[:m]:
            cosine = min(1.0, dots[j] * scale[j] + spare * share[j] + slack)
            days, age = day - born[j], (j - oldest) & mask
            if cosine < scores[-1] or age >= alive or too_old(cosine, days, beta, strong, scores[-1]):
                continue
            if exact:
                dot = exact_dot(log_start[j], log_start[j] + log_length[j], log_terms, log_weights, spread)
                dots[j] = DONE
                cosine = min(1.0, dot * inverse[j] * inverse_norm)
            score = lagged(cosine, days, beta, strong)
            if score >= scores[-1] and cosine > 0.0:
                keep_best(score, cosine, oldest + age, scores, cosines, ordinals)


@kernel
def nearest_rows(
    terms: Ints,
    values: Floats,
    query: Floats,
    inverse_norm: float,
    day: float,
    beta: float,
    strong: float,
    budget: int,
    meta: Ints,
    lists: Lists,
    log: Log,
    rows: Rows,
    common: NDArray[np.bool_],
    scratch: Scratch,
    scores: Floats,
    cosines: Floats,
    ordinals: Ints,
) -> None:
    """The k best rows for one with at most `budget` postings; for one with more, those that some terms find."""
    length, dots, spread = lists.length, scratch.dots, scratch.spread
    capacity, k = len(dots), len(scores)
    alive = meta[NEXT] - meta[OLDEST]
    exact = alive < MANY or postings(terms, values, length, math.inf) <= budget
    longest = math.inf if exact else longest_walked(terms, values, length, budget // WALKED)
    walked, square = np.zeros(len(terms), np.bool_), 0.0
    for a in range(len(terms)):
        v = terms[a]
        if v < len(length) and length[v] > 0:
            spread[v] = query[a]
            walked[a] = worth(length[v], values[a], longest) and not (exact and common[v])
            square += 0.0 if walked[a] else values[a] * query[a]
    n = walk(terms, query * inverse_norm, walked, lists, dots, scratch.touched, alive // SPARSE)
    if exact:
        spare, slack = math.sqrt(square) * inverse_norm, ROUNDED * (len(terms) + 8)
        sift(
            n, spare, slack, True, inverse_norm, day, beta, strong, meta, log, rows, scratch, scores, cosines, ordinals
        )
        if n >= 0 and spare + slack >= scores[-1]:
            n = -1  # even a row that was not touched may be among the best
            sift(
                n, spare, slack, True, inverse_norm, day, beta, strong, meta, log, rows, scratch, scores, cosines,
                ordinals,
            )  # fmt: skip
    else:
        most = max(k, COMPLETED)
        found = np.full(most, -1)
        sift(
            n, 0.0, 0.0, False, inverse_norm, day, beta, strong, meta, log, rows, scratch, np.zeros(most),
            np.zeros(most), found,
        )  # fmt: skip
        for ordinal in found:
            if ordinal >= 0:
                j = ordinal % capacity
                dot = exact_dot(log.start[j], log.start[j] + log.length[j], log.terms, log.weights, spread)
                cosine = min(1.0, dot * rows.inverse[j] * inverse_norm)
                keep_best(lagged(cosine, day - rows.born[j], beta, strong), cosine, ordinal, scores, cosines, ordinals)
    for a in range(len(terms)):
        if terms[a] < len(spread):
            spread[terms[a]] = 0.0
    if n < 0:
        dots[:] = 0.0
    else:
        for t in range(n):
            dots[scratch.touched[t]] = 0.0
