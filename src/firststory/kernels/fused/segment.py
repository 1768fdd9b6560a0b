"""A segment of a window: the rows of some clusters. It applies a step once, and answers it as often as asked."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from firststory.arrays import Floats, Ints, Singles, Slots
from firststory.kernels.fused.layout import Rows, Scratch, Window, new_scratch
from firststory.kernels.fused.norms import COMMON_SHARE, common_share, weigh_rows
from firststory.kernels.fused.rule import Rule
from firststory.kernels.fused.segment_answer import answer, first_alive
from firststory.kernels.fused.segment_layout import Answer, Ask, SegmentClusters
from firststory.kernels.fused.whole_sums import WholeSums, add_whole, take_whole
from firststory.kernels.neighbours.window import OLDEST, WindowIndex, evict, remember
from firststory.units import UNBOUNDED


class Changes(NamedTuple):
    """What a step has changed in one segment."""

    rows: Ints
    """Which of the rows that were asked about last it gets,"""
    row_clusters: Slots
    """their clusters,"""
    inverse: Floats
    """and their 1 / norm."""
    clusters: Slots
    """Clusters that are new or have changed: their"""
    scale: Floats
    size: Ints
    day: Floats
    tick: Floats
    label: Ints


class Loaded(NamedTuple):
    """All that a segment is made of, as of the start of a step: its rows, and its clusters as changes."""

    step: int
    lengths: Ints
    terms: Slots
    values: Floats
    ordinals: Ints
    born: Floats
    inverse: Floats
    cluster: Slots
    clusters: Changes
    idf2: Floats


class Request(NamedTuple):
    """A step for all segments: what the one before it has changed, and the rows of this one."""

    step: int
    first: int
    """The ordinal of the first row,"""
    oldest: int
    """and the first ordinal that is alive."""
    idf2: Floats | None
    """idf where it was refreshed,"""
    unseen_idf2: float
    """that of terms that are new,"""
    width: int
    """and how many terms there are by now."""
    ask: Ask
    k: int
    rule: Rule


class Segment(WindowIndex):
    """Rows under local ordinals of their own; `ordinal` has those of the stream."""

    per_slot: ClassVar[dict[str, Any]] = {
        "born": np.float64,
        "inverse": np.float64,
        "cluster": np.int32,
        "ordinal": np.int64,
        "scale": np.float32,
        "share": np.float32,
    }
    born: Floats
    inverse: Floats
    cluster: Slots
    ordinal: Ints
    scale: Singles
    share: Singles

    def __init__(self, capacity: int = 64) -> None:
        super().__init__(capacity)
        self.step = -1
        self.idf2 = np.zeros(0)
        self.common = np.zeros(0, dtype=np.bool_)
        self.sums = WholeSums()
        self.clusters = SegmentClusters(
            np.zeros(64), np.zeros(64, np.int64), np.zeros(64), np.zeros(64), np.zeros(64, np.int64)
        )
        self.in_use = 0
        self._asked: Ask | None = None
        self._first = 0
        self._kept: Answer | None = None
        self._room: Scratch | None = None

    @classmethod
    def load(cls, loaded: Loaded) -> Segment:
        """From what the driver holds."""
        n = len(loaded.lengths)
        segment = cls.from_state(
            {
                "oldest": 0, "width": len(loaded.idf2), "capacity": max(64, 1 << max(0, n - 1).bit_length()),
                "lengths": loaded.lengths, "terms": loaded.terms, "weights": loaded.values, "born": loaded.born,
                "inverse": loaded.inverse, "cluster": loaded.cluster, "ordinal": loaded.ordinals,
                "scale": loaded.inverse.astype(np.float32), "share": np.zeros(n, dtype=np.float32),
            }
        )  # fmt: skip
        segment.step, segment.idf2 = loaded.step, loaded.idf2.copy()
        segment.common = np.zeros(len(loaded.idf2), dtype=np.bool_)  # until the next refresh no term counts as common
        segment._change_clusters(loaded.clusters)
        segment.sums.gather(segment.lists, segment.cluster, segment.inverse, segment.in_use)
        return segment

    def answer(self, request: Request, changes: Changes) -> Answer | int:
        """What it has found, or the step at which it stands where it is not the one before."""
        if self.step == request.step - 1:
            self._apply(request, changes)
            self._asked, self._first, self.step, self._kept = request.ask, request.first, request.step, None
        if self.step != request.step:
            return self.step
        if self._kept is None:
            self._widen(request.width, request.unseen_idf2)
            self._asked, self._first = request.ask, request.first
            self._kept = answer(
                request.ask, request.k, request.rule, self.idf2, request.unseen_idf2, self._window(), self.ordinal,
                self.sums.lists, self.clusters, self.in_use, self._scratch(),
            )  # fmt: skip
        return self._kept

    def _apply(self, request: Request, changes: Changes) -> None:
        """What left, what came, what changed: in this order."""
        self._widen(request.width, request.unseen_idf2)
        last = first_alive(request.oldest, self.meta, self.ordinal)
        while self.meta[OLDEST] < last:
            slot = int(self.meta[OLDEST]) % len(self.born)
            own = slice(self.log_start[slot], self.log_start[slot] + self.log_length[slot])
            take_whole(
                self.log_terms[own], self.log_weights[own], self.inverse[slot], self.cluster[slot], self.sums.lists
            )
            evict(self.meta, self.lists, self.log)
        self._change_clusters(changes)
        asked = self._asked
        if asked is not None:
            for i, c, inverse in zip(changes.rows, changes.row_clusters, changes.inverse, strict=True):
                self._add_row(asked, int(i), int(c), float(inverse))
        if request.idf2 is not None:
            self.idf2 = request.idf2.copy()
            self.common = self.length > COMMON_SHARE * len(self)
            weigh_rows(self._window(), self.idf2)
            self.sums.gather(self.lists, self.cluster, self.inverse, self.in_use)

    def _add_row(self, asked: Ask, i: int, c: int, inverse: float) -> None:
        row = slice(asked.indptr[i], asked.indptr[i + 1])
        terms, values = asked.terms[row], asked.values[row]
        self.make_room(terms, UNBOUNDED)
        self.sums.make_room(terms)
        slot = remember(terms, values, self.meta, self.lists, self.log)
        self.born[slot], self.inverse[slot], self.cluster[slot] = asked.days[i], inverse, c
        self.ordinal[slot], self.scale[slot] = self._first + i, inverse
        self.share[slot] = common_share(terms, values, inverse, self.idf2, self.common)
        add_whole(terms, values, inverse, c, self.sums.lists, self.sums.used)

    def _change_clusters(self, changes: Changes) -> None:
        if len(changes.clusters) == 0:
            return
        need = int(changes.clusters.max()) + 1
        if need > len(self.clusters.size):
            more = max(need, 2 * len(self.clusters.size)) - len(self.clusters.size)
            self.clusters = SegmentClusters(
                *(np.concatenate([part, np.zeros(more, dtype=part.dtype)]) for part in self.clusters)
            )
        self.in_use = max(self.in_use, need)
        for name in SegmentClusters._fields:
            getattr(self.clusters, name)[changes.clusters] = getattr(changes, name)

    def _widen(self, width: int, unseen_idf2: float) -> None:
        more = width - len(self.start)
        if more > 0:
            self.widen(width)
            self.sums.widen(width)
            self.idf2 = np.concatenate([self.idf2, np.full(more, unseen_idf2)])
            self.common = np.concatenate([self.common, np.zeros(more, dtype=np.bool_)])

    def _scratch(self) -> Scratch:
        rows, clusters, width = len(self.born), len(self.clusters.size), len(self.start)
        held = self._room
        if held is None or (len(held.dots), len(held.sums), len(held.spread)) != (rows, clusters, width):
            self._room = held = new_scratch(max(rows, clusters), width)._replace(
                dots=np.zeros(rows, dtype=np.float32), sums=np.zeros(clusters)
            )
        return held

    def _window(self) -> Window:
        rows = Rows(self.born, self.inverse, self.cluster, self.scale, self.share)
        return Window(self.meta, self.lists, self.log, rows, self.common)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        parts = [*vars(self).values(), *vars(self.sums).values(), *self.clusters]
        return sum(part.nbytes for part in parts if isinstance(part, np.ndarray))


def answer_request(segment: Segment, changes: Changes, request: Request) -> Answer | int:
    """`Segment.answer` as engines call it."""
    return segment.answer(request, changes)
