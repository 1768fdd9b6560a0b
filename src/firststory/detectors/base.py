"""The stream contract of a novelty detector, with the methods of scikit-learn's outlier detectors.

`novelty` never learns and judges each row by itself against what was learnt before. `score_then_learn` gives what
`novelty` and then `partial_fit` would, sharing the work; the strictly sequential methods (neighbour, clustering,
mixture) do that row by row, so that a row is judged against the earlier rows of its own batch too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from firststory.arrays import Floats, Ints
from firststory.detectors.history import codes_of
from firststory.estimator import StreamEstimator, seconds

RECENT_SCORES = 1024
"""`offset_` is taken from at most this many of the latest scores."""

KNOWN_SHARE = 0.95
"""`predict` calls a row novel when it scores at or above this quantile of the recent scores."""


@runtime_checkable
class _TakesHistory(Protocol):
    """A detector whose `fit(X, y)` takes X as a labelled history."""

    def _fit_history(self, rows: sp.csr_matrix, label: Ints, times: Floats | None) -> None:
        """Learn from rows in time order; label 0, 1, ... in order of first appearance, -1 where there is none."""


class StreamDetector(OutlierMixin, StreamEstimator, ABC):
    """Base of every detector.

    A subclass writes `_begin` (forget everything), `_novelty` (pure) and `_score_then_learn`; all three get
    canonical rows and float seconds or None. One that learns from labels also writes `_fit_history`. The base sets
    `n_features_in_`.
    """

    sequential: ClassVar[bool] = False
    """True where a row is judged against the earlier rows of its own batch too."""

    @abstractmethod
    def _begin(self, rows: sp.csr_matrix) -> None:
        """Set every fitted attribute to its state before the first document. `rows` is the first batch."""

    @abstractmethod
    def _novelty(self, rows: sp.csr_matrix, times: Floats | None) -> Floats:
        """The score of each row by itself against the past; higher is more novel. Must not change anything."""

    @abstractmethod
    def _score_then_learn(self, rows: sp.csr_matrix, times: Floats | None, y: Any) -> Floats:
        """Score, learn, return the scores."""

    def fit(self, X: ArrayLike | sp.spmatrix, y: Any = None, times: ArrayLike | None = None) -> Self:
        """Forget everything, then learn X as the first timestep, or, where labels are used, as a labelled history.

        Rows of y without a label are None, NaN, "" or -1; a y without any label is the same as none.
        """
        self._forget()
        if y is None or not isinstance(self, _TakesHistory):
            return self.partial_fit(X, y, times=times)
        self._check_parameters()
        rows = self._rows(X, learn=True)
        label = codes_of(y, rows.shape[0], type(self).__name__)
        if (label < 0).all():
            return self.fit(X, times=times)
        self._recent_scores_, self._n_scores_ = np.empty(0), 0
        self._fit_history(rows, label, seconds(times, rows.shape[0], type(self).__name__))
        return self

    def partial_fit(
        self, X: ArrayLike | sp.spmatrix, y: Any = None, times: ArrayLike | None = None, **more: Any
    ) -> Self:
        """Learn one timestep. X may be wider than before: new terms stand on the right."""
        self.score_then_learn(X, y, times=times, **more)
        return self

    def score_then_learn(
        self, X: ArrayLike | sp.spmatrix, y: Any = None, times: ArrayLike | None = None, **more: Any
    ) -> Floats:
        """The novelty of each row judged by the past, and then learn them; codes are computed once.

        `more` is what a detector knows beyond rows and times: `vectors=` of `FusedNovelty`.
        """
        self._check_parameters()
        first = not hasattr(self, "n_features_in_")
        rows = self._rows(X, learn=True)
        clock = seconds(times, rows.shape[0], type(self).__name__)
        if first:
            self._recent_scores_, self._n_scores_ = np.empty(0), 0
            self._begin(rows)
        scores = self._score_then_learn(rows, clock, y, **more)
        self._recent_scores_ = np.concatenate([self._recent_scores_, scores])[-RECENT_SCORES:]
        self._n_scores_ += len(scores)
        return scores

    def novelty(self, X: ArrayLike | sp.spmatrix, times: ArrayLike | None = None, **more: Any) -> Floats:
        """How novel each row is by itself against what was learnt; higher is more novel. Never learns."""
        check_is_fitted(self)
        rows = self._rows(X, learn=False)
        return self._novelty(rows, seconds(times, rows.shape[0], type(self).__name__), **more)

    def score_samples(self, X: ArrayLike | sp.spmatrix) -> Floats:
        """`-novelty(X)`, as scikit-learn's novelty detectors have it."""
        return -self.novelty(X)

    @property
    def offset_(self) -> float:
        """The score under which `predict` says novel, from the novelty of what came lately.

        Its opposite is the 95 % quantile of the latest 1,024 novelties, and of no more than the latest half of all:
        where a stream begins everything is new, and that says nothing about later. A row that scores exactly the
        quantile counts as novel, since many rows may share the highest score (no word in common with the past). 0
        before anything was scored.
        """
        check_is_fitted(self)
        recent = self._recent_scores_[-max(1, (self._n_scores_ + 1) // 2) :]
        if not recent.size:
            return 0.0
        return float(np.nextafter(-np.quantile(recent, KNOWN_SHARE, method="higher"), np.inf))

    def decision_function(self, X: ArrayLike | sp.spmatrix) -> Floats:
        """`score_samples(X) - offset_`: negative for novel rows."""
        scores: Floats = self.score_samples(X) - self.offset_
        return scores

    def predict(self, X: ArrayLike | sp.spmatrix) -> NDArray[np.int64]:
        """+1 for known, -1 for novel."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    def fit_predict(self, X: ArrayLike | sp.spmatrix, y: Any = None, times: ArrayLike | None = None) -> Ints:
        """`fit(X, y)`, then `predict(X)`: the rows of X as they look once all of them are known."""
        return self.fit(X, y, times=times).predict(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # scikit-learn's extra checks for outlier detectors feed negative rows whatever `positive_only` says.
        tags.estimator_type = None
        return tags


class IndexedColumns:
    """Columns under other numbers, for detectors whose `index_` has a posting list per column."""

    index_: Any
    n_features_in_: int

    def columns_in_use(self) -> NDArray[np.int64]:
        """The columns that a remembered row or a cluster has."""
        return np.flatnonzero(self.index_.length)

    def renumber(self, new: NDArray[np.int64]) -> None:
        """Column v becomes `new[v]`, in the same order; -1 for one that is not in use."""
        self.index_.renumber(new)
        self.n_features_in_ = int((new >= 0).sum())
