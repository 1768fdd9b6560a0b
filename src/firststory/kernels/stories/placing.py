"""Rows find their place among growing sums: each joins the closest sum that it may join, or begins one.

A sum that outgrows its room moves to the free tail of the buffer.
"""

from __future__ import annotations

import math

import numpy as np

from firststory.arrays import Columns, Floats, Ints
from firststory.kernels.jit import kernel
from firststory.kernels.stories.layout import JoinRule, Placed, Rows, SlotStatistics, Sums
from firststory.kernels.stories.row_table import RowTable, dot_with, fill, new_table
from firststory.kernels.stories.sparse_sums import square
from firststory.units import DAY_SECONDS

MAX_TERMS = 600
"""Terms of a sum; the lightest are dropped when it has twice as many."""


@kernel
def join_threshold(opening_share: float, join: float, pull: float, least: float) -> float:
    """How close a row must be to join, where `opening_share` of the recent rows began a sum."""
    share = min(max(opening_share, 0.002), 0.98)
    return max(least, join + pull * math.log(share / (1.0 - share)))


@kernel
def add_row(sums: Sums, slot: int, row: Columns, values: Floats, tail: int) -> int:
    """Add a row to the sum in a slot, where it lies or at the tail of the buffer. Returns where the tail begins now."""
    columns, weights = sums.columns, sums.weights
    n, m, old = sums.length[slot], len(row), sums.start[slot]
    both, a, b = 0, 0, 0
    while a < n and b < m:
        if columns[old + a] == row[b]:
            both += 1
            a += 1
            b += 1
        elif columns[old + a] < row[b]:
            a += 1
        else:
            b += 1
    total = n + m - both
    if total > sums.room[slot]:
        sums.room[slot] = total + total // 2
        sums.start[slot] = tail
        tail += sums.room[slot]
    # From the back, so that a sum can grow where it lies.
    new, a, b = sums.start[slot], n - 1, m - 1
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
    sums.length[slot] = total
    if total > 2 * MAX_TERMS:
        # The lightest terms go, among equals the younger column; the norm of the sum stays what it was.
        heaviest = np.argsort(-weights[new : new + total], kind="mergesort")[:MAX_TERMS]
        for k, place in enumerate(np.sort(heaviest)):
            columns[new + k], weights[new + k] = columns[new + place], weights[new + place]
        sums.length[slot] = MAX_TERMS
    return tail


@kernel
def compact(sums: Sums, to_columns: Columns, to_weights: Floats) -> int:
    """Move all sums to the front of another buffer, each with its room. Returns where the tail begins."""
    tail = 0
    for slot in range(len(sums.start)):
        at = sums.start[slot]
        for k in range(sums.length[slot]):
            to_columns[tail + k], to_weights[tail + k] = sums.columns[at + k], sums.weights[at + k]
        sums.start[slot] = tail
        tail += sums.room[slot]
    return tail


@kernel
def candidate_slot(candidates: Ints, slots: Ints, i: int, c: int) -> int:
    """The slot that row i names in place c; -1 where it names none, or has named it before."""
    slot: int = candidates[i, c] if candidates[i, c] >= -1 else slots[-2 - candidates[i, c]]
    for earlier in range(c):
        before = candidates[i, earlier] if candidates[i, earlier] >= -1 else slots[-2 - candidates[i, earlier]]
        if before == slot:
            return -1
    return slot


@kernel
def dot_with_sum(table: RowTable, sums: Sums, slot: int) -> float:
    """The dot product of the row in the table with a sum."""
    start, end = sums.start[slot], sums.start[slot] + sums.length[slot]
    return dot_with(table, sums.columns[start:end], sums.weights[start:end])


@kernel
def place_rows(
    rows: Rows, sums: Sums, statistics: SlotStatistics, free: Ints, rule: JoinRule, opening_share: float, tail: int,
    next_key: int,
) -> tuple[Placed, float, int, int]:  # fmt: skip
    """Place rows one after the other; `free` are empty slots, as many as rows.

    Returns where they went, the share of recent rows that began a sum, how many did among these, and where the tail
    of the buffer begins.
    """
    squared_norm, key = statistics.squared_norm, statistics.key
    n = len(rows.indptr) - 1
    placed = Placed(np.empty(n, np.int64), np.full(n, -1), np.zeros(n), np.ones(n))
    table = new_table(int(np.diff(rows.indptr).max()) if n > 0 else 0)
    begun = 0
    for i in range(n):
        columns = rows.columns[rows.indptr[i] : rows.indptr[i + 1]]
        weights = rows.weights[rows.indptr[i] : rows.indptr[i + 1]]
        fill(table, columns, weights)
        best, best_closeness, best_dot, second, second_closeness = -1, 0.0, 0.0, -1, 0.0
        for c in range(rows.candidates.shape[1]):
            slot = candidate_slot(rows.candidates, placed.slot, i, c)
            if slot < 0:
                continue
            dot = dot_with_sum(table, sums, slot)
            cosine = dot / math.sqrt(squared_norm[slot]) if squared_norm[slot] > 0 else 0.0
            joined = statistics.n_joined[slot]
            usual = statistics.cosine_sum[slot] / joined if joined >= 2 else 0.0
            if cosine < rule.cohesion * usual:
                continue
            gap = rows.times[i] - statistics.last[slot]  # NaN where one of the two has no time
            closeness = cosine * (1.0 + (gap / DAY_SECONDS if gap > 0.0 else 0.0)) ** -rule.gap_exponent
            # Among equals the older story.
            if best < 0 or closeness > best_closeness or (closeness == best_closeness and key[slot] < key[best]):
                second, second_closeness = best, best_closeness
                best, best_closeness, best_dot = slot, closeness, dot
            elif (
                second < 0
                or closeness > second_closeness
                or (closeness == second_closeness and key[slot] < key[second])
            ):
                second, second_closeness = slot, closeness
        join = rule.short_join if len(columns) <= rule.short_terms else rule.join
        threshold = join_threshold(opening_share, join, rule.pull, rule.least_threshold)
        joins = best >= 0 and best_closeness >= threshold
        opening_share = rule.opening_decay * opening_share + (0.0 if joins else 1.0 - rule.opening_decay)
        placed.closeness[i] = best_closeness
        if joins:
            placed.runner_up[i] = second if second_closeness >= threshold else -1
            placed.cosine[i] = best_dot / math.sqrt(squared_norm[best]) if squared_norm[best] > 0 else 1.0
            statistics.n_joined[best] += 1
            statistics.cosine_sum[best] += placed.cosine[i]
        else:
            best, best_dot = free[begun], 0.0
            begun += 1
            key[best] = next_key
            next_key += 1
        tail = add_row(sums, best, columns, weights, tail)
        squared_norm[best] += square(weights) + 2.0 * best_dot
        if not math.isnan(rows.times[i]) and not statistics.last[best] >= rows.times[i]:
            statistics.last[best] = rows.times[i]
        placed.slot[i] = best
    return placed, opening_share, begun, tail
