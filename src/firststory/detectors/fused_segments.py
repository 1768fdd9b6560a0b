"""The index of `FusedNovelty` with its window in segments that live with an engine: on threads, or on a cluster.

A row lives in the segment of its cluster, so that everything about a cluster is in one place. The driver, this object,
holds the log of the rows, the document frequencies and the clusters' sizes, and nothing that grows with postings. What
a segment holds follows from the log, so that one which is lost is built again; and the log is what is saved.

Results depend neither on the number of segments nor on where they are: a row's own numbers are computed in one order,
the sums of clusters are kept in whole numbers, and all that decides is computed here.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from firststory.arrays import Floats, Ints, Slots
from firststory.engines.engine import Engine
from firststory.errors import EngineError
from firststory.kernels.fused.cluster_sums import ClusterSums
from firststory.kernels.fused.index import FusedIndex
from firststory.kernels.fused.layout import Batch, Findings, new_findings
from firststory.kernels.fused.norms import refresh, refresh_due
from firststory.kernels.fused.rule import Rule
from firststory.kernels.fused.segment import Changes, Loaded, Request, Segment, answer_request
from firststory.kernels.fused.segment_follow import follow_answers, plan_step
from firststory.kernels.fused.segment_layout import Answer, Ask
from firststory.kernels.fused.segment_merge import forget_changing, merge_answers
from firststory.kernels.neighbours.window import NEXT, OLDEST, TAIL
from firststory.units import UNBOUNDED

SPARE_NEIGHBOURS = 8
"""Neighbours that segments return beyond those asked for: with them most steps need not be cut short."""

ATTEMPTS = 6
"""How often a segment is built again within one step before we give up."""

HOME_BITS = 32
"""Where a cluster lives, as one number: its segment above these bits, its number there below."""

_NO_INTS, _NO_SLOTS, _NO_FLOATS = np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0)


class SegmentedIndex(FusedIndex):
    """What `FusedIndex` is, on an engine.

    Parameters
    ----------
    index : FusedIndex
        What was learnt so far; its arrays are taken over.
    engine : Engine
        Where segments live.
    n_segments : int, optional
        The engine knows what suits it. Results do not depend on it.
    """

    def __init__(self, index: FusedIndex, engine: Engine, n_segments: int | None = None) -> None:
        vars(self).update(vars(index))
        self._residents = engine.settle(Segment.load, answer_request)
        self._n = n_segments or self._residents.n_wanted
        self._lock = threading.Lock()
        self.n_steps = self.n_built = 0
        """Steps so far, and how often a segment was built from the log."""
        self._drop_lists()
        self._spread_out()

    def follow(
        self, batch: Batch, days: Floats | None, *, width: int, k: int, window: int, max_age: float,
        max_postings: int, rule: Rule,
    ) -> Findings:  # fmt: skip
        with self._lock:
            return self._follow(batch, days, width, k, window, max_age, max_postings, rule, learn=True)

    def judge(self, batch: Batch, days: Floats | None, *, k: int, max_postings: int, rule: Rule) -> Findings:
        with self._lock:
            return self._follow(batch, days, len(self.start), k, UNBOUNDED, np.inf, max_postings, rule, learn=False)

    def _follow(
        self, batch: Batch, days: Floats | None, width: int, k: int, window: int, max_age: float, max_postings: int,
        rule: Rule, learn: bool,
    ) -> Findings:  # fmt: skip
        n, done = len(batch.indptr) - 1, 0
        found = new_findings(n, k)
        given, timed = np.zeros(n) if days is None else days, days is not None
        if learn:
            self._add_terms(width, self._unseen_idf2(rule))
        while done < n:
            ask, leaves = plan_step(
                batch, given, timed, done, window, max_age, max_postings, rule, learn, self.past(rule)
            )
            if learn:
                self._make_room_for(ask, window)
            answers = self._ask(ask, k + SPARE_NEIGHBOURS, rule)
            opened, first, oldest = int(self.tally.opened[0]), self.seen, int(self.meta[OLDEST])
            # Those that leave after the last row is judged change nothing within the step.
            leaving = self.cluster[np.arange(oldest, oldest + leaves) % len(self.born)]
            early = leaving[: int(ask.oldest[-1]) - oldest]
            got = merge_answers(
                ask, answers, self._slots, early, self._changing, k + SPARE_NEIGHBOURS, rule, self.past(rule)
            )
            homes, dying = self._home[leaving], np.empty(leaves, dtype=np.int64)
            advance, n_died = follow_answers(
                batch, given, timed, done, ask, got, leaves, window, max_age, rule, learn, self.past(rule),
                self.scratch.spread, self.scratch.sums, self.scratch.touched, self._home, dying, found,
            )  # fmt: skip
            forget_changing(got, early)
            done += advance
            if learn:
                gone = int(self.meta[OLDEST]) - oldest
                self._settle_rows(first, opened, leaving[:gone], homes[:gone], dying[:n_died])
                if refresh_due(self.meta, self.tally, rule):
                    refresh(rule, self.past(rule))
                    self._idf_is_new = True
        return found

    # -- segments ------------------------------------------------------------------------------------------

    def _spread_out(self) -> None:
        """Give every living cluster a segment; all of them are to be built from the log."""
        n = self._n
        self._rows_in = np.zeros(n, dtype=np.int64)
        self._free: list[list[int]] = [[] for _ in range(n)]
        self._next = [0] * n
        self._slots: list[Ints] = [np.full(64, -1, dtype=np.int64) for _ in range(n)]
        self._home, self._changing = np.full((2, len(self.c_size)), -1, dtype=np.int64)
        slots = np.arange(self.meta[OLDEST], self.meta[NEXT]) % len(self.born)
        alive, rows = np.unique(self.cluster[slots], return_counts=True)
        for c, count in zip(alive.tolist(), rows.tolist(), strict=True):
            self._settle_cluster(c, count)
        self._step = 0
        self._lost = set(range(n))
        self._pending = {s: _no_changes() for s in range(n)}
        self._idf_is_new = False

    def _settle_cluster(self, c: int, rows: int) -> None:
        """In the lightest segment."""
        s = int(np.argmin(self._rows_in))
        if self._free[s]:
            local = self._free[s].pop()
        else:
            local = self._next[s]
            self._next[s] += 1
            if local == len(self._slots[s]):
                self._slots[s] = np.concatenate([self._slots[s], np.full(local, -1, dtype=np.int64)])
        self._slots[s][local], self._home[c] = c, (s << HOME_BITS) | local
        self._rows_in[s] += rows

    def _settle_rows(self, first: int, opened: int, leaving: Slots, homes: Ints, died: Ints) -> None:
        """Where the rows from ordinal `first` on live, and what each segment is to be told of the step."""
        np.subtract.at(self._rows_in, homes >> HOME_BITS, 1)
        for home in died.tolist():
            self._free[home >> HOME_BITS].append(home & ((1 << HOME_BITS) - 1))
        slots = np.arange(first, self.meta[NEXT]) % len(self.born)
        clusters = self.cluster[slots]
        new = np.unique(clusters[(self.c_label[clusters] >= opened) & (self._home[clusters] < 0)])
        for c in new[np.argsort(self.c_label[new])].tolist():
            self._settle_cluster(int(c), 0)
        where = self._home[clusters]
        np.add.at(self._rows_in, where >> HOME_BITS, 1)
        changed = np.unique(np.concatenate([clusters, leaving[self.c_size[leaving] > 0]]))
        changed_home = self._home[changed]
        for s in range(self._n):
            mine = np.flatnonzero(where >> HOME_BITS == s)
            own = changed[changed_home >> HOME_BITS == s]
            self._pending[s] = self._changes(own)._replace(
                rows=mine, row_clusters=_local(where[mine]), inverse=self.inverse[slots[mine]]
            )

    def _changes(self, clusters: Ints) -> Changes:
        """What is known of these clusters."""
        return Changes(
            _NO_INTS, _NO_SLOTS, _NO_FLOATS, _local(self._home[clusters]), self.c_scale[clusters],
            self.c_size[clusters], self.c_day[clusters], self.c_tick[clusters], self.c_label[clusters],
        )  # fmt: skip

    def _loaded(self, s: int) -> Loaded:
        """All that a segment is made of, as of now."""
        slots = np.arange(self.meta[OLDEST], self.meta[NEXT]) % len(self.born)
        ordinals = np.arange(self.meta[OLDEST], self.meta[NEXT])
        mine = np.flatnonzero(self._home[self.cluster[slots]] >> HOME_BITS == s)
        slots = slots[mine]
        lengths = self.log_length[slots]
        at = np.repeat(self.log_start[slots] - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
        clusters = self.cluster[slots]
        return Loaded(
            self._step, lengths, self.log_terms[at], self.log_weights[at], ordinals[mine], self.born[slots],
            self.inverse[slots], _local(self._home[clusters]), self._changes(np.unique(clusters)), self.idf2,
        )  # fmt: skip

    def _ask(self, ask: Ask, k: int, rule: Rule) -> list[Answer]:
        """The answers of all segments to the next step. One that is lost or elsewhere is built from the log first."""
        self._step += 1
        self.n_steps += 1
        request = Request(
            self._step, self.seen, int(self.meta[OLDEST]), self.idf2 if self._idf_is_new else None,
            self._unseen_idf2(rule), len(self.start), ask, k, rule,
        )  # fmt: skip
        answers: dict[int, Answer] = {}
        for _ in range(ATTEMPTS):
            if self._lost:
                self._residents.place({s: self._loaded(s) for s in sorted(self._lost)})
                self.n_built += len(self._lost)
            missing = [s for s in range(self._n) if s not in answers]
            told = self._residents.ask({s: self._pending[s] for s in missing}, request)
            answers |= {s: answer for s, answer in told.items() if not isinstance(answer, int)}
            self._lost = {s for s in missing if s not in answers}
            if not self._lost:
                self._idf_is_new = False
                self._pending = {s: _no_changes() for s in range(self._n)}
                return [answers[s] for s in range(self._n)]
        self._lost = set(range(self._n))
        raise EngineError(
            owner="engine",
            parameter="the workers",
            allowed="some that stay for a step",
            received=f"segments lost {ATTEMPTS} times in a row",
            remedy="Look at the workers' logs; the next run resumes after the last step that was written.",
            message=f"Segments of the window were lost {ATTEMPTS} times within one step.",
        )

    # -- arrays --------------------------------------------------------------------------------------------

    def _drop_lists(self) -> None:
        """Posting lists are the segments' affair; what stays are document frequencies."""
        self.members, self.weights = np.zeros(1024, dtype=np.int32), np.zeros(1024)
        self.cluster_sums = ClusterSums()
        self.start[:] = 0

    def _make_room_for(self, ask: Ask, window: int) -> None:
        while len(self) + len(ask.oldest) > len(self.born) and len(self.born) < window:
            self._widen_ring()
        if self.meta[TAIL] + len(ask.terms) > len(self.log_terms):
            self._shift_log(len(ask.terms))

    def _widen_ring(self) -> None:
        old = len(self.c_size)
        super()._widen_ring()
        more = np.full(len(self.c_size) - old, -1, dtype=np.int64)
        self._home, self._changing = np.concatenate([self._home, more]), np.concatenate([self._changing, more])

    def renumber(self, new: Ints) -> None:
        """As `FusedIndex.renumber`; segments are built again."""
        super().renumber(new)
        self._drop_lists()
        self._lost = set(range(self._n))

    def get_state(self) -> dict[str, Any]:
        """That of a `FusedIndex`, without what clusters hold: it follows from the rows."""
        state = super().get_state()
        del state["cluster_sums"]
        return state

    def close(self) -> None:
        """Let the segments go."""
        self._residents.close()

    def as_whole(self) -> FusedIndex:
        """The same on no engine."""
        self.close()
        return FusedIndex.from_state(self.get_state())


def _local(homes: Ints) -> Any:
    return (homes & ((1 << HOME_BITS) - 1)).astype(np.int32)


def _no_changes() -> Changes:
    return Changes(_NO_INTS, _NO_SLOTS, _NO_FLOATS, _NO_SLOTS, _NO_FLOATS, _NO_INTS, _NO_FLOATS, _NO_FLOATS, _NO_INTS)
