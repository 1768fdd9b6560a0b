"""Exact top-k cosine against a window of the past: an inverted index that evicts.

Rows are unit vectors, so the cosine is a sum over the posting lists of the row's terms. Members live in `slot =
ordinal % capacity`; the window is the ordinals `oldest .. next - 1`. Each member's own terms are kept in a log
(`log_*`), so that it can be taken out of the lists again.
"""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from firststory.kernels.jit import kernel
from firststory.kernels.postings import append, compact, room_needed

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Slots = NDArray[np.int32]

OLDEST, NEXT, USED, TAIL = 0, 1, 2, 3
"""What `meta` holds: first ordinal alive, next ordinal, end of the arena's and of the log's used parts."""


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
def evict(
    meta: Ints, start: Ints, length: Ints, room: Ints, log_start: Ints, log_length: Ints, log_terms: Slots
) -> None:
    """Take the oldest member out: it stands at the head of each of its lists."""
    slot = meta[OLDEST] % len(log_start)
    for a in range(log_start[slot], log_start[slot] + log_length[slot]):
        v = log_terms[a]
        start[v] += 1
        length[v] -= 1
        room[v] -= 1
    meta[OLDEST] += 1


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
        alive = meta[NEXT] - meta[OLDEST]
        if (
            meta[TAIL] + len(terms) > len(log_terms)
            or (alive == capacity and alive < window)
            or meta[USED] + room_needed(terms, length, room) > len(members)
        ):
            return i
        search(
            terms, values, clock[i], max_age, rate, meta, start, length, members, weights, born,
            dots, touched, scores[i], cosines[i], ordinals[i],
        )  # fmt: skip
        while meta[NEXT] > meta[OLDEST] and (
            meta[NEXT] - meta[OLDEST] >= window or clock[i] - born[meta[OLDEST] % capacity] > max_age
        ):
            evict(meta, start, length, room, log_start, log_length, log_terms)
        slot = meta[NEXT] % capacity
        born[slot], log_start[slot], log_length[slot] = clock[i], meta[TAIL], len(terms)
        for a in range(len(terms)):
            log_terms[meta[TAIL] + a] = terms[a]
            log_weights[meta[TAIL] + a] = values[a]
            meta[USED] = append(terms[a], slot, values[a], start, length, room, members, weights, meta[USED])
        meta[TAIL] += len(terms)
        meta[NEXT] += 1
    return len(indptr) - 1


class CosineIndex:
    """The arrays of one index, their growth, and their state (the living rows only: the lists follow from them)."""

    def __init__(self, capacity: int = 64) -> None:
        self.meta = np.zeros(4, dtype=np.int64)
        self.start, self.length, self.room = (np.zeros(0, dtype=np.int64) for _ in range(3))
        self.members, self.weights = np.zeros(1024, dtype=np.int32), np.zeros(1024)
        self.log_start, self.log_length = np.zeros(capacity, dtype=np.int64), np.zeros(capacity, dtype=np.int64)
        self.log_terms, self.log_weights = np.zeros(1024, dtype=np.int32), np.zeros(1024)
        self.born = np.zeros(capacity)

    def __len__(self) -> int:
        """How many rows are alive."""
        return int(self.meta[NEXT] - self.meta[OLDEST])

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
        if width > len(self.start):
            more = np.zeros(width - len(self.start), dtype=np.int64)
            self.start, self.length, self.room = (
                np.concatenate([part, more]) for part in (self.start, self.length, self.room)
            )
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
            self._make_room(indices[indptr[done] : indptr[done + 1]], window)

    def _make_room(self, terms: Ints, window: int) -> None:
        """Room for one more row of these terms in the ring, the log and the arena."""
        if len(self) == len(self.born) and len(self) < window:
            self._widen_ring()
        if self.meta[TAIL] + len(terms) > len(self.log_terms):
            self._shift_log(len(terms))
        if self.meta[USED] + room_needed(terms, self.length, self.room) > len(self.members):
            self._compact(len(terms))

    def _widen_ring(self) -> None:
        old, new = len(self.born), 2 * len(self.born)
        ordinals = np.arange(self.meta[OLDEST], self.meta[NEXT])
        moved = np.zeros(old, dtype=np.int32)
        moved[ordinals % old] = ordinals % new
        for name in ("born", "log_start", "log_length"):
            part = getattr(self, name)
            wider = np.zeros(new, dtype=part.dtype)
            wider[ordinals % new] = part[ordinals % old]
            setattr(self, name, wider)
        # Entries outside of a list's living part hold slots too; they are read by nobody.
        self.members = moved[self.members]

    def _shift_log(self, extra: int) -> None:
        """Forget the rows that left; grow when the living ones fill more than half."""
        head = int(self.log_start[self.meta[OLDEST] % len(self.born)]) if len(self) else int(self.meta[TAIL])
        alive = int(self.meta[TAIL]) - head
        size = len(self.log_terms)
        while size < 2 * (alive + extra):
            size *= 2
        for name in ("log_terms", "log_weights"):
            part = getattr(self, name)
            fresh = np.zeros(size, dtype=part.dtype)
            fresh[:alive] = part[head : head + alive]
            setattr(self, name, fresh)
        self.log_start -= head
        self.meta[TAIL] = alive

    def _compact(self, extra: int) -> None:
        need = int((self.length + (self.length >> 1) + 4)[self.length > 0].sum()) + 8 * extra
        size = max(1024, need + (need >> 2))
        members, weights = np.zeros(size, dtype=np.int32), np.zeros(size)
        self.meta[USED] = compact(self.start, self.length, self.room, self.members, self.weights, members, weights)
        self.members, self.weights = members, weights

    def get_state(self) -> dict[str, Any]:
        """The living rows in order, and the count of those that left."""
        ordinals = np.arange(self.meta[OLDEST], self.meta[NEXT])
        slots = ordinals % len(self.born)
        head = int(self.log_start[slots[0]]) if len(slots) else 0
        tail = int(self.meta[TAIL]) if len(slots) else 0
        return {
            "oldest": int(self.meta[OLDEST]),
            "width": len(self.start),
            "born": self.born[slots],
            "lengths": self.log_length[slots],
            "terms": self.log_terms[head:tail].copy(),
            "weights": self.log_weights[head:tail].copy(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Build the lists again from the living rows."""
        born, lengths, terms = state["born"], state["lengths"], state["terms"].astype(np.int32)
        n = len(born)
        index = cls(capacity=max(64, 1 << max(0, n - 1).bit_length()))
        index.meta[:] = state["oldest"], state["oldest"] + n, 0, len(terms)
        slots = np.arange(state["oldest"], state["oldest"] + n) % len(index.born)
        begin = np.concatenate([[0], np.cumsum(lengths)])
        index.born[slots], index.log_start[slots], index.log_length[slots] = born, begin[:-1], lengths
        size = max(1024, 2 * len(terms))
        index.log_terms, index.log_weights = np.zeros(size, dtype=np.int32), np.zeros(size)
        index.log_terms[: len(terms)], index.log_weights[: len(terms)] = terms, state["weights"]
        # A stable sort by term keeps each list in the order of arrival.
        order = np.argsort(terms, kind="stable")
        index.members = np.repeat(slots, lengths).astype(np.int32)[order]
        index.weights = state["weights"][order]
        index.length = np.bincount(terms, minlength=state["width"]).astype(np.int64)
        index.room = index.length.copy()
        index.start = np.concatenate([[0], np.cumsum(index.length)[:-1]]).astype(np.int64)[: state["width"]]
        index.meta[USED] = len(terms)
        return index
