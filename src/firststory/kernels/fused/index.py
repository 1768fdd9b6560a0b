"""The index of the fused detector: posting lists, idf, norms and clusters of the past.

Lists hold `1 + ln x`; the square of the idf weight sits between the two sides of each product (`idf2`), so that idf
can change without a posting being touched. What depends on idf (`idf2`, the norm of every row, and what clusters hold
of each term) is refreshed from time to time, never at every row. One row is judged in `fused_look`, one after the other
in `fused_follow`.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Floats, Ints, Slots
from firststory.kernels.fused.cluster_sums import ClusterSums
from firststory.kernels.fused.follow import follow_fused, judge_fused
from firststory.kernels.fused.layout import Clusters, Lists, Log, Rows, scratch
from firststory.kernels.fused.norms import due, refresh, weigh
from firststory.kernels.fused.tally import FREE, FRESH_ROWS, IN_USE
from firststory.kernels.neighbours.window import WindowIndex


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

    own: ClassVar[tuple[str, ...]] = ("idf2", "free", "tally")

    born: Floats
    inverse: Floats
    cluster: Slots
    c_square: Floats
    c_size: Ints
    c_day: Floats
    c_tick: Floats
    c_label: Ints
    common: NDArray[np.bool_]

    def __init__(self, capacity: int = 64) -> None:
        super().__init__(capacity)
        for name, kind in self.per_cluster.items():
            setattr(self, name, np.zeros(capacity, dtype=kind))
        self.idf2 = np.zeros(0)
        self.free = np.arange(capacity, dtype=np.int32)[::-1].copy()
        self.tally = np.array([capacity, 0, 0, 0, 0], dtype=np.int64)
        self.held = ClusterSums()
        self._lay_out()

    def judge(
        self, indptr: Ints, indices: Ints, data: Floats, days: Floats, ticks: Floats, *, k: int, budget: int,
        knobs: Floats,
    ) -> tuple[Floats, Floats, Floats, Ints]:  # fmt: skip
        """NN and CEN of each row by itself against the past; the k best (plain cosines, ordinals).

        With scratch of its own: several threads may ask.
        """
        n = len(indptr) - 1
        neighbour, centroid = np.zeros(n), np.zeros(n)
        scores, cosines, ordinals = np.zeros((n, k)), np.zeros((n, k)), np.full((n, k), -1, dtype=np.int64)
        judge_fused(
            indptr.astype(np.int64), indices.astype(np.int64), data, days, ticks, budget, self._fresh(knobs), knobs,
            self.meta, self.tally, *self._past(), scratch(len(self.born), len(self.start)),
            scores, cosines, ordinals, neighbour, centroid,
        )  # fmt: skip
        return neighbour, centroid, cosines, ordinals

    def follow(
        self, indptr: Ints, indices: Ints, data: Floats, days: Floats, ticks: Floats, *, width: int, k: int,
        window: int, max_age: float, budget: int, knobs: Floats,
    ) -> tuple[Floats, Floats, Floats, Ints, Ints, Floats, Ints]:  # fmt: skip
        """NN, CEN, the k best (plain cosines, ordinals), the cluster of each row, its cosine and size before."""
        n = len(indptr) - 1
        indptr, indices = indptr.astype(np.int64), indices.astype(np.int64)
        scores, cosines, ordinals = np.zeros((n, k)), np.zeros((n, k)), np.full((n, k), -1, dtype=np.int64)
        neighbour, centroid, joined = np.zeros(n), np.zeros(n), np.zeros(n)
        labels, sizes = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        self._meet(width, self._fresh(knobs))
        done = 0
        while True:
            lists, log, rows, idf2, common, held, clusters = self._past()
            done = follow_fused(
                indptr, indices, data, days, ticks, done, window, max_age, budget, knobs, self.meta, self.tally,
                lists, log, rows, idf2, common, held, self.held.used, clusters, self.scratch,
                scores, cosines, ordinals, neighbour, centroid, labels, joined, sizes,
            )  # fmt: skip
            if due(self.meta, self.tally, knobs):
                self._refresh(knobs)
            if done == n:
                return neighbour, centroid, cosines, ordinals, labels, joined, sizes
            terms = indices[indptr[done] : indptr[done + 1]]
            self.make_room(terms, window)
            self.held.make_room(terms)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        parts = [*vars(self).values(), *vars(self.held).values(), *self.scratch]
        return sum(part.nbytes for part in parts if isinstance(part, np.ndarray))

    def _past(self) -> tuple[Lists, Log, Rows, Floats, NDArray[np.bool_], Lists, Clusters]:
        """All that a row is judged by, as kernels take it."""
        return (
            Lists(self.start, self.length, self.room, self.members, self.weights),
            Log(self.log_start, self.log_length, self.log_terms, self.log_weights),
            Rows(self.born, self.inverse, self.cluster, self.scale, self.share),
            self.idf2,
            self.common,
            self.held.lists,
            Clusters(self.c_square, self.c_scale, self.c_size, self.c_day, self.c_tick, self.c_label, self.free),
        )

    def _refresh(self, knobs: Floats) -> None:
        """Norms and idf as of now, and what clusters hold by them."""
        lists, log, rows, idf2, common, _, _ = self._past()
        refresh(knobs, self.meta, self.tally, self.length, log, rows, idf2, common)
        self.held.gather(lists, self.cluster, self.inverse, int(self.tally[IN_USE]))

    def _fresh(self, knobs: Floats) -> float:
        """idf2 of a term that nobody has seen, as of the last refresh."""
        return weigh(int(self.tally[FRESH_ROWS]), 0, knobs)

    def _meet(self, width: int, fresh: float) -> None:
        """Lists and weights for terms that are new."""
        more = width - len(self.start)
        if more > 0:
            self.widen(width)
            self.held.widen(width)
            self.idf2 = np.concatenate([self.idf2, np.full(more, fresh)])
            self.common = np.concatenate([self.common, np.zeros(more, dtype=np.bool_)])
            self.scratch = scratch(len(self.born), width)

    def renumber(self, new: Ints) -> None:
        """As `WindowIndex.renumber`, with all that is known of terms."""
        self._meet(len(new), 0.0)
        super().renumber(new)
        kept = np.flatnonzero(new >= 0)
        self.idf2, self.common = self.idf2[kept], self.common[kept]
        self.held.take(kept)
        self.scratch = scratch(len(self.born), len(self.start))

    def _widen_ring(self) -> None:
        old = len(self.born)
        super()._widen_ring()
        for name in self.per_cluster:
            part = getattr(self, name)
            setattr(self, name, np.concatenate([part, np.zeros(old, dtype=part.dtype)]))
        # The new slots go below the others on the stack: those in use stay the first ones.
        spare = self.free[: self.tally[FREE]]
        self.free = np.concatenate([np.arange(2 * old - 1, old - 1, -1), spare, np.zeros(old - len(spare))]).astype(
            np.int32
        )
        self.tally[FREE] = len(spare) + old
        self._lay_out()

    def _lay_out(self) -> None:
        """Everything that follows from the arrays."""
        self.c_scale = 1.0 / np.sqrt(np.maximum(self.c_square, 1e-30))
        self.scale = self.inverse.astype(np.float32)
        # Until the next refresh no term counts as common.
        self.common, self.share = np.zeros(len(self.start), dtype=np.bool_), np.zeros(len(self.born), dtype=np.float32)
        self.scratch = scratch(len(self.born), len(self.start))

    def get_state(self) -> dict[str, Any]:
        """The living rows, the clusters as they lie and what they hold, idf as of the last refresh."""
        own = {name: getattr(self, name).copy() for name in (*self.per_cluster, *self.own)}
        return {**super().get_state(), **own, "sums": self.held.get_state()}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Build the lists again from the living rows."""
        index = super().from_state(state)
        for name in (*cls.per_cluster, *cls.own):
            setattr(index, name, state[name].copy())
        if "sums" in state:
            index.held = ClusterSums.from_state(state["sums"])
        else:  # of an earlier version
            used = np.flatnonzero(index.c_size > 0)
            index.tally = np.append(index.tally[:IN_USE], used.max(initial=-1) + 1)
            index.held.gather(index._past()[0], index.cluster, index.inverse, int(index.tally[IN_USE]))
        index._lay_out()
        return index
