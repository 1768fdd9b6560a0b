"""The stream contract of a topic model: learn a timestep, give each row its topics, name them by their terms."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from firststory.arrays import Floats
from firststory.errors import ParameterError
from firststory.estimator import StreamEstimator
from firststory.kernels.stories.sparse_sums import heaviest
from firststory.records import Topic, TopicEvent
from firststory.topics.lineage import Lineage


class StreamTopicModel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, StreamEstimator):
    """Base of every topic model.

    A subclass writes `_begin` (forget everything), `_learn` and `_transform` (pure); all get canonical rows.
    `components_` has one row per topic and one column per term.
    """

    components_: Floats
    lineage_: Lineage
    """Stable names of the topics, their drift and the events of their lives; kept by `partial_fit`."""

    _state_parts: ClassVar[dict[str, Any]] = {"lineage_": Lineage}

    @abstractmethod
    def _begin(self, rows: sp.csr_matrix) -> None:
        """Set every fitted attribute to its state before the first document. `rows` is the first batch."""

    @abstractmethod
    def _learn(self, rows: sp.csr_matrix) -> None:
        """Learn one timestep; `rows` may be wider than before."""

    @abstractmethod
    def _transform(self, rows: sp.csr_matrix) -> Floats:
        """The weight of each topic in each row. Must not change anything."""

    def _shares(self, rows: sp.csr_matrix) -> Floats:
        """Each topic's part of the step that was just learnt. Override where the model knows it already."""
        return np.asarray(self._transform(rows).sum(axis=0), dtype=np.float64)

    def _follow(self, rows: sp.csr_matrix) -> None:
        """Take the step into the lineage. Override where a batch can be too small to be a timestep of its own."""
        self.lineage_.update(self.components_, self._shares(rows))

    def fit(self, X: ArrayLike | sp.spmatrix, y: Any = None) -> Self:
        """Forget everything, then learn X as the first timestep."""
        self._forget()
        return self.partial_fit(X, y)

    def partial_fit(self, X: ArrayLike | sp.spmatrix, y: Any = None) -> Self:
        """Learn one timestep. X may be wider than before: new terms are on the right."""
        self._check_parameters()
        first = not hasattr(self, "n_features_in_")
        rows = self._rows(X, learn=True)
        if first:
            self._begin(rows)
            self.lineage_ = Lineage()
        self._learn(rows)
        self._follow(rows)
        return self

    def transform(self, X: ArrayLike | sp.spmatrix) -> Floats:
        """The weight of each topic in each row. Never learns."""
        check_is_fitted(self)
        return self._transform(self._rows(X, learn=False))

    def topics(self, vocabulary: Sequence[str] | NDArray[Any], n_terms: int = 10) -> list[list[tuple[str, float]]]:
        """Each topic's heaviest terms with their probability within the topic, heaviest first."""
        check_is_fitted(self)
        if len(vocabulary) < self.components_.shape[1]:
            raise ParameterError(
                owner=type(self).__name__,
                parameter="vocabulary",
                allowed=f"at least {self.components_.shape[1]} terms, one per column",
                received=len(vocabulary),
                remedy="Pass the vectorizer's get_feature_names_out().",
            )
        named = []
        columns = np.arange(self.components_.shape[1], dtype=np.int32)
        for row in self.components_:
            order = heaviest(columns, np.ascontiguousarray(row, dtype=np.float64), n_terms).tolist()
            total = row.sum() or 1.0
            named.append([(str(vocabulary[v]), float(row[v] / total)) for v in order if row[v] > 0])
        return named

    def snapshot(self, vocabulary: Sequence[str] | NDArray[Any], n_terms: int = 10) -> tuple[Topic, ...]:
        """The topics after the last step under their stable names, with share, trend and birth; largest first."""
        named = self.topics(vocabulary, n_terms)
        lineage = self.lineage_
        topics = [
            Topic(lineage.ids[row], tuple(terms), lineage.trend(row)[-1], lineage.trend(row), lineage.born[row])
            for row, terms in enumerate(named)
            if lineage.ids[row]
        ]
        return tuple(sorted(topics, key=lambda topic: (-topic.share, topic.id)))

    def last_events(self) -> tuple[TopicEvent, ...]:
        """What happened to the topics in the last timestep."""
        return self.lineage_.events_at(self.lineage_.step)

    def word_probability(self, columns: Sequence[int] | NDArray[np.integer[Any]]) -> Floats:
        """The probability of chosen terms within each topic, `h_jv / sum_v h_jv` (topics x terms).

        Terms beyond what was learnt have probability 0, so that a word can be followed from before it was ever seen.
        """
        check_is_fitted(self)
        chosen = np.asarray(columns, dtype=np.int64)
        known = chosen < self.components_.shape[1]
        picked = np.where(known, self.components_[:, np.where(known, chosen, 0)], 0.0)
        total = self.components_.sum(axis=1, keepdims=True)
        return np.asarray(picked / np.where(total > 0.0, total, 1.0))

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])
