"""Batch l1-dictionary learning: after each timestep the dictionary is learnt again from everything seen."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from firststory.arrays import Floats
from firststory.detectors.l1_base import L1DictionaryDetector, unit_rows
from firststory.parameters import Interval, StrOptions
from firststory.solvers.initial_atoms import missing_words, single_words
from firststory.solvers.l1_coding import code_exactly
from firststory.solvers.l1_dictionary import atoms_by_admm, learn_dictionary


class BatchL1Dictionary(L1DictionaryDetector):
    """Novelty as what a batch-learnt l1-dictionary leaves unexplained.

    Scores are those of the dictionary of the past. Then the dictionary grows by `growth` atoms, and problem (2) is
    minimised over all documents so far, from the dictionary as it stands: exact codes, and steps that lower the
    objective. Use it as the yardstick of `OnlineL1Dictionary`, or where a stream is short. Memory holds every
    document (its non-zeros) unless `window` says how many of the latest to keep.

    Parameters
    ----------
    n_atoms : int
        Atoms at the beginning.
    alpha : float
        Price of a code, the papers' lambda.
    growth : int
        Atoms added a timestep (eta), each a word that is badly explained so far; never more atoms than documents.
    update_codes : bool
        True minimises over codes and atoms. False is the variant of 2011: codes of earlier documents are kept, new
        documents are coded once, and only the atoms move (by ADMM).
    method : {"subgradient", "admm"}
        How the atoms move: projected gradient steps of the whole objective, or the papers' ADMM.
    init, init_rounds, beta, loss, over_weight, n_jobs, random_state
        As in `OnlineL1Dictionary`; beta serves the initial dictionary only.
    tolerance : float
        A timestep's learning ends when five rounds together lower the objective by less than this part of it.
    max_rounds : int
        Or after so many rounds.
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
        if self.documents_.shape[0]:
            left = unit - coding.codes @ atoms
            size = min(self.growth, max(0, self.documents_.shape[0] + unit.shape[0] - atoms.shape[0]))
            words = missing_words(left, atoms, size)
            atoms = sp.vstack([atoms, single_words(words, words.size, unit.shape[1])]).tocsr()
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
            )
            self.atoms_, codes, history = learnt.atoms, learnt.coding.codes, learnt.history
        else:
            fresh = code_exactly(unit, atoms, self.alpha, over=self._over, n_jobs=self.n_jobs).codes
            codes = stacked(self.codes_, fresh, self.window)
            before = atoms_by_admm(documents, atoms, codes, over=self._over, max_iterations=0).objective
            update = atoms_by_admm(documents, atoms, codes, phi=100.0, over=self._over, n_jobs=self.n_jobs)
            self.atoms_, history = update.atoms, (before, update.objective)
        self.documents_, self.codes_, self.history_ = documents, codes, np.array(history)
        self._look()
        return self._score(coding)


def stacked(old: sp.csr_matrix, new: sp.csr_matrix, window: int | None) -> sp.csr_matrix:
    """Old rows, widened, above new ones; the latest `window` of them."""
    wide = sp.csr_matrix((old.data, old.indices, old.indptr), shape=(old.shape[0], new.shape[1]))
    rows = sp.vstack([wide, new]).tocsr()
    return rows if window is None or rows.shape[0] <= window else rows[rows.shape[0] - window :]
