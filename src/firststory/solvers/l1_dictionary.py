"""l1-dictionary learning, min_{A in C, X >= 0} |P - X A|_1 + alpha |X|_1, by alternating between X and A.

Rows are documents (P, n x m), atoms (A, k x m) and codes (X, n x k). C holds the atoms a_j >= 0 with |a_j|_1 <= 1. X
for fixed A is coded exactly. A moves by projected gradient steps of f(A) = sum_d l(p_d, A), which follow from the exact
duals of the coding, by subgradient steps for fixed X, or by the papers' ADMM for fixed X (appendix, Algorithm 3). A
move is taken only if it lowers the objective.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from firststory.engines.engine import Engine
from firststory.solvers.l1_coding import L1Coding, code_exactly
from firststory.solvers.online_admm import inner_steps, online_step, subgradient_step
from firststory.solvers.spectrum import largest_eigenvalue

CONVERGENCE_ROUNDS = 5
"""Rounds that are judged together: a single short step says nothing of convergence."""

CHECKED_ITERATIONS = 10
"""ADMM does not descend: the best of every tenth iterate is kept."""

LEAST_STEP = 1e-6
"""Steps shorter than this, in units of 1 / Psi_max(X), end the search."""

LEAST_FIXED_CODES_STEP = 1e-3
"""The same where the codes are fixed: shorter steps lower the loss by little and cost as much as any."""

KINK_WIDTH = 1e-4
"""Residuals smaller than this, of documents of unit mass, count in proportion: the loss has no slope at zero."""


@dataclass(frozen=True)
class AtomUpdate:
    """Atoms for fixed codes."""

    atoms: sp.csr_matrix
    objective: float
    """|P - X A|_1 (with its weight on over-coverage), never above that of the atoms given."""
    violation: float
    """ADMM: the larger of primal and dual residual at the last iteration, relative to |P|_F. Otherwise nan: a
    subgradient step gives no certificate."""
    iterations: int


@dataclass(frozen=True)
class L1Dictionary:
    """A dictionary learnt by alternation."""

    atoms: sp.csr_matrix
    coding: L1Coding
    history: tuple[float, ...]
    """The objective (2) after every half-step that was made: never increasing."""


def residual_norm(documents: sp.csr_matrix, atoms: sp.csr_matrix, codes: sp.csr_matrix, over: float = 1.0) -> float:
    """|(P - X A)_+|_1 + over |(X A - P)_+|_1."""
    data = (documents - codes @ atoms).tocsr().data
    return float(data[data > 0].sum() - over * data[data < 0].sum())


def atoms_by_admm(
    documents: sp.csr_matrix,
    atoms: sp.csr_matrix,
    codes: sp.csr_matrix,
    multipliers: sp.csr_matrix | None = None,
    *,
    phi: float = 5.0,
    gamma: float = 1.89,
    over: float = 1.0,
    most: int | None = None,
    tolerance: float = 1e-3,
    max_iterations: int = 100,
    n_jobs: int | None = 1,
) -> AtomUpdate:
    """The papers' ADMM for A with X fixed (Algorithm 3), warm-started, in its sparse and exact form.

    Stops when the primal residual |P - X A - E|_F and the dual residual phi |X (A - A_previous)|_F (bounded through
    Psi_max) are both below `tolerance` |P|_F. Documents without codes are constants of the problem and left out. `most`
    bounds the multipliers that a document keeps, the largest first: all of them, which is exact, fill up with every
    iteration (10,000 per document of TDT2).
    """
    width = documents.shape[1]
    current = sp.csr_matrix((atoms.data, atoms.indices, atoms.indptr), shape=(atoms.shape[0], width))
    coded = np.flatnonzero(np.diff(codes.indptr))
    P, X = documents[coded], codes[coded]
    constant = float(documents.data.sum() - P.data.sum())
    best, lowest = current, residual_norm(P, current, X, over)
    psi = largest_eigenvalue(X)
    if psi == 0.0:
        return AtomUpdate(current, constant + lowest, 0.0, 0)
    scale = max(float(np.linalg.norm(P.data)), 1e-300)
    delta = None if multipliers is None else multipliers[coded]
    violation, iteration = np.inf, 0
    while iteration < max_iterations and violation > tolerance:
        iteration += 1
        step = online_step(
            P, current, X, delta, beta=phi, tau=1.0 / psi, gamma=gamma, over=over, most=most, n_jobs=n_jobs
        )
        delta = step.multipliers
        moved = (step.atoms - current).data
        current = step.atoms
        dual = phi * float(np.linalg.norm(moved)) * np.sqrt(psi)
        violation = max(float(np.sqrt(step.violation)), dual) / scale
        if iteration % CHECKED_ITERATIONS == 0 or iteration == max_iterations or violation <= tolerance:
            objective = residual_norm(P, current, X, over)
            if objective < lowest * (1.0 - 1e-12):  # not for rounding's sake
                best, lowest = current, objective
    best.sort_indices()
    return AtomUpdate(best, constant + lowest, violation, iteration)


def atoms_by_subgradient(
    documents: sp.csr_matrix,
    atoms: sp.csr_matrix,
    codes: sp.csr_matrix,
    *,
    over: float = 1.0,
    max_rounds: int = 60,
    n_jobs: int | None = 1,
) -> AtomUpdate:
    """Lower |P - X A|_1 over A in C with X fixed: projected subgradient steps, shortened until they descend.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> P, X = sp.csr_matrix([[0.6, 0.4], [0.6, 0.4]]), sp.csr_matrix([[1.0], [1.0]])
    >>> update = atoms_by_subgradient(P, sp.csr_matrix([[1.0, 0.0]]), X)
    >>> bool(update.objective < 1.6)  # that of the atom given
    True
    """
    current = sp.csr_matrix((atoms.data, atoms.indices, atoms.indptr), shape=(atoms.shape[0], documents.shape[1]))
    lowest = residual_norm(documents, current, codes, over)
    psi = largest_eigenvalue(codes)
    step = 0.1 / psi if psi > 0 else 0.0
    rounds = 0
    prices = _prices_of_residual(documents, current, codes, over)
    while rounds < max_rounds and step * psi >= LEAST_FIXED_CODES_STEP:
        rounds += 1
        moved = subgradient_step(documents, current, codes, prices, step=step, over=over, n_jobs=n_jobs)
        objective = residual_norm(documents, moved, codes, over)
        if objective < lowest:
            current, lowest = moved, objective
            prices = _prices_of_residual(documents, current, codes, over)
            step *= 1.5
        else:
            step *= 0.3
    return AtomUpdate(current, lowest, float("nan"), rounds)


def _prices_of_residual(
    documents: sp.csr_matrix, atoms: sp.csr_matrix, codes: sp.csr_matrix, over: float
) -> sp.csr_matrix:
    """z on each document's own terms: 0 where atoms leave some of it, 1 + over where they cover more than it has."""
    own = sp.csr_matrix((np.ones(documents.nnz), documents.indices, documents.indptr), shape=documents.shape)
    fitted = ((codes @ atoms).multiply(own) + own).tocsr()  # plus one: no term may drop out
    fitted.sort_indices()
    residual = documents.data - (fitted.data - 1.0)
    cap = 1.0 + over
    prices = np.clip(0.5 * cap * (1.0 - residual / KINK_WIDTH), 0.0, cap)
    return sp.csr_matrix((prices, documents.indices, documents.indptr), shape=documents.shape)


