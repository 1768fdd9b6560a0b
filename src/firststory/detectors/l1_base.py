"""What the online and the batch l1-dictionary share: unit rows, exact codes, the score, and its explanation."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from firststory.arrays import Floats
from firststory.detectors.base import StreamDetector
from firststory.engines.engine import Engine
from firststory.errors import ParameterError
from firststory.kernels.l1.project import project_rows
from firststory.solvers.initial_atoms import (
    cluster_centres,
    heavy_words,
    missing_words,
    random_documents,
    single_words,
)
from firststory.solvers.l1_coding import L1Coding, TermMajor, code_exactly
from firststory.solvers.l1_dictionary import start_dictionary
from firststory.state import State


def unit_rows(rows: sp.csr_matrix, order: int = 1) -> sp.csr_matrix:
    """Rows of unit l1 (or l2) norm; empty rows stay empty."""
    lengths = np.diff(rows.indptr)
    # Scaled by the largest entry first: squares and sums of huge or tiny weights neither overflow nor vanish.
    top = np.asarray(rows.max(axis=1).toarray(), dtype=np.float64).ravel() if rows.shape[1] else np.zeros(rows.shape[0])
    top[top == 0.0] = 1.0
    data = rows.data / np.repeat(top, lengths)
    powers = data if order == 1 else data**2
    sums = np.asarray(sp.csr_matrix((powers, rows.indices, rows.indptr), shape=rows.shape).sum(axis=1)).ravel()
    norms = sums if order == 1 else np.sqrt(sums)
    norms[norms == 0.0] = 1.0
    unit = sp.csr_matrix((data / np.repeat(norms, lengths), rows.indices, rows.indptr), shape=rows.shape)
    unit.has_canonical_format = True
    return unit


def stacked(old: sp.csr_matrix, new: sp.csr_matrix, window: int | None) -> sp.csr_matrix:
    """Old rows, widened, above new ones; the latest `window` of them."""
    wide = sp.csr_matrix((old.data, old.indices, old.indptr), shape=(old.shape[0], new.shape[1]))
    rows = sp.vstack([wide, new]).tocsr()
    return rows if window is None or rows.shape[0] <= window else rows[rows.shape[0] - window :]


def word_atoms(
    unit: sp.csr_matrix, codes: sp.csr_matrix, atoms: sp.csr_matrix, growth: int, n_earlier: int
) -> sp.csr_matrix:
    """The atoms by which a batch dictionary grows: single words, those that this timestep leaves least explained.

    None in the first timestep, and never more atoms than documents.
    """
    size = min(growth, max(0, n_earlier + unit.shape[0] - atoms.shape[0])) if n_earlier else 0
    words = missing_words(unit - codes @ atoms, atoms, size)
    return single_words(words, words.size, unit.shape[1])


class L1DictionaryDetector(ClassNamePrefixFeaturesOutMixin, TransformerMixin, StreamDetector):
    """Base: `atoms_` (k x m, CSR) is the dictionary, and a document's score is what the atoms leave unexplained.

    The atoms stay sparse, so that new terms cost nothing; `components_` writes them out.
    """

    alpha: float
    loss: str
    over_weight: float
    n_jobs: int | None
    device: str = "cpu"
    atoms_: sp.csr_matrix
    _engine: Engine | None = None

    @property
    def components_(self) -> Floats:
        """The atoms as a dense k x m array, one per row; computed at each call."""
        check_is_fitted(self)
        return np.asarray(self._wide_atoms(self.n_features_in_).toarray())

    @property
    def _over(self) -> float:
        return 1.0 if self.loss == "l1" else float(self.over_weight)

    @property
    def _n_features_out(self) -> int:
        return int(self.atoms_.shape[0])

    def transform(self, X: ArrayLike | sp.spmatrix) -> Floats:
        """The codes of each row (n x k), a row taken as of unit l1 norm. Never learns."""
        return np.asarray(self._code(X).codes.toarray())

    def objective(self, X: ArrayLike | sp.spmatrix) -> Floats:
        """l(p, A) of each row, exactly: what the atoms leave unexplained, plus alpha times the codes' sum."""
        return self._code(X).objective

    def explain(self, X: ArrayLike | sp.spmatrix) -> Floats | sp.csr_matrix:
        """The residual p - x A of each row and term; sparse for sparse rows, dense for dense ones.

        Positive: no atom explains this much of the term. Negative: atoms cover more of it than the document has.
        """
        check_is_fitted(self)
        rows = unit_rows(self._rows(X, learn=False))
        codes = self._code_rows(rows).codes
        residual = (rows - codes @ self._wide_atoms(rows.shape[1])).tocsr()
        residual.data[np.abs(residual.data) < 1e-15] = 0.0
        residual.eliminate_zeros()
        return residual if sp.issparse(X) else np.asarray(residual.toarray())

    def columns_in_use(self) -> NDArray[np.int64]:
        """The columns of the documents that are remembered; other columns of the atoms can be forgotten."""
        held = getattr(self, "documents_", None)
        return np.unique(held.indices).astype(np.int64) if held is not None else np.empty(0, dtype=np.int64)

    def renumber(self, new: NDArray[np.int64]) -> None:
        """Renumber columns: column v becomes `new[v]`, in the same order; what is -1 is forgotten."""
        kept = np.flatnonzero(new >= 0)
        for name in ("atoms_", "multipliers_", "documents_"):
            rows = getattr(self, name, None)
            if rows is not None:
                wide = sp.csr_matrix((rows.data, rows.indices, rows.indptr), shape=(rows.shape[0], new.size))
                setattr(self, name, wide[:, kept])
        self.n_features_in_ = kept.size
        self._index_atoms()

    def _novelty(self, rows: sp.csr_matrix, times: Floats | None) -> Floats:
        return self._score(self._code_rows(unit_rows(rows)))

    def _score(self, coding: L1Coding) -> Floats:
        """The objective; where nothing survives screening, ties are broken by how near the best atom came."""
        scores = coding.objective - np.minimum(coding.nearest, 0.0)
        scores[coding.objective == 0.0] = 0.0  # an empty document says nothing new
        return np.asarray(scores, dtype=np.float64)

    def _code(self, X: ArrayLike | sp.spmatrix) -> L1Coding:
        check_is_fitted(self)
        return self._code_rows(unit_rows(self._rows(X, learn=False)))

    def _code_rows(self, unit: sp.csr_matrix, *, duals: bool = False) -> L1Coding:
        view = getattr(self, "_view", None)
        if view is None or view[0] is not self.atoms_:
            view = (self.atoms_, TermMajor.of(self.atoms_))
        if self.device == "gpu":
            from firststory.solvers.l1_coding_gpu import code_on_gpu

            return code_on_gpu(unit, view[1], self.alpha, over=self._over, n_jobs=self.n_jobs, duals=duals)
        return code_exactly(
            unit, view[1], self.alpha, over=self._over, n_jobs=self.n_jobs, engine=self._engine, duals=duals
        )

    def use_engine(self, engine: Engine | None) -> None:
        """Let an engine compute the blocks of a timestep; the results are the same bits. None takes it away.

        It is no part of the model: a copy, and what is loaded from a state, has none.
        """
        self._engine = engine

    def _index_atoms(self) -> None:
        """Keep the dictionary term by term until the atoms change; not state, since it follows from them."""
        self._view = (self.atoms_, TermMajor.of(self.atoms_))

    def set_state(self, state: State) -> Self:
        super().set_state(state)
        if hasattr(self, "atoms_"):
            self._index_atoms()
        return self

    def _wide_atoms(self, width: int) -> sp.csr_matrix:
        atoms = self.atoms_
        return sp.csr_matrix((atoms.data, atoms.indices, atoms.indptr), shape=(atoms.shape[0], width))

    def _first_atoms(self, unit: sp.csr_matrix, n_atoms: int, init: Any, rounds: int, beta: float) -> sp.csr_matrix:
        """The initial dictionary from the first rows, or from an array of atoms."""
        if not isinstance(init, str):
            return self._given_atoms(init, n_atoms, unit.shape[1])
        if init == "words":
            atoms = heavy_words(unit, n_atoms)
        elif init == "documents":
            atoms = random_documents(unit, n_atoms, self._generator())
        else:
            atoms = cluster_centres(unit, n_atoms, self._generator())
        return start_dictionary(unit, atoms, self.alpha, beta=beta, over=self._over, rounds=rounds, n_jobs=self.n_jobs)

    def _given_atoms(self, init: Any, n_atoms: int, width: int) -> sp.csr_matrix:
        atoms = sp.csr_matrix(init, dtype=np.float64, copy=True)
        fits = atoms.shape[0] == n_atoms and atoms.shape[1] <= width
        if not fits or not np.isfinite(atoms.data).all() or (atoms.data < 0).any():
            raise ParameterError(
                owner=type(self).__name__,
                parameter="init",
                allowed=f"n_atoms = {n_atoms} finite non-negative rows of at most {width} columns",
                received=f"an array of shape {atoms.shape}",
                remedy="Pass one atom per row over the columns of X, and set n_atoms to their number.",
            )
        atoms.sum_duplicates()
        project_rows(atoms.indptr, atoms.data, 1.0)
        atoms.eliminate_zeros()
        return sp.csr_matrix((atoms.data, atoms.indices, atoms.indptr), shape=(n_atoms, width))
