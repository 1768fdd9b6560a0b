"""Orthogonality-regularised non-negative matrix factorisation.

    min_{W,H>=0}  ||X - W H||_F^2 + alpha * sum_{i != j} <h_i, h_j>

with `X = [Lambda H_old; U]`: the topics of the past as k weighted rows on top of the new documents. The stack is never
built. The updates need only `X H'` and `W'X` of it, and both fall apart into a dense k-row part and a sparse one.

Topics are term-major here (one row per term, one column per topic), the layout in which both products are quick.
Labels (B1)-(B7) are those of docs/methods/online-nmf.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import randomized_svd

from firststory.arrays import Floats, Ints
from firststory.engines.engine import Engine
from firststory.kernels.topics.factor import add_outer, nonnegative_quadratic, residual_squares, row_products

DENOMINATOR_FLOOR = 1e-12

BLOCK_DOCUMENTS = 512
"""Rows that an engine codes together. It is fixed: blocks never depend on the number of workers."""

FIRST_ORTHOGONALITY = 1e-3
"""Where annealing begins: with more from the start, topics die before they have specialised."""


@dataclass(frozen=True, slots=True)
class Stack:
    """The short matrix `[Lambda H; U]` in two pieces. `topics` is H, term-major; without a past it has no columns."""

    topics: Floats
    weights: Floats
    rows: sp.csr_matrix

    @classmethod
    def of(cls, rows: sp.csr_matrix) -> Stack:
        """New documents only."""
        return cls(np.zeros((rows.shape[1], 0)), np.zeros(0), rows)

    @property
    def n_past(self) -> int:
        """How many of the rows are topics of the past."""
        return int(self.weights.size)

    def times(self, topics: Floats) -> Floats:
        """`X H'`: one row per past topic, then one per document."""
        past = self.weights[:, None] * (self.topics.T @ topics)
        return np.vstack([past, project(self.rows, topics)])

    def transposed_times(self, codes: Floats) -> Floats:
        """`X' W`, term-major."""
        out = self.topics @ (self.weights[:, None] * codes[: self.n_past])
        add_outer(self.rows.indptr, self.rows.indices, self.rows.data, codes[self.n_past :], out)
        return np.asarray(out)

    def squared_norm(self) -> float:
        """`||X||_F^2`."""
        past = float(np.sum((self.topics * self.weights) ** 2))
        return past + float(np.sum(self.rows.data**2))


@dataclass(frozen=True, slots=True)
class Factors:
    """What was found, with the evidence of how good it is."""

    codes: Floats
    topics: Floats
    """Term-major, columns of unit length."""
    objective: float
    orthogonality: float
    """The penalty of the last sweep: less than asked for where the sweeps ended before the annealing did."""
    violation: float
    """Size of the projected gradient over the size of the data part; 0 at a stationary point."""


def project(rows: sp.csr_matrix, topics: Floats) -> Floats:
    """`U H'` for sparse rows; columns beyond the topics count for nothing."""
    out = np.empty((rows.shape[0], topics.shape[1]))
    row_products(rows.indptr, rows.indices, rows.data, topics, out)
    return out


@dataclass(frozen=True, slots=True)
class Coding:
    """Codes of rows on fixed topics, with the products that were needed on the way."""

    codes: Floats
    linear: Floats
    """`U H'`."""
    gram: Floats
    """`H H'`."""


class RowBlock(NamedTuple):
    """Some rows of a step."""

    indptr: Ints
    indices: Ints
    data: Floats


class CodeProblem(NamedTuple):
    """What the codes of all rows are solved with."""

    topics: Floats
    gram: Floats
    sizes: Floats
    sweeps: int
    tolerance: float


def code_block(block: RowBlock, problem: CodeProblem) -> tuple[Floats, Floats]:
    """The codes of the rows of a block, each row on its own, and their products with the topics."""
    linear = np.empty((len(block.indptr) - 1, problem.topics.shape[1]))
    row_products(block.indptr, block.indices, block.data, problem.topics, linear)
    codes: Floats = linear / problem.sizes
    nonnegative_quadratic(problem.gram, linear, codes, problem.sweeps, problem.tolerance)
    return codes, linear


def code_step(
    rows: sp.csr_matrix, topics: Floats, *, sweeps: int = 10, tolerance: float = 1e-3, engine: Engine | None = None
) -> Coding:
    """Non-negative least squares of each row on the topics, each row on its own; an engine gets them in blocks."""
    gram = topics.T @ topics
    sizes = np.maximum(gram.sum(axis=0), DENOMINATOR_FLOOR)
    problem = CodeProblem(topics, gram, sizes, sweeps, tolerance)
    if engine is None or rows.shape[0] == 0:
        return Coding(*code_block(RowBlock(rows.indptr, rows.indices, rows.data), problem), gram)
    blocks = []
    for start in range(0, rows.shape[0], BLOCK_DOCUMENTS):
        ptr = rows.indptr[start : start + BLOCK_DOCUMENTS + 1]
        blocks.append(RowBlock(ptr - ptr[0], rows.indices[ptr[0] : ptr[-1]], rows.data[ptr[0] : ptr[-1]]))
    found = engine.map(code_block, blocks, problem)
    return Coding(np.concatenate([codes for codes, _ in found]), np.concatenate([linear for _, linear in found]), gram)


def encode(rows: sp.csr_matrix, topics: Floats, engine: Engine | None = None) -> Floats:
    """The code step, to convergence."""
    return code_step(rows, topics, sweeps=500, tolerance=1e-8, engine=engine).codes


def relative_residuals(rows: sp.csr_matrix, coding: Coding) -> Floats:
    """`||u - wH|| / ||u||` of each row, without forming a residual; empty rows have none."""
    squares = np.empty(rows.shape[0])
    residual_squares(rows.indptr, rows.data, coding.linear, coding.codes, coding.gram, squares)
    return np.sqrt(squares)


def relate_products(products: Floats, gram: Floats) -> Floats:
    """The relation P >= 0 with `h_i(old) ~ sum_j P_ij h_j(new)`, from `H_old H_new'` and `gram = H_new H_new'`."""
    relation = np.zeros(products.shape)
    nonnegative_quadratic(gram, products, relation, 500, 1e-9)
    return relation


def unit_columns(topics: Floats) -> Floats:
    """The lengths of the columns; the columns are divided by them in place (empty ones stay empty)."""
    lengths = np.sqrt(np.einsum("vj,vj->j", topics, topics))
    topics /= np.where(lengths > 0.0, lengths, 1.0)
    return np.asarray(lengths)


def overlap_cost(gram: Floats, orthogonality: float) -> float:
    """alpha in the units of the data: `orthogonality = 1` makes overlap cost as much as fitting."""
    return float(orthogonality * np.trace(gram) / max(gram.shape[0], 1))


def objective(stack: Stack, codes: Floats, topics: Floats, alpha: float) -> float:
    """(B5), from Gram matrices: no residual is ever formed."""
    gram = topics.T @ topics
    fit = (
        stack.squared_norm()
        - 2.0 * float(np.sum(codes * stack.times(topics)))
        + float(np.sum((codes.T @ codes) * gram))
    )
    return fit + alpha * float(gram.sum() - np.trace(gram))


def violation(stack: Stack, codes: Floats, topics: Floats, alpha: float) -> float:
    """How far from the KKT conditions of (B5): the projected gradient, relative to the data's part of it."""
    left, right = stack.times(topics), stack.transposed_times(codes)
    penalty = alpha * (topics.sum(axis=1, keepdims=True) - topics)
    for_codes = codes @ (topics.T @ topics) - left
    for_topics = topics @ (codes.T @ codes) + penalty - right
    # At zero only a negative gradient is a fault; inside, any.
    faults = [np.where(x > 0.0, g, np.minimum(g, 0.0)) for x, g in ((codes, for_codes), (topics, for_topics))]
    size = float(np.linalg.norm(left) + np.linalg.norm(right))
    return float(np.linalg.norm(faults[0]) + np.linalg.norm(faults[1])) / max(size, DENOMINATOR_FLOOR)


