"""Single-pass clustering over an inverted index of cluster vectors (sums of their members' unit vectors).

The list of a term names the clusters that have it, in the order in which they were opened, with the term's weight in
each sum; a member that joins adds to the entries of its terms. A cluster that got no member for `window` rows or
`max_age` seconds is out of sight for good, and its entries are reclaimed when the arena is next compacted.
"""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from firststory.arrays import Flags, Floats, Ints, Slots
from firststory.kernels.csr import Csr
from firststory.kernels.jit import kernel
from firststory.kernels.neighbours.layout import ClusterRules, ClusterTable, Lists, NearestClusters
from firststory.kernels.neighbours.postings import append, grown, room_needed
from firststory.kernels.neighbours.walk import walk

ROWS, CLUSTERS, OPENED, USED = 0, 1, 2, 3
"""What `meta` holds: rows seen, cluster slots in use, clusters ever opened, end of the arena's used part."""

EXACT_EVERY_ROWS = 1000
"""The running |C|^2 gathers rounding errors: it is computed afresh from the sums whenever this many rows have come."""


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
    rules: ClusterRules,
    meta: Ints,
    lists: Lists,
    table: ClusterTable,
    dots: Floats,
    touched: Ints,
) -> tuple[int, float, float]:
    """Slot, (decayed) cosine and dot product of the nearest cluster in sight; slot -1 where none shares a term."""
    n = walk(terms, values, terms < len(lists.start), lists, dots, touched, meta[CLUSTERS])
    best, best_cosine, best_dot = -1, 0.0, 0.0
    for t in range(meta[CLUSTERS] if n < 0 else n):
        c = t if n < 0 else touched[t]
        dot = dots[c]
        dots[c] = 0.0
        rows_ago, age = meta[ROWS] - table.last_row[c], now - table.last_time[c]
        if dot <= 0.0 or rows_ago > rules.window or age > rules.max_age:
            continue
        cosine = min(1.0, dot / math.sqrt(table.squares[c]))
        if rules.decay:
            cosine *= 1.0 - age / rules.max_age if rules.max_age < math.inf else 1.0 - rows_ago / (rules.window + 1)
        if cosine > best_cosine or (cosine == best_cosine and c > best):
            best, best_cosine, best_dot = c, cosine, dot
    return best, best_cosine, best_dot


@kernel
def add_to_cluster(v: int, c: int, weight: float, lists: Lists, used: int) -> int:
    """Add to term v of cluster c, keeping the list ordered by cluster; returns the end of the arena's used part."""
    start, length, members, weights = lists.start, lists.length, lists.members, lists.weights
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
    used = append(v, c, weight, lists, used)
    p = start[v] + length[v] - 1
    while p > start[v] + place:
        members[p], weights[p] = members[p - 1], weights[p - 1]
        p -= 1
    members[p], weights[p] = c, weight
    return used


@kernel
def exact_squares(lists: Lists, squares: Floats) -> None:
    """|C|^2 of every cluster from its sums."""
    start, length, members, weights = lists.start, lists.length, lists.members, lists.weights
    squares[:] = 0.0
    for v in range(len(start)):
        for p in range(start[v], start[v] + length[v]):
            squares[members[p]] += weights[p] * weights[p]


@kernel
def judge_clusters(
    rows: Csr,
    clock: Floats,
    rules: ClusterRules,
    seen: Ints,
    meta: Ints,
    lists: Lists,
    table: ClusterTable,
    slots: Ints,
    cosines: Floats,
) -> None:
    """Slot and cosine of the nearest cluster for each row by itself; nothing is learnt."""
    dots, touched = np.zeros(len(table.squares)), np.empty(len(table.squares) + 1, np.int64)
    for i in range(len(rows.indptr) - 1):
        own = slice(rows.indptr[i], rows.indptr[i + 1])
        terms, counts = rows.indices[own], rows.data[own]
        values = to_unit_length(ltc(terms, counts, seen, meta[ROWS]) if rules.weigh else counts)
        slots[i], cosines[i], _ = nearest(terms, values, clock[i], rules, meta, lists, table, dots, touched)


