"""The index of the fused detector: posting lists, idf, norms and clusters of the past.

Lists hold `1 + ln x`; the square of the idf weight sits between the two sides of each product (`idf2`), so that idf
can change without a posting being touched. What depends on idf (`idf2`, the norm of every row, and what clusters hold
of each term) is refreshed from time to time, never at every row. One row is judged in `nearest`, one after the other
in `follow`.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Floats, Ints, Slots
from firststory.kernels.fused.blend import new_levels
from firststory.kernels.fused.clock import new_pace
from firststory.kernels.fused.cluster_sums import ClusterSums
from firststory.kernels.fused.follow import follow_rows, judge_rows
from firststory.kernels.fused.layout import (
    Batch,
    Clusters,
    Findings,
    Levels,
    Pace,
    Past,
    Rows,
    Scratch,
    Tally,
    Window,
    new_findings,
    new_scratch,
)
from firststory.kernels.fused.norms import refresh, squared_idf
from firststory.kernels.fused.rule import Rule
from firststory.kernels.neighbours.layout import Lists
from firststory.kernels.neighbours.widening import widened
from firststory.kernels.neighbours.window import NEXT, WindowIndex


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

    saved: ClassVar[tuple[str, ...]] = (*per_cluster, "idf2", "free")

    born: Floats
    inverse: Floats
    cluster: Slots
    c_square: Floats
    c_size: Ints
    c_day: Floats
    c_tick: Floats
    c_label: Ints
    common: NDArray[np.bool_]
    scratch: Scratch

    _unseen: tuple[int, Rule, float] | None = None
    """Rows as of the last refresh, the rule, and what follows from them."""

    def __init__(self, capacity: int = 64) -> None:
        super().__init__(capacity)
        for name, kind in self.per_cluster.items():
            setattr(self, name, np.zeros(capacity, dtype=kind))
        self.idf2 = np.zeros(0)
        self.free = np.arange(capacity, dtype=np.int32)[::-1].copy()
        self.tally = Tally(*(np.zeros(1, dtype=np.int64) for _ in Tally._fields))
        self.tally.free[0] = capacity
        self.pace, self.levels = new_pace(), new_levels()
        self.cluster_sums = ClusterSums()
        self._derive_arrays()

    def judge(self, batch: Batch, days: Floats | None, *, k: int, max_postings: int, rule: Rule) -> Findings:
        """What is found of each row by itself; nothing is learnt. `days` None: the rows have no times.

        With scratch of its own: several threads may ask.
        """
        n = len(batch.indptr) - 1
        found = new_findings(n, k)
        self.cluster_sums = self.cluster_sums.gathered(*self._rows_to_gather())
        judge_rows(
            batch, np.zeros(n) if days is None else days, days is not None, max_postings, rule, self.past(rule),
            new_scratch(len(self.born), len(self.start)), found,
        )  # fmt: skip
        return found

    def follow(
        self, batch: Batch, days: Floats | None, *, width: int, k: int, window: int, max_age: float,
        max_postings: int, rule: Rule,
    ) -> Findings:  # fmt: skip
        """Judge each row and learn it before the next; rows are `width` terms wide. `days` None: they have no times."""
        n, done = len(batch.indptr) - 1, 0
        found = new_findings(n, k)
        given, timed = np.zeros(n) if days is None else days, days is not None
        self._add_terms(width, self._unseen_idf2(rule))
        self._catch_up(batch.terms, n, window, max_age)
        while True:
            done, is_due = follow_rows(
                batch, given, timed, done, window, max_age, max_postings, rule, self.past(rule),
                self.cluster_sums.used, self.scratch, found,
            )  # fmt: skip
            if is_due:
                self._refresh(rule)
            if done == n:
                return found
            if is_due:
                self._catch_up(batch.terms[batch.indptr[done] :], n - done, window, max_age)
            terms = batch.terms[batch.indptr[done] : batch.indptr[done + 1]]
            self.make_room(terms, window)
            self.cluster_sums.make_room(terms)

    @property
    def seen(self) -> int:
        """How many rows ever came."""
        return int(self.meta[NEXT])

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        parts = [*vars(self).values(), *vars(self.cluster_sums).values(), *self.scratch]
        return sum(part.nbytes for part in parts if isinstance(part, np.ndarray))

    def past(self, rule: Rule) -> Past:
        """All that a row is judged by, as kernels take it."""
        return Past(
            window=Window(
                self.meta,
                self.lists,
                self.log,
                Rows(self.born, self.inverse, self.cluster, self.scale, self.share),
                self.common,
            ),
            tally=self.tally,
            pace=self.pace,
            idf2=self.idf2,
            unseen_idf2=self._unseen_idf2(rule),
            cluster_lists=self.cluster_sums.lists,
            clusters=Clusters(
                self.c_square, self.c_scale, self.c_size, self.c_day, self.c_tick, self.c_label, self.free
            ),
        )

    def _refresh(self, rule: Rule) -> None:
        """Norms and idf as of now. What clusters hold by them is gathered when rows come."""
        refresh(rule, self.past(rule))
        self.cluster_sums.forget(len(self.start))

    def _catch_up(self, terms: Ints, n_rows: int, window: int, max_age: float) -> None:
        """Gather what clusters hold of the terms of rows to come; where rows may leave, of all terms: they have any."""
        stay = len(self) + n_rows <= window and max_age == math.inf
        self.cluster_sums.gather(terms if stay else None, *self._rows_to_gather())

    def _rows_to_gather(self) -> tuple[Lists, Slots, Floats, int]:
        """What clusters hold follows from these."""
        return self.lists, self.cluster, self.inverse, int(self.tally.in_use[0])

    def _unseen_idf2(self, rule: Rule) -> float:
        """idf2 of a term that no row has had, as of the last refresh. Computed once for each: it is asked for often."""
        rows = int(self.tally.refreshed_rows[0])
        if self._unseen is None or self._unseen[:2] != (rows, rule):
            self._unseen = rows, rule, squared_idf(rows, 0, rule)
        return self._unseen[2]

    def _add_terms(self, width: int, idf2: float) -> None:
        """Lists and weights for terms that are new."""
        if width > len(self.start):
            self.widen(width)
            self.cluster_sums.widen(width)
            self.idf2, self.common = widened(self.idf2, width, idf2), widened(self.common, width)
            self.scratch = self.scratch._replace(spread=widened(self.scratch.spread, width))

    def renumber(self, new: Ints) -> None:
        """As `WindowIndex.renumber`, with all that is known of terms."""
        self._add_terms(len(new), 0.0)
        super().renumber(new)
        kept = np.flatnonzero(new >= 0)
        self.idf2, self.common = self.idf2[kept], self.common[kept]
        self.cluster_sums.keep_terms(kept)
        self.scratch = new_scratch(len(self.born), len(self.start))

    def _widen_ring(self) -> None:
        old = len(self.born)
        super()._widen_ring()
        for name in self.per_cluster:
            part = getattr(self, name)
            setattr(self, name, np.concatenate([part, np.zeros(old, dtype=part.dtype)]))
        # The new slots go below the others on the stack: those in use stay the first ones.
        spare = self.free[: self.tally.free[0]]
        self.free = np.concatenate([np.arange(2 * old - 1, old - 1, -1), spare, np.zeros(old - len(spare))]).astype(
            np.int32
        )
        self.tally.free[0] = len(spare) + old
        self._derive_arrays()

    def _derive_arrays(self) -> None:
        """Everything that follows from the other arrays."""
        self.c_scale = 1.0 / np.sqrt(np.maximum(self.c_square, 1e-30))
        self.scale = self.inverse.astype(np.float32)
        # Until the next refresh no term counts as common.
        self.common, self.share = np.zeros(len(self.start), dtype=np.bool_), np.zeros(len(self.born), dtype=np.float32)
        self.scratch = new_scratch(len(self.born), len(self.start))

    def get_state(self) -> dict[str, Any]:
        """The living rows, the clusters as they lie and what they hold, idf as of the last refresh, the clock."""
        self.cluster_sums.gather(None, *self._rows_to_gather())
        return {
            **super().get_state(),
            **{name: getattr(self, name).copy() for name in self.saved},
            "tally": {name: int(value[0]) for name, value in self.tally._asdict().items()},
            "pace": {name: value.copy() for name, value in self.pace._asdict().items()},
            "levels": {name: value.copy() for name, value in self.levels._asdict().items()},
            "cluster_sums": self.cluster_sums.get_state(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Build the lists again from the living rows."""
        index = super().from_state(state)
        for name in cls.saved:
            setattr(index, name, state[name].copy())
        index.tally = Tally(**{name: np.full(1, state["tally"][name], dtype=np.int64) for name in Tally._fields})
        index.pace = Pace(**{name: state["pace"][name].astype(np.float64) for name in Pace._fields})
        index.levels = Levels(**{name: state["levels"][name].astype(np.float64) for name in Levels._fields})
        index._derive_arrays()
        if "cluster_sums" in state:
            index.cluster_sums = ClusterSums.from_state(state["cluster_sums"])
        else:  # saved by a window in segments
            index.cluster_sums.forget(len(index.start))
        return index
