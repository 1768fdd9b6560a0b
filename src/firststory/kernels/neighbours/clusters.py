"""Single-pass clustering over an inverted index of cluster vectors (sums of their members' unit vectors).

The list of a term names the clusters that have it, in the order in which they were opened, with the term's weight in
each sum; a member that joins adds to the entries of its terms. A cluster that got no member for `window` rows or
`max_age` seconds is out of sight for good, and its entries are reclaimed when the arena is next compacted.
"""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Floats, Ints, Slots
from firststory.kernels.jit import kernel
from firststory.kernels.neighbours.cosine import accumulate
from firststory.kernels.neighbours.postings import append, grown, room_needed

ROWS, CLUSTERS, OPENED, USED = 0, 1, 2, 3
"""What `meta` holds: rows seen, cluster slots in use, clusters ever opened, end of the arena's used part."""

EXACT_EVERY = 1000
"""The running |C|^2 gathers rounding errors: it is computed afresh from the sums every so many rows."""


@kernel
def ltc(terms: Ints, counts: Floats, seen: Ints, rows: int) -> Floats:
    """(1 + log x) log(N / df), this row already counted in N and df; zero where that is negative."""
    out = np.empty(len(terms))
    for a in range(len(terms)):
        df = 1 + (seen[terms[a]] if terms[a] < len(seen) else 0)
        out[a] = max(0.0, 1.0 + math.log(counts[a])) * math.log((rows + 1) / df)
    return out


@kernel
def to_unit_length(values: Floats) -> Floats:
    """values / |values|; zeros stay zeros."""
    top = 0.0
    for value in values:
        top = max(top, value)
    out = np.zeros(len(values))
    if top > 0.0:
        total = 0.0
        for a in range(len(values)):
            out[a] = values[a] / top
            total += out[a] * out[a]
        for a in range(len(values)):
            out[a] /= math.sqrt(total)
    return out


@kernel
def nearest(
    terms: Ints,
    values: Floats,
    now: float,
    window: int,
    max_age: float,
    decay: bool,
    meta: Ints,
    start: Ints,
    length: Ints,
    members: Slots,
    weights: Floats,
    squares: Floats,
    last_row: Ints,
    last_time: Floats,
    dots: Floats,
    touched: Ints,
) -> tuple[int, float, float]:
    """Slot, (decayed) cosine and dot product of the nearest cluster in sight; slot -1 where none shares a term."""
    n = accumulate(terms, values, start, length, members, weights, dots, touched, meta[CLUSTERS])
    best, best_cosine, best_dot = -1, 0.0, 0.0
    for t in range(meta[CLUSTERS] if n < 0 else n):
        c = t if n < 0 else touched[t]
        dot = dots[c]
        dots[c] = 0.0
        rows_ago, age = meta[ROWS] - last_row[c], now - last_time[c]
        if dot <= 0.0 or rows_ago > window or age > max_age:
            continue
        cosine = min(1.0, dot / math.sqrt(squares[c]))
        if decay:
            cosine *= 1.0 - age / max_age if max_age < math.inf else 1.0 - rows_ago / (window + 1)
        if cosine > best_cosine or (cosine == best_cosine and c > best):
            best, best_cosine, best_dot = c, cosine, dot
    return best, best_cosine, best_dot


@kernel
def add_to_cluster(
    v: int, c: int, weight: float, start: Ints, length: Ints, room: Ints, members: Slots, weights: Floats, used: int
) -> int:
    """Add to term v of cluster c, keeping the list ordered by cluster; returns the end of the arena's used part."""
    low, high = start[v], start[v] + length[v]
    while low < high:
        middle = (low + high) >> 1
        if members[middle] < c:
            low = middle + 1
        else:
            high = middle
    if low < start[v] + length[v] and members[low] == c:
        weights[low] += weight
        return used
    place = low - start[v]
    used = append(v, c, weight, start, length, room, members, weights, used)
    p = start[v] + length[v] - 1
    while p > start[v] + place:
        members[p], weights[p] = members[p - 1], weights[p - 1]
        p -= 1
    members[p], weights[p] = c, weight
    return used


@kernel
def exact_squares(start: Ints, length: Ints, members: Slots, weights: Floats, squares: Floats) -> None:
    """|C|^2 of every cluster from its sums."""
    squares[:] = 0.0
    for v in range(len(start)):
        for p in range(start[v], start[v] + length[v]):
            squares[members[p]] += weights[p] * weights[p]


