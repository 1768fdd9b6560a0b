"""OIADMM, one inexact ADMM step per timestep: the paper's Algorithm 2 written densely, and the same step kept sparse.

    R = P - X A;  Gamma = soft(R + Delta/beta, 1/beta);  G = -X' (Delta/beta + R - Gamma)
    A+ = Proj_C(max(0, A - tau G));  Delta+ = Delta + beta (P - X A+ - Gamma)                               (4)

Rows are documents (P and Delta, n x m), atoms (A, k x m) and codes (X, n x k); the paper writes all of them as columns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from firststory.arrays import Floats
from firststory.engines.engine import Engine
from firststory.kernels.l1.dictionary import by_term, term_correlations, without_small
from firststory.kernels.l1.layout import ByTerm, Multipliers, Penalty, rows_of
from firststory.kernels.l1.multipliers import carried_multipliers, clipped_excess, clipped_multipliers, largest_first
from firststory.kernels.l1.project import project_rows
from firststory.solvers.atom_moves import BLOCK_TERMS, AtomMover, by_term_of, no_terms
from firststory.solvers.blocks import run_blocks
from firststory.solvers.l1_pieces import (
    CarriedBlock,
    ClippedBlock,
    blocks_of,
    carry_block,
    clip_block,
    concatenated,
    rows_between,
)
from firststory.solvers.spectrum import largest_eigenvalue

BLOCK_DOCUMENTS = 256
"""Documents per block; fixed, so that nothing depends on the number of threads."""

KEPT_THRESHOLD_SHARE = 0.25
"""Correlations that could reach this share of their atom's threshold stay in the sums of the inner steps."""


@dataclass(frozen=True)
class OnlineStep:
    """What one step of OIADMM gives."""

    atoms: sp.csr_matrix
    multipliers: sp.csr_matrix | None
    """Delta+, or None where it was not asked for."""
    tau: float
    violation: float
    """|Gamma - (P - X A+)|_F^2, the term that the theorem sums; nan where Delta+ was not asked for."""


def step_size(codes: sp.csr_matrix) -> float:
    """tau = 1 / (2 Psi_max(X)), or 0 where every code is zero."""
    psi = largest_eigenvalue(codes)
    return 0.5 / psi if psi > 0 else 0.0


def online_step_dense(
    P: Floats, A: Floats, X: Floats, Delta: Floats, beta: float = 5.0, tau: float | None = None, over: float = 1.0
) -> tuple[Floats, Floats, Floats]:
    """Algorithm 2 as printed (equation 4), dense: the reference. Returns A+, Delta+ and Gamma."""
    tau = step_size(sp.csr_matrix(X)) if tau is None else tau
    R = P - X @ A
    Z = R + Delta / beta
    Gamma = np.maximum(Z - 1.0 / beta, 0.0) - np.maximum(-Z - over / beta, 0.0)
    G = -X.T @ (Delta / beta + R - Gamma)
    moved = sp.csr_matrix(np.maximum(A - tau * G, 0.0))
    project_rows(moved.indptr, moved.data, 1.0)
    after = moved.toarray()
    return after, Delta + beta * (P - X @ after - Gamma), Gamma


