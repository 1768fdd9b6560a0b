"""The default detector: time-aware nearest neighbour and nearest cluster, fused."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from firststory.arrays import Floats
from firststory.detectors.base import IndexedColumns, StreamDetector
from firststory.detectors.clock import advance_clock, read_clock
from firststory.detectors.vector_window import Vectors, VectorWindow
from firststory.engines.engine import Engine
from firststory.errors import ParameterError
from firststory.kernels.fused.blend import blend_nearest, fuse
from firststory.kernels.fused.index import FusedIndex
from firststory.kernels.fused.layout import Batch, Findings, Levels
from firststory.kernels.fused.rule import Rule
from firststory.kernels.text.meaning import to_unit
from firststory.parameters import Interval, StrOptions
from firststory.units import DAY_SECONDS, UNBOUNDED

RULE = Rule()
"""The constants of the score."""

CANDIDATES = 4
"""How many of the nearest rows are looked at. It is not `n_neighbours`: how much evidence is kept must not change the
score."""


class FusedNovelty(IndexedColumns, StreamDetector):
    """How unlike all earlier documents, and all clusters of them, a document is: the default of the pipeline.

    **When to use it**: for streams of news, incident reports, posts or headlines in which a first report of an event is
    to be told from its follow-ups, with or without times. **When not**: where any repeat counts however long ago it
    was, take `horizon="topics"` (broad, year-round topics) or `NearestNeighbour` (duplicate bug reports, archives):
    ageing loses there. The first hundreds of documents of a stream of few, long stories are judged no better than by
    `NearestNeighbour`: what suits itself to the stream has yet to see one.

    Novelty is ``1 - (1 - w) NN - w CEN``. NN: the likeness to the nearest earlier documents, aged: their cosines, less
    what rests on a single term. CEN: the cosine to the nearest single-pass cluster, less for one long silent. Four
    things are learnt from the stream itself, from the past alone:

    - *Clock.* With `times`, ages are counted in days, or in a quarter of the median age of matches if that is more.
      Without, a day is as many documents as half of the matches go back.
    - *Strength of ageing.* Where matches lie no nearer than chance puts them, nothing ages: an old match is then as
      good as a new one.
    - *Weight of clusters.* With g the geometric mean size of the latest documents' nearest clusters, w goes mostly by
      g / (g + 20), up to 0.67: clusters of one or two documents tell nothing that neighbours do not.
    - *Neighbours.* Where clusters are large NN goes from the best match to the mean of the three best: one likeness is
      chance where stories are long. The stronger the best match, the less the others and the cluster count.

    While the stream is young, a likeness short of a copy counts less: the little told so far seldom has the first
    report.

    Rows are **effective counts** (the vectorizer's `weighting="count", norm=None, surface_weight=2.0, short=30`); the
    weights `(1 + ln x) idf^1.25`, idf = `ln((1 + N) / (1 + df)) + 0.5`, come from the detector's own past. Strictly
    sequential: a row is judged against the earlier rows of its own batch too.

    `score_then_learn`, `partial_fit` and `novelty` take `vectors=` too: an array with one vector per row that says
    what a short text is about (`firststory.text.meaning.ShortTextVectors`), zeros where there is none. Where two rows
    have one, their cosine is blended with that of the vectors (`meaning`), brought to the same level, before it ages.

    Parameters
    ----------
    window : int or None, default=50_000
        How many of the latest documents are remembered; memory is bounded by it. None remembers all.
    horizon : {"events", "topics"}, default="events"
        What counts as new. "events": what has not been told of for long is new again (incidents, news events).
        "topics": whatever was ever told of within the window is known, however long ago (broad, year-round topics).
    max_age : float or None, default=None
        Seconds after which a document is forgotten. None: never. Needs `times`, and the horizon "events".
    n_neighbours : int, default=3
        How many neighbours are kept as evidence.
    max_postings : int, default=100_000
        From how many postings on a document's nearest neighbours are looked for by part of its terms only; those found
        get their exact cosine. Never done while the window holds less than 10,000 documents.
    meaning : float, default=0.3
        The weight of the vectors' cosine beside the rows' cosine, where there are vectors.

    Attributes
    ----------
    neighbours_ : ndarray of shape (n, n_neighbours)
        Of the last batch learnt: the earlier rows that come closest, as ordinals since the start of the stream, best
        first; -1 where there is none.
    similarities_ : ndarray of shape (n, n_neighbours)
        Their plain cosines, whatever the vectors say.
    labels_ : ndarray of shape (n,)
        The cluster of each row of the last batch learnt. Labels are never used twice.
    cluster_similarities_, cluster_sizes_ : ndarray of shape (n,)
        The cosine to that cluster and its size before the row joined; 0 where the row opened it.
    neighbour_scores_, cluster_scores_ : ndarray of shape (n,)
        NN, and CEN as far as it counts: novelty is one minus their mean.
    cluster_weights_ : ndarray of shape (n,)
        The weight w of CEN.

    Examples
    --------
    >>> import numpy as np, firststory as fs
    >>> counts = np.array([[2.0, 1.0, 0.0, 0.0], [0.0, 0.0, 3.0, 0.0], [2.0, 1.0, 0.0, 0.0]])
    >>> detector = fs.FusedNovelty()
    >>> detector.score_then_learn(counts, times=[0.0, 3600.0, 7200.0]).round(3)
    array([1.   , 1.   , 0.024])
    >>> detector.labels_
    array([0, 1, 0])
    """

    sequential: ClassVar[bool] = True
    _state_version: ClassVar[int] = 2
    _state_parts: ClassVar[dict[str, Any]] = {"index_": FusedIndex, "vectors_": VectorWindow}
    _copied_parts: ClassVar[tuple[str, ...]] = ("index_", "vectors_")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "window": [Interval(Integral, 1, None, closed="left"), None],
        "horizon": [StrOptions({"events", "topics"})],
        "max_age": [Interval(Real, 0, None, closed="neither"), None],
        "n_neighbours": [Interval(Integral, 1, None, closed="left")],
        "max_postings": [Interval(Integral, 1, None, closed="left")],
        "meaning": [Interval(Real, 0, 1, closed="both")],
    }

    index_: FusedIndex
    vectors_: VectorWindow
    neighbours_: NDArray[np.int64]
    similarities_: Floats
    labels_: NDArray[np.int64]

    def __init__(
        self,
        window: int | None = 50_000,
        horizon: str = "events",
        max_age: float | None = None,
        n_neighbours: int = 3,
        max_postings: int = 100_000,
        meaning: float = 0.3,
    ) -> None:
        self.window = window
        self.horizon = horizon
        self.max_age = max_age
        self.n_neighbours = n_neighbours
        self.max_postings = max_postings
        self.meaning = meaning

    _engine: Engine | None = None

    def use_engine(self, engine: Engine | None) -> None:
        """Let the window live in segments on an engine; None brings it back.

        Scores on all engines, with any number of segments and workers, are the same bits; from those without an engine
        they may differ by rounding, since what clusters hold is then kept in whole numbers. The engine is not part of
        the state.
        """
        self._engine = engine
        if hasattr(self, "index_"):
            self.index_ = self._placed(self.index_)

    def _placed(self, index: FusedIndex) -> FusedIndex:
        """The index where it belongs: on the engine if there is one."""
        from firststory.detectors.fused_segments import SegmentedIndex

        whole = index.as_whole() if isinstance(index, SegmentedIndex) else index
        return whole if self._engine is None else SegmentedIndex(whole, self._engine)

    def _begin(self, rows: sp.csr_matrix) -> None:
        self.index_ = FusedIndex() if self._engine is None else self._placed(FusedIndex())
        self.origin_, self.now_, self.timed_ = 0.0, -math.inf, False

    takes_vectors: ClassVar[bool] = True

    def last_neighbours(self) -> tuple[NDArray[np.int64], Floats]:
        """`neighbours_` and `similarities_`, as the pipeline asks for them."""
        return self.neighbours_, self.similarities_

    def last_parts(self) -> tuple[Floats, Floats]:
        """`neighbour_scores_` and `cluster_scores_`, so that feedback can weigh them."""
        return self.neighbour_scores_, self.cluster_scores_

    def _novelty(self, rows: sp.csr_matrix, times: Floats | None, vectors: ArrayLike | None = None) -> Floats:
        n = rows.shape[0]
        about = self._unit_vectors(vectors, n)
        days = None
        if self.horizon == "topics":
            days = np.zeros(n)
        elif times is not None and self.timed_:
            days = (read_clock(times, n, self.now_) - self.origin_) / DAY_SECONDS
        found = self.index_.judge(
            _log_counts(rows), days, k=self._candidates(), max_postings=self.max_postings, rule=self._rule()
        )
        # The rows of X do not know one another: all neighbours are of the past.
        neighbour, cluster, _ = self._parts(rows, about, found, self.index_.seen, learn=False)
        return _fuse(neighbour, cluster)

    def _score_then_learn(
        self, rows: sp.csr_matrix, times: Floats | None, y: Any, vectors: ArrayLike | None = None
    ) -> Floats:
        n = rows.shape[0]
        about = self._unit_vectors(vectors, n)
        window = UNBOUNDED if self.window is None else self.window
        found = self.index_.follow(
            _log_counts(rows), self._days(times, n), width=rows.shape[1], k=self._candidates(), window=window,
            max_age=self.max_age / DAY_SECONDS if self.max_age is not None and self.timed_ else math.inf,
            max_postings=self.max_postings, rule=self._rule(),
        )  # fmt: skip
        first = self.index_.seen - n
        if about is not None and not hasattr(self, "vectors_"):
            self.vectors_ = VectorWindow(about.shape[1], first)
        neighbour, cluster, self.cluster_weights_ = self._parts(rows, about, found, first, learn=True)
        if hasattr(self, "vectors_"):
            width = self.vectors_.vectors.shape[1]
            self.vectors_.extend(np.zeros((n, width), np.float32) if about is None else about, window)
        self.neighbour_scores_, self.cluster_scores_ = neighbour, cluster
        self.neighbours_, self.similarities_ = (
            found.ordinals[:, : self.n_neighbours],
            found.cosines[:, : self.n_neighbours],
        )
        self.labels_, self.cluster_similarities_, self.cluster_sizes_ = (
            found.labels,
            found.joined_cosines,
            found.joined_sizes,
        )
        return _fuse(neighbour, cluster)

    def _days(self, times: Floats | None, n: int) -> Floats | None:
        """Days since the start of the stream; None where the order of arrival is the clock. Topics do not age."""
        clock, self.now_ = advance_clock(times, n, self.now_)
        if self.horizon == "topics":
            return np.zeros(n)
        if times is None:
            return None
        if not self.timed_:
            # Times begin: the clock goes on from where the order of arrival has brought it.
            self.origin_, self.timed_ = float(clock[0]) - DAY_SECONDS * float(self.index_.pace.day[0]), True
        return (clock - self.origin_) / DAY_SECONDS

    def _parts(
        self, rows: sp.csr_matrix, about: Vectors | None, found: Findings, first: int, learn: bool
    ) -> tuple[Floats, Floats, Floats]:
        """NN, CEN as far as it counts, and its weight; `first` is the ordinal of the first row."""
        if about is None:
            about = np.zeros((len(found.days), 0), dtype=np.float32)
        ring = self.vectors_ if hasattr(self, "vectors_") else VectorWindow(about.shape[1], first)
        # Judged only, nothing is written: not even where the detector's arrays are read-only.
        levels = self.index_.levels if learn else Levels(*(level.copy() for level in self.index_.levels))
        blend_nearest(
            float(self.meaning), self._rule(), self.timed_ and self.horizon == "events", learn,
            np.diff(rows.indptr).astype(np.int64), about, first, ring.begun, ring.vectors, levels, found,
            CANDIDATES,
        )  # fmt: skip
        neighbour, weight = fuse(found, CANDIDATES)
        return neighbour, neighbour + 2.0 * weight * (found.centroid - neighbour), weight

    def _unit_vectors(self, vectors: ArrayLike | None, n: int) -> Vectors | None:
        """The vectors at length one, as wide as those that were learnt."""
        if vectors is None:
            return None
        about = np.array(vectors, dtype=np.float32, order="C", ndmin=2)
        width = self.vectors_.vectors.shape[1] if hasattr(self, "vectors_") else about.shape[-1]
        if about.shape != (n, width) or not np.isfinite(about).all():
            raise ParameterError(
                owner=type(self).__name__,
                parameter="vectors",
                allowed=f"finite numbers of shape ({n}, {width}), one vector per row",
                received=f"shape {about.shape}",
                remedy="Pass what one and the same ShortTextVectors makes of the texts of these rows, or leave it out.",
            )
        to_unit(about)
        return about

    def _candidates(self) -> int:
        return max(self.n_neighbours, CANDIDATES)

    def _rule(self) -> Rule:
        """The constants of the score; experiments try others."""
        return RULE


def _log_counts(rows: sp.csr_matrix) -> Batch:
    """1 + ln x, for a count below one x itself: weights must not be negative."""
    data: Floats = rows.data
    values = np.where(data >= 1.0, 1.0 + np.log(np.maximum(data, 1.0)), data)
    return Batch(rows.indptr.astype(np.int64), rows.indices.astype(np.int64), values)


def _fuse(neighbour: Floats, cluster: Floats) -> Floats:
    scores: Floats = 1.0 - 0.5 * (neighbour + cluster)
    return scores