@kernel
def judge_clusters(
    indptr: Ints,
    indices: Ints,
    data: Floats,
    clock: Floats,
    window: int,
    max_age: float,
    decay: bool,
    weigh: bool,
    seen: Ints,
    meta: Ints,
    start: Ints,
    length: Ints,
    members: Slots,
    weights: Floats,
    squares: Floats,
    last_row: Ints,
    last_time: Floats,
    slots: Ints,
    cosines: Floats,
) -> None:
    """Slot and cosine of the nearest cluster for each row by itself; nothing is learnt."""
    dots, touched = np.zeros(len(squares)), np.empty(len(squares), np.int64)
    for i in range(len(indptr) - 1):
        terms, counts = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
        values = to_unit_length(ltc(terms, counts, seen, meta[ROWS]) if weigh else counts)
        slots[i], cosines[i], _ = nearest(
            terms, values, clock[i], window, max_age, decay, meta, start, length, members, weights,
            squares, last_row, last_time, dots, touched,
        )  # fmt: skip


@kernel
def follow_clusters(
    indptr: Ints,
    indices: Ints,
    data: Floats,
    clock: Floats,
    first: int,
    threshold: float,
    window: int,
    max_age: float,
    decay: bool,
    weigh: bool,
    seen: Ints,
    meta: Ints,
    start: Ints,
    length: Ints,
    room: Ints,
    members: Slots,
    weights: Floats,
    squares: Floats,
    sizes: Ints,
    labels: Ints,
    last_row: Ints,
    last_time: Floats,
    out_label: Ints,
    out_cosine: Floats,
    out_size: Ints,
    out_age: Floats,
) -> int:
    """Let rows `first ..` join the nearest cluster or open one, one after the other; returns the first not done.

    `out_size` and `out_age` describe the nearest cluster as it was before the row came (size 0 where there is none).
    """
    dots, touched = np.zeros(len(squares)), np.empty(len(squares), np.int64)
    for i in range(first, len(indptr) - 1):
        terms, counts = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
        if meta[CLUSTERS] == len(squares) or meta[USED] + room_needed(terms, length, room) > len(members):
            return i
        if meta[ROWS] % EXACT_EVERY == 0:
            exact_squares(start, length, members, weights, squares)
        values = to_unit_length(ltc(terms, counts, seen, meta[ROWS]) if weigh else counts)
        c, cosine, dot = nearest(
            terms, values, clock[i], window, max_age, decay, meta, start, length, members, weights,
            squares, last_row, last_time, dots, touched,
        )  # fmt: skip
        out_cosine[i] = cosine
        if c >= 0:
            out_size[i], out_age[i] = sizes[c], clock[i] - last_time[c]
        if c < 0 or cosine < threshold:
            c, dot = meta[CLUSTERS], 0.0
            labels[c], squares[c], sizes[c] = meta[OPENED], 0.0, 0
            meta[CLUSTERS] += 1
            meta[OPENED] += 1
        square = 0.0
        for a in range(len(terms)):
            if values[a] > 0.0:
                meta[USED] = add_to_cluster(terms[a], c, values[a], start, length, room, members, weights, meta[USED])
                square += values[a] * values[a]
            seen[terms[a]] += 1
        squares[c] += 2.0 * dot + square
        sizes[c] += 1
        last_row[c], last_time[c], out_label[i] = meta[ROWS], clock[i], labels[c]
        meta[ROWS] += 1
    return len(indptr) - 1


@kernel
def compact_clusters(
    moved: Ints,
    start: Ints,
    length: Ints,
    room: Ints,
    members: Slots,
    weights: Floats,
    new_members: Slots,
    new_weights: Floats,
) -> int:
    """Copy the entries of clusters that stay (`moved[c] >= 0`, their new slot) into the new arena; returns its end."""
    used = 0
    for v in range(len(start)):
        n = 0
        for p in range(start[v], start[v] + length[v]):
            if moved[members[p]] >= 0:
                new_members[used + n] = moved[members[p]]
                new_weights[used + n] = weights[p]
                n += 1
        start[v], length[v], room[v] = used, n, grown(n) if n else 0
        used += room[v]
    return used


