"""What every cluster of a window holds of each term: the sum of its rows' weights / norms.

A row's cosine to a cluster is then a sum over the row's terms, without a look at the cluster's rows. A row that comes
or goes is added or taken away; when the norms are refreshed, the sums are gathered again from the posting lists: those
of a term when the next row has it, since most terms are rare, and the row after the refresh should not wait for all.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from firststory.arrays import Flags, Floats, Ints, Slots
from firststory.kernels.jit import kernel, part_of_kernel
from firststory.kernels.neighbours.layout import Lists
from firststory.kernels.neighbours.postings import append_row, compact, room_needed
from firststory.kernels.neighbours.prefetch import prefetch
from firststory.kernels.neighbours.widening import widened


@kernel
def gather_sums(
    terms: Ints, behind: Flags, rows: Lists, cluster: Slots, inverse: Floats, in_use: int, lists: Lists, used: Ints
) -> bool:
    """Fill the lists of those of the terms that are behind from the rows' lists; False where room runs out before that.

    `cluster` numbers the clusters from 0 to `in_use`. In each list the clusters come in the order of their oldest rows.
    """
    sums, touched, end = np.zeros(in_use), np.empty(in_use + 1, np.int64), used[0]
    begin, count, slots, shares = rows.start, rows.length, rows.members, rows.weights
    start, length, room, members, weights = lists
    for v in terms:
        if not behind[v]:
            continue
        n = 0
        for p in range(begin[v], begin[v] + count[v]):
            j = np.uint32(slots[p])
            c = np.uint32(cluster[j])
            before = sums[c]
            touched[n] = c  # stays only if n moves on: no branch to guess
            product = shares[p] * inverse[j]
            sums[c] = before + product
            n += (before == 0.0) & (product > 0.0)
        needed = n + (n >> 3) + (n > 0)
        if end + needed > len(members):
            return False
        start[v], length[v], room[v], behind[v] = end, n, needed, False
        for t in range(n):
            c = touched[t]
            members[end + t], weights[end + t] = c, sums[c]
            sums[c] = 0.0
        end += needed
        used[0] = end
    return True


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
        self.behind, self.is_behind = np.zeros(0, dtype=np.bool_), False
        """The terms whose sums are still to be gathered, and whether there may be any. No row with one came or went."""
        self.start, self.length, self.room = (np.zeros(0, dtype=np.int64) for _ in range(3))
        self.members, self.weights = np.zeros(1024, dtype=np.int32), np.zeros(1024)

    @property
    def lists(self) -> Lists:
        """As kernels take them."""
        return Lists(self.start, self.length, self.room, self.members, self.weights)

    def forget(self, width: int) -> None:
        """All sums of so many terms are to be gathered again."""
        self.widen(width)
        self.behind[:], self.is_behind, self.used[0] = True, True, 0
        for part in (self.start, self.length, self.room):
            part[:] = 0

    def gather(self, terms: Ints | None, rows: Lists, cluster: Slots, inverse: Floats, in_use: int) -> None:
        """Sum again what was forgotten of these terms, None: of all. What was not is left as it is."""
        if not self.is_behind:
            return
        asked = np.arange(len(self.behind)) if terms is None else terms
        while not gather_sums(asked, self.behind, rows, cluster, inverse, in_use, self.lists, self.used):
            members, weights, used = self.members, self.weights, self.used[0]
            self._allocate(len(members) + (len(members) >> 2))
            self.members[:used], self.weights[:used] = members[:used], weights[:used]
        self.is_behind = terms is not None

    def gathered(self, rows: Lists, cluster: Slots, inverse: Floats, in_use: int) -> ClusterSums:
        """The same with nothing left to gather; this one stays as it is, since several threads may ask."""
        if not self.is_behind:
            return self
        whole = copy.deepcopy(self)
        whole.gather(None, rows, cluster, inverse, in_use)
        return whole

    def widen(self, width: int) -> None:
        """Lists for terms that are new."""
        if width > len(self.start):
            self.start, self.length, self.room, self.behind = (
                widened(part, width) for part in (self.start, self.length, self.room, self.behind)
            )

    def keep_terms(self, kept: Ints) -> None:
        """Only the lists of these terms, in this order."""
        self.start, self.length, self.room = self.start[kept], self.length[kept], self.room[kept]
        self.behind = self.behind[kept]

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
        sums.behind = np.zeros(len(sums.length), dtype=np.bool_)
        sums.room = sums.length.copy()
        sums.start = np.concatenate([[0], np.cumsum(sums.length)]).astype(np.int64)[:-1]
        sums.members, sums.weights = state["members"].astype(np.int32), state["weights"].astype(np.float64)
        sums.used[0] = len(sums.members)
        return sums
