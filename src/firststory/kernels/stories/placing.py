"""Rows find their place among growing sums: each joins the closest sum that it may join, or begins one.

The sums lie in one buffer, each in a slot of its own with room to grow: slot s has its columns, in order, at
`columns[start[s] : start[s] + length[s]]`. A sum that outgrows its room moves to the buffer's free tail.
"""

from __future__ import annotations

import math

import numpy as np

from firststory.arrays import Columns, Floats, Ints
from firststory.kernels.jit import kernel
from firststory.kernels.stories.row_table import dot_with, lay_out, new_table
from firststory.kernels.stories.sparse_sums import square
from firststory.units import DAY_SECONDS

MAX_TERMS = 600
"""Terms of a sum; the lightest are dropped when it has twice as many."""

JOIN, SHORT_JOIN, PULL, MIN_BAR, COHESION, LINGER, FADE, SHORT_ROW = range(8)
"""Places of the knobs."""


@kernel
def bar_now(opening: float, join: float, pull: float, least: float) -> float:
    """How close a row must be to join, where this part of the recent ones began a sum."""
    share = min(max(opening, 0.002), 0.98)
    return max(least, join + pull * math.log(share / (1.0 - share)))


@kernel
def add_row(
    slot: int, row: Columns, values: Floats, columns: Columns, weights: Floats, start: Ints, length: Ints, room: Ints,
    tail: int,
) -> int:  # fmt: skip
    """Add a row to the sum in a slot, in its place or at the buffer's tail; the tail's new beginning."""
    n, m = length[slot], len(row)
    both, a, b = 0, 0, 0
    while a < n and b < m:
        if columns[start[slot] + a] == row[b]:
            both += 1
            a += 1
            b += 1
        elif columns[start[slot] + a] < row[b]:
            a += 1
        else:
            b += 1
    total = n + m - both
    old = start[slot]
    if total > room[slot]:
        room[slot] = total + total // 2
        start[slot] = tail
        tail += room[slot]
    # From the back, so that a sum can grow where it lies.
    new, a, b = start[slot], n - 1, m - 1
    for k in range(total - 1, -1, -1):
        if b < 0 or (a >= 0 and columns[old + a] > row[b]):
            columns[new + k], weights[new + k] = columns[old + a], weights[old + a]
            a -= 1
        elif a < 0 or row[b] > columns[old + a]:
            columns[new + k], weights[new + k] = row[b], values[b]
            b -= 1
        else:
            columns[new + k], weights[new + k] = row[b], weights[old + a] + values[b]
            a -= 1
            b -= 1
    length[slot] = total
    if total > 2 * MAX_TERMS:
        # Of the sum the lightest terms go, among equals the younger column; its length stays what it was.
        heaviest = np.argsort(-weights[new : new + total], kind="mergesort")[:MAX_TERMS]
        for k, place in enumerate(np.sort(heaviest)):
            columns[new + k], weights[new + k] = columns[new + place], weights[new + place]
        length[slot] = MAX_TERMS
    return tail


@kernel
def compact(
    columns: Columns, weights: Floats, start: Ints, length: Ints, room: Ints, to: Columns, values: Floats
) -> int:
    """Move all sums to the front of another buffer, each with its room; the tail's beginning."""
    tail = 0
    for slot in range(len(start)):
        for k in range(length[slot]):
            to[tail + k], values[tail + k] = columns[start[slot] + k], weights[start[slot] + k]
        start[slot] = tail
        tail += room[slot]
    return tail


@kernel
def place_rows(
    indptr: Ints, indices: Columns, data: Floats, near: Ints, times: Floats, fresh: Ints, knobs: Floats, opening: float,
    columns: Columns, weights: Floats, start: Ints, length: Ints, room: Ints, tail: int,
    norm2: Floats, joined: Ints, closeness: Floats, last: Floats, key: Ints, next_key: int,
) -> tuple[Ints, Ints, Floats, Floats, float, int, int]:  # fmt: skip
    """Place rows one after the other.

    `near[i]` are the slots that row i may join; -2 - j is the slot where row j of these went, -1 none. `fresh` are
    empty slots, as many as rows. Returns of each row its slot, the runner-up that it could have joined as well (-1:
    none), how close it was by the ranking, and its plain cosine; then the share of rows that began a sum, how many did
    among these, and the tail.
    """
    n = len(indptr) - 1
    went, second, rank, cosines = np.empty(n, np.int64), np.full(n, -1), np.zeros(n), np.ones(n)
    keys, held = new_table(int(np.diff(indptr).max()) if n > 0 else 0)
    used = 0
    for i in range(n):
        row, values = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
        lay_out(row, values, keys, held)
        best, best_rank, best_dot, other, other_rank = -1, 0.0, 0.0, -1, 0.0
        for c in range(near.shape[1]):
            slot = near[i, c] if near[i, c] >= -1 else went[-2 - near[i, c]]
            is_again = False
            for earlier in range(c):
                before = near[i, earlier] if near[i, earlier] >= -1 else went[-2 - near[i, earlier]]
                is_again |= before == slot
            if slot < 0 or is_again:
                continue
            at = start[slot]
            dot = dot_with(columns[at : at + length[slot]], weights[at : at + length[slot]], keys, held)
            cosine = dot / math.sqrt(norm2[slot]) if norm2[slot] > 0 else 0.0
            usual = closeness[slot] / joined[slot] if joined[slot] >= 2 else 0.0
            if cosine < knobs[COHESION] * usual:
                continue
            gap = times[i] - last[slot]  # not a number where one of the two has no time
            score = cosine * (1.0 + (gap / DAY_SECONDS if gap > 0.0 else 0.0)) ** -knobs[LINGER]
            # Among equals the older story.
            if best < 0 or score > best_rank or (score == best_rank and key[slot] < key[best]):
                other, other_rank = best, best_rank
                best, best_rank, best_dot = slot, score, dot
            elif other < 0 or score > other_rank or (score == other_rank and key[slot] < key[other]):
                other, other_rank = slot, score
        join = knobs[SHORT_JOIN] if len(row) <= knobs[SHORT_ROW] else knobs[JOIN]
        bar = bar_now(opening, join, knobs[PULL], knobs[MIN_BAR])
        joins = best >= 0 and best_rank >= bar
        opening = knobs[FADE] * opening + (0.0 if joins else 1.0 - knobs[FADE])
        rank[i] = best_rank
        if joins:
            second[i] = other if other_rank >= bar else -1
            cosines[i] = best_dot / math.sqrt(norm2[best]) if norm2[best] > 0 else 1.0
            joined[best] += 1
            closeness[best] += cosines[i]
        else:
            best, best_dot = fresh[used], 0.0
            used += 1
            key[best] = next_key
            next_key += 1
        tail = add_row(best, row, values, columns, weights, start, length, room, tail)
        norm2[best] += square(values) + 2.0 * best_dot
        if not math.isnan(times[i]) and not last[best] >= times[i]:
            last[best] = times[i]
        went[i] = best
    return went, second, rank, cosines, opening, used, tail
