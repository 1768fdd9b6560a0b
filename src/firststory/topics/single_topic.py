"""What the learners of single-topic models share: every document has one topic, its words are drawn from it.

P(topic j) = w_j,   P(words x_1..x_L | topic j) = prod_l u_j[x_l]                                          (C1)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from firststory.arrays import Floats
from firststory.kernels.topics.mixture_of_words import add_log_likelihood
from firststory.topics.base import StreamTopicModel

TIMESTEP_DOCUMENTS = 20
"""Documents that make a timestep of the lineage. Smaller batches are gathered: these models may learn one by one, and
comparing whole topics at each document would cost more than learning it."""


class WordProbabilities(NamedTuple):
    """u_jv = (scale * counts[v, j] + delta) / totals[j], worked out only for words that occur."""

    counts: Floats
    scale: float
    delta: float
    totals: Floats


class SingleTopicModel(StreamTopicModel):
    """Base with the likelihood: a subclass has `components_` (rows of unit sum, all positive) and `weights_`."""

    weights_: Floats

    @property
    def topic_word_(self) -> Floats:
        """The word distribution of each topic (`components_` by the papers' name)."""
        return self.components_

    def predictive_nll(self, X: ArrayLike | sp.spmatrix) -> Floats:
        """-log sum_j w_j prod_l u_j[x_l] of each row, in nats: how badly the past predicted it.

        Words in order, without the multinomial coefficient. Terms right of what was learnt are left out.
        """
        check_is_fitted(self)
        return -posterior_of(self._log_joint(self._rows(X, learn=False)))[1]

    def _follow(self, rows: sp.csr_matrix) -> None:
        if self.lineage_.step < 0:
            self._recent_shares_, self._recent_documents_ = np.zeros(len(self.weights_)), 0
        self._recent_shares_ += self._transform(rows).sum(axis=0)
        self._recent_documents_ += rows.shape[0]
        if self.lineage_.step < 0 or self._recent_documents_ >= TIMESTEP_DOCUMENTS:
            self.lineage_.update(self.components_, self._recent_shares_)
            self._recent_shares_, self._recent_documents_ = np.zeros(len(self.weights_)), 0

    def _transform(self, rows: sp.csr_matrix) -> Floats:
        """The posterior probability of each topic given the row's words."""
        return posterior_of(self._log_joint(rows))[0]

    def _log_joint(self, rows: sp.csr_matrix) -> Floats:
        """log w_j + sum_v c_v log u_jv, rows x topics."""
        known = rows[:, : self.n_features_in_] if rows.shape[1] > self.n_features_in_ else rows
        return log_joint(known, self.weights_, self._word_probabilities())

    def _word_probabilities(self) -> WordProbabilities:
        return WordProbabilities(np.ascontiguousarray(self.components_.T), 1.0, 0.0, np.ones(self.components_.shape[0]))


def log_joint(rows: sp.csr_matrix, weights: Floats, words: WordProbabilities) -> Floats:
    """log w_j + sum_v c_v log u_jv, rows x topics."""
    joint = np.tile(np.log(weights), (rows.shape[0], 1))
    add_log_likelihood(rows.indptr, rows.indices, rows.data, *words, joint)
    return joint


def posterior_of(joint: Floats) -> tuple[Floats, Floats]:
    """Topic posteriors and the log evidence of each row, with the largest term taken out first."""
    top = joint.max(axis=1, keepdims=True)
    likelihood = np.exp(joint - top)
    total = likelihood.sum(axis=1, keepdims=True)
    return likelihood / total, (np.log(total) + top)[:, 0]
