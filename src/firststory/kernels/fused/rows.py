"""The nearest rows of the window: found by the rarer terms in single precision, then judged by all terms exactly.

What the lists that were not walked could add to a cosine is bounded by Cauchy and Schwarz: the part of the row's norm
that its common terms have, times that of the other row. Every row that the bound does not rule out gets its exact
cosine, so that the k best are the true ones. A row with too many postings walks those lists only that tell most
for their length, and does without the bound: its best rows by these terms get their exact cosine, and that is all.
"""

from __future__ import annotations

import math

import numpy as np

from firststory.arrays import Floats, Ints, Slots
from firststory.kernels.fused.ageing import lagged, least_cosine, too_old
from firststory.kernels.fused.layout import Nearest, Query, Scratch, Window
from firststory.kernels.fused.sieve import BLOCK_ROWS, rows_reaching, touched_reaching
from firststory.kernels.jit import kernel, part_of_kernel
from firststory.kernels.neighbours.cosine import keep_best
from firststory.kernels.neighbours.walk import is_worth_walking, postings, walk
from firststory.kernels.neighbours.window import NEXT, OLDEST

AGE_STEP_ROWS = 1024
"""Rows between two looks at what cosine a row of that age needs."""

LISTED_PART = 8
"""Touched rows are listed when there are fewer products than this part of the window: looking at all rows is quick."""

EXACT_WINDOW_ROWS = 10_000
"""In a smaller window every row's neighbours are exact."""

WALKED_PART = 8
"""A row with more than `max_postings` walks lists up to this part of it."""

COMPLETED_ROWS = 16
"""How many of its best rows by these terms get their exact cosine."""

MIN_COSINE = 1e-30
"""Cosines below this count as zero."""

JUDGED = -1e30
"""In place of the dot product of a row that got its exact cosine."""

ROUNDING_PER_TERM = 1.2e-7
"""What single precision may lose of a cosine for each term."""

ROUNDING = 1e-12
"""What double precision may lose of a cosine."""

NOT_WANTED = 2.0
"""No cosine reaches this: given as `plain_cosine` where the nearest row by plain cosine is not asked for."""


@part_of_kernel
def longest_walked(terms: Ints, values: Floats, length: Ints, most: int) -> float:
    """How long lists may be, for a weight of one, so that those up to this length hold no more than `most` postings."""
    longest = 0.0
    for v in terms:
        if v < len(length):
            longest = max(longest, length[v])
    while longest > 0.1 and postings(terms, values, length, longest) > most:
        longest *= 0.85
    return longest


@part_of_kernel
def exact_dot(first: int, last: int, terms: Slots, weights: Floats, spread: Floats) -> float:
    """The dot product with the row that stands at first .. last - 1 of the log."""
    dot = 0.0
    for a in range(first, last):
        dot += weights[a] * spread[np.uint32(terms[a])]
    return dot


@part_of_kernel
def strongest_term(first: int, last: int, terms: Slots, weights: Floats, spread: Floats) -> float:
    """The most that one term adds to that dot product."""
    most = 0.0
    for a in range(first, last):
        most = max(most, weights[a] * spread[np.uint32(terms[a])])
    return most


@part_of_kernel
def keep_plain(cosine: float, ordinal: int, plain_cosine: Floats, plain_ordinal: Ints) -> None:
    """The best by plain cosine; of equals, but for rounding, the oldest."""
    best = plain_cosine[0]
    if cosine > best + ROUNDING or (cosine > best - ROUNDING and ordinal < plain_ordinal[0]):
        plain_cosine[0], plain_ordinal[0] = cosine, ordinal


@kernel
def keep_nearest(
    n: int, spare: float, slack: float, exact: bool, query: Query, window: Window, scratch: Scratch, nearest: Nearest
) -> None:
    """Keep the best of the n rows touched (-1: of all rows) by `dots * scale + spare * share + slack`.

    If `exact`, that is a bound: a row that may be among the best by it gets its exact cosine first.
    """
    dots, touched, spread, rows = scratch.dots, scratch.touched, scratch.spread, window.rows
    scale, share, born, inverse = rows.scale, rows.share, rows.born, rows.inverse
    log_start, log_length, log_terms, log_weights = window.log
    day, per_day, beta, kappa, inverse_norm = query.day, query.per_day, query.beta, query.kappa, query.inverse_norm
    scores, cosines, ordinals, plain_cosine, plain_ordinal = (
        nearest.scores, nearest.cosines, nearest.ordinals, nearest.plain_cosine, nearest.plain_ordinal
    )  # fmt: skip
    capacity, oldest = len(dots), window.meta[OLDEST]
    mask, alive = capacity - 1, window.meta[NEXT] - oldest  # the capacity is a power of two
    newest, near = (window.meta[NEXT] - 1) & mask | (BLOCK_ROWS - 1), np.empty(BLOCK_ROWS + 1, np.int64)
    least, some, known, needed = np.float32(MIN_COSINE), np.float32(spare), -1.0, 0.0
    # Newest first: the best come early, and rule out the others. No row lies beyond those that are alive.
    for t in range(0, min(capacity, alive + BLOCK_ROWS) if n < 0 else n, BLOCK_ROWS):
        if n >= 0:
            # No share is more than one: one place of memory less to go to for each row.
            least = np.float32(max(scores[-1] - slack - spare, MIN_COSINE))
            m = touched_reaching(touched[max(0, n - t - BLOCK_ROWS) : n - t], dots, scale, least, near)
        else:
            last = (newest - t) & mask
            if t % AGE_STEP_ROWS == 0:
                days = max(0.0, day - born[last]) * per_day if t > 0 else 0.0
                needed = least_cosine(scores[-1], days, beta, kappa)
            if t % AGE_STEP_ROWS == 0 or scores[-1] > known:
                # In between age is left out of it: it asks for little more, and takes long to compute.
                known = scores[-1]
                least = np.float32(max(min(max(needed, 0.999999 * known), plain_cosine[0]) - slack, MIN_COSINE))
            m = rows_reaching(last - BLOCK_ROWS + 1, dots, scale, share, some, least, near)
        for r in range(m):
            j = near[r]
            cosine = min(1.0, dots[j] * scale[j] + spare * share[j] + slack)
            days, age = (day - born[j]) * per_day, (j - oldest) & mask
            if age >= alive or (
                cosine < plain_cosine[0] and (cosine < scores[-1] or too_old(cosine, days, beta, kappa, scores[-1]))
            ):
                continue
            if exact:
                dot = exact_dot(log_start[j], log_start[j] + log_length[j], log_terms, log_weights, spread)
                dots[j] = JUDGED
                cosine = min(1.0, dot * inverse[j] * inverse_norm)
            if cosine <= 0.0:
                continue
            ordinal = oldest + age
            if cosine > plain_cosine[0] - ROUNDING:
                keep_plain(cosine, ordinal, plain_cosine, plain_ordinal)
            score = lagged(cosine, days, beta, kappa)
            if score >= scores[-1]:
                keep_best(score, cosine, ordinal, scores, cosines, ordinals)


