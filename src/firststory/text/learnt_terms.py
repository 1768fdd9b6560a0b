"""What a vectorizer has learnt of its terms: how many documents have each, and what each weighs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from firststory.text.vocabulary import Vocabulary
from firststory.text.weighting import DocumentFrequencies


class LearntTerms:
    """The part of `StreamVectorizer` that tells what was learnt, and changes nothing."""

    vocabulary_: Vocabulary
    frequencies_: DocumentFrequencies

    def _check_fitted(self) -> None:
        """scikit-learn's check only where it will fail: it takes longer than most of what is checked."""
        if not hasattr(self, "vocabulary_"):
            check_is_fitted(self)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The terms, one per column."""
        self._check_fitted()
        return np.array(self.vocabulary_.terms, dtype=object)

    @property
    def n_documents_(self) -> int:
        """How many documents were learnt."""
        self._check_fitted()
        return int(self.frequencies_.clock[0])

    @property
    def document_frequency_(self) -> NDArray[np.float64]:
        """In how many documents each term has been (decayed where there is a half-life)."""
        self._check_fitted()
        return self.frequencies_.now()

    @property
    def terms_(self) -> Sequence[str]:
        """The terms by their columns; none before the first text."""
        return self.vocabulary_.terms if hasattr(self, "vocabulary_") else ()

    def frequency_of(self, columns: NDArray[Any]) -> NDArray[np.float64]:
        """`document_frequency_` of some columns, without looking at the others."""
        self._check_fitted()
        return self.frequencies_.now(columns)

    @property
    def idf_(self) -> NDArray[np.float64]:
        """The weight of each term for the next document."""
        self._check_fitted()
        return self.frequencies_.idf()

    @property
    def is_full(self) -> bool:
        """Whether new terms find no room: time to `prune`."""
        self._check_fitted()
        return self.vocabulary_.is_full
