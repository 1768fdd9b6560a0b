"""Exact top-k cosine against a window of the past: an inverted index that evicts.

Rows are unit vectors, so the cosine is a sum over the posting lists of the row's terms.
"""

from __future__ import annotations

import math

import numpy as np

from firststory.arrays import Floats, Ints, Slots
from firststory.kernels.jit import kernel
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


@kernel
def accumulate(
    terms: Ints,
    values: Floats,
    start: Ints,
    length: Ints,
    members: Slots,
    weights: Floats,
    dots: Floats,
    touched: Ints,
    many: int,
) -> int:
    """Add every product of shared terms into `dots`; returns how many members were touched.

    The touched ones are listed, unless there are so many products that looking at every slot is cheaper (`many`):
    then -1 is returned.
    """
    total = 0
    for a in range(len(terms)):
        if terms[a] < len(start):
            total += length[terms[a]]
    n = 0
    for a in range(len(terms)):
        v, q = terms[a], values[a]
        if v >= len(start):
            continue  # a term that the past never had
        begin = start[v]
        end = begin + length[v]
        if total > many:
            for p in range(begin, end):
                dots[members[p]] += q * weights[p]
        else:
            for p in range(begin, end):
                j, product = members[p], q * weights[p]
                if dots[j] == 0.0 and product > 0.0:
                    touched[n] = j
                    n += 1
                dots[j] += product
    return -1 if total > many else n


@kernel
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
    max_age: float,
    rate: float,
    meta: Ints,
    start: Ints,
    length: Ints,
    members: Slots,
    weights: Floats,
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
    n = accumulate(terms, values, start, length, members, weights, dots, touched, alive)
    for t in range(alive if n < 0 else n):
        j = (oldest + t) % capacity if n < 0 else touched[t]
        dot = dots[j]
        dots[j] = 0.0
        age = now - born[j]
        if dot > 0.0 and age <= max_age:
            cosine = min(1.0, dot)
            score = cosine if rate == 0.0 else cosine * math.exp(-rate * age)
            if score >= scores[-1]:
                keep_best(score, cosine, oldest + (j - oldest) % capacity, scores, cosines, ordinals)


@kernel
def judge(
    indptr: Ints,
    indices: Ints,
    data: Floats,
    clock: Floats,
    max_age: float,
    rate: float,
    meta: Ints,
    start: Ints,
    length: Ints,
    members: Slots,
    weights: Floats,
    born: Floats,
    scores: Floats,
    cosines: Floats,
    ordinals: Ints,
) -> None:
    """The k best of the window for each row by itself; nothing is learnt."""
    dots, touched = np.zeros(len(born)), np.empty(len(born), np.int64)
    for i in range(len(indptr) - 1):
        terms, values = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
        search(
            terms, values, clock[i], max_age, rate, meta, start, length, members, weights, born,
            dots, touched, scores[i], cosines[i], ordinals[i],
        )  # fmt: skip


@kernel
def follow(
    indptr: Ints,
    indices: Ints,
    data: Floats,
    clock: Floats,
    first: int,
    window: int,
    max_age: float,
    rate: float,
    meta: Ints,
    start: Ints,
    length: Ints,
    room: Ints,
    members: Slots,
    weights: Floats,
    log_start: Ints,
    log_length: Ints,
    log_terms: Slots,
    log_weights: Floats,
    born: Floats,
    scores: Floats,
    cosines: Floats,
    ordinals: Ints,
) -> int:
    """Judge rows `first ..` one after the other and put each into the index before the next is judged.

    Returns the first row that was not done: the number of rows, or where room ran out (the caller makes room and
    calls again). `rate` is ln 2 / half-life; `scores` are cosine * exp(-rate * age).
    """
    capacity = len(born)
    dots, touched = np.zeros(capacity), np.empty(capacity, np.int64)
    for i in range(first, len(indptr) - 1):
        terms, values = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
        if not has_room(terms, window, meta, length, room, members, log_start, log_terms):
            return i
        search(
            terms, values, clock[i], max_age, rate, meta, start, length, members, weights, born,
            dots, touched, scores[i], cosines[i], ordinals[i],
        )  # fmt: skip
        while meta[NEXT] > meta[OLDEST] and (
            meta[NEXT] - meta[OLDEST] >= window or clock[i] - born[meta[OLDEST] % capacity] > max_age
        ):
            evict(meta, start, length, room, log_start, log_length, log_terms)
        slot = remember(
            terms, values, meta, start, length, room, members, weights,
            log_start, log_length, log_terms, log_weights,
        )  # fmt: skip
        born[slot] = clock[i]
    return len(indptr) - 1


class CosineIndex(WindowIndex):
    """A window of unit rows with the time at which each came."""

    born: Floats

    def follow(
        self,
        indptr: Ints,
        indices: Ints,
        data: Floats,
        clock: Floats,
        *,
        width: int,
        k: int,
        learn: bool,
        window: int,
        max_age: float = math.inf,
        rate: float = 0.0,
    ) -> tuple[Floats, Floats, Ints]:
        """Scores, cosines and ordinals (n x k, best first, ordinal -1 where there is none) of rows against the past."""
        n = len(indptr) - 1
        indptr, indices = indptr.astype(np.int64), indices.astype(np.int64)
        values = unit_rows(indptr, data)
        scores, cosines = np.zeros((n, k)), np.zeros((n, k))
        ordinals = np.full((n, k), -1, dtype=np.int64)
        if not learn:
            judge(
                indptr, indices, values, clock, max_age, rate, self.meta,
                self.start, self.length, self.members, self.weights, self.born, scores, cosines, ordinals,
            )  # fmt: skip
            return scores, cosines, ordinals
        self.widen(width)
        done = 0
        while True:
            done = follow(
                indptr, indices, values, clock, done, window, max_age, rate, self.meta,
                self.start, self.length, self.room, self.members, self.weights,
                self.log_start, self.log_length, self.log_terms, self.log_weights, self.born,
                scores, cosines, ordinals,
            )  # fmt: skip
            if done == n:
                return scores, cosines, ordinals
            self.make_room(indices[indptr[done] : indptr[done + 1]], window)