@kernel
def nearest_by_some_terms(n: int, most: int, query: Query, window: Window, scratch: Scratch, nearest: Nearest) -> None:
    """The `most` best of the rows touched by the terms walked get their exact cosine."""
    found = Nearest(
        np.zeros(most), np.zeros(most), np.full(most, -1), nearest.ages, nearest.strongest,
        nearest.plain_cosine.copy(), np.full(1, -1),
    )  # fmt: skip
    keep_nearest(n, 0.0, 0.0, False, query, window, scratch, found)
    scores, cosines, ordinals, plain_cosine, plain_ordinal = (
        nearest.scores, nearest.cosines, nearest.ordinals, nearest.plain_cosine, nearest.plain_ordinal
    )  # fmt: skip
    begin, count, log_terms, log_weights = window.log
    dots, spread, born, inverse = scratch.dots, scratch.spread, window.rows.born, window.rows.inverse
    for r in range(most + 1):
        ordinal = found.ordinals[r] if r < most else found.plain_ordinal[0]
        if ordinal < 0:
            continue
        j = ordinal % len(dots)
        dot = exact_dot(begin[j], begin[j] + count[j], log_terms, log_weights, spread)
        cosine = min(1.0, dot * inverse[j] * query.inverse_norm)
        keep_plain(cosine, ordinal, plain_cosine, plain_ordinal)
        if r < most:
            score = lagged(cosine, (query.day - born[j]) * query.per_day, query.beta, query.kappa)
            keep_best(score, cosine, ordinal, scores, cosines, ordinals)
            dots[j] = JUDGED


@kernel
def nearest_rows(query: Query, max_postings: int, window: Window, scratch: Scratch, nearest: Nearest) -> None:
    """The k best rows for one with at most `max_postings`; for one with more, those that some terms find."""
    terms, values, weighted, length, common = (
        query.terms,
        query.values,
        query.weighted,
        window.lists.length,
        window.common,
    )
    dots, spread = scratch.dots, scratch.spread
    alive = window.meta[NEXT] - window.meta[OLDEST]
    exact = alive < EXACT_WINDOW_ROWS or postings(terms, values, length, math.inf) <= max_postings
    longest = math.inf if exact else longest_walked(terms, values, length, max_postings // WALKED_PART)
    walked, square = np.zeros(len(terms), np.bool_), 0.0
    for a in range(len(terms)):
        v = terms[a]
        if v < len(length) and length[v] > 0:
            spread[v] = weighted[a]
            walked[a] = is_worth_walking(length[v], values[a], longest) and not (exact and common[v])
            square += 0.0 if walked[a] else values[a] * weighted[a]
    n = walk(terms, weighted * query.inverse_norm, walked, window.lists, dots, scratch.touched, alive // LISTED_PART)
    if exact:
        spare, slack = math.sqrt(square) * query.inverse_norm, ROUNDING_PER_TERM * (len(terms) + 8)
        if n < 0 and spare > 0.0:
            # With good ones at hand from the start, the bound rules out most of the others.
            nearest_by_some_terms(n, len(nearest.scores), query, window, scratch, nearest)
        keep_nearest(n, spare, slack, True, query, window, scratch, nearest)
        if n >= 0 and spare + slack >= nearest.scores[-1]:
            n = -1  # even a row that was not touched may be among the best
            keep_nearest(n, spare, slack, True, query, window, scratch, nearest)
    else:
        nearest_by_some_terms(n, max(len(nearest.scores), COMPLETED_ROWS), query, window, scratch, nearest)
    begin, count, log_terms, log_weights = window.log
    for r in range(len(nearest.ordinals)):
        if nearest.ordinals[r] >= 0:
            j = nearest.ordinals[r] % len(dots)
            nearest.ages[r] = (query.day - window.rows.born[j]) * query.per_day
            most = strongest_term(begin[j], begin[j] + count[j], log_terms, log_weights, spread)
            nearest.strongest[r] = most * window.rows.inverse[j] * query.inverse_norm
    for a in range(len(terms)):
        if terms[a] < len(spread):
            spread[terms[a]] = 0.0
    if n < 0:
        dots[: window.meta[NEXT]] = 0.0
    else:
        for t in range(n):
            dots[scratch.touched[t]] = 0.0
