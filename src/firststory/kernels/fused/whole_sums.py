"""What every cluster of a segment holds of each term, in whole numbers: the sums do not depend on how they came about.

A segment that was kept and one that was built anew have the same bits. One entry per cluster and term, so that a row's
cosine to a cluster is one sum over the row's terms in ascending order.
"""

from __future__ import annotations

import numpy as np

from firststory.arrays import Floats, Ints, Slots
from firststory.kernels.fused.segment_layout import WHOLE
from firststory.kernels.jit import kernel
from firststory.kernels.neighbours.layout import Lists
from firststory.kernels.neighbours.postings import append, compact, room_needed


@kernel
def whole(weight: float, scale: float) -> int:
    """A row's part of what its cluster holds of a term."""
    return int(np.rint(weight * scale * WHOLE))


@kernel
def gather_whole(
    lists: Lists, cluster: Slots, inverse: Floats, in_use: int, start: Ints, length: Ints, room: Ints, members: Slots,
    weights: Ints,
) -> int:  # fmt: skip
    """Fill `start` .. `weights` from the rows' lists; returns where the used part ends, -1: too little room."""
    sums, touched, used = np.zeros(in_use, np.int64), np.empty(in_use + 1, np.int64), 0
    begin, count, slots, shares = lists.start, lists.length, lists.members, lists.weights
    for v in range(len(begin)):
        n = 0
        for p in range(begin[v], begin[v] + count[v]):
            j = slots[p]
            c = cluster[j]
            part = whole(shares[p], inverse[j])
            if sums[c] == 0 and part > 0:
                touched[n] = c
                n += 1
            sums[c] += part
        start[v], length[v], room[v] = used, n, n + (n >> 3) + (n > 0)
        if used + room[v] > len(members):
            return -1
        for t in range(n):
            c = touched[t]
            members[used + t], weights[used + t] = c, sums[c]
            sums[c] = 0
        used += room[v]
    return used


@kernel
def add_whole(terms: Ints, values: Floats, scale: float, cluster: int, lists: Lists, used: Ints) -> None:
    """Add a row to what the cluster holds; clusters that were opened lately stand last."""
    start, length, members, weights = lists.start, lists.length, lists.members, lists.weights
    for a in range(len(terms)):
        v = terms[a]
        p = start[v] + length[v] - 1
        while p >= start[v] and members[p] != cluster:
            p -= 1
        if p >= start[v]:
            weights[p] += whole(values[a], scale)
        else:
            used[0] = append(v, cluster, whole(values[a], scale), lists, used[0])


@kernel
def take_whole(terms: Slots, values: Floats, scale: float, cluster: int, lists: Lists) -> None:
    """Take a row away again; clusters of old rows stand first."""
    start, length, members, weights = lists.start, lists.length, lists.members, lists.weights
    for a in range(len(terms)):
        v = terms[a]
        p, end = start[v], start[v] + length[v]
        while p < end and members[p] != cluster:
            p += 1
        if p < end:
            weights[p] -= whole(values[a], scale)


class WholeSums:
    """The arrays of these lists, and their growth."""

    def __init__(self) -> None:
        self.used = np.zeros(1, dtype=np.int64)
        self.start, self.length, self.room = (np.zeros(0, dtype=np.int64) for _ in range(3))
        self.members, self.weights = np.zeros(1024, dtype=np.int32), np.zeros(1024, dtype=np.int64)

    @property
    def lists(self) -> Lists:
        """As kernels take them."""
        return Lists(self.start, self.length, self.room, self.members, self.weights)  # type: ignore[arg-type]

    def gather(self, rows: Lists, cluster: Slots, inverse: Floats, in_use: int) -> None:
        """Sum everything again."""
        self.start, self.length, self.room = (np.zeros(len(rows.start), dtype=np.int64) for _ in range(3))
        while True:
            used = gather_whole(
                rows, cluster, inverse, in_use, self.start, self.length, self.room, self.members, self.weights
            )
            if used >= 0 and used + (used >> 3) <= len(self.members):
                break
            self._allocate(len(self.members) + (len(self.members) >> 1))
        self.used[0] = used

    def widen(self, width: int) -> None:
        """Lists for terms that are new."""
        more = np.zeros(max(0, width - len(self.start)), dtype=np.int64)
        self.start, self.length, self.room = (
            np.concatenate([part, more]) for part in (self.start, self.length, self.room)
        )

    def make_room(self, terms: Ints) -> None:
        """Room for one more entry of each of these terms."""
        if self.used[0] + room_needed(terms, self.lists) <= len(self.members):
            return
        old = self.lists
        need = int((self.length + (self.length >> 1) + 4)[self.length > 0].sum()) + 8 * len(terms)
        self._allocate(max(1024, need + (need >> 3)))
        self.used[0] = compact(old, self.members, self.weights)  # type: ignore[arg-type]

    def _allocate(self, size: int) -> None:
        self.members, self.weights = np.zeros(size, dtype=np.int32), np.zeros(size, dtype=np.int64)
