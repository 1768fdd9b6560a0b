"""Non-negative sparse coding and dictionary learning under the l2 loss, squared or as printed in the paper.

    min_{x >= 0} |p - x A|_2^2 + alpha |x|_1     (squared)        min_{x >= 0} |p - x A|_2 + alpha |x|_1     (norm)

with atoms a_j >= 0, |a_j|_2 <= 1. Documents are CSR rows, atoms the rows of a dense array.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from firststory.arrays import Floats
from firststory.kernels.l1.lasso import lasso_rows
from firststory.kernels.l1.layout import LassoProblem, LassoResult
from firststory.solvers.blocks import run_blocks

BLOCK_DOCUMENTS = 256
"""Documents per block: fixed, so that results cannot depend on the number of threads."""


@dataclass(frozen=True)
class L2Coding:
    """Codes and how good they are, one row per document."""

    codes: Floats
    objective: Floats
    violation: Floats
    """How far the worst coordinate is from its optimality condition."""
    iterations: NDArray[np.int64]


@dataclass(frozen=True)
class L2Dictionary:
    """A dictionary learnt by alternation."""

    atoms: Floats
    coding: L2Coding
    history: tuple[float, ...]
    """The objective after every round: never increasing."""


def code_l2(
    documents: sp.csr_matrix,
    atoms: Floats,
    alpha: float = 0.1,
    *,
    squared: bool = True,
    start: Floats | None = None,
    tolerance: float = 1e-8,
    max_sweeps: int = 500,
    n_jobs: int | None = 1,
) -> L2Coding:
    """Coordinate descent to a KKT violation of `tolerance`, from `start` or zero.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> code_l2(sp.csr_matrix([[1.0, 0.0]]), np.array([[1.0, 0.0]]), 0.1).codes.round(3).tolist()
    [[0.95]]
    """
    n, k = documents.shape[0], atoms.shape[0]
    wide = documents[:, : atoms.shape[1]] if documents.shape[1] > atoms.shape[1] else documents
    correlations = np.ascontiguousarray(np.asarray(wide @ atoms.T).reshape(n, k))
    gram = atoms @ atoms.T
    energy = np.asarray(documents.multiply(documents).sum(axis=1), dtype=np.float64).ravel()
    codes = np.zeros((n, k)) if start is None else np.array(start, dtype=np.float64)
    problem = LassoProblem(float(alpha), squared, tolerance, max_sweeps)
    result = LassoResult(codes, np.empty(n), np.empty(n), np.empty(n, np.int64))

    def block(first: int, last: int) -> None:
        lasso_rows(first, last, correlations, gram, energy, problem, result)

    run_blocks(block, n, BLOCK_DOCUMENTS, n_jobs)
    return L2Coding(*result)


def atoms_l2(
    documents: sp.csr_matrix, atoms: Floats, codes: Floats, *, squared: bool = True, sweeps: int = 2
) -> Floats:
    """Exact minimisation over one atom after another, codes fixed.

    The plain norm is majorised at the present residuals, |r| <= |r|^2 / (2 s) + s / 2 with s = |r| now: either way the
    loss cannot rise.
    """
    A = atoms.copy()
    X = sp.csr_matrix(codes)
    if not squared:
        fitted = np.asarray(codes @ A)
        energy = np.asarray(documents.multiply(documents).sum(axis=1)).ravel()
        cross = np.asarray(documents.multiply(fitted).sum(axis=1)).ravel()
        norms = np.sqrt(np.maximum(energy - 2 * cross + (fitted**2).sum(axis=1), 0.0))
        X = sp.diags(np.sqrt(1.0 / np.maximum(norms, 1e-6))) @ X
        documents = sp.diags(np.sqrt(1.0 / np.maximum(norms, 1e-6))) @ documents
    gram = (X.T @ X).tocsr()
    cross_terms = (X.T @ documents).tocsr()
    for _ in range(sweeps):
        for j in range(A.shape[0]):
            weight = gram[j, j]
            if weight <= 1e-12:
                continue
            row = gram.indices[gram.indptr[j] : gram.indptr[j + 1]]
            move = -gram.data[gram.indptr[j] : gram.indptr[j + 1]] @ A[row]
            at = slice(cross_terms.indptr[j], cross_terms.indptr[j + 1])
            move[cross_terms.indices[at]] += cross_terms.data[at]
            moved = np.maximum(A[j] + move / weight, 0.0)
            A[j] = moved / max(1.0, float(np.linalg.norm(moved)))
    return A


def learn_dictionary_l2(
    documents: sp.csr_matrix,
    atoms: Floats,
    alpha: float = 0.1,
    *,
    squared: bool = True,
    start: Floats | None = None,
    tolerance: float = 1e-3,
    max_rounds: int = 20,
    n_jobs: int | None = 1,
) -> L2Dictionary:
    """Alternate until a round lowers the objective by less than `tolerance` of it; never accepts a rise."""
    coding = code_l2(documents, atoms, alpha, squared=squared, start=start, n_jobs=n_jobs)
    history = [float(coding.objective.sum())]
    for _ in range(max_rounds):
        moved = atoms_l2(documents, atoms, coding.codes, squared=squared)
        trial = code_l2(documents, moved, alpha, squared=squared, start=coding.codes, n_jobs=n_jobs)
        total = float(trial.objective.sum())
        if total >= history[-1]:
            break
        atoms, coding = moved, trial
        history.append(total)
        if history[-2] - total <= tolerance * history[-2]:
            break
    return L2Dictionary(atoms, coding, tuple(history))
