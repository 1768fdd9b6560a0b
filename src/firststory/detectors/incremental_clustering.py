"""GAC-INCR: single-pass incremental clustering; a document is as new as it is far from every cluster."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from firststory.arrays import Floats, Ints
from firststory.detectors.base import IndexedColumns, StreamDetector
from firststory.detectors.clock import advance_clock, read_clock
from firststory.detectors.history import least_topic_cost
from firststory.estimator import seconds
from firststory.kernels.csr import csr_of
from firststory.kernels.neighbours.clusters import ClusterIndex
from firststory.kernels.neighbours.layout import ClusterRules
from firststory.parameters import Interval, StrOptions
from firststory.units import UNBOUNDED

DEFAULT_THRESHOLD = 0.2

THRESHOLDS = np.array([0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7])
"""What "auto" chooses from."""


class IncrementalClustering(IndexedColumns, StreamDetector):
    """GAC-INCR: novelty = 1 - the best cosine to a cluster of the past.

    Each document joins the nearest cluster if `cos(x, C) = <x, C> / |C|` reaches `threshold`, else it opens one; `C`
    is the sum of its members' unit vectors. Use it where the stories themselves are wanted (`labels_`), and as the
    classic baseline. Strictly sequential: a row is judged after the earlier rows of its own batch.

    Parameters
    ----------
    threshold : float or "auto", default=0.2
        The least cosine at which a document joins. It forms the clusters; it is not the threshold of an alarm.
        "auto": `fit(X, y)` takes the one with the least topic-weighted detection cost on that labelled history (0.2
        where there are no labels).
    window : int or None, default=None
        A cluster that got none of the last `window` documents is forgotten. None: never; then memory grows with the
        number of clusters, which the bounded-memory promise of this library does not cover.
    max_age : float or None, default=None
        Seconds without a document after which a cluster is forgotten. None: never. Needs `times`.
    decay : bool, default=False
        Linear decay: the cosine is multiplied by `1 - age / max_age`, or without `max_age` by one minus the share of
        the window that went by since the cluster's last document.
    weighting : {"ltc", None}, default=None
        "ltc" takes counts and weighs them by `(1 + log x) log(N / df)`, with N and df counted up to and including
        the document itself; None takes the rows as they are.
    history : {"learn", "statistics"}, default="learn"
        What `fit(X, y)` keeps of a labelled history besides the threshold: its clusters, or only N and df of the ltc
        weights, so that the stream afterwards starts without clusters. Rows without a label have None, NaN, "" or -1.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        The cluster of each row of the last batch learnt. Labels are never used twice.
    threshold_ : float
        The threshold in use.
    n_clusters_ : int
        How many clusters are remembered.
    nearest_similarity_, nearest_size_, nearest_age_ : ndarray of shape (n,)
        Of the last batch learnt: the (decayed) cosine to the nearest cluster, its size (0 where there was none) and
        the seconds since its last document, all before the row itself was learnt.

    References
    ----------
    Y. Yang, T. Pierce, J. Carbonell, "A study on retrospective and on-line event detection", SIGIR 1998.

    Examples
    --------
    >>> import numpy as np, firststory as fs
    >>> rows = np.array([[2.0, 1.0, 0.0], [0.0, 0.0, 3.0], [4.0, 1.0, 0.0]])
    >>> detector = fs.IncrementalClustering(threshold=0.5).fit(rows)
    >>> detector.labels_
    array([0, 1, 0])
    >>> detector.predict_cluster([[0.0, 0.0, 1.0]])
    array([1])
    """

    sequential: ClassVar[bool] = True
    _state_parts: ClassVar[dict[str, Any]] = {"index_": ClusterIndex}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "threshold": [Interval(Real, 0, 1, closed="both"), StrOptions({"auto"})],
        "window": [Interval(Integral, 1, None, closed="left"), None],
        "max_age": [Interval(Real, 0, None, closed="neither"), None],
        "decay": ["boolean"],
        "weighting": [StrOptions({"ltc"}), None],
        "history": [StrOptions({"learn", "statistics"})],
    }

    index_: ClusterIndex
    labels_: NDArray[np.int64]
    nearest_similarity_: Floats
    nearest_size_: NDArray[np.int64]
    nearest_age_: Floats

    def __init__(
        self,
        threshold: float | Literal["auto"] = 0.2,
        window: int | None = None,
        max_age: float | None = None,
        decay: bool = False,
        weighting: str | None = None,
        history: Literal["learn", "statistics"] = "learn",
    ) -> None:
        self.threshold = threshold
        self.window = window
        self.max_age = max_age
        self.decay = decay
        self.weighting = weighting
        self.history = history

    def _fit_history(self, rows: sp.csr_matrix, label: Ints, times: Floats | None) -> None:
        self._begin(rows)
        if self.threshold == "auto":
            clock, _ = advance_clock(times, rows.shape[0], -math.inf)
            self.threshold_ = best_threshold(rows, label, clock, self._rules())
        if self.history == "learn":
            self.partial_fit(rows, times=times)
            return
        self.index_.count_history(rows.indices, rows.shape[0], rows.shape[1])
        self.labels_ = np.full(rows.shape[0], -1, np.int64)

    @property
    def n_clusters_(self) -> int:
        """How many clusters are remembered: those that a document coming now could join."""
        check_is_fitted(self)
        rules = self._rules()
        now = self.now_ if math.isfinite(self.now_) else 0.0
        return int(self.index_.in_sight(now, rules.window, rules.max_age).sum())

    def nearest_cluster(
        self, X: ArrayLike | sp.spmatrix, times: ArrayLike | None = None
    ) -> tuple[NDArray[np.int64], Floats, NDArray[np.int64], Floats]:
        """Label (-1 where none shares a term), (decayed) cosine, size and age of the nearest cluster. Never learns."""
        check_is_fitted(self)
        rows = self._rows(X, learn=False)
        clock = read_clock(seconds(times, rows.shape[0], type(self).__name__), rows.shape[0], self.now_)
        found = self.index_.judge(csr_of(rows), clock, self._rules())
        return found.labels, found.cosines, found.sizes, found.ages

    def predict_cluster(self, X: ArrayLike | sp.spmatrix, times: ArrayLike | None = None) -> NDArray[np.int64]:
        """The cluster that each row would join, -1 where it would open one. Never learns."""
        labels, cosines, _, _ = self.nearest_cluster(X, times)
        return np.where(cosines >= self.threshold_, labels, -1)

    def _rules(self) -> ClusterRules:
        return ClusterRules(
            threshold=self.threshold_,
            window=UNBOUNDED if self.window is None else int(self.window),
            max_age=math.inf if self.max_age is None else float(self.max_age),
            decay=bool(self.decay) and (self.window is not None or self.max_age is not None),
            weigh=self.weighting == "ltc",
        )

    def _begin(self, rows: sp.csr_matrix) -> None:
        self.index_ = ClusterIndex()
        self.threshold_ = DEFAULT_THRESHOLD if self.threshold == "auto" else float(self.threshold)
        self.now_ = -math.inf

    def _novelty(self, rows: sp.csr_matrix, times: Floats | None) -> Floats:
        clock = read_clock(times, rows.shape[0], self.now_)
        return 1.0 - self.index_.judge(csr_of(rows), clock, self._rules()).cosines

    def _score_then_learn(self, rows: sp.csr_matrix, times: Floats | None, y: Any) -> Floats:
        clock, self.now_ = advance_clock(times, rows.shape[0], self.now_)
        self.labels_, self.nearest_similarity_, self.nearest_size_, self.nearest_age_ = self.index_.follow(
            csr_of(rows), clock, self._rules(), width=rows.shape[1]
        )
        return 1.0 - self.nearest_similarity_


def best_threshold(rows: sp.csr_matrix, label: Ints, clock: Floats, rules: ClusterRules) -> float:
    """The clustering threshold whose novelty has the least topic-weighted cost on a labelled history."""
    costs = []
    for threshold in THRESHOLDS:
        tried = rules._replace(threshold=float(threshold))
        found = ClusterIndex().follow(csr_of(rows), clock, tried, width=rows.shape[1])
        costs.append(least_topic_cost(1.0 - found.cosines, label))
    return float(THRESHOLDS[int(np.argmin(costs))])
