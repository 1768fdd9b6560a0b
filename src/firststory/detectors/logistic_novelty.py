"""Logistic regression over what clustering knows of a document: the supervised detector."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.linear_model import LogisticRegression

from firststory.arrays import Floats, Ints
from firststory.detectors.base import StreamDetector
from firststory.detectors.clock import UNDECIDED, advance_clock, read_clock, stream_has_times
from firststory.detectors.history import first_of_each
from firststory.detectors.incremental_clustering import DEFAULT_THRESHOLD, best_threshold
from firststory.errors import ParameterError
from firststory.kernels.csr import csr_of
from firststory.kernels.neighbours.clusters import ROWS, ClusterIndex
from firststory.kernels.neighbours.layout import ClusterRules
from firststory.parameters import Interval, StrOptions
from firststory.units import DAY_SECONDS, UNBOUNDED

UNTRAINED = (2.0, -10.0, 0.0, 0.0)
"""Intercept and weights before any labels were seen: an even bet at cosine 0.2, nothing else counts."""


class LogisticNovelty(StreamDetector):
    """Log-odds that a document is a first story, by logistic regression over features of the nearest cluster.

    The features are those of `IncrementalClustering` at the moment the document comes: its cosine to the nearest
    cluster, log(1 + size of that cluster), and the time since that cluster's last member. `fit(X, y, times)` learns
    their weights on a labelled history (first document of its label or not, classes balanced); afterwards the stream
    needs no labels. Use it where there is such a history: on streams in which all stories share their vocabulary, the
    size and the age of the nearest cluster tell more than its likelihood. Do not use it where later streams differ from
    the history in how long stories live.

    `fit` raises an error without labels. A stream that has none is learnt by `partial_fit` with the weights of
    `UNTRAINED`: novelty then falls with the cosine alone.

    Parameters
    ----------
    threshold : float or "auto", default="auto"
        The least cosine at which a document joins a cluster. "auto": chosen on the history, else 0.2.
    window : int or None, default=None
        A cluster that got none of the last `window` documents is forgotten.
    max_age : float or None, default=None
        Seconds without a document after which a cluster is forgotten. Needs `times`.
    weighting : {"ltc", None}, default="ltc"
        "ltc" takes counts and weighs them by `(1 + log x) log(N / df)`; None takes the rows as they are.
    C : float, default=1.0
        Inverse strength of the l2 penalty on the weights of the standardised features.
    history : {"statistics", "learn"}, default="statistics"
        What `fit(X, y)` keeps of the history besides weights and threshold: only N and df, or its clusters too.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (3,), float
        Log-odds per unit of cosine, of log(1 + size), and of age (days; documents where there are no times).
    labels_ : ndarray of shape (n,)
        The cluster of each row of the last batch.
    features_ : ndarray of shape (n, 3)
        The three features of each row of the last batch.

    Examples
    --------
    >>> import firststory as fs
    >>> X = [[4, 1, 0, 0], [3, 1, 0, 0], [0, 0, 5, 1], [4, 2, 0, 0], [0, 0, 3, 1], [0, 0, 2, 1]]
    >>> detector = fs.LogisticNovelty(threshold=0.5, weighting=None).fit(X, ["a", "a", "b", "a", "b", "b"])
    >>> scores = detector.score_then_learn([[2, 1, 0, 0], [1, 1, 0, 0]])
    >>> bool(scores[0] > 0 > scores[1])
    True

    References
    ----------
    Zhang, Ghahramani, Yang, NIPS 2004 (the logistic baseline there); features of Yang et al., SIGIR 1998.
    """

    sequential: ClassVar[bool] = True
    _state_parts: ClassVar[dict[str, Any]] = {"index_": ClusterIndex}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "threshold": [Interval(Real, 0, 1, closed="both"), StrOptions({"auto"})],
        "window": [Interval(Integral, 1, None, closed="left"), None],
        "max_age": [Interval(Real, 0, None, closed="neither"), None],
        "weighting": [StrOptions({"ltc"}), None],
        "C": [Interval(Real, 0, None, closed="neither")],
        "history": [StrOptions({"learn", "statistics"})],
    }

    index_: ClusterIndex

    def __init__(
        self,
        threshold: float | Literal["auto"] = "auto",
        window: int | None = None,
        max_age: float | None = None,
        weighting: str | None = "ltc",
        C: float = 1.0,
        history: Literal["statistics", "learn"] = "statistics",
    ) -> None:
        self.threshold = threshold
        self.window = window
        self.max_age = max_age
        self.weighting = weighting
        self.C = C
        self.history = history

    def fit(self, X: ArrayLike | sp.spmatrix, y: Any = None, times: ArrayLike | None = None) -> Self:
        """Forget everything, then learn the weights on X, a history in time order with labels y.

        Rows of y without a label are None, NaN, "" or -1, but some must have one. For a stream without labels use
        `partial_fit` or `score_then_learn`: novelty then falls with the cosine alone.
        """
        if y is None:
            raise ParameterError(
                owner=type(self).__name__,
                parameter="y of fit",
                allowed="one label per row, not all of them missing",
                received="no labels",
                remedy="LogisticNovelty requires y to be passed, but the target y is None or has no label. To learn "
                "a stream without labels call partial_fit.",
            )
        return super().fit(X, y, times=times)

    def _fit_history(self, rows: sp.csr_matrix, label: Ints, times: Floats | None) -> None:
        n = rows.shape[0]
        self._begin(rows)
        if self.threshold == "auto":
            clock = self._clock(times, n, learn=True)
            self.threshold_ = best_threshold(rows, label, clock, self._rules(times))
            self._reset_clock()
        trial = ClusterIndex()
        features = self._follow(trial, rows, times)
        known = label >= 0
        self._learn_weights(features[known], first_of_each(label[known]))
        if self.history == "learn":
            self.index_ = trial
            return
        self._reset_clock()
        self.index_.count_history(rows.indices, n, rows.shape[1])
        self.labels_ = np.full(n, -1, np.int64)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _learn_weights(self, features: Floats, novel: NDArray[np.bool_]) -> None:
        if novel.all() or not novel.any():
            return  # a single class teaches nothing: the weights stay UNTRAINED
        mean, spread = features.mean(axis=0), features.std(axis=0)
        spread = np.where(spread > 0, spread, 1.0)
        model = LogisticRegression(C=self.C, class_weight="balanced", max_iter=1000, tol=1e-8)
        model.fit((features - mean) / spread, novel)
        self.coef_ = model.coef_[0] / spread
        self.intercept_ = float(model.intercept_[0] - self.coef_ @ mean)

    def _begin(self, rows: sp.csr_matrix) -> None:
        self.index_ = ClusterIndex()
        self.threshold_ = DEFAULT_THRESHOLD if self.threshold == "auto" else float(self.threshold)
        self.coef_, self.intercept_ = np.array(UNTRAINED[1:]), UNTRAINED[0]
        self.labels_, self.features_ = np.empty(0, np.int64), np.empty((0, 3))
        self._reset_clock()

    def _score_then_learn(self, rows: sp.csr_matrix, times: Floats | None, y: Any) -> Floats:
        return self._log_odds(self._follow(self.index_, rows, times))

    def _novelty(self, rows: sp.csr_matrix, times: Floats | None) -> Floats:
        clock = self._clock(times, rows.shape[0], learn=False)
        found = self.index_.judge(csr_of(rows), clock, self._rules(times))
        return self._log_odds(self._features(found.cosines, found.sizes, found.ages))

    def _follow(self, index: ClusterIndex, rows: sp.csr_matrix, times: Floats | None) -> Floats:
        """Cluster the rows; their features as they came."""
        clock = self._clock(times, rows.shape[0], learn=True)
        found = index.follow(csr_of(rows), clock, self._rules(times), width=rows.shape[1])
        self.labels_, self.features_ = found.labels, self._features(found.cosines, found.sizes, found.ages)
        return self.features_

    def _features(self, cosines: Floats, sizes: NDArray[np.int64], ages: Floats) -> Floats:
        return np.column_stack([cosines, np.log1p(sizes), ages / DAY_SECONDS if self.timed_ == 1 else ages])

    def _log_odds(self, features: Floats) -> Floats:
        # Row by row sums: a matrix product may round differently for one row and for many.
        odds: Floats = self.intercept_ + (features * self.coef_).sum(axis=1)
        return odds

    def _rules(self, times: Floats | None) -> ClusterRules:
        timed = times is not None or self.timed_ == 1
        return ClusterRules(
            threshold=self.threshold_,
            window=UNBOUNDED if self.window is None else int(self.window),
            max_age=float(self.max_age) if self.max_age is not None and timed else math.inf,
            decay=False,
            weigh=self.weighting == "ltc",
        )

    def _reset_clock(self) -> None:
        self.timed_, self.now_ = UNDECIDED, -math.inf

    def _clock(self, times: Floats | None, n: int, *, learn: bool) -> Floats:
        """Seconds where the stream has times (never backwards), else the number of each document."""
        timed = stream_has_times(self.timed_, times, type(self).__name__)
        if learn:
            self.timed_ = timed
        if not timed:
            return np.full(n, float(self.index_.meta[ROWS])) + (np.arange(n) if learn else 0.0)
        if not learn:
            return read_clock(times, n, self.now_)
        clock, self.now_ = advance_clock(times, n, self.now_)
        return clock