def online_step(
    documents: sp.csr_matrix,
    atoms: sp.csr_matrix,
    codes: sp.csr_matrix,
    multipliers: sp.csr_matrix | None = None,
    *,
    beta: float = 5.0,
    tau: float | None = None,
    gamma: float = 1.0,
    over: float = 1.0,
    want_multipliers: bool = True,
    most: int | None = None,
    n_jobs: int | None = 1,
    engine: Engine | None = None,
) -> OnlineStep:
    """The same step in time and memory of the non-zeros (equation 6), on any number of threads, or on an engine.

    `multipliers` None is Delta = 0. `gamma` other than 1 is the relaxed multiplier step of the appendix. `most`
    bounds the terms of Delta+ that a document keeps, the largest first; None keeps them all, which is exact.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> row, atom = sp.csr_matrix([[0.5, 0.5]]), sp.csr_matrix([[1.0, 0.0]])
    >>> online_step(row, atom, sp.csr_matrix([[0.5]])).atoms.toarray().round(3).tolist()
    [[0.9, 0.1]]
    """
    n, m = documents.shape
    tau = step_size(codes) if tau is None else tau
    delta = sp.csr_matrix((n, m)) if multipliers is None else multipliers
    # Room for M: no more terms than the three supports have together, nor than there are.
    reach = np.diff(documents.indptr).astype(np.int64) + np.diff(delta.indptr)
    lengths = np.diff(atoms.indptr).astype(np.int64)
    covered = np.concatenate([[0], np.cumsum(lengths[codes.indices])])
    reach = np.minimum(reach + covered[codes.indptr[1:]] - covered[codes.indptr[:-1]], m)
    if not want_multipliers:
        reach[np.diff(codes.indptr) == 0] = 0
    room = np.concatenate([[0], np.cumsum(reach)])
    penalty = Penalty(float(beta), float(gamma), float(over))
    P, X, Delta = rows_of(documents), rows_of(codes), rows_of(delta)
    bounds = blocks_of(n, BLOCK_DOCUMENTS) if engine is not None else []
    blocks: list[ClippedBlock] = []
    if engine is not None:
        parts = [(*(rows_between(rows, *bound) for rows in (P, X, Delta)), reach[slice(*bound)]) for bound in bounds]
        blocks = engine.map(clip_block, parts, rows_of(atoms), penalty, m, want_multipliers)
        counts, *lists = concatenated(blocks, ClippedBlock)
        clipped = Multipliers(np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]), counts, *lists)
    else:
        clipped = Multipliers(room, np.zeros(n, np.int64), np.empty(room[-1], np.int32), np.empty(room[-1]))

        def clip(start: int, stop: int) -> None:
            clipped_multipliers(start, stop, P, X, rows_of(atoms), Delta, penalty, m, want_multipliers, clipped)

        run_blocks(clip, n, BLOCK_DOCUMENTS, n_jobs)
    listed = by_term(*clipped, m)
    mover = AtomMover(codes, np.diff(listed.ptr), tau / beta, beta, n_jobs)
    after = mover.move(atoms, listed, by_term_of(atoms))
    if not want_multipliers:
        return OnlineStep(after, None, tau, float("nan"))
    most_kept = m if most is None else most
    if engine is not None:
        given = [
            (rows_between(Delta, *bound), rows_between(X, *bound), block)
            for bound, block in zip(bounds, blocks, strict=True)
        ]
        terms, values, sizes, moved = concatenated(
            engine.map(carry_block, given, rows_of(after), penalty, m, most_kept), CarriedBlock
        )
        return OnlineStep(after, _stacked([(terms, values)], sizes, m), tau, float(moved.sum()) / (gamma * beta) ** 2)
    kept, change = np.zeros(n, np.int64), np.zeros(n)

    def carry(start: int, stop: int) -> tuple[NDArray[np.int32], Floats]:
        return carried_multipliers(start, stop, Delta, X, clipped, rows_of(after), penalty, m, most_kept, kept, change)

    carried = _stacked(run_blocks(carry, n, BLOCK_DOCUMENTS, n_jobs), kept, m)
    return OnlineStep(after, carried, tau, float(change.sum()) / (gamma * beta) ** 2)


def inner_steps(
    documents: sp.csr_matrix,
    atoms: sp.csr_matrix,
    codes: sp.csr_matrix,
    n_steps: int,
    *,
    beta: float = 5.0,
    tau: float | None = None,
    over: float = 1.0,
    n_jobs: int | None = 1,
) -> sp.csr_matrix:
    """The atoms after `n_steps` steps on the same documents and codes, from Delta = 0.

    Delta is never formed. After t steps it is beta (t P - X (A_1 + ... + A_t)) - F, where F holds what clipping has
    taken: little, at beta = 5. So X'P and X'X are summed once, and a step costs as much as its atoms and F do.

    An entry of X'P adds tau t times itself to its atom at most (less what atoms cover), and an atom's threshold rises
    about as t does; so after the first step the small entries are left out. Should a threshold not rise as supposed,
    or clipping give more than was taken, the step is made again with all of them: the result is exact.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> row, atom = sp.csr_matrix([[0.5, 0.5]]), sp.csr_matrix([[1.0, 0.0]])
    >>> inner_steps(row, atom, sp.csr_matrix([[0.5]]), 3).toarray().round(3).tolist()
    [[0.85, 0.15]]
    """
    n, m = documents.shape
    k = codes.shape[1]
    tau = step_size(codes) if tau is None else tau
    if tau == 0.0:  # no document has a code
        return atoms
    starts = documents.indptr.astype(np.int64)
    by = by_term(starts, np.diff(starts), documents.indices, documents.data, m)
    sizes = np.zeros(m, np.int64)

    def correlate(start: int, stop: int) -> tuple[NDArray[np.int32], Floats]:
        return term_correlations(start, stop, by, rows_of(codes), k, sizes)

    blocks = run_blocks(correlate, m, BLOCK_TERMS, n_jobs)
    cells = full = ByTerm(
        np.concatenate([[0], np.cumsum(sizes)]), *(np.concatenate(part) for part in zip(*blocks, strict=True))
    )
    mover = AtomMover(codes, np.diff(by.ptr), tau / beta, beta, n_jobs)
    total, taken = sp.csr_matrix((k, m)), sp.csr_matrix((n, m))
    for t in range(1, n_steps + 1):
        history = (total + atoms).tocsr()
        terms = by_term_of(history)
        taken, gives = _taken(documents, t * beta, codes, history, terms, taken, beta, over, n_jobs)
        lost = by_term(taken.indptr, np.diff(taken.indptr), taken.indices, -taken.data, m)
        moved = mover.move(atoms, lost, terms, cells, t * beta)
        if t == 1:
            first = KEPT_THRESHOLD_SHARE * mover.threshold
            cells = without_small(full, by_term_of(atoms), first / tau)
        elif cells is not full and ((mover.threshold < t * first).any() or gives):
            cells = full
            moved = mover.move(atoms, lost, terms, cells, t * beta)
        atoms = moved
        total = (total + atoms).tocsr()
    return atoms


