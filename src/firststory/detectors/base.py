"""The stream contract of a novelty detector, on top of scikit-learn's outlier detectors.

`novelty` never learns and judges each row by itself against what was learnt before. `score_then_learn` gives what
`novelty` and then `partial_fit` would, sharing the work; the strictly sequential methods (neighbour, clustering,
mixture) do that row by row, so that a row is judged against the earlier rows of its own batch too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from firststory.arrays import Floats
from firststory.estimator import StreamEstimator, seconds

RECENT = 1024
"""How many of the latest scores `offset_` is taken from."""

KNOWN_SHARE = 0.95
"""`predict` calls a row novel when it scores above this quantile of the recent stream."""


class StreamDetector(OutlierMixin, StreamEstimator, ABC):
    """Base of every detector.

    A subclass writes `_begin` (forget everything), `_novelty` (pure) and `_score_then_learn`; all three get
    canonical rows and float seconds or None. It sets `n_features_in_` never: the base does.
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
        """Forget everything, then learn X as the first timestep."""
        self._forget()
        return self.partial_fit(X, y, times=times)

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
            self._recent_scores_ = np.empty(0)
            self._begin(rows)
        scores = self._score_then_learn(rows, clock, y, **more)
        self._recent_scores_ = np.concatenate([self._recent_scores_, scores])[-RECENT:]
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
        """The score under which `predict` says novel: a low quantile of the recent stream's own scores."""
        check_is_fitted(self)
        finite = self._recent_scores_[np.isfinite(self._recent_scores_)]
        return -float(np.quantile(finite, KNOWN_SHARE)) if finite.size else 0.0

    def decision_function(self, X: ArrayLike | sp.spmatrix) -> Floats:
        """`score_samples(X) - offset_`: negative for novel rows."""
        scores: Floats = self.score_samples(X) - self.offset_
        return scores

    def predict(self, X: ArrayLike | sp.spmatrix) -> NDArray[np.int64]:
        """+1 for known, -1 for novel."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # scikit-learn's extra checks for outlier detectors feed negative rows whatever `positive_only` says.
        tags.estimator_type = None
        return tags

    def _forget(self) -> None:
        for name in [name for name in vars(self) if name.endswith("_") and not name.endswith("__")]:
            delattr(self, name)
