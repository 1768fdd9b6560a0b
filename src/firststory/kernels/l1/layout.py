"""The arrays of the l1-dictionary by what they are about: kernels take a handful of these, not thirty."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]


class Rows(NamedTuple):
    """Sparse rows (CSR): documents or atoms over terms, or codes over atoms."""

    ptr: Array
    columns: Array
    values: Array


class ByTerm(NamedTuple):
    """For each term the documents or atoms that hold it, and their values."""

    ptr: Array
    holders: Array
    values: Array


def rows_of(matrix: Any) -> Rows:
    """The arrays of a SciPy CSR matrix, not copied."""
    return Rows(matrix.indptr, matrix.indices, matrix.data)


class CodingProblem(NamedTuple):
    """What is asked of the coder, the same for every document."""

    alpha: float
    """Price of a code."""
    over: float
    """Weight of over-coverage; 1 is the l1 loss."""
    tolerance: float
    """No slope of the optimum is below minus this."""
    max_pivots: int
    tableau_atoms: int
    """Up to this many surviving atoms go into one tableau; above, column generation."""


class CodingResult(NamedTuple):
    """One entry per document; codes and duals in the places of the document's own terms."""

    objective: Array
    nearest: Array
    pivots: Array
    survivors: Array
    violation: Array
    n_codes: Array
    code_atoms: Array
    code_values: Array
    duals: Array
    """Empty where duals are not asked for."""


class Covered(NamedTuple):
    """The terms of one document that its surviving atoms cover: the rows of its small problem."""

    terms: Array
    weights: Array
    source: Array
    """Where each stands in the document's CSR arrays."""


class Survivors(NamedTuple):
    """The atoms that screening leaves for one document."""

    atoms: Array
    gain: Array
    """d_j, by place among the survivors."""
    place: Array
    """By atom: its place among the survivors, or -1."""


class Basis(NamedTuple):
    """One entry per row of the small problem: its basic variable, that one's value, and the side of a slack."""

    basic: Array
    value: Array
    below: Array


class Tableau(NamedTuple):
    """basic_b = value_b - sum_c entries[c, b] nonbasic_c; slope[c] is the cost's derivative as nonbasic c rises."""

    entries: Array
    slope: Array
    nonbasic: Array


class Ray(NamedTuple):
    """Scratch: the break-points along an edge, their rows, and the rows that move."""

    point: Array
    owner: Array
    moving: Array


class Solution(NamedTuple):
    """Scratch for one document: the dual price of each row, and the code of each survivor."""

    price: Array
    code: Array
    """By place among the survivors; zero before and after every document."""
    left: Array
    """By place among the survivors: gain less what the prices pay for it."""


class Update(NamedTuple):
    """What a move of the atoms is summed from: step (X'M + scale C - beta (X'X) H), all lists by term."""

    listed: ByTerm
    """M: documents."""
    correlations: ByTerm
    """C, weighed by `scale`: atoms."""
    history: ByTerm
    """H: atoms."""
    now: ByTerm
    """A: atoms."""
    codes: Rows
    """X by documents."""
    users: ByTerm
    """X by atoms; empty where `gram` is given."""
    gram: Array
    """X'X, or empty: then the sums go over the documents."""
    scale: float
    beta: float
    step: float


class Candidates(NamedTuple):
    """Entries of the moved atoms that the projection may keep."""

    atoms: Array
    terms: Array
    values: Array


class Multipliers(NamedTuple):
    """M, document by document: entries begin at room[i] and are counts[i] in number."""

    room: Array
    counts: Array
    terms: Array
    values: Array


class Penalty(NamedTuple):
    """beta of the ADMM, its relaxation gamma, and the weight of over-coverage, where Lam is clipped."""

    beta: float
    gamma: float
    over: float


class LassoProblem(NamedTuple):
    """What is asked of the l2 coder, the same for every document."""

    alpha: float
    squared: bool
    """The squared loss, or the norm."""
    tolerance: float
    max_sweeps: int


class LassoResult(NamedTuple):
    """One row per document."""

    codes: Array
    objective: Array
    violation: Array
    sweeps: Array