def sweeps_to_reach(orthogonality: float, growth: float, start: float = FIRST_ORTHOGONALITY) -> int:
    """How many annealed sweeps it takes until the penalty stands at `orthogonality`.

    Examples
    --------
    >>> sweeps_to_reach(0.001, 1.05), sweeps_to_reach(0.03, 1.05), sweeps_to_reach(1.0, 1.05)
    (1, 71, 143)
    """
    if orthogonality <= start:
        return 1
    return 1 + math.ceil(math.log(orthogonality / start) / math.log(growth))


def multiplicative(
    stack: Stack,
    codes: Floats,
    topics: Floats,
    *,
    orthogonality: float,
    start: float = FIRST_ORTHOGONALITY,
    growth: float = 1.05,
    sweeps: int = 300,
    normalise: bool = True,
    relative: bool = True,
    watch: Callable[[Floats], object] | None = None,
) -> Factors:
    """Multiplicative updates (B6) with alpha annealed from `start` up to `orthogonality`.

    `relative` measures alpha in units of the data's energy; `normalise` keeps topics at unit length, without which
    shrinking H and growing W would cancel the penalty. `watch` is shown the topics after every sweep. The penalty
    grows by `growth` per sweep; `sweeps_to_reach` says how many sweeps it needs to get to `orthogonality`.
    """
    codes, topics = codes.copy(), topics.copy()
    following, level, alpha = min(start, orthogonality), 0.0, 0.0
    for _ in range(sweeps):
        level = following
        if normalise:
            codes *= unit_columns(topics)
        codes *= stack.times(topics) / (codes @ (topics.T @ topics) + DENOMINATOR_FLOOR)
        gram = codes.T @ codes
        alpha = overlap_cost(gram, level) if relative else level
        # Gamma H of the default Gamma = 11' - I is the column sum less the column itself.
        spread = alpha * (topics.sum(axis=1, keepdims=True) - topics) if alpha > 0.0 else 0.0
        topics *= stack.transposed_times(codes) / (topics @ gram + spread + DENOMINATOR_FLOOR)
        following = min(level * growth, orthogonality)
        if watch is not None:
            watch(topics)
    if normalise:
        codes *= unit_columns(topics)
    return Factors(codes, topics, objective(stack, codes, topics, alpha), level, violation(stack, codes, topics, alpha))


