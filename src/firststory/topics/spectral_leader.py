"""SpectralLeader: follow the leader with the method of moments."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp

from firststory.arrays import Floats
from firststory.parameters import Interval, StrOptions
from firststory.solvers.eigenspace import leading_eigenpairs
from firststory.solvers.moment_sketch import Documents, MomentSketch, pair_operator, project
from firststory.solvers.spectral import SpectralEstimate, smoothed, spectral_method
from firststory.topics.lineage import match_topics
from firststory.topics.reservoir import Reservoir
from firststory.topics.single_topic import SingleTopicModel, WordProbabilities, log_joint, posterior_of

MIN_WORDS = 3.0
"""A document needs three words: its ordered triples are the third moment."""

RENEWAL_SHARE = 0.1
"""The frame is renewed when this part of the pool has changed: O(1) per document, whatever the stream's length."""

SMALL_VOCABULARY = 100
"""Up to here the sampling noise of the eigenvalues is small, and a smaller one can be distinguished from zero."""


class SpectralLeader(SingleTopicModel):
    """Topics of a stream by the method of moments: at each step, play the best model of the past.

    Every document is taken to have one topic. The second and third moments of its words identify all topics and
    their weights, whatever the order in which the documents come: no starting point to choose, no step size, no local
    optimum. The moments use all ordered pairs and triples of a document's words and live in a small frame, so that a
    re-estimate costs the same after a thousand documents and after a million, and no d x d array is ever made.

    When to use it: the parameters themselves matter (which topics, how large), or the stream is not shuffled. When
    only the likelihood of the next document matters, `StepwiseEM` with a well-chosen decay is often better and is
    faster. Rows are word counts without stop words; documents of fewer than three words are counted in `n_short_` and
    left out. Documents that mix several topics violate the model.

    Parameters
    ----------
    n_topics : int, default=5
    reservoir : int, default=10_000
        The moments are those of this many documents at most.
    update_every : int, default=1
        Re-estimate when this many documents have come since the last time, or when the stream has doubled since.
    sketch : "auto", int or None, default="auto"
        Size r of the frame that the moments are kept in; "auto" is 3 n_topics (2 n_topics from 20 topics on), at most
        the number of terms. None whitens again from the whole reservoir at each estimate: exact and slow.
    reservoir_bias : float or None, default=None
        None: a uniform sample of the whole stream. A number in (0, 1]: a new document enters the full pool with this
        probability, so that the past fades and the model follows drift.
    weights : {"tensor", "nnls"}, default="tensor"
        w = 1/lambda^2, or non-negative least squares of the word frequencies on the topics.
    rank_tolerance : "auto" or float, default="auto"
        Eigenvalues below this part of the largest are taken for noise; "auto" is 1e-3 up to 100 terms, else 1e-2.
    smoothing : "auto" or float, default="auto"
        c in eps = min(1/2, c / (n + c)), the part of the background in every topic; "auto" grows with the number of
        terms per topic and falls with the length of documents.
    n_restarts : int, default=10
        Random starts of the power method (half of them whitened documents) at cold restarts, which come whenever the
        stream has doubled; in between two, besides the topics of the last step.
    n_sweeps : int, default=3
        Joint sweeps over all components after deflation.
    likelihood_steps : int, default=0
        EM steps on the reservoir from the spectral estimate: stays in the right basin and gives back the likelihood
        that moments lose, at the cost of passes over the reservoir.
    random_state : int, Generator or None, default=None

    Attributes
    ----------
    components_, topic_word_ : (n_topics, n_terms)
        Word distribution of each topic, smoothed; topics keep their place from step to step.
    weights_ : (n_topics,)
    rank_ : int
        How many topics the moments support; the others are the background at weight near 0.
    spectrum_ : (n_topics,)
        Leading eigenvalues of the pair moment; the last over the first says how well topics can be separated.
    residual_ : float
        Part of the whitened tensor that the topics leave unexplained.
    n_documents_, n_short_ : int

    References
    ----------
    Yu et al., SpectralLeader: Online spectral learning for single topic models, ECML-PKDD 2018. Equations (C2)-(C5)
    and (C10) of the method page.

    Examples
    --------
    >>> import numpy as np, firststory as fs
    >>> rng = np.random.default_rng(0)
    >>> words = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    >>> stream = np.array([rng.multinomial(12, words[k]) for k in rng.choice(3, 3000, p=[0.2, 0.3, 0.5])])
    >>> model = fs.SpectralLeader(n_topics=3, random_state=0)
    >>> for batch in np.split(stream, 30):
    ...     model = model.partial_fit(batch)
    >>> order = np.argsort(model.weights_)
    >>> bool(np.abs(model.weights_[order] - [0.2, 0.3, 0.5]).max() < 0.03)
    True
    >>> bool(np.abs(model.topic_word_[order] - words).max() < 0.03)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_topics": [Interval(Integral, 1, None, closed="left")],
        "reservoir": [Interval(Integral, 1, None, closed="left")],
        "update_every": [Interval(Integral, 1, None, closed="left")],
        "sketch": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left"), None],
        "reservoir_bias": [Interval(Real, 0, 1, closed="right"), None],
        "weights": [StrOptions({"tensor", "nnls"})],
        "rank_tolerance": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both")],
        "smoothing": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "n_restarts": [Interval(Integral, 1, None, closed="left")],
        "n_sweeps": [Interval(Integral, 0, None, closed="left")],
        "likelihood_steps": [Interval(Integral, 0, None, closed="left")],
        "random_state": ["random_state", np.random.Generator],
    }
    _state_parts: ClassVar[dict[str, Any]] = {
        **SingleTopicModel._state_parts,
        "_pool_": Reservoir,
        "_sketch_": MomentSketch,
    }

    def __init__(
        self,
        n_topics: int = 5,
        reservoir: int = 10_000,
        update_every: int = 1,
        *,
        sketch: Literal["auto"] | int | None = "auto",
        reservoir_bias: float | None = None,
        weights: Literal["tensor", "nnls"] = "tensor",
        rank_tolerance: Literal["auto"] | float = "auto",
        smoothing: Literal["auto"] | float = "auto",
        n_restarts: int = 10,
        n_sweeps: int = 3,
        likelihood_steps: int = 0,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.n_topics = n_topics
        self.reservoir = reservoir
        self.update_every = update_every
        self.sketch = sketch
        self.reservoir_bias = reservoir_bias
        self.weights = weights
        self.rank_tolerance = rank_tolerance
        self.smoothing = smoothing
        self.n_restarts = n_restarts
        self.n_sweeps = n_sweeps
        self.likelihood_steps = likelihood_steps
        self.random_state = random_state

    # -- the algorithm -------------------------------------------------------------------------------------

    def _begin(self, rows: sp.csr_matrix) -> None:
        self._rng_ = self._generator()
        self._pool_ = Reservoir(self.reservoir, self.reservoir_bias)
        self._sketch_ = MomentSketch(np.zeros((rows.shape[1], 0)))
        self._changed_ = 0
        self._renew_ = False
        self._pending_ = 0
        self._cold_at_ = 0
        self.n_documents_ = 0
        self.n_short_ = 0
        self._estimate()

    def _learn(self, rows: sp.csr_matrix) -> None:
        long_enough = rows.sum(axis=1).A1 >= MIN_WORDS
        gone, came = self._pool_.offer(rows if long_enough.all() else rows[long_enough], self._rng_)
        n_new = int(long_enough.sum())
        self.n_documents_ += n_new
        self.n_short_ += rows.shape[0] - n_new
        if rows.nnz and self.n_documents_ == 0:
            warnings.warn(
                f"SpectralLeader: none of {rows.shape[0]} documents holds {MIN_WORDS:g} words: nothing to learn. "
                'Pass word counts (StreamVectorizer(weighting="count", norm=None)), not normalised rows.',
                stacklevel=3,
            )
        self._pending_ += n_new
        self._changed_ += len(came)
        self._sketch_.widen(rows.shape[1])
        due = self._pending_ >= self.update_every or self.n_documents_ >= max(2 * self._estimated_at_, 1)
        due = due or self.components_.shape[1] < rows.shape[1]
        # A stale frame is left alone until an estimate needs it: renewing it takes in all that came meanwhile.
        self._renew_ = self._renew_ or self._stale()
        if not self._renew_:
            self._sketch_.add(gone, -1)
            self._sketch_.add(came)
        elif due:
            self._renew_frame()
        if due:
            self._estimate()

    def _stale(self) -> bool:
        """Whether the frame has to be made again from the pool."""
        width, rank = self._sketch_.width, self._sketch_.rank
        wanted = min(self._frame_size(), width)
        if rank < wanted:
            return True
        if rank == width:  # the frame is the whole space: nothing to renew, but rounding to be cleared now and then
            return self._changed_ > max(self.reservoir, 10_000)
        return self.sketch is None or self._changed_ > RENEWAL_SHARE * len(self._pool_)

    def _renew_frame(self) -> None:
        """An orthonormal basis of the leading eigenspace of M2 over the pool, and the pool's moments in it."""
        width, documents = self._sketch_.width, self._pool_.documents
        rank = min(self._frame_size(), width)
        if rank == width:
            basis = np.eye(width)
        else:
            # A few random columns: the last frame alone could never turn towards a topic orthogonal to all of it.
            fresh = self._rng_.standard_normal((width, max(rank - self._sketch_.rank, 0) + 4))
            exact = self.sketch is None
            basis = leading_eigenpairs(
                lambda block: pair_operator(documents, block),
                np.hstack([self._sketch_.basis, fresh]),
                rank,
                n_wanted=min(self.n_topics, rank),
                tolerance=1e-10 if exact else 1e-3,
                max_iterations=200 if exact else 6,
            ).vectors
        self._sketch_ = MomentSketch(basis)
        self._sketch_.add(documents)
        self._changed_ = 0
        self._renew_ = False

    def _estimate(self) -> None:
        """theta_t = f(T_t): the moments of the pool, their decomposition, repair, and the places of the last step."""
        sketch = self._sketch_
        tolerance = self.rank_tolerance
        cold = self.n_documents_ >= self._cold_at_
        estimate = spectral_method(
            sketch.pair_moment(),
            sketch.triple_moment,
            sketch.basis,
            sketch.first / max(sketch.n_documents, 1),
            self.n_topics,
            starts=lambda frame: self._starts(sketch.basis @ frame, cold),
            tolerance=(1e-3 if sketch.width <= SMALL_VOCABULARY else 1e-2) if tolerance == "auto" else tolerance,
            weighting=self.weights,
            n_short=10 if cold else 4,
            n_sweeps=self.n_sweeps,
        )
        self._pending_ = 0
        self._estimated_at_ = self.n_documents_
        if cold:
            self._cold_at_ = 2 * max(self.n_documents_, 1)
        self._set_topics(estimate)

    def _starts(self, whitening: Floats, cold: bool) -> Floats:
        """The topics of the last step, whitened documents and random directions."""
        n = max(self.n_restarts, 2 * self.n_topics) if cold else 2
        slots = self._rng_.integers(max(len(self._pool_), 1), size=n // 2)
        begin, end, indices, data = self._pool_.documents
        documents = project(Documents(begin[slots], end[slots], indices, data), whitening)
        random = self._rng_.standard_normal((n - n // 2, whitening.shape[1]))
        warm = self.components_ @ whitening[: self.components_.shape[1]]
        return np.vstack([warm, documents, random])

    def _set_topics(self, estimate: SpectralEstimate) -> None:
        n, width = self._sketch_.n_documents, self._sketch_.width
        # Laplace's rule on the words of the pool's documents, each document counting as one of mean length.
        background = (self._sketch_.first * self._mean_length() + 1.0) / (n * self._mean_length() + width)
        auto = max(1.0, 5.0 * width / (self.n_topics * self._mean_length()))
        strength = auto if self.smoothing == "auto" else self.smoothing
        amount = min(0.5, strength / (n + strength))
        weights, topics = smoothed(estimate.weights, estimate.topics, background, self.n_topics, amount)
        for _ in range(self.likelihood_steps if n else 0):
            weights, topics = self._expectation_maximisation(weights, topics, background, amount)
        if hasattr(self, "components_"):
            order, _ = match_topics(topics, self.components_)
            weights, topics = weights[order], topics[order]
        self.components_, self.weights_ = topics, weights
        self.rank_ = len(estimate.weights)
        self.spectrum_ = estimate.spectrum
        self.residual_ = estimate.residual

    def _expectation_maximisation(
        self, weights: Floats, topics: Floats, background: Floats, amount: float
    ) -> tuple[Floats, Floats]:
        rows = self._pool_.csr(self._sketch_.width)
        words = WordProbabilities(np.ascontiguousarray(topics.T), 1.0, 0.0, np.ones(self.n_topics))
        posterior, _ = posterior_of(log_joint(rows, weights, words))
        counts = (rows.T @ posterior).T
        return smoothed(
            posterior.mean(axis=0),
            counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-300),
            background,
            self.n_topics,
            amount,
        )

    def _mean_length(self) -> float:
        return self._pool_.n_words / len(self._pool_) if len(self._pool_) else MIN_WORDS

    def _frame_size(self) -> int:
        if isinstance(self.sketch, int):
            return max(self.sketch, self.n_topics)
        return (3 if self.n_topics < 20 else 2) * self.n_topics