def learn_dictionary(
    documents: sp.csr_matrix,
    atoms: sp.csr_matrix,
    alpha: float = 0.1,
    *,
    over: float = 1.0,
    method: str = "subgradient",
    tolerance: float = 1e-4,
    max_rounds: int = 60,
    max_inner: int = 50,
    n_jobs: int | None = 1,
    engine: Engine | None = None,
) -> L1Dictionary:
    """Minimise (2) from `atoms` until five rounds together lower the objective by less than `tolerance` of it.

    A round is a projected subgradient step with its step size halved until it descends, or, with ``method="admm"``,
    `max_inner` iterations of the papers' ADMM; then exact coding.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> P = sp.csr_matrix([[0.5, 0.5, 0.0], [0.4, 0.6, 0.0], [0.0, 0.0, 1.0]])
    >>> learnt = learn_dictionary(P, sp.csr_matrix([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]))
    >>> all(after <= before for before, after in zip(learnt.history, learnt.history[1:]))
    True
    """
    atoms = sp.csr_matrix((atoms.data, atoms.indices, atoms.indptr), shape=(atoms.shape[0], documents.shape[1]))
    coding = code_exactly(documents, atoms, alpha, over=over, duals=True, n_jobs=n_jobs, engine=engine)
    history = [float(coding.objective.sum())]
    psi = largest_eigenvalue(coding.codes)
    step = 0.1 / psi if psi > 0 else 0.0
    for _ in range(max_rounds):
        if step == 0.0:
            break
        if method == "admm":
            moved = atoms_by_admm(documents, atoms, coding.codes, phi=100.0, over=over, max_iterations=max_inner).atoms
        else:
            moved = subgradient_step(
                documents, atoms, coding.codes, _given(coding.duals), step=step, over=over, n_jobs=n_jobs
            )
        trial = code_exactly(documents, moved, alpha, over=over, duals=True, n_jobs=n_jobs, engine=engine)
        lowered = history[-1] - float(trial.objective.sum())
        if lowered > 0:
            atoms, coding = moved, trial
            history.append(float(trial.objective.sum()))
            step *= 1.5
        elif method == "subgradient":
            step *= 0.3
        recent = history[-1 - CONVERGENCE_ROUNDS] - history[-1] if len(history) > CONVERGENCE_ROUNDS else np.inf
        if recent <= tolerance * history[0] or step * psi < LEAST_STEP or (method == "admm" and lowered <= 0):
            break
    return L1Dictionary(atoms, coding, tuple(history))


def _given(duals: sp.csr_matrix | None) -> sp.csr_matrix:
    assert duals is not None
    return duals


def start_dictionary(
    documents: sp.csr_matrix,
    atoms: sp.csr_matrix,
    alpha: float = 0.1,
    *,
    beta: float = 5.0,
    over: float = 1.0,
    rounds: int = 5,
    inner: int = 20,
    n_jobs: int | None = 1,
) -> sp.csr_matrix:
    """Truncated alternation for the initial dictionary: `inner` ADMM iterations per round, whatever the objective says.

    Single-word atoms are a fixed point of exact alternation: no atoms in C do better with their codes, since
    |p - x A|_1 >= |p|_1 - |x|_1, which they reach. A few iterations of ADMM with a finite beta smooth the loss, and so
    get away from there.
    """
    for _ in range(rounds):
        codes = code_exactly(documents, atoms, alpha, over=over, n_jobs=n_jobs).codes
        psi = largest_eigenvalue(codes)
        if psi == 0.0:
            break
        wide = sp.csr_matrix((atoms.data, atoms.indices, atoms.indptr), shape=(atoms.shape[0], documents.shape[1]))
        atoms = inner_steps(documents, wide, codes, inner, beta=beta, tau=1.0 / psi, over=over, n_jobs=n_jobs)
    atoms.sort_indices()
    return atoms