def from_documents(rows: sp.csr_matrix, k: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """A random start near the data: each topic the mean of three documents, roughened so that no two are alike."""
    n, width = rows.shape
    topics = np.empty((width, k))
    for j in range(k):
        chosen = rng.choice(n, size=min(3, n), replace=False)
        topics[:, j] = np.asarray(rows[chosen].mean(axis=0)).ravel() * rng.uniform(0.5, 1.5, size=width)
    topics += DENOMINATOR_FLOOR * rng.random((width, k))
    codes = project(rows, topics) / np.maximum(np.sum(topics * topics, axis=0), DENOMINATOR_FLOOR)
    return codes, topics


def nndsvd(rows: sp.csr_matrix, k: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Non-negative double SVD with zeros filled by the mean: the codes and the (term-major) topics to start from.

    Where k exceeds the rank that the rows can have, the rest starts from noise of the same size.
    """
    n, width = rows.shape
    rank = min(k, n, width)
    fill = float(rows.sum()) / max(n * width, 1)
    codes, topics = np.zeros((n, k)), np.zeros((width, k))
    left, values, right = randomized_svd(rows, rank, random_state=int(rng.integers(2**31)))
    for j in range(rank):
        if j == 0:
            pair = (np.abs(left[:, 0]), np.abs(right[0]))
            strength = 1.0
        else:
            signs = [(np.maximum(sign * left[:, j], 0.0), np.maximum(sign * right[j], 0.0)) for sign in (1.0, -1.0)]
            strengths = [float(np.linalg.norm(u) * np.linalg.norm(v)) for u, v in signs]
            pair = signs[int(strengths[1] >= strengths[0])]
            strength = max(strengths)
        norms = [float(np.linalg.norm(part)) or 1.0 for part in pair]
        scale = np.sqrt(max(values[j], 0.0) * strength)
        codes[:, j] = scale * pair[0] / norms[0]
        topics[:, j] = scale * pair[1] / norms[1]
    for part in (codes, topics):
        part[part < 1e-6] = 0.0
        part[:, :rank][part[:, :rank] == 0.0] = fill
        part[:, rank:] = fill * rng.random((part.shape[0], k - rank))
    return codes, topics
