"""Dirichlet-process mixture of multinomials for on-line clustering and first-story detection."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from firststory.arrays import Floats, Ints
from firststory.detectors.base import StreamDetector
from firststory.detectors.clock import UNDECIDED, stream_has_times
from firststory.detectors.mixture_base import from_history, from_stream
from firststory.detectors.mixture_clusters import MixtureClusters
from firststory.detectors.mixture_view import MixtureView
from firststory.errors import ParameterError
from firststory.estimator import seconds
from firststory.kernels.mixture.layout import CERTAIN_LOG_ODDS, Base, Judged, Rules
from firststory.parameters import Interval, StrOptions

VALIDATION_DOCUMENTS = (32, 128, 512)
"""After these numbers of documents of a stream without labels λ and γ are chosen again."""

_SWEEP_DOCUMENTS = 1024
"""Whenever this many documents have come, decayed postings under `min_count` are dropped."""

_MAX_ROW_SUM = 1e12


class DirichletMixture(MixtureView, StreamDetector):
    """Dirichlet-process mixture: each document joins the cluster that explains it best, or opens a new one.

    A cluster is a multinomial with its parameter integrated out; a new cluster is what an unknown story looks like on
    average (the base measure). The novelty of a document is the log-odds of a new cluster against all known ones. It
    is computed in the log domain and never saturates.

    Use it to cluster a stream with an unknown and growing number of stories where a labelled history is at hand: then
    it opens far fewer clusters than `IncrementalClustering`, at least as clean. Do not use it without labels where
    clusters should be broad: it opens very many small ones (on TDT2 1,257 for 30 topics, against 120 with a history;
    `firststory bench clustering`). As a pure detector the cosine of `IncrementalClustering` or `FusedNovelty` is
    usually ahead, most of all where all stories share their vocabulary. Rows are raw counts (fractions are accepted).
    The score is not a calibrated probability: words come in bursts, the model treats them as independent, and
    posteriors are near 0 or 1.

    **What `fit` does with labels.** `fit(X)` learns the clusters of X. `fit(X, y)` takes X as a *labelled history*:
    it gives the hyper-parameters by empirical Bayes and, as later stories are other stories, no clusters; with
    `history="learn"` the rows are learnt as the first timestep too. Unlabelled rows of y are None, NaN, "" or -1.
    Without labels π follows the stream (renewed each time its length has doubled), λ is the value that predicted the
    first 32, 128, 512 documents best, and γ fits the clusters that were opened among them.

    Parameters
    ----------
    update : {"hard", "soft"}, default="hard"
        Give a document to its best cluster, or to all in proportion to their posterior (A6).
    base_precision : float, "auto" or "validation", default="auto"
        λ, how close new stories stay to general language. "auto": empirical Bayes with labels (A9), prequential
        likelihood without. "validation": with labels, the least detection cost on the history.
    concentration : float, "constant", "time" or "time-inverse", default="constant"
        γ, how readily clusters open. A number fixes it; "constant" estimates one number (A10); "time" estimates
        γ_i = a/i + b + c·i; "time-inverse" γ_i = a/(b + i) + c (A11, A12).
    window : int, default=None
        Retire a cluster that got none of the last `window` documents.
    max_clusters : int, default=None
        Above this number retire clusters: of the half used least recently, the smallest first.
    max_age : float, default=None
        Seconds without a document after which a cluster is retired. Needs `times`.
    decay : float, default=None
        Time constant in which all counts and masses fall by a factor e: seconds, or documents without times.
    score_kind : {"log_odds", "log_odds_per_token"}, default="log_odds"
        Whether the score is divided by the length of the document.
    new_mass : {"responsibility", "full"}, default="responsibility"
        What a new cluster starts from in a soft update: the document times its posterior, or the whole of it.
    pd_eps : float, default=1e-6
        Responsibilities up to this are skipped in soft updates.
    temper : float, default=1.0
        Likelihoods are raised to this power; below one, evidence counts less against the prior.
    length_cap : float, default=None
        Documents longer than this are tempered by length_cap/|x|.
    min_count : float, default=0.0
        Postings below this, which only soft updates and decay create, are dropped.
    max_postings_per_word : int, default=None
        The most clusters that a word is kept for; the smallest count goes.
    pi_pseudo : float, default=1.0
        Added to every term's count in π (A8).
    reserved_terms : int or "auto", default="auto"
        Terms that may still come, whose mass is kept in π. "auto": the empty columns of a labelled history; as many
        again as there are columns in a stream.
    history : {"hyperparameters", "learn"}, default="hyperparameters"
        What `fit(X, y)` takes from a labelled history.

    Attributes
    ----------
    labels_ : ndarray of int64
        Cluster of each row of the last batch, -1 for empty rows. Identities are never used again.
    n_clusters_, cluster_ids_, cluster_sizes_ : int, ndarray, ndarray
        The clusters at hand; sizes are (decayed) document masses.
    base_precision_, base_measure_, concentration_ : float, ndarray, float
        λ, π and γ at the next document.
    forgotten_mass_ : float
        Documents seen that no cluster holds any more: retired, decayed or skipped. It stays in the prior, which thus
        sums to one: (Σ_j n_j + forgotten + γ) / (γ + i - 1) = 1.

    Examples
    --------
    >>> import firststory as fs
    >>> X = [[3, 1, 0, 0], [2, 2, 0, 0], [0, 0, 4, 1], [4, 1, 0, 0]]
    >>> mixture = fs.DirichletMixture(base_precision=2.0, concentration=1.0)
    >>> scores = mixture.score_then_learn(X)
    >>> mixture.labels_.tolist(), mixture.n_clusters_
    ([0, 0, 1, 0], 2)
    >>> bool(scores[2] > 0 > scores[3])
    True

    References
    ----------
    Zhang, Ghahramani, Yang: A probabilistic model for online document clustering with application to novelty
    detection, NIPS 2004. Equation numbers (A3)-(A15) are those of docs/methods/mixture.md.
    """

    sequential: ClassVar[bool] = True
    _state_parts: ClassVar[dict[str, Any]] = {"clusters_": MixtureClusters}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "update": [StrOptions({"hard", "soft"})],
        "base_precision": [StrOptions({"auto", "validation"}), Interval(Real, 0, None, closed="neither")],
        "concentration": [
            StrOptions({"constant", "time", "time-inverse"}),
            Interval(Real, 0, None, closed="neither"),
        ],
        "window": [None, Interval(Integral, 1, None, closed="left")],
        "max_age": [None, Interval(Real, 0, None, closed="neither")],
        "max_clusters": [None, Interval(Integral, 1, None, closed="left")],
        "decay": [None, Interval(Real, 0, None, closed="neither")],
        "score_kind": [StrOptions({"log_odds", "log_odds_per_token"})],
        "new_mass": [StrOptions({"responsibility", "full"})],
        "pd_eps": [Interval(Real, 0, 0.5, closed="both")],
        "temper": [Interval(Real, 0, None, closed="neither")],
        "length_cap": [None, Interval(Real, 0, None, closed="neither")],
        "min_count": [Interval(Real, 0, None, closed="left")],
        "max_postings_per_word": [None, Interval(Integral, 1, None, closed="left")],
        "pi_pseudo": [Interval(Real, 0, None, closed="neither")],
        "reserved_terms": [StrOptions({"auto"}), Interval(Integral, 0, None, closed="left")],
        "history": [StrOptions({"hyperparameters", "learn"})],
    }

    def __init__(
        self,
        update: Literal["hard", "soft"] = "hard",
        base_precision: float | Literal["auto", "validation"] = "auto",
        concentration: float | Literal["constant", "time", "time-inverse"] = "constant",
        window: int | None = None,
        max_clusters: int | None = None,
        *,
        max_age: float | None = None,
        decay: float | None = None,
        score_kind: Literal["log_odds", "log_odds_per_token"] = "log_odds",
        new_mass: Literal["responsibility", "full"] = "responsibility",
        pd_eps: float = 1e-6,
        temper: float = 1.0,
        length_cap: float | None = None,
        min_count: float = 0.0,
        max_postings_per_word: int | None = None,
        pi_pseudo: float = 1.0,
        reserved_terms: int | Literal["auto"] = "auto",
        history: Literal["hyperparameters", "learn"] = "hyperparameters",
    ) -> None:
        self.update = update
        self.base_precision = base_precision
        self.concentration = concentration
        self.window = window
        self.max_clusters = max_clusters
        self.max_age = max_age
        self.decay = decay
        self.score_kind = score_kind
        self.new_mass = new_mass
        self.pd_eps = pd_eps
        self.temper = temper
        self.length_cap = length_cap
        self.min_count = min_count
        self.max_postings_per_word = max_postings_per_word
        self.pi_pseudo = pi_pseudo
        self.reserved_terms = reserved_terms
        self.history = history

    # -- learning ------------------------------------------------------------------------------------------

    def _fit_history(self, rows: sp.csr_matrix, label: Ints, times: Floats | None) -> None:
        self._check_sizes(rows)
        reserved = 0.0 if self.reserved_terms == "auto" else float(self.reserved_terms)
        base = from_history(rows, label, self.base_precision, self.concentration, self.pi_pseudo, reserved)
        self._start(base, epoch=0)
        self.labels_ = np.full(rows.shape[0], -1, np.int64)
        if self.history == "learn":
            self.partial_fit(rows, times=times)

    def _begin(self, rows: sp.csr_matrix) -> None:
        self._start(self._stream_base(None, np.zeros(rows.shape[1]), None), epoch=1)

    def _start(self, base: Base, epoch: int) -> None:
        self.timed_ = UNDECIDED
        self.clusters_ = MixtureClusters(base, self._rules())
        self.labels_ = np.empty(0, np.int64)
        self.epoch_ = epoch
        # The first documents, until λ and γ have been chosen for good.
        self.first_rows_ = sp.csr_matrix((0, self.n_features_in_)) if epoch else None

    def _score_then_learn(self, rows: sp.csr_matrix, times: Floats | None, y: Any) -> Floats:
        self._check_sizes(rows)
        times = self._clock(times, rows.shape[0], learn=True)
        n, clusters, row = rows.shape[0], self._clusters(), 0
        judged = Judged(np.empty(n), np.empty(n, np.int64), np.empty(n))
        while row < n:
            stop = self._next_stop()
            reached = clusters.learn(rows, times, row, stop, judged)
            if self.first_rows_ is not None:
                self.first_rows_ = _stacked(self.first_rows_, rows[row:reached])
            if clusters.seen == self.epoch_:
                self._new_epoch()
            if clusters.seen == stop and self._sweeps:
                clusters.pack()
            row = reached
        self.labels_ = judged.label
        return self._scores(rows, judged.odds)

    def _novelty(self, rows: sp.csr_matrix, times: Floats | None) -> Floats:
        self._check_sizes(rows)
        return self._scores(rows, self._clusters().novelty(rows, self._clock(times, rows.shape[0], learn=False))[0])

    # -- base measure of a stream without labels -----------------------------------------------------------

    def _new_epoch(self) -> None:
        """The stream has doubled: recompute π, and λ and γ after 32, 128 and 512 documents. Never in between."""
        seen, clusters = self.clusters_.seen, self.clusters_
        rows = self.first_rows_ if seen in VALIDATION_DOCUMENTS else None
        clusters.base = self._stream_base(rows, clusters.totals[: clusters.width], clusters.base)
        if seen >= VALIDATION_DOCUMENTS[-1]:
            self.first_rows_ = None
        self.epoch_ = 2 * seen

    def _stream_base(self, rows: sp.csr_matrix | None, totals: Floats, now: Base | None) -> Base:
        reserved = float(totals.shape[0] if self.reserved_terms == "auto" else self.reserved_terms)
        return from_stream(rows, totals, self.base_precision, self.concentration, self.pi_pseudo, reserved, now)

    def _next_stop(self) -> int:
        sweep = (self.clusters_.seen // _SWEEP_DOCUMENTS + 1) * _SWEEP_DOCUMENTS
        if not self._sweeps:
            return self.epoch_
        return min(self.epoch_, sweep) if self.epoch_ else sweep

    @property
    def _sweeps(self) -> bool:
        return self.decay is not None and self.min_count > 0

    # -- clusters ------------------------------------------------------------------------------------------

    def predict_cluster(self, X: ArrayLike | sp.spmatrix, times: ArrayLike | None = None) -> NDArray[np.int64]:
        """The cluster that each row by itself would join; -1 where it would open one, and for empty rows."""
        check_is_fitted(self)
        rows = self._rows(X, learn=False)
        clock = self._clock(seconds(times, rows.shape[0], type(self).__name__), rows.shape[0], learn=False)
        return self._clusters().novelty(rows, clock)[1]

    # -- small things --------------------------------------------------------------------------------------

    def _rules(self) -> Rules:
        return Rules(
            soft=self.update == "soft",
            full_mass=self.new_mass == "full",
            least_share=float(self.pd_eps),
            temper=float(self.temper),
            length_cap=float(self.length_cap or 0.0),
            decay=float(self.decay or 0.0),
            window=int(self.window or 0),
            max_age=float(self.max_age or 0.0) if self.timed_ == 1 else 0.0,
            max_clusters=int(self.max_clusters or 0),
            min_count=float(self.min_count),
            max_postings=int(self.max_postings_per_word or 0),
        )

    def _clusters(self) -> MixtureClusters:
        self.clusters_.rules = self._rules()
        return self.clusters_

    def _clock(self, times: Floats | None, n: int, *, learn: bool) -> Floats | None:
        """Seconds, if the stream began with them; the clock then stands still for rows without a time."""
        timed = stream_has_times(self.timed_, times, type(self).__name__)
        if learn:
            self.timed_ = timed
        return np.full(n, -np.inf) if timed and times is None else times

    def _scores(self, rows: sp.csr_matrix, odds: Floats) -> Floats:
        if self.score_kind == "log_odds":
            return odds
        sizes = np.asarray(rows.sum(axis=1)).ravel()
        return np.where((sizes > 0) & (odds != CERTAIN_LOG_ODDS), odds / np.where(sizes > 0, sizes, 1.0), odds)

    def _check_sizes(self, rows: sp.csr_matrix) -> None:
        largest = np.asarray(rows.sum(axis=1)).max(initial=0.0)
        if not largest <= _MAX_ROW_SUM:
            raise ParameterError(
                owner=type(self).__name__,
                parameter="the sum of a row of X",
                allowed=f"at most {_MAX_ROW_SUM:g}",
                received=largest,
                remedy="Pass counts of words: log-likelihoods of longer documents have no digits left to compare.",
            )


def _stacked(first: sp.csr_matrix, rows: sp.csr_matrix) -> sp.csr_matrix:
    """Rows appended, empty ones left out; `first` may be narrower."""
    wide = sp.csr_matrix((first.data, first.indices, first.indptr), shape=(first.shape[0], rows.shape[1]))
    return sp.csr_matrix(sp.vstack([wide, rows[np.diff(rows.indptr) > 0]]))