class ClusterIndex:
    """The arrays of one clustering, their growth, and their state."""

    def __init__(self) -> None:
        self.meta = np.zeros(4, dtype=np.int64)
        self.seen, self.start, self.length, self.room = (np.zeros(0, dtype=np.int64) for _ in range(4))
        self.members, self.weights = np.zeros(1024, dtype=np.int32), np.zeros(1024)
        self.squares, self.last_time = np.zeros(64), np.zeros(64)
        self.sizes, self.labels, self.last_row = (np.zeros(64, dtype=np.int64) for _ in range(3))

    def judge(
        self, indptr: Ints, indices: Ints, data: Floats, clock: Floats, window: int, max_age: float, decay: bool,
        weigh: bool,
    ) -> tuple[Ints, Floats, Ints, Floats]:  # fmt: skip
        """Label (-1: none), cosine, size and age of the nearest cluster for each row by itself."""
        n = len(indptr) - 1
        slots, cosines = np.full(n, -1, dtype=np.int64), np.zeros(n)
        judge_clusters(
            indptr.astype(np.int64), indices.astype(np.int64), data, clock, window, max_age, decay, weigh, self.seen,
            self.meta, self.start, self.length, self.members, self.weights, self.squares, self.last_row,
            self.last_time, slots, cosines,
        )  # fmt: skip
        found = slots >= 0
        return (
            np.where(found, self.labels[slots], -1),
            cosines,
            np.where(found, self.sizes[slots], 0),
            np.where(found, clock - self.last_time[slots], 0.0),
        )

    def follow(
        self, indptr: Ints, indices: Ints, data: Floats, clock: Floats, width: int, threshold: float, window: int,
        max_age: float, decay: bool, weigh: bool,
    ) -> tuple[Ints, Floats, Ints, Floats]:  # fmt: skip
        """The label each row got; cosine, size and age of the cluster that was nearest before it came."""
        n = len(indptr) - 1
        indptr, indices = indptr.astype(np.int64), indices.astype(np.int64)
        self.widen(width)
        labels, sizes = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        cosines, ages = np.zeros(n), np.zeros(n)
        done = 0
        while True:
            done = follow_clusters(
                indptr, indices, data, clock, done, threshold, window, max_age, decay, weigh, self.seen, self.meta,
                self.start, self.length, self.room, self.members, self.weights, self.squares, self.sizes, self.labels,
                self.last_row, self.last_time, labels, cosines, sizes, ages,
            )  # fmt: skip
            if done == n:
                return labels, cosines, sizes, ages
            self.compact(int(indptr[done + 1] - indptr[done]), self.in_sight(clock[done], window, max_age))

    def widen(self, width: int) -> None:
        """Room for terms up to `width`."""
        if width > len(self.start):
            more = np.zeros(width - len(self.start), dtype=np.int64)
            self.seen, self.start, self.length, self.room = (
                np.concatenate([part, more]) for part in (self.seen, self.start, self.length, self.room)
            )

    def renumber(self, new: Ints) -> None:
        """Give every term the number `new[term]`, in the same order; -1 for a term that no cluster has: it goes."""
        self.widen(len(new))
        kept = np.flatnonzero(new >= 0)
        self.seen, self.start, self.length, self.room = (
            part[kept] for part in (self.seen, self.start, self.length, self.room)
        )

    def count_history(self, indices: Ints, rows: int, width: int) -> None:
        """Count documents and their terms for N and df, without making clusters of them."""
        self.widen(width)
        self.seen += np.bincount(indices, minlength=len(self.seen))
        self.meta[ROWS] += rows

    def in_sight(self, now: float, window: int, max_age: float) -> NDArray[np.bool_]:
        """Which cluster slots can still be joined at this time."""
        k = self.meta[CLUSTERS]
        kept: NDArray[np.bool_] = self.meta[ROWS] - self.last_row[:k] <= window
        return kept & (now - self.last_time[:k] <= max_age)

    def compact(self, extra: int, kept: NDArray[np.bool_]) -> None:
        """Drop the clusters that are out of sight, keep the order of the others, and leave room for `extra` terms."""
        moved = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int64)
        k = int(kept.sum())
        for name in ("squares", "last_time", "sizes", "labels", "last_row"):
            part = getattr(self, name)
            fresh = np.zeros(max(64, 2 * k), dtype=part.dtype)
            fresh[:k] = part[: len(kept)][kept]
            setattr(self, name, fresh)
        need = int((self.length + (self.length >> 1) + 4)[self.length > 0].sum()) + 8 * extra
        members, weights = (
            np.zeros(max(1024, need + (need >> 2)), dtype=np.int32),
            np.zeros(max(1024, need + (need >> 2))),
        )
        self.meta[USED] = compact_clusters(
            moved, self.start, self.length, self.room, self.members, self.weights, members, weights
        )
        self.meta[CLUSTERS] = k
        self.members, self.weights = members, weights

    def get_state(self) -> dict[str, Any]:
        """The lists without their spare room, and what is known of each cluster."""
        k = self.meta[CLUSTERS]
        begin = np.repeat(self.start - np.concatenate([[0], np.cumsum(self.length)[:-1]]), self.length)
        entries = begin + np.arange(self.length.sum())
        return {
            "meta": self.meta[:USED].copy(),
            "seen": self.seen.copy(),
            "length": self.length.copy(),
            "members": self.members[entries],
            "weights": self.weights[entries],
            **{
                name: getattr(self, name)[:k].copy() for name in ("squares", "last_time", "sizes", "labels", "last_row")
            },
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Undo `get_state`."""
        index = cls()
        index.meta[:USED], index.meta[USED] = state["meta"], len(state["members"])
        for name in ("seen", "length", "members", "weights"):
            setattr(index, name, state[name].copy())
        index.room = index.length.copy()
        index.start = np.concatenate([[0], np.cumsum(index.length)])[:-1].astype(np.int64)
        k = len(state["squares"])
        for name in ("squares", "last_time", "sizes", "labels", "last_row"):
            fresh = np.zeros(max(64, 2 * k), dtype=state[name].dtype)
            fresh[:k] = state[name]
            setattr(index, name, fresh)
        return index
