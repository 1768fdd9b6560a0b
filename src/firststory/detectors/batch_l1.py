"""Batch l1-dictionary learning: after each timestep the dictionary is learnt again from everything seen."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from firststory.arrays import Floats
from firststory.detectors.l1_base import L1DictionaryDetector, stacked, unit_rows, word_atoms
from firststory.parameters import Interval, StrOptions
from firststory.solvers.l1_coding import code_exactly
from firststory.solvers.l1_dictionary import atoms_by_admm, atoms_by_subgradient, learn_dictionary, residual_norm

ADMM_PENALTY = 100.0
"""phi of the ADMM for fixed codes; the paper's 5 converges more slowly on documents of unit mass."""

ADMM_MULTIPLIERS = 256
"""Multipliers that a document keeps in that ADMM, the largest: all would grow to the size of the vocabulary."""


class BatchL1Dictionary(L1DictionaryDetector):
    """Novelty as what a batch-learnt l1-dictionary leaves unexplained.

    Scores are those of the dictionary learnt so far. Then the dictionary grows by `growth` atoms, and problem (2) is
    minimised over all documents so far, starting from the present dictionary: exact codes, and steps that lower the
    objective. Use it to compare `OnlineL1Dictionary` with, or where a stream is short. Do not use it on an endless
    stream: time and memory grow with the documents kept, which are all unless `window` says how many of the latest.

    Parameters
    ----------
    n_atoms : int
        Atoms at the beginning.
    alpha : float
        Price of a code, the papers' lambda.
    growth : int
        Atoms added per timestep (eta), each a word that is badly explained so far; never more atoms than documents.
    update_codes : bool
        True minimises over codes and atoms. False is the variant of 2011: codes of earlier documents are kept, new
        documents are coded once, and only the atoms move.
    method : {"subgradient", "admm"}
        How the atoms move: projected (sub)gradient steps that descend, or the papers' ADMM for fixed codes.
    init, init_rounds, beta, loss, over_weight, n_jobs, random_state
        As in `OnlineL1Dictionary`; beta serves the initial dictionary only.
    tolerance : float
        A timestep's learning ends when five rounds together lower the objective by less than this fraction of it.
    max_rounds : int
        The most rounds per timestep.
    window : int or None
        Documents kept.

    Attributes
    ----------
    components_ : array of shape (n_atoms now, n_terms)
        The atoms; `atoms_` is the same in CSR.
    history_ : array
        The objective after each accepted step of the last timestep: never increasing.

    References
    ----------
    Kasiviswanathan et al. (2012), BATCH and BATCH-IMPL; Kasiviswanathan, Melville, Banerjee, Sindhwani (2011),
    Emerging topic detection using dictionary learning, CIKM.

    Examples
    --------
    >>> import numpy as np, firststory as fs
    >>> past = np.array([[3.0, 2.0, 0.0, 0.0], [2.0, 3.0, 0.0, 0.0]] * 5)
    >>> model = fs.BatchL1Dictionary(n_atoms=2, growth=1).fit(past)
    >>> known, novel = model.novelty([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    >>> bool(novel > known)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_atoms": [Interval(Integral, 1, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "growth": [Interval(Integral, 0, None, closed="left")],
        "update_codes": ["boolean"],
        "method": [StrOptions({"subgradient", "admm"})],
        "init": [StrOptions({"words", "documents", "kmeans"}), "array-like", "sparse matrix"],
        "init_rounds": [Interval(Integral, 0, None, closed="left")],
        "beta": [Interval(Real, 0, None, closed="neither")],
        "tolerance": [Interval(Real, 0, None, closed="left")],
        "max_rounds": [Interval(Integral, 1, None, closed="left")],
        "window": [Interval(Integral, 1, None, closed="left"), None],
        "loss": [StrOptions({"l1", "asymmetric"})],
        "over_weight": [Interval(Real, 0, 1, closed="right")],
        "n_jobs": [Integral, None],
        "random_state": ["random_state", np.random.Generator],
    }

    documents_: sp.csr_matrix
    codes_: sp.csr_matrix
    history_: Floats

    def __init__(
        self,
        n_atoms: int = 200,
        alpha: float = 0.1,
        growth: int = 10,
        update_codes: bool = True,
        *,
        method: str = "subgradient",
        init: Any = "words",
        init_rounds: int = 5,
        beta: float = 5.0,
        tolerance: float = 1e-4,
        max_rounds: int = 60,
        window: int | None = None,
        loss: str = "l1",
        over_weight: float = 0.5,
        n_jobs: int | None = 1,
        random_state: Any = None,
    ) -> None:
        self.n_atoms = n_atoms
        self.alpha = alpha
        self.growth = growth
        self.update_codes = update_codes
        self.method = method
        self.init = init
        self.init_rounds = init_rounds
        self.beta = beta
        self.tolerance = tolerance
        self.max_rounds = max_rounds
        self.window = window
        self.loss = loss
        self.over_weight = over_weight
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _begin(self, rows: sp.csr_matrix) -> None:
        self.atoms_ = self._first_atoms(unit_rows(rows), self.n_atoms, self.init, self.init_rounds, self.beta)
        self.documents_ = sp.csr_matrix((0, rows.shape[1]))
        self.codes_ = sp.csr_matrix((0, self.n_atoms))
        self.history_ = np.empty(0)

    def _score_then_learn(self, rows: sp.csr_matrix, times: Floats | None, y: Any) -> Floats:
        unit = unit_rows(rows)
        coding = self._code_rows(unit)
        atoms = self._wide_atoms(unit.shape[1])
        new = word_atoms(unit, coding.codes, atoms, self.growth, self.documents_.shape[0])
        atoms = sp.vstack([atoms, new]).tocsr()
        documents = stacked(self.documents_, unit, self.window)
        if self.update_codes:
            learnt = learn_dictionary(
                documents,
                atoms,
                self.alpha,
                over=self._over,
                method=self.method,
                tolerance=self.tolerance,
                max_rounds=self.max_rounds,
                n_jobs=self.n_jobs,
                engine=self._engine,
            )
            self.atoms_, codes, history = learnt.atoms, learnt.coding.codes, learnt.history
        else:
            coded = code_exactly(unit, atoms, self.alpha, over=self._over, n_jobs=self.n_jobs, engine=self._engine)
            fresh = coded.codes
            codes = stacked(self.codes_, fresh, self.window)
            before = residual_norm(documents, atoms, codes, self._over)
            if self.method == "admm":
                update = atoms_by_admm(
                    documents,
                    atoms,
                    codes,
                    phi=ADMM_PENALTY,
                    over=self._over,
                    most=ADMM_MULTIPLIERS,
                    max_iterations=self.max_rounds,
                    n_jobs=self.n_jobs,
                )
            else:
                update = atoms_by_subgradient(
                    documents, atoms, codes, over=self._over, max_rounds=self.max_rounds, n_jobs=self.n_jobs
                )
            self.atoms_, history = update.atoms, (before, update.objective)
        self.documents_, self.codes_, self.history_ = documents, codes, np.array(history)
        self._index_atoms()
        return self._score(coding)