@kernel
def follow_clusters(
    rows: Csr,
    clock: Floats,
    first: int,
    rules: ClusterRules,
    seen: Ints,
    meta: Ints,
    lists: Lists,
    table: ClusterTable,
    found: NearestClusters,
) -> int:
    """Let rows `first ..` join the nearest cluster or open one, one after the other; returns the first not done.

    `found` gets the label that the row joined or opened; cosine, size and age of the nearest cluster as it was before
    the row came (size 0 where there is none).
    """
    squares, sizes = table.squares, table.sizes
    dots, touched = np.zeros(len(squares)), np.empty(len(squares) + 1, np.int64)
    for i in range(first, len(rows.indptr) - 1):
        own = slice(rows.indptr[i], rows.indptr[i + 1])
        terms, counts = rows.indices[own], rows.data[own]
        if meta[CLUSTERS] == len(squares) or meta[USED] + room_needed(terms, lists) > len(lists.members):
            return i
        if meta[ROWS] % EXACT_EVERY_ROWS == 0:
            exact_squares(lists, squares)
        values = to_unit_length(ltc(terms, counts, seen, meta[ROWS]) if rules.weigh else counts)
        c, cosine, dot = nearest(terms, values, clock[i], rules, meta, lists, table, dots, touched)
        found.cosines[i] = cosine
        if c >= 0:
            found.sizes[i], found.ages[i] = sizes[c], clock[i] - table.last_time[c]
        if c < 0 or cosine < rules.threshold:
            c, dot = meta[CLUSTERS], 0.0
            table.labels[c], squares[c], sizes[c] = meta[OPENED], 0.0, 0
            meta[CLUSTERS] += 1
            meta[OPENED] += 1
        square = 0.0
        for a in range(len(terms)):
            if values[a] > 0.0:
                meta[USED] = add_to_cluster(terms[a], c, values[a], lists, meta[USED])
                square += values[a] * values[a]
            seen[terms[a]] += 1
        squares[c] += 2.0 * dot + square
        sizes[c] += 1
        table.last_row[c], table.last_time[c], found.labels[i] = meta[ROWS], clock[i], table.labels[c]
        meta[ROWS] += 1
    return len(rows.indptr) - 1


@kernel
def compact_clusters(moved: Ints, lists: Lists, new_members: Slots, new_weights: Floats) -> int:
    """Copy the entries of clusters that stay (`moved[c] >= 0`, their new slot) into the new arena; returns its end."""
    start, length, room, members, weights = lists
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

    @property
    def lists(self) -> Lists:
        """The posting lists, as kernels take them."""
        return Lists(self.start, self.length, self.room, self.members, self.weights)

    @property
    def table(self) -> ClusterTable:
        """What is known of each cluster, as kernels take it."""
        return ClusterTable(self.squares, self.sizes, self.labels, self.last_row, self.last_time)

    def judge(self, rows: Csr, clock: Floats, rules: ClusterRules) -> NearestClusters:
        """The nearest cluster of each row by itself; label -1 where there is none."""
        n = len(rows.indptr) - 1
        slots, cosines = np.full(n, -1, dtype=np.int64), np.zeros(n)
        judge_clusters(rows, clock, rules, self.seen, self.meta, self.lists, self.table, slots, cosines)
        found = slots >= 0
        return NearestClusters(
            np.where(found, self.labels[slots], -1),
            cosines,
            np.where(found, self.sizes[slots], 0),
            np.where(found, clock - self.last_time[slots], 0.0),
        )

    def follow(self, rows: Csr, clock: Floats, rules: ClusterRules, *, width: int) -> NearestClusters:
        """The label each row got; cosine, size and age of the cluster that was nearest before it came."""
        n = len(rows.indptr) - 1
        self.widen(width)
        found = NearestClusters(np.zeros(n, dtype=np.int64), np.zeros(n), np.zeros(n, dtype=np.int64), np.zeros(n))
        done = 0
        while True:
            done = follow_clusters(rows, clock, done, rules, self.seen, self.meta, self.lists, self.table, found)
            if done == n:
                return found
            n_terms = int(rows.indptr[done + 1] - rows.indptr[done])
            self.compact(n_terms, self.in_sight(clock[done], rules.window, rules.max_age))

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

    def in_sight(self, now: float, window: int, max_age: float) -> Flags:
        """Which cluster slots can still be joined at this time."""
        k = self.meta[CLUSTERS]
        kept: Flags = self.meta[ROWS] - self.last_row[:k] <= window
        return kept & (now - self.last_time[:k] <= max_age)

    def compact(self, extra: int, kept: Flags) -> None:
        """Drop the clusters that are out of sight, keep the order of the others, and leave room for `extra` terms."""
        moved = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int64)
        k = int(kept.sum())
        for name in ClusterTable._fields:
            part = getattr(self, name)
            fresh = np.zeros(max(64, 2 * k), dtype=part.dtype)
            fresh[:k] = part[: len(kept)][kept]
            setattr(self, name, fresh)
        need = int((self.length + (self.length >> 1) + 4)[self.length > 0].sum()) + 8 * extra
        size = max(1024, need + (need >> 2))
        members, weights = np.zeros(size, dtype=np.int32), np.zeros(size)
        self.meta[USED] = compact_clusters(moved, self.lists, members, weights)
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
            **{name: getattr(self, name)[:k].copy() for name in ClusterTable._fields},
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
        for name in ClusterTable._fields:
            fresh = np.zeros(max(64, 2 * k), dtype=state[name].dtype)
            fresh[:k] = state[name]
            setattr(index, name, fresh)
        return index
