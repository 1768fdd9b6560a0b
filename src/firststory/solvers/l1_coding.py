"""Non-negative l1 sparse coding, l(p, A) = min_{x>=0} |p - x A|_1 + alpha |x|_1: exact, and by the papers' ADMM.

Documents P (n x m), atoms A (k x m) and codes X (n x k) are CSR rows; the papers write all three as columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from firststory.arrays import Floats
from firststory.engines.engine import Engine
from firststory.kernels.l1.coding import code_documents
from firststory.kernels.l1.layout import ByTerm, CodingProblem, CodingResult, rows_of
from firststory.solvers.blocks import run_blocks
from firststory.solvers.l1_pieces import blocks_of, code_block, concatenated, empty_coding, rows_between
from firststory.solvers.spectrum import largest_eigenvalue

TOLERANCE = 1e-10
"""No slope of the optimum is below minus this."""

MAX_PIVOTS = 20_000

TABLEAU_ATOMS = 96
"""Up to this many surviving atoms go into one tableau; above, column generation."""

BLOCK_DOCUMENTS = 512
"""Documents per block: fixed, so that results cannot depend on the number of threads."""


@dataclass(frozen=True)
class TermMajor:
    """A dictionary as the coder reads it: for each term the atoms that hold it, and each atom's mass."""

    by_term: sp.csr_matrix
    mass: Floats

    @classmethod
    def of(cls, atoms: sp.csr_matrix) -> TermMajor:
        """From k x m atoms (CSR)."""
        return cls(atoms.T.tocsr(), np.asarray(atoms.sum(axis=1), dtype=np.float64).ravel())


@dataclass(frozen=True)
class L1Coding:
    """Codes and how good they are, one row per document."""

    codes: sp.csr_matrix
    """n x k, non-negative."""
    objective: Floats
    """l(p, A)."""
    nearest: Floats
    """max_j d_j over the atoms that share a term with the document: how far the best one is from being of use."""
    violation: Floats
    """How far from the optimum, 0 at it. Exact coding: the larger of the dual infeasibility max_j (d_j - a_j'z) and the
    gap between codes and duals as a fraction of |p|_1, both computed from the atoms themselves wherever many or small
    pivots put the tableau in doubt. ADMM: the larger of the two residuals."""
    iterations: NDArray[np.int64]
    survivors: NDArray[np.int64]
    duals: sp.csr_matrix | None = None
    """z on the document's own terms: |p|_1 - p'z is a lower bound of the objective, equal at the optimum."""


def code_exactly(
    documents: sp.csr_matrix,
    atoms: sp.csr_matrix | TermMajor,
    alpha: float = 0.1,
    *,
    over: float = 1.0,
    n_jobs: int | None = 1,
    engine: Engine | None = None,
    duals: bool = False,
    tableau_atoms: int = TABLEAU_ATOMS,
    tolerance: float = TOLERANCE,
    max_pivots: int = MAX_PIVOTS,
) -> L1Coding:
    """The optimum by reduction, safe screening and a bounded simplex (equation 5).

    `over` weighs over-coverage: 1 is the l1 loss, less forgives atoms that cover more than the document has. Documents
    may be wider than the atoms. The result depends neither on `n_jobs` nor on the engine, which computes the blocks
    where one is given.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> known = sp.csr_matrix([[1.0, 0.0, 0.0]])
    >>> code_exactly(sp.csr_matrix([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]), known).objective.round(3).tolist()
    [0.55, 1.0]
    """
    by = atoms if isinstance(atoms, TermMajor) else TermMajor.of(atoms)
    n, m = documents.shape
    width, k = by.by_term.shape
    ptr = by.by_term.indptr
    if m > width:  # terms that no atom has ever seen
        ptr = np.concatenate([ptr, np.full(m - width, ptr[-1], dtype=ptr.dtype)])
    holders = ByTerm(ptr, by.by_term.indices, by.by_term.data)
    problem = CodingProblem(float(alpha), float(over), float(tolerance), max_pivots, tableau_atoms)
    if engine is not None and n:
        rows, bounds = rows_of(documents), blocks_of(n, BLOCK_DOCUMENTS)
        pieces = [rows_between(rows, *bound) for bound in bounds]
        found = concatenated(engine.map(code_block, pieces, holders, by.mass, problem, duals), CodingResult)
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(found.n_codes)])
        return _coding(found, found.code_atoms, found.code_values, ends, documents, k, duals)
    result = empty_coding(n, documents.nnz, duals)

    def block(start: int, stop: int) -> None:
        code_documents(start, stop, rows_of(documents), holders, by.mass, problem, result)

    run_blocks(block, n, BLOCK_DOCUMENTS, n_jobs)
    # A block's codes stand one after another from its first document's place on: close the gaps between blocks.
    ends = np.zeros(n + 1, np.int64)
    np.cumsum(result.n_codes, out=ends[1:])
    first = documents.indptr[:n:BLOCK_DOCUMENTS]
    length = (
        ends[np.minimum(np.arange(BLOCK_DOCUMENTS, n + BLOCK_DOCUMENTS, BLOCK_DOCUMENTS), n)] - ends[:n:BLOCK_DOCUMENTS]
    )
    spans = [slice(a, a + m) for a, m in zip(first.tolist(), length.tolist(), strict=True)]
    code_atoms = np.concatenate([result.code_atoms[span] for span in spans] or [result.code_atoms])
    code_values = np.concatenate([result.code_values[span] for span in spans] or [result.code_values])
    return _coding(result, code_atoms, code_values, ends, documents, k, duals)


