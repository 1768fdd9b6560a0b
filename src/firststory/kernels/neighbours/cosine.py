"""Exact top-k cosine against a window of the past: an inverted index that evicts.

Rows are unit vectors, so the cosine is a sum over the posting lists of the row's terms.
"""

from __future__ import annotations

import math

import numpy as np

from firststory.arrays import Floats, Ints
from firststory.kernels.csr import Csr
from firststory.kernels.jit import kernel, part_of_kernel
from firststory.kernels.neighbours.layout import Best, Limits, Lists, Log
from firststory.kernels.neighbours.walk import walk
from firststory.kernels.neighbours.window import NEXT, OLDEST, WindowIndex, evict, has_room, remember


@kernel
def unit_rows(indptr: Ints, data: Floats) -> Floats:
    """Each row divided by its Euclidean length (by its largest entry first: squares must not overflow)."""
    out = np.empty_like(data)
    for i in range(len(indptr) - 1):
        top = 0.0
        for a in range(indptr[i], indptr[i + 1]):
            top = max(top, data[a])
        total = 0.0
        for a in range(indptr[i], indptr[i + 1]):
            out[a] = data[a] / top
            total += out[a] * out[a]
        norm = math.sqrt(total)
        for a in range(indptr[i], indptr[i + 1]):
            out[a] /= norm
    return out


@part_of_kernel
def keep_best(score: float, cosine: float, ordinal: int, scores: Floats, cosines: Floats, ordinals: Ints) -> None:
    """Insert into the k best, best first; of equals the most recent comes first."""
    k = len(scores)
    if score < scores[k - 1] or (score == scores[k - 1] and ordinal < ordinals[k - 1]):
        return
    r = k - 1
    while r > 0 and (scores[r - 1] < score or (scores[r - 1] == score and ordinals[r - 1] < ordinal)):
        scores[r], cosines[r], ordinals[r] = scores[r - 1], cosines[r - 1], ordinals[r - 1]
        r -= 1
    scores[r], cosines[r], ordinals[r] = score, cosine, ordinal


@kernel
def search(
    terms: Ints,
    values: Floats,
    now: float,
    limits: Limits,
    meta: Ints,
    lists: Lists,
    born: Floats,
    dots: Floats,
    touched: Ints,
    scores: Floats,
    cosines: Floats,
    ordinals: Ints,
) -> None:
    """The k best of the window for one row; `dots` is all zero before and after."""
    capacity, oldest = len(born), meta[OLDEST]
    alive = meta[NEXT] - oldest
    # Terms that the past never had have no list.
    n = walk(terms, values, terms < len(lists.start), lists, dots, touched, alive)
    for t in range(alive if n < 0 else n):
        j = (oldest + t) % capacity if n < 0 else touched[t]
        dot = dots[j]
        dots[j] = 0.0
        age = now - born[j]
        if dot > 0.0 and age <= limits.max_age:
            cosine = min(1.0, dot)
            score = cosine if limits.rate == 0.0 else cosine * math.exp(-limits.rate * age)
            if score >= scores[-1]:
                keep_best(score, cosine, oldest + (j - oldest) % capacity, scores, cosines, ordinals)


@kernel
def judge(rows: Csr, clock: Floats, limits: Limits, meta: Ints, lists: Lists, born: Floats, best: Best) -> None:
    """The k best of the window for each row by itself; nothing is learnt."""
    dots, touched = np.zeros(len(born)), np.empty(len(born) + 1, np.int64)
    for i in range(len(rows.indptr) - 1):
        own = slice(rows.indptr[i], rows.indptr[i + 1])
        search(
            rows.indices[own], rows.data[own], clock[i], limits, meta, lists, born,
            dots, touched, best.scores[i], best.cosines[i], best.ordinals[i],
        )  # fmt: skip


@kernel
def follow(
    rows: Csr, clock: Floats, first: int, limits: Limits, meta: Ints, lists: Lists, log: Log, born: Floats, best: Best
) -> int:
    """Judge rows `first ..` one after the other and put each into the index before the next is judged.

    Returns the first row that was not done: the number of rows, or where room ran out (the caller makes room and
    calls again). Scores are cosine * exp(-rate * age).
    """
    capacity = len(born)
    dots, touched = np.zeros(capacity), np.empty(capacity + 1, np.int64)
    for i in range(first, len(rows.indptr) - 1):
        own = slice(rows.indptr[i], rows.indptr[i + 1])
        terms, values = rows.indices[own], rows.data[own]
        if not has_room(terms, limits.window, meta, lists, log):
            return i
        search(
            terms, values, clock[i], limits, meta, lists, born,
            dots, touched, best.scores[i], best.cosines[i], best.ordinals[i],
        )  # fmt: skip
        while meta[NEXT] > meta[OLDEST] and (
            meta[NEXT] - meta[OLDEST] >= limits.window or clock[i] - born[meta[OLDEST] % capacity] > limits.max_age
        ):
            evict(meta, lists, log)
        slot = remember(terms, values, meta, lists, log)
        born[slot] = clock[i]
    return len(rows.indptr) - 1


class CosineIndex(WindowIndex):
    """A window of unit rows with the time at which each came."""

    born: Floats

    def follow(self, rows: Csr, clock: Floats, limits: Limits, *, width: int, k: int, learn: bool) -> Best:
        """The k best of the past for each row; with `learn`, each row is in the past of the next."""
        n = len(rows.indptr) - 1
        rows = rows._replace(data=unit_rows(rows.indptr, rows.data))
        best = Best(np.zeros((n, k)), np.zeros((n, k)), np.full((n, k), -1, dtype=np.int64))
        if not learn:
            judge(rows, clock, limits, self.meta, self.lists, self.born, best)
            return best
        self.widen(width)
        done = 0
        while True:
            done = follow(rows, clock, done, limits, self.meta, self.lists, self.log, self.born, best)
            if done == n:
                return best
            self.make_room(rows.indices[rows.indptr[done] : rows.indptr[done + 1]], limits.window)
