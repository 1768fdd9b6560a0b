"""The index of the fused detector: posting lists, idf, norms and clusters of the past.

Lists hold `1 + ln x`; the square of the idf weight sits between the two sides of each product (`idf2`), so that idf
can change without a posting being touched. What depends on idf (`idf2` and the norm of every row) is refreshed from
time to time, never at every row. One row is judged in `fused_look`, one after the other in `fused_follow`.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from firststory.kernels.cluster_sums import gather_common
from firststory.kernels.fused_follow import follow_fused, judge_fused
from firststory.kernels.fused_lanes import BORN, CLUSTER, INVERSE, SQUARE
from firststory.kernels.fused_norms import BLOCK, STALE, refresh, weigh
from firststory.kernels.fused_tally import FREE, FRESH_AT, FRESH_ROWS, IDF_POWER, OPENED, SUMMED_AT, SUMMED_OPENED
from firststory.kernels.window import NEXT, WindowIndex

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Slots = NDArray[np.int32]

COMMON = 0.02
"""A term is common when more than this share of the window has it."""

MANY = 10_000
"""Rows in the window from which on this is done at all."""

SUMMED = 50
"""Clusters are summed anew after 1/SUMMED of the window; what leaves the window in between stays in the sums."""

COMPLETED = 12
"""How many of the nearest rows get their exact cosine when the lists of common terms were not walked."""


class FusedIndex(WindowIndex):
    """A window of rows of `1 + ln x`, their norms, and the clusters they form."""

    per_slot: ClassVar[dict[str, Any]] = {"born": np.float64, "inverse": np.float64, "cluster": np.int32}
    per_cluster: ClassVar[dict[str, Any]] = {
        "c_square": np.float64,
        "c_size": np.int64,
        "c_day": np.float64,
        "c_tick": np.float64,
        "c_label": np.int64,
    }
    """As many slots as rows: a cluster without a living member gives its slot back."""

    gathered_sums: ClassVar[tuple[str, ...]] = ("common", "common_begin", "holders", "held", "summed", "portion")
    """What clusters hold of common terms. A state of an earlier version names clusters otherwise here: it goes without,
    and the next refresh gathers them anew."""

    own: ClassVar[tuple[str, ...]] = ("idf2", "free", "tally", *gathered_sums)

    born: Floats
    inverse: Floats
    cluster: Slots
    c_square: Floats
    c_size: Ints
    c_day: Floats
    c_tick: Floats
    c_label: Ints

    def __init__(self, capacity: int = 64) -> None:
        super().__init__(capacity)
        for name, kind in self.per_cluster.items():
            setattr(self, name, np.zeros(capacity, dtype=kind))
        self.idf2 = np.zeros(0)
        self.common, self.holders = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32)
        self.common_begin, self.held = np.zeros(1, dtype=np.int64), np.zeros(0)
        self.summed, self.portion = np.zeros(0, dtype=np.int32), np.zeros(0)
        self.free = np.arange(capacity, dtype=np.int32)[::-1].copy()
        self.tally = np.array([capacity, 0, 0, 0, 0, 0], dtype=np.int64)
        self._lay_out()

    def judge(
        self, indptr: Ints, indices: Ints, data: Floats, days: Floats, ticks: Floats, *, k: int, budget: int,
        knobs: Floats,
    ) -> tuple[Floats, Floats]:  # fmt: skip
        """NN and CEN of each row by itself against the past. On copies of the scratch: several threads may ask."""
        n, kept = len(indptr) - 1, max(k, COMPLETED)
        neighbour, centroid = np.zeros(n), np.zeros(n)
        judge_fused(
            indptr.astype(np.int64), indices.astype(np.int64), data, days, ticks, k, budget, self._fresh(knobs),
            knobs,
            self.meta, self.tally, self.start, self.length, self.members, self.weights,
            self.log_start, self.log_length, self.log_terms, self.log_weights,
            self.idf2, self.lanes.copy(), self.common, self.common_begin, self.holders, self.held, self.summed,
            self.portion, self.c_lanes.copy(), self.c_day, self.c_tick, self.c_label, self.gathered.copy(),
            np.empty_like(self.touched), np.empty_like(self.clusters),
            np.zeros((n, kept)), np.zeros((n, kept)), np.full((n, kept), -1, dtype=np.int64), neighbour, centroid,
        )  # fmt: skip
        return neighbour, centroid

    def follow(
        self, indptr: Ints, indices: Ints, data: Floats, days: Floats, ticks: Floats, *, width: int, k: int,
        window: int, max_age: float, budget: int, knobs: Floats,
    ) -> tuple[Floats, Floats, Floats, Ints, Ints, Floats, Ints]:  # fmt: skip
        """NN, CEN, the k best (plain cosines, ordinals), the cluster of each row, its cosine and size before."""
        n, kept = len(indptr) - 1, max(k, COMPLETED)
        indptr, indices = indptr.astype(np.int64), indices.astype(np.int64)
        scores, cosines = np.zeros((n, kept)), np.zeros((n, kept))
        ordinals = np.full((n, kept), -1, dtype=np.int64)
        neighbour, centroid, joined = np.zeros(n), np.zeros(n), np.zeros(n)
        labels, sizes = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        self.widen(width)
        self.idf2 = np.concatenate([self.idf2, np.full(width - len(self.idf2), self._fresh(knobs))])
        done = 0
        while True:
            done = follow_fused(
                indptr, indices, data, days, ticks, done, window, max_age, k, budget, knobs, self.meta, self.tally,
                self.start, self.length, self.room, self.members, self.weights,
                self.log_start, self.log_length, self.log_terms, self.log_weights,
                self.idf2, self.inverse, self.born, self.cluster, self.lanes,
                self.common, self.common_begin, self.holders, self.held, self.summed, self.portion, self.place,
                self.c_lanes, self.c_square, self.c_size, self.c_day, self.c_tick, self.c_label, self.free,
                self.gathered, self.touched, self.clusters,
                scores, cosines, ordinals, neighbour, centroid, labels, joined, sizes,
            )  # fmt: skip
            if self.meta[NEXT] - self.tally[FRESH_AT] >= max(BLOCK, len(self) // STALE):
                self._refresh(float(knobs[IDF_POWER]), budget)
            if done == n:
                return neighbour, centroid, cosines[:, :k], ordinals[:, :k], labels, joined, sizes
            self.make_room(indices[indptr[done] : indptr[done + 1]], window)

    def _refresh(self, power: float, budget: int) -> None:
        """Norms and idf as of now; and what clusters hold of common terms, if rows need it and it is old."""
        refresh(
            power, self.meta, self.tally, self.length, self.log_start, self.log_length, self.log_terms,
            self.log_weights, self.idf2, self.inverse,
        )  # fmt: skip
        self.lanes[:, INVERSE] = self.inverse
        # The mean row's postings are the sum of df^2 over the rows.
        needed = len(self) >= MANY and float((self.length.astype(float) ** 2).sum()) > 0.3 * budget * len(self)
        if needed and (not len(self.summed) or self.meta[NEXT] - self.tally[SUMMED_AT] >= len(self) // SUMMED):
            self._sum_clusters()

    def _sum_clusters(self) -> None:
        """What every cluster holds of each common term, as of now; clusters are numbered by their place in `summed`."""
        many = self.length > COMMON * len(self)
        terms = np.flatnonzero(many)
        self.common = np.where(many, np.cumsum(many) - 1, -1).astype(np.int32)
        self.summed = np.flatnonzero(self.c_size > 0).astype(np.int32)
        self.portion = 1.0 / self.c_size[self.summed]
        self._find_places()
        # The room is an upper bound; what is not written is never real memory.
        room = int(np.minimum(self.length[terms], len(self.summed)).sum())
        holders, held = np.empty(room, dtype=np.int32), np.empty(room)
        self.common_begin = np.zeros(len(terms) + 1, dtype=np.int64)
        gather_common(
            terms, self.start, self.length, self.members, self.weights, self.place[self.cluster], self.inverse,
            len(self.summed), self.common_begin, holders, held,
        )  # fmt: skip
        used = int(self.common_begin[-1])
        self.holders, self.held = holders[:used].copy(), held[:used].copy()
        self.tally[SUMMED_AT], self.tally[SUMMED_OPENED] = self.meta[NEXT], self.tally[OPENED]

    def _fresh(self, knobs: Floats) -> float:
        """idf2 of a term that nobody has seen, as of the last refresh."""
        return weigh(int(self.tally[FRESH_ROWS]), 0, float(knobs[IDF_POWER]))

    def _widen_ring(self) -> None:
        old = len(self.born)
        super()._widen_ring()
        for name in self.per_cluster:
            part = getattr(self, name)
            setattr(self, name, np.concatenate([part, np.zeros(old, dtype=part.dtype)]))
        # The ring is full, but there may be fewer clusters than rows: the new slots go on top of the stack.
        spare = self.free[: self.tally[FREE]]
        self.free = np.zeros(2 * old, dtype=np.int32)
        self.free[: len(spare)] = spare
        self.free[len(spare) : len(spare) + old] = np.arange(2 * old - 1, old - 1, -1)
        self.tally[FREE] = len(spare) + old
        self._lay_out()

    def _lay_out(self) -> None:
        """Everything that follows from the arrays: lanes, scratch, where each cluster stands in the gathered sums."""
        capacity = len(self.born)
        self.lanes, self.c_lanes = np.zeros((capacity, 4)), np.zeros((capacity, 4))
        self.lanes[:, INVERSE], self.lanes[:, BORN], self.lanes[:, CLUSTER] = self.inverse, self.born, self.cluster
        self.c_lanes[:, SQUARE] = self.c_square
        self.touched, self.clusters = np.empty(capacity + 1, dtype=np.int64), np.empty(capacity + 1, dtype=np.int64)
        self._find_places()

    def _find_places(self) -> None:
        self.place = np.full(len(self.born), -1, dtype=np.int32)
        there = np.flatnonzero(self.summed >= 0)
        self.place[self.summed[there]] = there
        self.gathered = np.zeros(len(self.summed))

    def get_state(self) -> dict[str, Any]:
        """The living rows, the clusters as they lie, idf as of the last refresh."""
        own = {name: getattr(self, name).copy() for name in (*self.per_cluster, *self.own)}
        return {**super().get_state(), **own}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Build the lists again from the living rows."""
        index = super().from_state(state)
        for name in (*cls.per_cluster, *cls.own):
            if "portion" in state or name not in cls.gathered_sums:
                setattr(index, name, state[name].copy())
        index._lay_out()
        return index
