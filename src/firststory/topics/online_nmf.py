"""Topics that move: online non-negative matrix factorisation with an orthogonality penalty."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from firststory.arrays import Floats
from firststory.engines.engine import Engine
from firststory.errors import ParameterError
from firststory.parameters import Interval, StrOptions
from firststory.solvers.gram_nmf import Statistics, stream_step
from firststory.solvers.orthogonal_nmf import (
    Coding,
    Factors,
    Stack,
    code_step,
    encode,
    from_documents,
    multiplicative,
    nndsvd,
    relative_residuals,
    sweeps_to_reach,
    unit_columns,
)
from firststory.topics.base import StreamTopicModel

FLOOR_SHARE = 1e-3
"""Multiplicative updates never leave an exact zero: warm starts are at least this part of a topic's peak."""

COLD_ROUNDS = 10
"""Alternations of codes and topics in the first timestep."""

AUTO_MEMORY = {"hals": 3.0, "multiplicative": 1.0}
"""`memory="auto"`. 3 was chosen on Reuters-21578 (`firststory reproduce nmf-time`); past topics that weigh more than 1
freeze if they move (`firststory reproduce moving-bars`)."""

MAX_SWEEPS = 10_000
"""Annealing that needs more sweeps than this is refused."""

ALARM_DEVIATIONS = 3.0
"""Standard deviations above the usual residual at which a timestep is taken to hold a topic that is not known yet."""