def _taken(
    documents: sp.csr_matrix,
    scale: float,
    codes: sp.csr_matrix,
    history: sp.csr_matrix,
    terms: ByTerm,
    taken: sp.csr_matrix,
    beta: float,
    over: float,
    n_jobs: int | None,
) -> tuple[sp.csr_matrix, bool]:
    """F after another clipping of scale P - beta X H - F, and whether a term now counts for more than scale P.

    `terms` is H by term.
    """
    n, m = documents.shape
    heights = largest_first(rows_of(history))
    penalty = Penalty(float(beta), 1.0, float(over))
    kept, gives = np.zeros(n, np.int64), np.zeros(n, np.bool_)

    def clip(start: int, stop: int) -> tuple[NDArray[np.int32], Floats]:
        return clipped_excess(
            start,
            stop,
            rows_of(documents),
            scale,
            rows_of(codes),
            heights,
            terms,
            rows_of(taken),
            penalty,
            codes.shape[1],
            m,
            kept,
            gives,
        )

    return _stacked(run_blocks(clip, n, BLOCK_DOCUMENTS, n_jobs), kept, m), bool(gives.any())


def subgradient_step(
    documents: sp.csr_matrix,
    atoms: sp.csr_matrix,
    codes: sp.csr_matrix,
    duals: sp.csr_matrix,
    *,
    step: float,
    over: float = 1.0,
    n_jobs: int | None = 1,
) -> sp.csr_matrix:
    """Proj_C( (A + step X' Lam)_+ ) with Lam the exact dual of each document's coding problem.

    Lam is 1 - z on a document's own terms and -over on every other: dense, but constant, so that only the own terms
    are summed and step * over * sum_d x_dj is taken from all. -X' Lam is a subgradient of the loss for these codes, and
    the gradient of A -> sum_d l(p_d, A), codes re-optimised, wherever that has one (the envelope theorem).
    """
    m, k = documents.shape[1], atoms.shape[0]
    starts = documents.indptr.astype(np.int64)
    listed = by_term(starts, np.diff(starts), documents.indices, 1.0 + over - duals.data, m)
    base = np.float64(step * over) * np.bincount(codes.indices, weights=codes.data, minlength=k).astype(np.float64)
    after = AtomMover(codes, np.diff(listed.ptr), step, 0.0, n_jobs).move(atoms, listed, no_terms(m), base=base)
    after.sort_indices()
    return after


def fit_rows(multipliers: sp.csr_matrix | None, n: int, width: int) -> sp.csr_matrix | None:
    """Delta for n documents: row i goes on with the i-th document, missing rows are zero, further ones are cut."""
    if multipliers is None:
        return None
    kept = min(n, multipliers.shape[0])
    ends = multipliers.indptr[: kept + 1]
    ends = np.concatenate([ends, np.full(n - kept, ends[-1], dtype=ends.dtype)])
    size = int(ends[-1])
    return sp.csr_matrix((multipliers.data[:size], multipliers.indices[:size], ends), shape=(n, width))


def _stacked(blocks: list[tuple[NDArray[np.int32], Floats]], sizes: NDArray[np.int64], width: int) -> sp.csr_matrix:
    """One CSR matrix from the rows that the blocks returned; indices within a row keep the kernel's order."""
    ends = np.concatenate([[0], np.cumsum(sizes)])
    terms = np.concatenate([block[0] for block in blocks]) if blocks else np.empty(0, np.int32)
    values = np.concatenate([block[1] for block in blocks]) if blocks else np.empty(0)
    return sp.csr_matrix((values, terms, ends), shape=(sizes.shape[0], width))
