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
from firststory.errors import ParameterError
from firststory.kernels.fused.ageing import capped_clock
from firststory.kernels.fused.index import FusedIndex
from firststory.kernels.fused.running import running_share
from firststory.kernels.text.meaning import blend_nearest, to_unit
from firststory.parameters import Interval, StrOptions
from firststory.units import DAY_SECONDS, UNBOUNDED

"""More documents than any stream has."""

KNOBS = {
    "gentle": np.array([0.6, 0.4, 0.12, 0.2, 30.0, 1.25, 3.0, 30.0, 0.4, 0.3, 1.0, 0.5, 0.1]),
    "even": np.array([0.3, 0.2, 0.12, 0.2, 30.0, 1.25, 0.0, -1.0, 0.0, 0.0, 0.0, 1.0, 0.0]),
}
"""Chosen on development streams, see the method's page; in the order of `kernels.fused_tally`."""

ROWS_A_DAY = 10.0
"""The order of arrival as a clock, where documents have no times."""

CANDIDATES = 4
"""How many of the nearest rows are compared by their vectors; 16 or all of the window gain nothing more. It is
not `n_neighbours`: how much evidence is kept must not change the score."""

OPENING, HALF_LIFE = 0.1, 2000.0
"""The share of rows that open a cluster before any has come, and after how many rows it is half forgotten."""
FEW, MANY = 0.1, 0.2
"""Up to the one share clusters count as much as neighbours, from the other on not at all."""

GAP_CAP = 50.0
"""The stream's own clock lets no gap count more than so many mean gaps (or a day)."""


