"""What every cluster of a window holds of each term: the sum of its rows' weights / norms.

A row's cosine to a cluster is then a sum over the row's terms, without a look at the cluster's rows. A row that comes
or goes is added or taken away; when the norms are refreshed, everything is gathered again from the posting lists.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from firststory.arrays import Floats, Ints, Slots
from firststory.kernels.jit import kernel, part_of_kernel
from firststory.kernels.neighbours.layout import Lists
from firststory.kernels.neighbours.postings import append_row, compact, room_needed
from firststory.kernels.neighbours.prefetch import prefetch


@kernel
def gather_sums(lists: Lists, cluster: Slots, inverse: Floats, in_use: int, start: Ints, length: Ints, room: Ints,
           members: Slots, weights: Floats) -> int:  # fmt: skip
    """Fill `start` .. `weights` from the rows' lists; returns the end of the used part, -1 if there is too little room.

    `cluster` numbers the clusters from 0 to `in_use`. In each list the clusters come in the order of their oldest rows.
    """
    sums, touched, used = np.zeros(in_use), np.empty(in_use + 1, np.int64), 0
    begin, count, slots, shares = lists.start, lists.length, lists.members, lists.weights
    for v in range(len(begin)):
        n = 0
        for p in range(begin[v], begin[v] + count[v]):
            j = np.uint32(slots[p])
            c = np.uint32(cluster[j])
            before = sums[c]
            touched[n] = c  # stays only if n moves on: no branch to guess
            product = shares[p] * inverse[j]
            sums[c] = before + product
            n += (before == 0.0) & (product > 0.0)
        start[v], length[v], room[v] = used, n, n + (n >> 3) + (n > 0)
        if used + room[v] > len(members):
            return -1
        for t in range(n):
            c = touched[t]
            members[used + t], weights[used + t] = c, sums[c]
            sums[c] = 0.0
        used += room[v]
    return used


@part_of_kernel
def add_row(terms: Ints, values: Floats, scale: float, cluster: int, lists: Lists, used: Ints) -> None:
    """Add `scale * values` to what the cluster holds, in entries of their own: the next gathering joins them."""
    used[0] = append_row(terms, values, scale, cluster, lists, used[0])


@part_of_kernel
def remove_row(terms: Slots, values: Floats, scale: float, cluster: int, lists: Lists) -> None:
    """Take what `add_row` added away again, from any entry of the cluster: only their sum counts.

    The row that leaves is the oldest, and clusters stand in the order of their oldest rows: the search is short.
    """
    start, length, members, weights = lists.start, lists.length, lists.members, lists.weights
    for v in terms:
        prefetch(members, start[v])
        prefetch(weights, start[v])
    for a in range(len(terms)):
        p, end = start[terms[a]], start[terms[a]] + length[terms[a]]
        while p < end and members[p] != cluster:
            p += 1
        if p < end:
            weights[p] -= scale * values[a]


class ClusterSums:
    """The arrays of these lists, their growth, and their state."""

    def __init__(self) -> None:
        self.used = np.zeros(1, dtype=np.int64)
        self.start, self.length, self.room = (np.zeros(0, dtype=np.int64) for _ in range(3))
        self.members, self.weights = np.zeros(1024, dtype=np.int32), np.zeros(1024)

    @property
    def lists(self) -> Lists:
        """As kernels take them."""
        return Lists(self.start, self.length, self.room, self.members, self.weights)

    def gather(self, rows: Lists, cluster: Slots, inverse: Floats, in_use: int) -> None:
        """Sum everything again."""
        self.widen(len(rows.start))
        while True:
            used = gather_sums(rows, cluster, inverse, in_use, *self.lists)
            if used >= 0 and used + (used >> 3) <= len(self.members):
                break
            self._allocate(len(self.members) + (len(self.members) >> 2))
        self.used[0] = used

    def widen(self, width: int) -> None:
        """Lists for terms that are new."""
        if width > len(self.start):
            more = np.zeros(width - len(self.start), dtype=np.int64)
            self.start, self.length, self.room = (
                np.concatenate([part, more]) for part in (self.start, self.length, self.room)
            )

    def keep_terms(self, kept: Ints) -> None:
        """Only the lists of these terms, in this order."""
        self.start, self.length, self.room = self.start[kept], self.length[kept], self.room[kept]

    def make_room(self, terms: Ints) -> None:
        """Room for one more entry of each of these terms."""
        if self.used[0] + room_needed(terms, self.lists) <= len(self.members):
            return
        old = self.lists
        need = int((self.length + (self.length >> 1) + 4)[self.length > 0].sum()) + 8 * len(terms)
        self._allocate(max(1024, need + (need >> 3)))
        self.used[0] = compact(old, self.members, self.weights)

    def _allocate(self, size: int) -> None:
        self.members, self.weights = np.zeros(size, dtype=np.int32), np.zeros(size)

    def get_state(self) -> dict[str, Any]:
        """The lists one after the other."""
        at = np.repeat(self.start - np.cumsum(self.length) + self.length, self.length) + np.arange(self.length.sum())
        return {"length": self.length.copy(), "members": self.members[at], "weights": self.weights[at]}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> ClusterSums:
        """The same lists."""
        sums = cls()
        sums.length = state["length"].astype(np.int64)
        sums.room = sums.length.copy()
        sums.start = np.concatenate([[0], np.cumsum(sums.length)]).astype(np.int64)[:-1]
        sums.members, sums.weights = state["members"].astype(np.int32), state["weights"].astype(np.float64)
        sums.used[0] = len(sums.members)
        return sums
