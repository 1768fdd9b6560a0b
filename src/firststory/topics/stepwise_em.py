"""Stepwise EM: running averages of the expected counts, kept lazily so that a batch costs O(nnz K)."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from firststory.arrays import Floats
from firststory.kernels.topics.mixture_of_words import add_expected_counts
from firststory.parameters import Interval
from firststory.topics.single_topic import SingleTopicModel, WordProbabilities, log_joint, posterior_of

SMALLEST_SCALE = 1e-30
"""Below this the common factor is multiplied into the statistics: once in hundreds of batches."""


class StepwiseEM(SingleTopicModel):
    """Topics of a stream by on-line EM: each batch moves the expected counts a step of decreasing size.

    The likelihood learner beside `SpectralLeader`: fast, and hard to beat on the likelihood of the next document once
    `decay` suits the stream; but it depends on its random start, may stay in a local optimum, and with a small decay
    exponent it follows the current stretch of an unshuffled stream and forgets the rest.

    Parameters
    ----------
    n_topics : int, default=5
    decay : float in (0.5, 1], default=0.7
        alpha of the step size eta_k = (k + 2)^(-alpha) (C8). Near 0.5 forgets fast, 1 averages the whole past; 0.5
        itself is allowed, as the papers use it, though convergence is only proved above.
    smoothing : float, default=1e-4
        delta as a part of the mean expected count of a word in a topic.
    random_state : int, Generator or None, default=None
        Of the start: u from a flat Dirichlet, w uniform.

    Attributes
    ----------
    components_, topic_word_ : (n_topics, n_terms)
        Made from the statistics when asked for.
    weights_ : (n_topics,)
    n_steps_, n_documents_, n_empty_ : int
        Empty rows say nothing about topics: they are counted and left out.

    References
    ----------
    Cappe & Moulines 2009; Liang & Klein 2009. Equation (C8) of the method page.

    Examples
    --------
    >>> import numpy as np, firststory as fs
    >>> rng = np.random.default_rng(0)
    >>> words = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    >>> stream = np.array([rng.multinomial(12, words[k]) for k in rng.choice(3, 3000, p=[0.2, 0.3, 0.5])])
    >>> model = fs.StepwiseEM(n_topics=3, decay=0.6, random_state=2)
    >>> for batch in np.split(stream, 60):
    ...     model = model.partial_fit(batch)
    >>> bool(np.abs(np.sort(model.weights_) - [0.2, 0.3, 0.5]).max() < 0.05)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_topics": [Interval(Integral, 1, None, closed="left")],
        "decay": [Interval(Real, 0.5, 1, closed="both")],
        "smoothing": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        n_topics: int = 5,
        decay: float = 0.7,
        *,
        smoothing: float = 1e-4,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.n_topics = n_topics
        self.decay = decay
        self.smoothing = smoothing
        self.random_state = random_state

    def _begin(self, rows: sp.csr_matrix) -> None:
        width = rows.shape[1]
        lengths = rows.sum(axis=1).A1
        mean_length = lengths[lengths > 0].mean() if (lengths > 0).any() else 1.0
        start = self._generator().dirichlet(np.ones(width), size=self.n_topics)
        # The expected counts are mu = scale * counts: fading all of them is one multiplication.
        self._scale_ = 1.0
        self._counts_ = np.ascontiguousarray(start.T) * (mean_length / self.n_topics)
        self._totals_ = self._counts_.sum(axis=0)
        self.weights_ = np.full(self.n_topics, 1.0 / self.n_topics)
        self.n_steps_ = 0
        self.n_documents_ = 0
        self.n_empty_ = 0

    def _learn(self, rows: sp.csr_matrix) -> None:
        more = rows.shape[1] - self._counts_.shape[0]
        if more > 0:
            self._counts_ = np.vstack([self._counts_, np.zeros((more, self.n_topics))])
        filled = np.diff(rows.indptr) > 0
        if not filled.all():
            rows = rows[filled]
        self.n_empty_ += len(filled) - rows.shape[0]
        self.n_documents_ += rows.shape[0]
        if not rows.shape[0]:
            return
        # E-step, on the words that occur
        posterior, _ = posterior_of(log_joint(rows, self.weights_, self._word_probabilities()))
        # mu <- (1 - eta) mu + eta s
        rate = (self.n_steps_ + 2.0) ** -self.decay
        self._scale_ *= 1.0 - rate
        gained = np.zeros(self.n_topics)
        factor = rate / (self._scale_ * rows.shape[0])
        add_expected_counts(rows.indptr, rows.indices, rows.data, posterior, factor, self._counts_, gained)
        self._totals_ = (1.0 - rate) * self._totals_ + self._scale_ * gained
        weights = np.maximum((1.0 - rate) * self.weights_ + rate * posterior.mean(axis=0), 1e-12)
        self.weights_ = weights / weights.sum()
        self.n_steps_ += 1
        if self._scale_ < SMALLEST_SCALE:
            self._counts_ *= self._scale_
            self._scale_ = 1.0

    def _word_probabilities(self) -> WordProbabilities:
        """The M-step, u_jv = (mu_jv + delta) / sum, for the words where it is needed."""
        width = self._counts_.shape[0]
        delta = self.smoothing * float(self._totals_.sum()) / (self.n_topics * width)
        return WordProbabilities(self._counts_, self._scale_, delta, self._totals_ + width * delta)

    @property
    def components_(self) -> Floats:  # type: ignore[override]  # storing it would cost O(d K) a batch
        """The word distribution of each topic."""
        counts, scale, delta, totals = self._word_probabilities()
        return ((scale * counts + delta) / totals).T.copy()