class OnlineNMF(StreamTopicModel):
    """Online orthogonal NMF: `[past; new documents] ~ W H`, learnt one timestep at a time without keeping the past.

    Rows of `components_` are topics of unit length, and each keeps its row while it changes. Use it to follow what
    a stream talks about: topics drift with the text (`memory`), `relation_` says which mixture of the new topics each
    old one has become, and `lineage_` gives them stable names with the events of their lives. Do not use it to detect
    single new documents (use a detector), for timesteps of a few documents, or where topics must have probabilities
    (use `SpectralLeader` or `StepwiseEM`).

    Parameters
    ----------
    n_components : int, default=20
        Number of topics.
    orthogonality : float, default=0.03
        Cost of overlap between topics, relative to the cost of a bad fit. Above about 0.1 only topics without any
        common term survive; 0 is plain NMF.
    memory : float or "auto", default="auto"
        How much the past weighs against the timestep being learnt. 0 forgets it. With ``solver="hals"`` it is the
        number of timesteps' worth of documents that the statistics hold (`rho = memory / (1 + memory)`; ``inf``
        keeps everything, for streams that do not move). With ``solver="multiplicative"`` it is the weight of each
        old topic in average documents (the paper's Lambda); above 1 moving topics freeze. "auto" is 3 with HALS, as
        chosen on Reuters-21578, and 1 with multiplicative updates.
    solver : {"hals", "multiplicative"}, default="hals"
        Coordinate descent on Gram statistics of the decayed past, or the paper's factorisation of `[Lambda H; U]` by
        multiplicative updates.
    init : {"nndsvd", "documents"}, default="nndsvd"
        Where the first timestep starts: non-negative double SVD, or means of random documents.
    n_init : int, default=5
        Random starts with ``init="documents"``; the one with the lowest objective is kept.
    sweeps : int, default=100
        Annealed multiplicative sweeps of the first timestep, and of every timestep with ``solver="multiplicative"``.
        There are more where the penalty needs more to reach `orthogonality`: 71 for 0.03, 143 for 1.
    growth : float, default=1.05
        Factor by which the penalty grows per sweep while it is annealed from 0.001 to `orthogonality`. Refused where
        that would take more than 10,000 sweeps.
    rounds : int, default=1
        Alternations of codes and topics per timestep with ``solver="hals"``.
    birth : {"add", "replace"} or None, default=None
        What to do when a timestep's residual is three standard deviations above the usual: add a topic made of
        what is left over (up to `max_components`), replace the weakest topic by it, or nothing.
    max_components : int, default=100
        Topics beyond which ``birth="add"`` replaces instead.
    random_state : int, Generator, RandomState or None, default=None

    Attributes
    ----------
    components_ : ndarray (n_topics, n_terms)
    relation_ : ndarray (n_old_topics, n_topics)
        P of the last two timesteps: old topic i is the mixture `P[i]` of the new ones. Identity after the first.
    weights_ : ndarray (n_topics,)
        Each topic's part of the last timestep's explained mass; they sum to one.
    residual_ : float
        Mean of `||u - wH|| / ||u||` over the rows of the last timestep, before it was learnt.
    born_ : int
        The row in which the last timestep gave birth to a topic, or -1.
    lineage_ : Lineage
        Stable names, drift and the events of the topics' lives.

    References
    ----------
    B. Cao, D. Shen, J.-T. Sun, X. Wang, Q. Yang, Z. Chen: Detect and track latent factors with online nonnegative
    matrix factorization. IJCAI 2007. Full-rank theorem and `[Lambda H; U]`: section 3; orthogonal updates: section 4.

    Examples
    --------
    >>> import numpy as np, firststory as fs
    >>> monday = np.array([[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 2, 2], [0, 0, 3, 2.0]])
    >>> model = fs.OnlineNMF(n_components=2, random_state=0).partial_fit(monday)
    >>> sorted(sorted(term for term, _ in topic[:2]) for topic in model.topics(["flood", "dam", "vote", "poll"]))
    [['dam', 'flood'], ['poll', 'vote']]
    >>> tuesday = np.array([[0, 0, 3, 2, 4], [0, 0, 2, 2, 3], [2, 3, 0, 0, 0.0]])  # a new term, 'recount'
    >>> model.partial_fit(tuesday).components_.shape
    (2, 5)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "orthogonality": [Interval(Real, 0, None, closed="left")],
        "memory": [Interval(Real, 0, None, closed="both"), StrOptions({"auto"})],
        "solver": [StrOptions({"hals", "multiplicative"})],
        "init": [StrOptions({"nndsvd", "documents"})],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "sweeps": [Interval(Integral, 1, None, closed="left")],
        "growth": [Interval(Real, 1, None, closed="neither")],
        "rounds": [Interval(Integral, 1, None, closed="left")],
        "birth": [StrOptions({"add", "replace"}), None],
        "max_components": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int = 20,
        *,
        orthogonality: float = 0.03,
        memory: float | Literal["auto"] = "auto",
        solver: str = "hals",
        init: str = "nndsvd",
        n_init: int = 5,
        sweeps: int = 100,
        growth: float = 1.05,
        rounds: int = 1,
        birth: str | None = None,
        max_components: int = 100,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.orthogonality = orthogonality
        self.memory = memory
        self.solver = solver
        self.init = init
        self.n_init = n_init
        self.sweeps = sweeps
        self.growth = growth
        self.rounds = rounds
        self.birth = birth
        self.max_components = max_components
        self.random_state = random_state

    _engine: Engine | None = None

    def use_engine(self, engine: Engine | None) -> None:
        """Let an engine code the documents of a timestep; the results are the same bits. None takes it away.

        Sums over documents and the topics themselves are computed here; `firststory bench engines` says what is gained.
        The engine is not part of the state.
        """
        self._engine = engine

    # -- the stream contract -------------------------------------------------------------------------------

    def _begin(self, rows: sp.csr_matrix) -> None:
        if self.solver == "multiplicative" and np.isinf(self._memory):
            raise ParameterError(
                owner="OnlineNMF",
                parameter="memory",
                allowed='finite with solver="multiplicative"',
                received=self.memory,
                remedy='Pass a finite memory, or solver="hals".',
            )
        if sweeps_to_reach(self.orthogonality, self.growth) > MAX_SWEEPS:
            raise ParameterError(
                owner="OnlineNMF",
                parameter="growth",
                allowed=f"large enough to reach orthogonality {self.orthogonality:g} within {MAX_SWEEPS:,} sweeps",
                received=self.growth,
                remedy="Pass a larger growth (1.02 to 1.05 is slow enough), or a smaller orthogonality.",
            )
        k, width = self.n_components, rows.shape[1]
        self.components_ = np.zeros((k, width))
        self.short_relation_ = None
        self.weights_ = np.full(k, 1.0 / k)
        self.gram_ = np.zeros((k, k))
        self.cross_ = np.zeros((width, k))
        self.residual_ = 0.0
        self.born_ = -1
        self.residuals_ = np.zeros(0)
        self.generator_ = self._generator()

    def _learn(self, rows: sp.csr_matrix) -> None:
        if rows.nnz == 0:
            self._widen(rows.shape[1])
            return
        if not self.components_.any():
            codes, topics, statistics = self._cold_start(rows)
        else:
            self._widen(rows.shape[1])
            coding = self._observe_residual(rows)  # may give birth to a topic
            learn = self._hals_step if self.solver == "hals" else self._short_factorisation
            codes, topics, statistics = learn(rows, coding)
        self._keep(codes, topics, statistics)
        self._reseed_dead(rows)

    def _transform(self, rows: sp.csr_matrix) -> Floats:
        return encode(rows, self._topics(), self._engine)

    def _shares(self, rows: sp.csr_matrix) -> Floats:
        return self.weights_

    # -- the first timestep --------------------------------------------------------------------------------

    def _cold_start(self, rows: sp.csr_matrix) -> tuple[Floats, Floats, Statistics]:
        """OrthNMF from scratch: annealed multiplicative updates; HALS then finishes what they began."""
        terms = np.unique(rows.indices)  # a term that does not occur has no part in any topic: leave it out
        width, k, rng, rows = rows.shape[1], self.n_components, self.generator_, rows[:, terms]
        stack = Stack.of(rows)
        if self.init == "nndsvd":
            starts = [nndsvd(rows, k, rng)]
        else:
            starts = [from_documents(rows, k, rng) for _ in range(self.n_init)]
        found = [self._anneal(stack, codes, topics) for codes, topics in starts]
        best = min(found, key=lambda factors: factors.objective)
        codes, topics, nothing = best.codes, best.topics, Statistics.empty(terms.size, k)
        if self.solver == "multiplicative":
            statistics = nothing.plus(rows, codes)
        else:
            start = code_step(rows, topics, engine=self._engine).codes
            codes, topics, statistics = stream_step(
                rows, topics, nothing, start, orthogonality=self.orthogonality, rounds=COLD_ROUNDS, engine=self._engine
            )
        wide = [np.zeros((width, k)), np.zeros((width, k))]
        wide[0][terms], wide[1][terms] = topics, statistics.cross
        return codes, wide[0], Statistics(statistics.gram, wide[1])

    def _anneal(self, stack: Stack, codes: Floats, topics: Floats) -> Factors:
        # Plain NMF has nothing to anneal: HALS alone is quicker and as good.
        skip = self.orthogonality == 0.0 and self.solver == "hals"
        return multiplicative(
            stack,
            codes,
            topics,
            orthogonality=self.orthogonality,
            growth=self.growth,
            sweeps=1 if skip else max(self.sweeps, sweeps_to_reach(self.orthogonality, self.growth)),
        )

    @property
    def _memory(self) -> float:
        return AUTO_MEMORY[self.solver] if self.memory == "auto" else float(self.memory)

    # -- every later timestep ------------------------------------------------------------------------------

    def _hals_step(self, rows: sp.csr_matrix, coding: Coding) -> tuple[Floats, Floats, Statistics]:
        rho = 1.0 if np.isinf(self._memory) else self._memory / (1.0 + self._memory)
        past = Statistics(self.gram_, self.cross_).times(rho)
        return stream_step(
            rows,
            self._topics(),
            past,
            coding.codes,
            orthogonality=self.orthogonality,
            rounds=self.rounds,
            engine=self._engine,
        )

    def _short_factorisation(self, rows: sp.csr_matrix, coding: Coding) -> tuple[Floats, Floats, Statistics]:
        """Factorise `[Lambda H; U]` (B4) from a warm start, which keeps topic j in row j."""
        old = self._topics()
        k = old.shape[1]
        lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1))).ravel()
        size = float(lengths[lengths > 0.0].mean())
        weights = np.full(k, max(self._memory * size, 1e-8))
        topics = np.maximum(old, FLOOR_SHARE * np.maximum(old.max(axis=0), 1e-12))
        codes = np.vstack([np.diag(weights) + 0.01 * size, np.maximum(coding.codes, FLOOR_SHARE * size)])
        factors = self._anneal(Stack(old, weights, rows), codes, topics)
        # A topic planted in this step, or a past without weight, says nothing about what the old topics became.
        known = self._memory > 0.0 and self.born_ < 0
        self.short_relation_ = factors.codes[:k] / weights[:, None] if known else None
        now = factors.codes[k:]
        return now, factors.topics, Statistics.empty(rows.shape[1], k).plus(rows, now)

    @property
    def relation_(self) -> Floats:
        """P of the last two timesteps: `h_i(old) ~ sum_j P_ij h_j(new)`."""
        check_is_fitted(self)
        if self.lineage_.step == 0:
            return np.eye(self.components_.shape[0])
        return self.lineage_.relation if self.short_relation_ is None else self.short_relation_

    # -- housekeeping --------------------------------------------------------------------------------------

    def _keep(self, codes: Floats, topics: Floats, statistics: Statistics) -> None:
        self.components_ = topics.T
        self.gram_, self.cross_ = statistics.gram, statistics.cross
        mass = codes.sum(axis=0) * topics.sum(axis=0)
        total = float(mass.sum())
        self.weights_ = mass / total if total > 0.0 else np.full(mass.size, 1.0 / mass.size)

    def _widen(self, width: int) -> None:
        """New terms are columns of zeros on the right."""
        more = width - self.components_.shape[1]
        if more > 0:
            self.components_ = np.pad(self.components_, ((0, 0), (0, more)))
            self.cross_ = np.pad(self.cross_, ((0, more), (0, 0)))

    def renumber(self, new: NDArray[np.int64]) -> None:
        """Column v becomes `new[v]`, in the same order; columns with -1 are forgotten."""
        kept = np.flatnonzero(new >= 0)
        self._widen(new.size)
        self.components_, self.cross_ = self.components_[:, kept], self.cross_[kept]
        self.lineage_.renumber(new)
        self.n_features_in_ = kept.size

    def _topics(self) -> Floats:
        """Term-major, as the solvers want them."""
        return np.ascontiguousarray(self.components_.T)

    def _observe_residual(self, rows: sp.csr_matrix) -> Coding:
        """Measure what the topics leave unexplained of the new rows; a topic is born where that is unusually much."""
        coding = code_step(rows, self._topics(), engine=self._engine)
        left = relative_residuals(rows, coding)
        self.residual_ = float(left.mean())
        self.born_ = -1
        if self.birth is not None and unusually_large(self.residual_, self.residuals_):
            self._give_birth(rows, coding.codes, left)
            coding = code_step(rows, self._topics(), engine=self._engine)
        self.residuals_ = np.append(self.residuals_, self.residual_)[-30:]
        return coding

    def _give_birth(self, rows: sp.csr_matrix, codes: Floats, left: Floats) -> None:
        """A topic from the (non-negative) mean residual of the rows that are explained worst."""
        worst = np.flatnonzero(left >= max(np.quantile(left, 0.5), float(self.residuals_.mean())))
        # Laid out term by term, whatever `components_` is: a model that was saved and loaded must round alike.
        remainder = np.asarray(rows[worst].sum(axis=0)).ravel() - self._topics() @ codes[worst].sum(axis=0)
        seed = np.maximum(remainder, 0.0)[:, None]
        if not unit_columns(seed)[0] > 0.0:
            return
        if self.birth == "add" and self.components_.shape[0] < self.max_components:
            self.components_ = np.vstack([self.components_, np.zeros(seed.shape[0])])
            self.gram_ = np.pad(self.gram_, ((0, 1), (0, 1)))
            self.cross_ = np.pad(self.cross_, ((0, 0), (0, 1)))
            slot = self.components_.shape[0] - 1
        else:
            slot = int(np.argmin(np.diag(self.gram_)))
        self.born_ = slot
        self._plant(slot, seed[:, 0], energy=float(np.sum(rows[worst].data ** 2)) / max(worst.size, 1))

    def _reseed_dead(self, rows: sp.csr_matrix) -> None:
        """A topic without energy becomes the document that is explained worst."""
        dead = np.flatnonzero(~Statistics(self.gram_, self.cross_).alive())
        if dead.size == 0:
            return
        left = relative_residuals(rows, code_step(rows, self._topics(), engine=self._engine))
        worst = [row for row in np.argsort(-left, kind="stable")[: dead.size] if left[row] > 1e-3]
        for slot, row in zip(dead, worst, strict=False):
            seed = rows[int(row)].toarray().ravel()
            self._plant(int(slot), seed / np.linalg.norm(seed), energy=float(seed @ seed))

    def _plant(self, slot: int, seed: Floats, *, energy: float) -> None:
        """Put a new topic into a row, with the statistics of one document that is nothing but this topic."""
        self.components_[slot] = seed
        self.gram_[slot, :] = 0.0
        self.gram_[:, slot] = 0.0
        self.gram_[slot, slot] = energy
        self.cross_[:, slot] = energy * seed


def unusually_large(value: float, usual: Floats) -> bool:
    """Whether a residual is ALARM_DEVIATIONS standard deviations above the recent ones (five at least)."""
    if usual.size < 5:
        return False
    return value > float(usual.mean()) + ALARM_DEVIATIONS * max(float(usual.std()), 0.002)
