"""Online l1-dictionary learning: a document is novel when atoms learnt from earlier timesteps explain it badly."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from firststory.arrays import Floats
from firststory.detectors.l1_base import L1DictionaryDetector, unit_rows
from firststory.parameters import Interval, StrOptions
from firststory.solvers.initial_atoms import missing_words
from firststory.solvers.l1_coding import L1Coding
from firststory.solvers.online_admm import fit_rows, inner_steps, online_step, step_size, subgradient_step


class OnlineL1Dictionary(L1DictionaryDetector):
    r"""Novelty as what an online l1-dictionary leaves unexplained.

    Each timestep codes its documents exactly with the dictionary learnt so far (equation 1), which gives their
    scores, and then moves the dictionary by one inexact ADMM step with those same codes (Algorithm 2, OIADMM).
    Cost and memory do not grow with the length of the stream. Use it to see *which terms* are new (`explain`) or
    which profiles a stream consists of (`components_`). Do not use it merely to rank documents: on TDT2
    `BatchL2Dictionary` ranks better, and `NearestNeighbour` at least as well.

    Rows are documents of non-negative weights (TF-IDF); they are scaled to unit l1 norm here. The first rows
    initialise the dictionary, and their scores are those of that first dictionary.

    Parameters
    ----------
    n_atoms : int
        Number of atoms, k.
    alpha : float
        Price of a code, the papers' lambda. 0 is allowed.
    beta : float
        ADMM's penalty. The larger it is, the more residuals are clipped.
    init : {"words", "documents", "kmeans"} or array of shape (n_atoms, n_terms)
        Where the dictionary begins: the heaviest words as one atom each, random documents, or cluster centres, each
        followed by `init_rounds` rounds of alternation; an array is taken as it is (projected onto the constraint).
    init_rounds : int
        Rounds of coding and twenty ADMM iterations on the first rows.
    multiplier : {"carry", "reset", "inner", "dual"}
        What Delta means in the next timestep, whose documents are others. "carry" keeps row i for the i-th document,
        as the paper's Algorithm 2 does; for more documents it is padded with zeros, for fewer it is cut. "reset"
        starts at zero: with beta = 5 almost nothing clips, so that the step is a projected gradient of the squared
        loss. "inner" starts at zero and makes `n_inner` iterations on the same documents. "dual" takes the exact dual
        of each document's coding problem, a projected subgradient of the true loss.
    n_inner : int
        Iterations of "inner".
    carry_terms : int or None
        "carry" keeps this many of a document's multipliers, the largest; None keeps all, as the paper does, whose
        number grows with the stream until every term has one.
    loss : {"l1", "asymmetric"}
        The l1 loss, or over-coverage weighed by `over_weight` instead of 1.
    over_weight : float
        Weight of what atoms cover beyond the document, with ``loss="asymmetric"``.
    recycle_after : int or None
        An atom that no document has used for this many timesteps, or that is empty, is replaced by one of the words
        that the documents of this timestep leave least explained. None, as in the paper, never replaces.
    n_jobs : int or None
        Threads; the result does not depend on it.
    device : {"cpu", "gpu"}
        Where documents are coded. "gpu" needs an NVIDIA GPU and the extra ``gpu``; it pays from some thousands of
        documents a call, or thousands of atoms, and gives the same scores up to rounding. Learning stays on the
        processor.
    random_state : int, Generator, RandomState or None
        For ``init="documents"`` and ``"kmeans"``.

    Attributes
    ----------
    components_ : array of shape (n_atoms, n_terms)
        The atoms, dense; `atoms_` is the same in CSR.
    multipliers_ : CSR matrix or None
        Delta.
    n_recycled_ : int
        How many atoms have been replaced.
    n_empty_ : int
        How many documents had no weight at all; they score 0.

    References
    ----------
    Kasiviswanathan, Wang, Banerjee, Melville (2012), Online l1-dictionary learning with application to novel document
    detection: problem (1), (2), Algorithms 1 and 2. The sparse step is equation (6) of the method page.

    Examples
    --------
    >>> import numpy as np, firststory as fs
    >>> past = np.array([[3.0, 2.0, 0.0, 0.0], [2.0, 3.0, 0.0, 0.0]] * 5)
    >>> model = fs.OnlineL1Dictionary(n_atoms=2).fit(past)
    >>> known, novel = model.novelty([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    >>> bool(novel > known)
    True
    >>> int(model.explain(np.array([[1.0, 1.0, 0.0, 2.0]]))[0].argmax())  # the term that no atom knows
    3
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_atoms": [Interval(Integral, 1, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "beta": [Interval(Real, 0, None, closed="neither")],
        "init": [StrOptions({"words", "documents", "kmeans"}), "array-like", "sparse matrix"],
        "init_rounds": [Interval(Integral, 0, None, closed="left")],
        "multiplier": [StrOptions({"carry", "reset", "inner", "dual"})],
        "n_inner": [Interval(Integral, 1, None, closed="left")],
        "carry_terms": [Interval(Integral, 1, None, closed="left"), None],
        "loss": [StrOptions({"l1", "asymmetric"})],
        "over_weight": [Interval(Real, 0, 1, closed="right")],
        "recycle_after": [Interval(Integral, 1, None, closed="left"), None],
        "n_jobs": [Integral, None],
        "device": [StrOptions({"cpu", "gpu"})],
        "random_state": ["random_state", np.random.Generator],
    }

    multipliers_: sp.csr_matrix | None
    idle_: NDArray[np.int64]
    n_recycled_: int
    n_empty_: int

    def __init__(
        self,
        n_atoms: int = 200,
        alpha: float = 0.1,
        beta: float = 5.0,
        init: Any = "words",
        multiplier: str = "carry",
        n_inner: int = 5,
        loss: str = "l1",
        n_jobs: int | None = 1,
        random_state: Any = None,
        *,
        init_rounds: int = 5,
        carry_terms: int | None = 256,
        over_weight: float = 0.5,
        recycle_after: int | None = 5,
        device: str = "cpu",
    ) -> None:
        self.n_atoms = n_atoms
        self.alpha = alpha
        self.beta = beta
        self.init = init
        self.multiplier = multiplier
        self.n_inner = n_inner
        self.loss = loss
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.init_rounds = init_rounds
        self.carry_terms = carry_terms
        self.over_weight = over_weight
        self.recycle_after = recycle_after
        self.device = device

    def _begin(self, rows: sp.csr_matrix) -> None:
        self.atoms_ = self._first_atoms(unit_rows(rows), self.n_atoms, self.init, self.init_rounds, self.beta)
        self.multipliers_ = None
        self.idle_ = np.zeros(self.n_atoms, np.int64)
        self.n_recycled_ = 0
        self.n_empty_ = 0

    def _score_then_learn(self, rows: sp.csr_matrix, times: Floats | None, y: Any) -> Floats:
        unit = unit_rows(rows)
        coding = self._code_rows(unit, duals=self.multiplier == "dual")
        before = self._wide_atoms(unit.shape[1])
        self._update(unit, before, coding)
        if self.recycle_after is not None:
            self._recycle(unit, before, coding.codes, self.recycle_after)
        self._index_atoms()
        self.n_empty_ += int((np.diff(unit.indptr) == 0).sum())
        return self._score(coding)

    def _update(self, unit: sp.csr_matrix, atoms: sp.csr_matrix, coding: L1Coding) -> None:
        """Algorithm 2: one step from (P_t, A_t, Delta_t, X_t), or several on the same documents."""
        codes = coding.codes
        delta = None
        if self.multiplier == "carry":
            delta = fit_rows(self.multipliers_, *unit.shape)
        tau = step_size(codes)
        if self.multiplier == "dual" and coding.duals is not None:
            self.atoms_ = subgradient_step(
                unit, atoms, codes, coding.duals, step=tau / self.beta, over=self._over, n_jobs=self.n_jobs
            )
            return
        if self.multiplier == "inner":
            atoms = inner_steps(
                unit, atoms, codes, self.n_inner, beta=self.beta, tau=tau, over=self._over, n_jobs=self.n_jobs
            )
        else:
            step = online_step(
                unit,
                atoms,
                codes,
                delta,
                beta=self.beta,
                tau=tau,
                over=self._over,
                want_multipliers=self.multiplier == "carry",
                most=self.carry_terms,
                n_jobs=self.n_jobs,
                engine=self._engine,
            )
            atoms, delta = step.atoms, step.multipliers
        atoms.sort_indices()
        self.atoms_ = atoms
        self.multipliers_ = delta if self.multiplier == "carry" else None

    def _recycle(self, unit: sp.csr_matrix, before: sp.csr_matrix, codes: sp.csr_matrix, patience: int) -> None:
        """Replace atoms long unused, or empty, by the words that this timestep leaves least explained."""
        used = np.bincount(codes.indices, minlength=codes.shape[1]) > 0
        self.idle_ = np.where(used, 0, self.idle_ + 1)
        lengths = np.diff(self.atoms_.indptr)
        dead = np.flatnonzero((self.idle_ >= patience) | (lengths == 0))
        if dead.size == 0:
            return
        words = missing_words(unit - codes @ before, self.atoms_, dead.size)
        dead = dead[: words.size]
        keep = np.ones(self.atoms_.shape[0], dtype=bool)
        keep[dead] = False
        kept = sp.diags(keep.astype(np.float64)) @ self.atoms_
        fresh = sp.csr_matrix((np.ones(words.size), (dead, words)), shape=self.atoms_.shape)
        rows = (kept + fresh).tocsr()
        rows.eliminate_zeros()
        rows.sort_indices()
        self.atoms_ = rows
        self.idle_[dead] = 0
        self.n_recycled_ += int(dead.size)