def _coding(
    result: CodingResult,
    code_atoms: NDArray[np.int32],
    code_values: Floats,
    ends: NDArray[np.int64],
    documents: sp.csr_matrix,
    k: int,
    duals: bool,
) -> L1Coding:
    n = documents.shape[0]
    dual = sp.csr_matrix((result.duals, documents.indices, documents.indptr), shape=documents.shape) if duals else None
    return L1Coding(
        csr((code_values, code_atoms, ends), (n, k)),
        result.objective,
        result.nearest,
        result.violation,
        result.pivots,
        result.survivors,
        dual,
    )


def csr(parts: tuple[Floats, Any, Any], shape: tuple[int, int]) -> sp.csr_matrix:
    """A CSR matrix from sorted, duplicate-free parts; marked as such, so that SciPy need not check."""
    matrix = sp.csr_matrix(parts, shape=shape)
    matrix.has_sorted_indices = True
    matrix.has_canonical_format = True
    return matrix


def objective_of(
    documents: sp.csr_matrix, atoms: sp.csr_matrix, codes: sp.csr_matrix, alpha: float, over: float = 1.0
) -> Floats:
    """|(p - x A)_+|_1 + over |(x A - p)_+|_1 + alpha |x|_1 of each row, for any codes."""
    residual = (documents - codes @ atoms).tocsr()
    positive = np.asarray(residual.maximum(0).sum(axis=1), dtype=np.float64).ravel()
    negative = np.asarray((-residual).maximum(0).sum(axis=1), dtype=np.float64).ravel()
    total: Floats = positive + over * negative + alpha * np.asarray(codes.sum(axis=1)).ravel()
    return total


def code_by_admm(
    documents: sp.csr_matrix,
    atoms: sp.csr_matrix,
    alpha: float = 0.1,
    *,
    phi: float = 5.0,
    gamma: float = 1.89,
    tolerance: float = 1e-4,
    max_iterations: int = 2000,
    target: float = -np.inf,
) -> L1Coding:
    """The papers' ADMM for X with A fixed (appendix, Algorithm 2), kept as reference; scipy.sparse, float64.

    E <- soft(P - X A + rho/phi, 1/phi);  X <- max(X - kappa (X A + E - P - rho/phi) A' - alpha kappa/phi, 0);
    rho <- rho + gamma phi (P - X A - E), with kappa = 1/Psi_max(A). By Moreau's identity E is never formed: with
    Lam = clip(rho + phi (P - X A), -1, 1), X moves along Lam A' and rho becomes a mean of itself and Lam. Stops when
    both residuals, primal |P - X A - E|_F and dual phi |(X - X_previous) A|_F, are below `tolerance` |P|_F, or when
    the objective of all documents is at most `target` (checked every ten iterations). All documents move together,
    so `iterations` and `violation` are the same for each.
    """
    P = documents
    A = _padded(atoms, P.shape[1])
    n, k = P.shape[0], A.shape[0]
    psi = largest_eigenvalue(A)
    kappa = 1.0 / psi if psi else 0.0
    transposed = A.T.tocsr()
    X = sp.csr_matrix((n, k))
    fitted, rho = sp.csr_matrix(P.shape), sp.csr_matrix(P.shape)
    scale = max(float(np.linalg.norm(P.data)), 1e-300)
    iterations, violation = 0, np.inf
    while iterations < max_iterations and violation > tolerance:
        iterations += 1
        Lam = (rho + phi * (P - fitted)).tocsr()
        np.clip(Lam.data, -1.0, 1.0, out=Lam.data)
        X = sp.csr_matrix(np.maximum(X.toarray() + kappa / phi * ((Lam @ transposed).toarray() - alpha), 0.0))
        previous, fitted = fitted, (X @ A).tocsr()
        moved = fitted - previous
        change = gamma * (Lam - phi * moved - rho)
        rho = (rho + change).tocsr()
        primal = float(np.linalg.norm(change.data)) / (gamma * phi)
        violation = max(primal, phi * float(np.linalg.norm(moved.data))) / scale
        if target > -np.inf and iterations % 10 == 0 and objective_of(P, A, X, alpha).sum() <= target:
            break
    each = np.ones(n)
    return L1Coding(
        X,
        objective_of(P, A, X, alpha),
        np.full(n, np.nan),
        violation * each,
        np.full(n, iterations, np.int64),
        np.full(n, k, np.int64),
    )


def _padded(matrix: sp.csr_matrix, width: int) -> sp.csr_matrix:
    """The same rows with zero columns on the right: costs nothing dense."""
    return sp.csr_matrix((matrix.data, matrix.indices, matrix.indptr), shape=(matrix.shape[0], width))