class FusedNovelty(IndexedColumns, StreamDetector):
    """Novelty = 1 - (nearest neighbour + nearest cluster) / 2, both time-aware: the default of the pipeline.

    NN is the best cosine to a document of the window, less for an old one; CEN the best cosine to a single-pass
    cluster, less for one long silent (on a clock whose gaps are capped); the stronger a match, the less it ages. Rows
    are **effective counts** (the vectorizer's `weighting="count", norm=None, surface_weight=2.0, short=30`); the
    weights `(1 + ln x) idf^1.25`, idf = `ln((1 + N) / (1 + df)) + 0.5`, come from the detector's own past. Strictly
    sequential: a row is judged against the earlier rows of its own batch too.

    Clusters count less where many rows open one: incidents that are told once or twice have no cluster worth the name,
    and what looks like one is a kind of incident. `CEN` is drawn towards `NN` as the share of such rows among the
    latest thousands rises from 0.1 to 0.2, and is `NN` from there on.

    `score_then_learn`, `partial_fit` and `novelty` take `vectors=` too: an array with one vector a row that says
    what a short text is about (`firststory.text.meaning.ShortTextVectors`), zeros where there is none. A row with a
    vector is judged by its 4 nearest neighbours alone, novelty = 1 - NN, their cosines being blended with those of
    the vectors (`meaning`) before they age.

    Parameters
    ----------
    window : int or None, default=50_000
        How many of the latest documents are remembered; memory is bounded by it. None remembers all.
    horizon : {"events", "themes"}, default="events"
        What counts as new. "events": what has not been told of for long is new again (incidents, news events).
        "themes": whatever was ever told of within the window is known, however long ago (broad, year-round topics).
    ageing : {"gentle", "even"}, default="gentle"
        How a match ages. "gentle": the stronger, the less, `cos (1 + days)^(-0.6 (1 - cos)^3)`, for a row of
        at most 30 terms `cos (1 + days)^(-0.4 (1 - cos))`: a strong match of short texts says less. Without `times`
        the order of arrival is the clock (10 documents a day). "even": all alike, `cos (1 + days)^-0.3`; without
        `times` nothing ages, and clusters always count as much as neighbours; so they do with the horizon "themes".
        It is the recipe that the detector began from: its idf has 1 in place of 0.5, and is learnt anew after each
        hundred documents; that of "gentle" after a tenth of the documents so far, where that is less.
    max_age : float or None, default=None
        Seconds after which a document is forgotten. None: never. Needs `times`, and the horizon "events".
    n_neighbours : int, default=3
        How many neighbours are kept as evidence.
    budget : int, default=100_000
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
        NN, and CEN as far as it counts: novelty is one minus their mean. Where a row has a vector, both are NN.
    opening_ : float
        The share of the latest rows that opened a cluster.

    Examples
    --------
    >>> import numpy as np, firststory as fs
    >>> counts = np.array([[2.0, 1.0, 0.0, 0.0], [0.0, 0.0, 3.0, 0.0], [2.0, 1.0, 0.0, 0.0]])
    >>> detector = fs.FusedNovelty()
    >>> detector.score_then_learn(counts, times=[0.0, 3600.0, 7200.0]).round(3)
    array([1., 1., 0.])
    >>> detector.labels_
    array([0, 1, 0])
    """

    sequential: ClassVar[bool] = True
    _state_parts: ClassVar[dict[str, Any]] = {"index_": FusedIndex, "vectors_": VectorWindow}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "window": [Interval(Integral, 1, None, closed="left"), None],
        "horizon": [StrOptions({"events", "themes"})],
        "ageing": [StrOptions({"gentle", "even"})],
        "max_age": [Interval(Real, 0, None, closed="neither"), None],
        "n_neighbours": [Interval(Integral, 1, None, closed="left")],
        "budget": [Interval(Integral, 1, None, closed="left")],
        "meaning": [Interval(Real, 0, 1, closed="both")],
    }

    index_: FusedIndex
    vectors_: VectorWindow
    opening_: float = OPENING
    neighbours_: NDArray[np.int64]
    similarities_: Floats
    labels_: NDArray[np.int64]

    def __init__(
        self,
        window: int | None = 50_000,
        horizon: str = "events",
        ageing: str = "gentle",
        max_age: float | None = None,
        n_neighbours: int = 3,
        budget: int = 100_000,
        meaning: float = 0.3,
    ) -> None:
        self.window = window
        self.horizon = horizon
        self.ageing = ageing
        self.max_age = max_age
        self.n_neighbours = n_neighbours
        self.budget = budget
        self.meaning = meaning

    def _begin(self, rows: sp.csr_matrix) -> None:
        self.index_ = FusedIndex()
        self.origin_, self.now_, self.timed_ = 0.0, -math.inf, False
        self.day_, self.tick_, self.rows_ = 0.0, 0.0, 0
        self.opening_ = OPENING

    takes_vectors: ClassVar[bool] = True

    def last_neighbours(self) -> tuple[NDArray[np.int64], Floats]:
        """`neighbours_` and `similarities_`, as the pipeline asks for them."""
        return self.neighbours_, self.similarities_

    def last_parts(self) -> tuple[Floats, Floats]:
        """`neighbour_scores_` and `cluster_scores_`, so that feedback can weigh them."""
        return self.neighbour_scores_, self.cluster_scores_

    def _novelty(self, rows: sp.csr_matrix, times: Floats | None, vectors: ArrayLike | None = None) -> Floats:
        n = rows.shape[0]
        days = np.full(n, self.day_ + self._step())
        if times is not None and self.timed_:
            days = np.maximum((read_clock(times, n, self.now_) - self.origin_) / DAY_SECONDS, self.day_)
        ticks = np.array(
            [capped_clock(days[i : i + 1], self.rows_, self.day_, self.tick_, GAP_CAP)[0] for i in range(n)]
        )
        days, ticks = self._aged(days, ticks)
        about = self._about(vectors, n)
        neighbour, centroid, cosines, ordinals = self.index_.judge(
            rows.indptr, rows.indices, _log_counts(rows), days, ticks, k=self._candidates(about), budget=self.budget,
            knobs=self._knobs(),
        )  # fmt: skip
        self._weigh_clusters(np.full(n, self.opening_), neighbour, centroid)
        if about is not None:
            # The rows of X do not know one another: all neighbours are of the past.
            self._blend(rows, days, about, cosines, ordinals, neighbour, centroid)
        return _fuse(neighbour, centroid)

    def _score_then_learn(
        self, rows: sp.csr_matrix, times: Floats | None, y: Any, vectors: ArrayLike | None = None
    ) -> Floats:
        n = rows.shape[0]
        about = self._about(vectors, n)
        clock, self.now_ = advance_clock(times, n, self.now_)
        if times is None:
            days = self.day_ + self._step() * np.arange(n + 1)[1:] if self.rows_ else self._step() * np.arange(n)
        else:
            if not self.timed_:
                # Times begin: the clock goes on from where the order of arrival has brought it.
                self.origin_, self.timed_ = float(clock[0]) - DAY_SECONDS * self.day_, True
            days = np.maximum((clock - self.origin_) / DAY_SECONDS, self.day_)
        ticks = capped_clock(days, self.rows_, self.day_, self.tick_, GAP_CAP)
        self.day_, self.tick_ = float(days[-1]), float(ticks[-1])
        days, ticks = self._aged(days, ticks)
        window = UNBOUNDED if self.window is None else self.window
        k = self._candidates(about)
        neighbour, centroid, cosines, ordinals, self.labels_, self.cluster_similarities_, self.cluster_sizes_ = (
            self.index_.follow(
                rows.indptr, rows.indices, _log_counts(rows), days, ticks, width=rows.shape[1], k=k, window=window,
                max_age=self.max_age / DAY_SECONDS if self.max_age is not None and self.timed_ else math.inf,
                budget=self.budget, knobs=self._knobs(),
            )
        )  # fmt: skip
        share, self.opening_ = running_share(self.cluster_sizes_ == 0, self.opening_, HALF_LIFE)
        self._weigh_clusters(share, neighbour, centroid)
        if about is not None:
            if not hasattr(self, "vectors_"):
                self.vectors_ = VectorWindow(about.shape[1], self.rows_)
            self._blend(rows, days, about, cosines, ordinals, neighbour, centroid)
        if hasattr(self, "vectors_"):
            width = self.vectors_.vectors.shape[1]
            self.vectors_.extend(np.zeros((n, width), np.float32) if about is None else about, days, window)
        self.rows_ += n
        self.neighbour_scores_, self.cluster_scores_ = neighbour, centroid
        self.neighbours_, self.similarities_ = ordinals[:, : self.n_neighbours], cosines[:, : self.n_neighbours]
        return _fuse(neighbour, centroid)

    def _weigh_clusters(self, opening: Floats, neighbour: Floats, centroid: Floats) -> None:
        """CEN as far as it counts, where so many of the rows before opened a cluster."""
        if self.ageing == "gentle" and self.horizon == "events":
            centroid += np.clip((opening - FEW) / (MANY - FEW), 0.0, 1.0) * (neighbour - centroid)

    def _about(self, vectors: ArrayLike | None, n: int) -> Vectors | None:
        """The vectors at length one, as wide as those that were learnt."""
        if vectors is None:
            return None
        about = np.array(vectors, dtype=np.float32, order="C", ndmin=2)
        width = self.vectors_.vectors.shape[1] if hasattr(self, "vectors_") else about.shape[-1]
        if about.shape != (n, width) or not np.isfinite(about).all():
            raise ParameterError(
                owner=type(self).__name__,
                parameter="vectors",
                allowed=f"finite numbers of shape ({n}, {width}), one vector a row",
                received=f"shape {about.shape}",
                remedy="Pass what one and the same ShortTextVectors makes of the texts of these rows, or leave it out.",
            )
        to_unit(about)
        return about

    def _candidates(self, about: Vectors | None) -> int:
        return self.n_neighbours if about is None else max(self.n_neighbours, CANDIDATES)

    def _blend(
        self,
        rows: sp.csr_matrix,
        days: Floats,
        about: Vectors,
        cosines: Floats,
        ordinals: NDArray[np.int64],
        neighbour: Floats,
        centroid: Floats,
    ) -> None:
        """NN in the place of both where a row has a vector."""
        ring = self.vectors_ if hasattr(self, "vectors_") else VectorWindow(about.shape[1], self.rows_)
        blended = np.full(len(neighbour), -1.0)
        blend_nearest(
            float(self.meaning), np.diff(rows.indptr).astype(np.int64), days, about, cosines[:, :CANDIDATES],
            ordinals[:, :CANDIDATES], neighbour, self._knobs(), self.rows_, ring.begun, ring.vectors, ring.days,
            blended,
        )  # fmt: skip
        judged = blended >= 0.0
        neighbour[judged] = centroid[judged] = blended[judged]

    def _knobs(self) -> Floats:
        return KNOBS[self.ageing]

    def _step(self) -> float:
        """Days between two documents without times."""
        return 1.0 / ROWS_A_DAY if self.ageing == "gentle" else 0.0

    def _aged(self, days: Floats, ticks: Floats) -> tuple[Floats, Floats]:
        """Times as the horizon sees them: themes do not age."""
        return (days, ticks) if self.horizon == "events" else (np.zeros_like(days), np.zeros_like(ticks))


def _log_counts(rows: sp.csr_matrix) -> Floats:
    """1 + ln x, for a count below one x itself: weights must not be negative."""
    data: Floats = rows.data
    return np.where(data >= 1.0, 1.0 + np.log(np.maximum(data, 1.0)), data)


def _fuse(neighbour: Floats, centroid: Floats) -> Floats:
    scores: Floats = 1.0 - 0.5 * (neighbour + centroid)
    return scores
